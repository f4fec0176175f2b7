"""Survival and cumulative hazard of each leaf, as step functions, with confidence bands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surtree._support.parameters import LeafCurveKind
from surtree._support.types import Floats
from surtree.data.persons import read_persons
from surtree.survival.confidence import LEVEL
from surtree.survival.step_function import StepFunction
from surtree.tree.leaf_curve import (
    LeafCurve,
    curve_kind,
    curve_of,
    is_product_limit,
    leaf_position,
    survival_band,
)
from surtree.tree.resolve import tree_of

if TYPE_CHECKING:
    from surtree.tree.tree import Tree


def leaf_curves(model: Any, kind: LeafCurveKind | None = None) -> tuple[LeafCurve, ...]:
    """Return the curves of every leaf, in the order of the tree's ``leaves``.

    Parameters
    ----------
    model : fitted estimator or Tree
        A model of this package, a pipeline that ends in one, or its ``tree_``.
    kind : {"baseline", "kaplan-meier", "shrunk", "breslow"}, optional
        By default the kind that the model predicts with, the ``leaf_curve`` of its tree.

        With "baseline", the hazard of a leaf is theta times the baseline's, as in the loss that
        the tree minimises. With "kaplan-meier", each leaf has its own product-limit survival
        curve and its own Nelson-Aalen cumulative hazard, from its training rows alone; after its
        last row it stays where it was, for scores need a value. With "shrunk", these are shrunk
        towards those of all rows by a prior that is worth as many events as the ``shrinkage`` of
        the model: none, and the Kaplan-Meier curve, if that is zero. With "breslow", hazards of
        leaves are proportional to a baseline that is estimated with them, by the full likelihood
        (`leaf_hazard_ratios`, Breslow's estimate); the ``shrinkage`` of the model is then a prior
        worth so many events in each leaf, and half an event where a ratio is zero or infinite.

    Notes
    -----
    Curves end at the last follow-up of all training rows, the end of their ``domain``.

    Examples
    --------
    >>> from surtree import SurTree
    >>> from surtree import leaf_curves
    >>> y = [True] * 4, [4.0, 3.0, 2.0, 1.0]
    >>> model = SurTree(max_depth=1).fit([[0], [0], [1], [1]], y)
    >>> [curve.median for curve in leaf_curves(model, "kaplan-meier")]
    [3.0, 1.0]
    """
    tree = tree_of(model)
    return tuple(curve_of(tree, int(leaf), kind) for leaf in tree.leaves)


def confidence_band(
    model: Any, leaf: int, level: float = LEVEL, kind: LeafCurveKind | None = None
) -> tuple[StepFunction, StepFunction]:
    """Return the pointwise confidence limits of a leaf's curve, lower and upper.

    Those of a Kaplan-Meier or shrunk curve come from Greenwood's variance of the logarithm of
    survival, on the scale of its complementary log-log, as R's ``conf.type = "log-log"``. They are
    not numbers (nan) where R says NA: where survival is one or zero, and where no row of the leaf
    is at risk; they end with the last follow-up of the leaf. Those of a "breslow" curve are R's for
    a Cox model, by the delta method from the variances of ratios and baseline. Those of a
    "baseline" curve come from the limits of the relative risk, the hazard of all rows counting as
    known: they are the uncertainty of theta only, and cover less than the level says.

    Weights count as repeated rows. The leaf was found on the same rows, so the truth is outside
    more often than the level says.

    Parameters
    ----------
    model : fitted estimator or Tree
        A model of this package, a pipeline that ends in one, or its ``tree_``.
    leaf : int
        The number of a leaf's node.
    level : float
        The probability that the band covers the truth at one time, between zero and one.
    kind : {"baseline", "kaplan-meier", "shrunk", "breslow"}, optional
        Of which curve; by default of the one that the model predicts with.

    Examples
    --------
    >>> from surtree import SurTree
    >>> from surtree import confidence_band
    >>> y = [True] * 4, [1.0, 2.0, 3.0, 4.0]
    >>> model = SurTree(max_depth=0).fit([[0]] * 4, y)
    >>> lower, upper = confidence_band(model, leaf=0, kind="kaplan-meier")
    >>> round(lower(2), 2), round(upper(2), 2)
    (0.06, 0.84)
    """
    tree = tree_of(model)
    lower, upper = survival_band(tree, leaf, kind, level)
    times, before, end = tree.event_times, 1.0, tree.last_time
    if is_product_limit(curve_kind(tree, kind)):
        before, end = np.nan, tree.risk[leaf_position(tree, leaf)].last_time
    domain = (0.0, end)
    return StepFunction(times, lower, before, domain), StepFunction(times, upper, before, domain)


@dataclass(frozen=True, eq=False)
class Pieces:
    """The rows of some persons, in the order of time, one person after the other."""

    row: NDArray[np.intp]  # the position of each piece among the rows that the user passed
    start: Floats  # from when to when its covariates hold
    stop: Floats
    # Where the pieces of each person begin; persons are in the order of their first rows.
    first: NDArray[np.intp]


def read_pieces(
    n_rows: int,
    start: ArrayLike,
    stop: ArrayLike | None,
    id: ArrayLike | None,
    last_time: float,
) -> Pieces:
    """Read and check when the rows of persons hold."""
    begin = _numbers("start", start, n_rows)
    person = np.zeros(n_rows, dtype=np.intp)
    if id is not None:
        person = read_persons(id, begin, None)
    order = np.lexsort((begin, person))
    same = person[order][1:] == person[order][:-1]
    if stop is None:
        after = np.append(np.where(same, begin[order][1:], last_time), last_time)
        end = np.empty(n_rows)
        # A row that begins later than anybody was observed says nothing.
        end[order] = np.maximum(after, begin[order])
    else:
        end = _numbers("stop", stop, n_rows)
        if not (end > begin).all():
            raise ValueError(
                f"stop is not after start in {int((end <= begin).sum())} of {n_rows} rows"
            )
        joined = ~same | (begin[order][1:] == end[order][:-1])
        if not joined.all():
            raise ValueError(
                f"{int((~joined).sum())} of {n_rows} rows do not begin where the row before of "
                f"the same person ends (the first is row {order[1:][np.argmin(joined)]}, counted "
                "from 0): survival is known along a path without gaps"
            )
    if stop is None and (same & (begin[order][1:] == begin[order][:-1])).any():
        raise ValueError("start has the same time for two rows of one person: keep the later one")
    # Persons in the order of their first rows.
    _, first_row = np.unique(person, return_index=True)
    rank = np.argsort(np.argsort(first_row))[person]
    order = np.lexsort((begin, rank))
    first = np.flatnonzero(np.diff(rank[order], prepend=-1))
    return Pieces(order, begin[order], end[order], first)


def _numbers(name: str, values: ArrayLike, n_rows: int) -> Floats:
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.shape != (n_rows,):
        raise ValueError(f"{name} must have a time for each of {n_rows} rows.")
    if not (np.isfinite(numbers) & (numbers >= 0)).all():
        raise ValueError(f"{name} holds times that are not finite numbers, zero or later.")
    return numbers


def survival_along(
    tree: Tree, leaf_of_row: NDArray[np.intp], pieces: Pieces
) -> tuple[list[StepFunction], list[StepFunction]]:
    """Return survival and cumulative hazard of each person, given that the path is begun.

    While a person is in a leaf, the hazard is that of the leaf: cumulative hazards of the leaves
    are added over the pieces, and survival is multiplied.
    """
    times = tree.event_times
    curves = [curve_of(tree, int(leaf)) for leaf in tree.leaves]
    hazard = np.stack([np.diff(curve.cumulative_hazard.y, prepend=0.0) for curve in curves])
    stays = np.stack([_factors(curve.survival.y) for curve in curves])
    position = np.searchsorted(tree.leaves, leaf_of_row[pieces.row])
    # A piece has the event times after its start, up to its stop.
    begin = np.searchsorted(times, pieces.start, side="right")
    end = np.searchsorted(times, pieces.stop, side="right")
    survival, cumulative = [], []
    last = np.append(pieces.first[1:], pieces.row.size)
    for row_slice in map(slice, pieces.first, last):
        spans = map(slice, begin[row_slice], end[row_slice])
        parts = list(zip(position[row_slice], spans, strict=True))
        steps = np.concatenate([times[span] for _, span in parts])
        stop = min(float(pieces.stop[row_slice][-1]), tree.last_time)
        domain = float(pieces.start[row_slice][0]), stop
        lived = np.cumprod(np.concatenate([stays[leaf, span] for leaf, span in parts]))
        added = np.cumsum(np.concatenate([hazard[leaf, span] for leaf, span in parts]))
        survival.append(StepFunction(steps, lived, 1.0, domain))
        cumulative.append(StepFunction(steps, added, 0.0, domain))
    return survival, cumulative


def _factors(survival: Floats) -> Floats:
    """Return by what survival is multiplied at each time; one where nobody was left before."""
    before = np.concatenate(([1.0], survival[:-1]))
    return np.divide(survival, before, out=np.ones_like(survival), where=before > 0)

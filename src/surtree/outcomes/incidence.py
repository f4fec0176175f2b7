"""Competing risks in the leaves: the cumulative incidence of each cause, with its band."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from surtree._support.parameters import LeafCurveKind
from surtree._support.types import Floats
from surtree.survival.aalen_johansen import CauseCounts, incidence_band, proportional_incidence
from surtree.survival.competing_risks import CauseHazards
from surtree.survival.confidence import LEVEL
from surtree.survival.step_function import StepFunction
from surtree.tree.leaf_curve import curve_kind, event_counts, leaf_position, ratio_limits
from surtree.tree.resolve import tree_of
from surtree.tree.tree import Tree


def leaf_incidence(
    model: Any, cause: int, kind: LeafCurveKind | None = None
) -> tuple[StepFunction, ...]:
    """Return the cumulative incidence of a cause in every leaf, in the order of ``leaves``.

    It is the share of rows that has had an event of this cause by a time. With "kaplan-meier" it
    is the Aalen-Johansen estimate of the leaf's own rows, with "shrunk" the same shrunk towards
    all rows, and with "baseline" that of hazards in proportion to the baseline of each cause.

    Parameters
    ----------
    model : fitted CompetingRisksTree, or its ``tree_``
        The model.
    cause : int
        One of its causes.
    kind : {"baseline", "kaplan-meier", "shrunk"}, optional
        By default the kind that the model predicts with.

    Examples
    --------
    >>> from surtree import CompetingRisksTree, leaf_incidence
    >>> y = [1, 2, 1, 0], [1.0, 2.0, 3.0, 4.0]
    >>> model = CompetingRisksTree(max_depth=0).fit([[0]] * 4, y)
    >>> (incidence,) = leaf_incidence(model, cause=1)
    >>> incidence([0, 1, 3]).tolist()
    [0.0, 0.25, 0.5]
    """
    tree = tree_of(model)
    position = causes_of(tree).position(cause)
    domain = (0.0, tree.last_time)
    return tuple(
        StepFunction(tree.event_times, incidence_of(tree, leaf, kind)[position], 0.0, domain)
        for leaf in tree.leaves.tolist()
    )


def incidence_of(tree: Tree, leaf: int, kind: LeafCurveKind | None = None) -> Floats:
    """Return the cumulative incidence of each cause in a leaf, of shape (n_causes, n_times)."""
    kind = curve_kind(tree, kind)
    if kind == "baseline":
        leaf_position(tree, leaf)
        return proportional_incidence(_steps(tree, tree.prediction[:, leaf]))
    return cause_counts(tree, leaf, kind).incidence


def leaf_incidence_band(
    model: Any, leaf: int, cause: int, level: float = LEVEL, kind: LeafCurveKind | None = None
) -> tuple[StepFunction, StepFunction]:
    """Return the pointwise confidence limits of a cumulative incidence, lower and upper.

    Those of an Aalen-Johansen or shrunk curve come from its variance by the delta method, on the
    scale of its complementary log-log, as R's ``survfit`` with ``conf.type = "log-log"``. They are
    not numbers (nan) where the incidence is zero or one, and they end with the last follow-up of
    the leaf. Those of a "baseline" curve come from the limits of the relative risk of the cause,
    the other causes being as they are.

    Weights count as repeated rows. The leaf was found on the same rows, so the truth is outside
    more often than the level says.

    Parameters
    ----------
    model : fitted CompetingRisksTree, or its ``tree_``
        The model.
    leaf : int
        The number of a leaf's node.
    cause : int
        One of the causes.
    level : float
        The probability that the band covers the truth at one time, between zero and one.
    kind : {"baseline", "kaplan-meier", "shrunk"}, optional
        Of which curve; by default of the one that the model predicts with.

    Examples
    --------
    >>> from surtree import CompetingRisksTree, leaf_incidence_band
    >>> y = [1, 2, 1, 0], [1.0, 2.0, 3.0, 4.0]
    >>> model = CompetingRisksTree(max_depth=0).fit([[0]] * 4, y)
    >>> lower, upper = leaf_incidence_band(model, leaf=0, cause=1)
    >>> round(lower(3), 3), round(upper(3), 3)
    (0.058, 0.845)
    """
    tree = tree_of(model)
    kind, before, end = curve_kind(tree, kind), 0.0, tree.last_time
    if kind != "baseline":
        before, end = np.nan, tree.risk[leaf_position(tree, leaf)].last_time
    band = incidence_limits(tree, leaf, cause, level, kind)
    lower, upper = (StepFunction(tree.event_times, one, before, (0.0, end)) for one in band)
    return lower, upper


def incidence_limits(
    tree: Tree, leaf: int, cause: int, level: float, kind: LeafCurveKind | None = None
) -> tuple[Floats, Floats]:
    """Return the limits of a cumulative incidence at the times of the baseline."""
    position, kind = causes_of(tree).position(cause), curve_kind(tree, kind)
    leaf_position(tree, leaf)
    if kind == "baseline":
        band = []
        for limit in cause_limits(tree, leaf, cause, level):
            prediction = tree.prediction[:, leaf].copy()
            prediction[position] = limit
            band.append(proportional_incidence(_steps(tree, prediction))[position])
        return band[0], band[1]
    counts = cause_counts(tree, leaf, kind)
    lower, upper = incidence_band(counts.incidence[position], counts.variance[position], level)
    # Before the first event of the leaf, a shrunk curve moves by fractions of an event.
    observed = cause_counts(tree, leaf, "kaplan-meier")
    unknown = (observed.at_risk == 0) | (np.cumsum(observed.deaths[position]) == 0)
    lower[unknown] = upper[unknown] = np.nan
    return lower, upper


def cause_counts(tree: Tree, leaf: int, kind: LeafCurveKind) -> CauseCounts:
    """Return what is at risk and what each cause ends in a leaf, at each time of the baseline."""
    if kind not in _COUNTS:
        raise ValueError(
            f"Competing risks have no curves of the kind {kind!r}: use 'kaplan-meier', 'shrunk' or "
            "'baseline'."
        )
    return _COUNTS[kind](tree, leaf)


def _own_counts(tree: Tree, leaf: int) -> CauseCounts:
    objective = causes_of(tree)
    together = event_counts(tree, leaf, "kaplan-meier")
    counts = tree.risk[leaf_position(tree, leaf)]
    deaths = np.zeros((objective.n_channels, together.at_risk.size))
    deaths[:, counts.step] = counts.by_cause
    return CauseCounts(together.at_risk, deaths)


def _shrunk_counts(tree: Tree, leaf: int) -> CauseCounts:
    counts, prior = _own_counts(tree, leaf), tree.objective.shrinkage
    if prior == 0:
        return counts
    return counts.shrunk(prior, tree.share_at_risk, _steps(tree, np.ones(len(counts.deaths))))


_COUNTS: dict[LeafCurveKind, Callable[[Tree, int], CauseCounts]] = {
    "kaplan-meier": _own_counts,
    "shrunk": _shrunk_counts,
}


def _steps(tree: Tree, prediction: Floats) -> Floats:
    return causes_of(tree).hazard_steps(prediction, tree.baseline)


def causes_of(tree: Tree) -> CauseHazards:
    """Return the objective of a tree of competing risks, or raise an error for any other tree."""
    if not isinstance(tree.objective, CauseHazards):
        raise ValueError("This tree knows of one cause only: fit a CompetingRisksTree.")
    return tree.objective


def read_cause_names(tree: Tree, names: Mapping[int, str] | None) -> dict[int, str]:
    """Return the names that a user gave to causes of a tree, or raise an error for others."""
    given = dict(names or {})
    causes = causes_of(tree).causes
    absent = [cause for cause in given if cause not in causes]
    if absent:
        raise ValueError(f"names has the cause {absent[0]!r}: the causes are {causes}.")
    return {cause: str(given[cause]) for cause in causes if cause in given}


def cause_events(tree: Tree, cause: int) -> Floats:
    return tree.sums[:, 2 * causes_of(tree).position(cause)]


def cause_theta(tree: Tree, cause: int) -> Floats:
    """Return the hazard of a cause in each node, relative to the baseline of the cause."""
    theta: Floats = tree.prediction[causes_of(tree).position(cause)]
    return theta


def cause_limits(tree: Tree, node: int, cause: int, level: float = LEVEL) -> tuple[float, float]:
    """Return the confidence limits of the relative risk of a cause in a node."""
    first = 2 * causes_of(tree).position(cause)
    events, expected = tree.sums[node, first : first + 2].tolist()
    return ratio_limits(tree, events, expected, level)

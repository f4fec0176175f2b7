"""Survival and cumulative hazard of each leaf, as step functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from surtree._types import Floats
from surtree.parameters import LEAF_CURVES, LeafCurveKind
from surtree.survival.kaplan_meier import median_time, product_limit
from surtree.survival.step_function import StepFunction
from surtree.tree.resolve import leaf_curve_of, tree_of
from surtree.tree.tree import Tree


@dataclass(frozen=True)
class LeafCurve:
    """The curves that a leaf predicts, on the distinct event times of the training rows.

    Parameters
    ----------
    leaf : int
        The number of the leaf's node.
    survival : StepFunction
        The share of rows that have had no event yet.
    cumulative_hazard : StepFunction
        The hazard added up over time.
    """

    leaf: int
    survival: StepFunction
    cumulative_hazard: StepFunction

    @property
    def median(self) -> float:
        """The first time at which survival is at most one half, or infinity."""
        return median_time(self.survival.x, self.survival.y)


def leaf_curves(model: Any, kind: LeafCurveKind | None = None) -> tuple[LeafCurve, ...]:
    """Return the curves of every leaf, in the order of the tree's ``leaves``.

    Parameters
    ----------
    model : fitted estimator or Tree
        A model of this package, or its ``tree_``.
    kind : {"baseline", "kaplan-meier"}, optional
        With "baseline", the hazard of a leaf is theta times the baseline's, as in the loss that
        the tree minimises. With "kaplan-meier", each leaf has its own product-limit survival
        curve and its own Nelson-Aalen cumulative hazard, from its training rows alone. By default
        the ``leaf_curve`` of the model, and "baseline" for a tree alone.

    Examples
    --------
    >>> from surtree import SurTree
    >>> from surtree import leaf_curves
    >>> model = SurTree(max_depth=1).fit([[0], [0], [1], [1]], [4.0, 3.0, 2.0, 1.0])
    >>> [curve.median for curve in leaf_curves(model, "kaplan-meier")]
    [3.0, 1.0]
    """
    tree = tree_of(model)
    if kind is None:
        kind = leaf_curve_of(model)
    if kind not in LEAF_CURVES:
        raise ValueError(f"The kind of leaf curve must be one of {LEAF_CURVES}; got {kind!r}.")
    curve = _kaplan_meier_curve if kind == "kaplan-meier" else _baseline_curve
    return tuple(curve(tree, int(leaf)) for leaf in tree.leaves)


def confidence_band(
    model: Any, leaf: int, level: float = 0.95
) -> tuple[StepFunction, StepFunction]:
    """Return the pointwise confidence limits of a leaf's Kaplan-Meier curve, lower and upper.

    They come from Greenwood's variance of the logarithm of survival, on the scale of its
    complementary log-log, so they never leave the interval from zero to one. Weights count as
    repeated rows. Where no row is left, survival is zero and nothing is learnt about it: the
    lower limit is zero and the upper one stays where it was.

    Parameters
    ----------
    model : fitted estimator or Tree
        A model of this package, or its ``tree_``.
    leaf : int
        The number of a leaf's node.
    level : float
        The probability that the band covers the truth at one time, between zero and one.

    Examples
    --------
    >>> from surtree import SurTree
    >>> from surtree import confidence_band
    >>> model = SurTree(max_depth=0).fit([[0]] * 4, [1.0, 2.0, 3.0, 4.0])
    >>> lower, upper = confidence_band(model, leaf=0)
    >>> round(lower(2), 2), round(upper(2), 2)
    (0.06, 0.84)
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, for example 0.95; got {level!r}.")
    tree = tree_of(model)
    at_risk, deaths = _counts(tree, leaf)
    survival = product_limit(at_risk, deaths)
    positive = survival > 0
    greenwood = np.zeros_like(survival)
    np.divide(deaths, at_risk * (at_risk - deaths), out=greenwood, where=positive)
    variance = np.cumsum(greenwood)
    inside = positive & (survival < 1)
    reach = ndtri((1 + level) / 2) * np.sqrt(variance[inside]) / -np.log(survival[inside])
    # Beyond this the limits are zero and one, and the exponential would overflow.
    stretch = np.exp(np.minimum(reach, 700.0))
    lower, upper = survival.copy(), survival.copy()
    lower[inside] **= stretch
    upper[inside] **= 1.0 / stretch
    upper[~positive] = upper[positive][-1] if positive.any() else 1.0
    times = tree.baseline.times
    return StepFunction(times, lower, 1.0), StepFunction(times, upper, 1.0)


def _baseline_curve(tree: Tree, leaf: int) -> LeafCurve:
    times, theta = tree.baseline.times, float(tree.theta[leaf])
    return LeafCurve(
        leaf,
        StepFunction(times, tree.baseline.survival(theta), 1.0),
        StepFunction(times, theta * tree.baseline.cumulative_hazard, 0.0),
    )


def _kaplan_meier_curve(tree: Tree, leaf: int) -> LeafCurve:
    at_risk, deaths = _counts(tree, leaf)
    return LeafCurve(
        leaf,
        StepFunction(tree.baseline.times, product_limit(at_risk, deaths), 1.0),
        StepFunction(tree.baseline.times, np.cumsum(deaths / at_risk), 0.0),
    )


def _counts(tree: Tree, leaf: int) -> tuple[Floats, Floats]:
    """Return the weight at risk and the deaths of a leaf at each time of the baseline.

    Where the leaf has no event of its own, the weight at risk does not matter and is one.
    """
    if not tree.risk:
        raise ValueError(
            "This tree keeps no at-risk counts, so its leaves have no Kaplan-Meier curve: of all "
            "the sizes on a path, only the chosen tree keeps them. Fit again with max_splits set "
            f"to {tree.n_splits} to choose this one, or use the curves of kind 'baseline'."
        )
    position = np.flatnonzero(tree.leaves == leaf)
    if not position.size:
        raise ValueError(f"Node {leaf} is not a leaf; the leaves are {tree.leaves.tolist()}.")
    counts = tree.risk[position[0]]
    at_risk = np.ones(tree.baseline.times.size)
    deaths = np.zeros(tree.baseline.times.size)
    at_risk[counts.step] = counts.at_risk
    deaths[counts.step] = counts.deaths
    return at_risk, deaths

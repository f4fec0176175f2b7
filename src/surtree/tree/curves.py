"""Survival and cumulative hazard of each leaf, as step functions, with confidence bands."""

from __future__ import annotations

from typing import Any

import numpy as np

from surtree._support.parameters import LeafCurveKind
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

"""The survival curve of a leaf, by each kind of estimate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from surtree._support.parameters import LEAF_CURVES, LeafCurveKind
from surtree._support.types import Floats
from surtree.survival import confidence, cox_groups
from surtree.survival.confidence import LEVEL
from surtree.survival.cox_groups import GroupCounts, GroupFit, fit_groups, needed_prior
from surtree.survival.kaplan_meier import EventCounts, median_time
from surtree.survival.step_function import StepFunction
from surtree.words.numbers import plural

if TYPE_CHECKING:
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

    Examples
    --------
    >>> from surtree import SurTree, leaf_curves
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> curve = leaf_curves(SurTree(max_depth=1).fit(X, y))[-1]
    >>> curve.leaf, round(curve.survival(365), 3), curve.median
    (2, 0.867, 1059.0)
    """

    leaf: int
    survival: StepFunction
    cumulative_hazard: StepFunction

    @property
    def median(self) -> float:
        """The first time at which survival is at most one half, or infinity."""
        return median_time(self.survival.x, self.survival.y)


def leaf_position(tree: Tree, leaf: int) -> int:
    """Return the position of a leaf among the leaves, or raise an error for any other node."""
    position = int(np.searchsorted(tree.leaves, leaf))
    if position == tree.n_leaves or tree.leaves[position] != leaf:
        raise ValueError(f"Node {leaf} is not a leaf; the leaves are {tree.leaves.tolist()}.")
    return position


def curve_of(tree: Tree, leaf: int, kind: LeafCurveKind | None = None) -> LeafCurve:
    kind = curve_kind(tree, kind)
    if kind == "baseline":
        cumulative_hazard = tree.objective.cumulative_hazard(tree.sums[leaf], tree.baseline)
        survival = np.exp(-cumulative_hazard)
    elif kind == "breslow":
        fit = tree._proportional_hazards
        cumulative_hazard = fit.hazard[leaf_position(tree, leaf)] * np.cumsum(fit.steps)
        survival = np.exp(-cumulative_hazard)
    else:
        counts = event_counts(tree, leaf, kind)
        survival, cumulative_hazard = counts.survival, np.cumsum(counts.hazard)
    factor = factor_of(tree, leaf)
    return curve_from(tree, leaf, survival**factor, factor * cumulative_hazard)


def factor_of(tree: Tree, node: int) -> float:
    """Return what `recalibrate` multiplied the hazard of a node by."""
    return 1.0 if tree.factor is None else float(tree.factor[node])


def curve_from(tree: Tree, leaf: int, survival: Floats, cumulative_hazard: Floats) -> LeafCurve:
    """Return the curve of a leaf that has these values at the times of the baseline."""
    times, domain = tree.event_times, (0.0, tree.last_time)
    return LeafCurve(
        int(leaf),
        StepFunction(times, survival, 1.0, domain),
        StepFunction(times, cumulative_hazard, 0.0, domain),
    )


def curve_kind(tree: Tree, kind: LeafCurveKind | None) -> LeafCurveKind:
    """Return a kind of curve that was asked for, by default the tree's own."""
    if kind is None:
        return tree.leaf_curve
    if kind not in LEAF_CURVES:
        raise ValueError(f"The kind of leaf curve must be one of {LEAF_CURVES}; got {kind!r}.")
    return kind


def is_product_limit(kind: LeafCurveKind) -> bool:
    return kind in _COUNTS


def proportional_hazards(tree: Tree) -> GroupFit:
    """Return the full likelihood's hazard of each leaf, and Breslow's estimate of the baseline.

    With the shrinkage of the tree, each leaf has a prior worth so many events. Where a leaf has no
    event, or another ratio is infinite, it is worth half an event at least.
    """
    counts = leaf_groups(tree)
    return fit_groups(counts, needed_prior(counts, tree.objective.shrinkage))


def leaf_groups(tree: Tree) -> GroupCounts:
    """Return what is at risk and what dies in each leaf, at the times of the baseline."""
    counts = [_own_counts(tree, leaf) for leaf in tree.leaves.tolist()]
    _require_all_times(tree, "hazard ratios and no Breslow curve")
    return GroupCounts(
        np.stack([one.at_risk for one in counts]), np.stack([one.deaths for one in counts])
    )


def event_counts(tree: Tree, leaf: int, kind: LeafCurveKind) -> EventCounts:
    """Return what is at risk and what dies in a leaf at each time of the baseline."""
    return _COUNTS[kind](tree, leaf)


def _own_counts(tree: Tree, leaf: int) -> EventCounts:
    position = leaf_position(tree, leaf)
    if not tree.risk:
        raise ValueError(
            "This tree keeps no at-risk counts, so its leaves have no curve of their own: of all "
            "the sizes on a path, only the chosen tree keeps them. Fit again with max_splits set "
            f"to {tree.n_splits} to choose this one, or use the curves of kind 'baseline'."
        )
    return tree.risk[position].at_events(tree.event_times.size)


def _shrunk_counts(tree: Tree, leaf: int) -> EventCounts:
    counts, prior = _own_counts(tree, leaf), tree.objective.shrinkage
    if prior == 0:
        return counts
    _require_all_times(tree, "shrunk curve")
    return counts.shrunk(prior, tree.share_at_risk, tree.baseline.hazard)


def _require_all_times(tree: Tree, what: str) -> None:
    if not all(counts.of_all_times for counts in tree.risk):
        raise ValueError(
            "This tree was saved before its leaves kept what is at risk at all event times, so "
            f"they have no {what}: fit again, or use the curves of another kind."
        )


_COUNTS: dict[LeafCurveKind, Callable[[Tree, int], EventCounts]] = {
    "kaplan-meier": _own_counts,
    "shrunk": _shrunk_counts,
}


def theta_limits(tree: Tree, node: int, level: float = LEVEL) -> tuple[float, float]:
    """Return the confidence limits of the relative risk of a node.

    Without weights they are those of Garwood for events that follow a Poisson distribution or, with
    shrinkage, quantiles of the posterior, a gamma distribution. They are conservative: expected
    events come from the same rows, so that theta varies less than a Poisson count
    (docs/results/leaf-curves.md). With weights they are those of the profile likelihood. Without an
    event the lower limit is zero (with shrinkage, a little more).
    """
    totals = tree.objective.totals(tree.sums[node])
    if totals is None:
        return np.nan, np.nan
    events, expected = map(float, totals)
    lower, upper = ratio_limits(tree, events, expected, level)
    return lower * factor_of(tree, node), upper * factor_of(tree, node)


def ratio_limits(tree: Tree, events: float, expected: float, level: float) -> tuple[float, float]:
    """Return the confidence limits of observed over expected events."""
    limits = confidence.profile_limits if tree.weighted else confidence.poisson_limits
    return limits(events, expected, level, tree.objective.shrinkage)


def survival_band(
    tree: Tree, leaf: int, kind: LeafCurveKind | None = None, level: float = LEVEL
) -> tuple[Floats, Floats]:
    """Return the pointwise limits of a leaf's curve, at the times of the baseline."""
    kind = curve_kind(tree, kind)
    if kind == "baseline":
        leaf_position(tree, leaf)
        low, high = theta_limits(tree, leaf, level)
        return tree.baseline.survival(high), tree.baseline.survival(low)
    lower, upper = observed_band(tree, leaf, kind, level)
    return lower ** factor_of(tree, leaf), upper ** factor_of(tree, leaf)


def observed_band(
    tree: Tree, leaf: int, kind: LeafCurveKind, level: float
) -> tuple[Floats, Floats]:
    """Return the limits of a curve of the training rows of a leaf."""
    if kind == "breslow":
        fit, position = tree._proportional_hazards, leaf_position(tree, leaf)
        return cox_groups.survival_band(leaf_groups(tree), fit, position, level)
    band = confidence.log_log_band(event_counts(tree, leaf, kind), level)
    # Before the first event of the leaf, a shrunk curve moves by fractions of an event, whose
    # variance says nothing.
    counts = event_counts(tree, leaf, "kaplan-meier")
    unknown = (counts.at_risk == 0) | (np.cumsum(counts.deaths) == 0)
    for limit in band:
        limit[unknown] = np.nan
    return band


def median_limits(
    tree: Tree, leaf: int, kind: LeafCurveKind | None = None, level: float = LEVEL
) -> tuple[float, float]:
    """Return the limits of a leaf's median: the first times at which its band is at one half."""
    return confidence.median_limits(tree.event_times, survival_band(tree, leaf, kind, level))


# Leaves with fewer events than this are marked wherever they are shown ...
FEW_EVENTS = 10
# ... and with fewer than this, a printed tree says what to do.
_VERY_FEW_EVENTS = 5


def events_note(n_events: int) -> str:
    """Return "no events", "few events", or nothing where there are enough."""
    if n_events == 0:
        return "no events"
    return "few events" if n_events < FEW_EVENTS else ""


def theta_text(tree: Tree, leaf: int, style: str) -> str:
    """Return the relative risk of a leaf; of one without events, the most that it may be."""
    if tree.n_events[leaf] > 0:
        return format(tree.theta[leaf], style)
    most = theta_limits(tree, leaf)[1]
    return f"at most {format(most, style)}" if np.isfinite(most) else "unknown"


def advice(tree: Tree) -> str:
    """Return, where leaves have hardly any events, a sentence that says what to do about it."""
    n_leaves = int((tree.n_events[tree.leaves] < _VERY_FEW_EVENTS).sum())
    if n_leaves == 0:
        return ""
    verb, whose = ("has", "its") if n_leaves == 1 else ("have", "their")
    return (
        f"{plural(n_leaves, 'leaf')} {verb} fewer than {_VERY_FEW_EVENTS} events: {whose} numbers "
        f"say little about new data; try {tree.objective.remedy}."
    )

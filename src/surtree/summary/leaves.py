"""A leaf as plots and reports draw it: its curve with a confidence band, and its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from surtree._support.parameters import LeafCurveKind
from surtree._support.types import Floats
from surtree.survival.confidence import LEVEL
from surtree.survival.kaplan_meier import median_time
from surtree.survival.time_axis import round_step, round_times
from surtree.tree.evidence import FEW_EVENTS
from surtree.tree.leaf_curve import curve_kind, curve_of, leaf_position
from surtree.tree.leaf_intervals import median_limits, survival_band, theta_limits
from surtree.tree.tree import Tree
from surtree.words.colour import risk_colours
from surtree.words.quoting import printable

# What a curve is, in a sentence.
_CURVES: dict[LeafCurveKind, str] = {
    "baseline": "Survival as the relative risk predicts it (curve: baseline)",
    "kaplan-meier": "Kaplan-Meier survival of the rows of a leaf (curve: kaplan-meier)",
    "shrunk": "Survival of the rows of a leaf, shrunk towards that of all rows (curve: shrunk)",
    "breslow": "Survival as the hazard ratio of a leaf predicts it (curve: breslow)",
}
# What a band says. The curve of all rows, which a baseline curve is a power of, counts as known.
BANDS: dict[LeafCurveKind, str] = {
    "baseline": "band of the uncertainty of theta only",
    "kaplan-meier": "confidence band",
    "shrunk": "confidence band",
    "breslow": "confidence band, if hazards are proportional",
}


@dataclass(frozen=True, eq=False)
class ObservedCurve:
    """The Kaplan-Meier curve of the rows of a leaf, at the steps where it moves."""

    # The event times of the leaf, and the share without an event from each of them on.
    times: Floats
    survival: Floats
    lower: Floats  # the confidence limits, not numbers where R says NA
    upper: Floats


@dataclass(frozen=True, eq=False)
class Leaf:
    """A leaf as it is drawn."""

    node: int  # the number of the leaf's node
    n_samples: int  # the training rows of the leaf, and those of them with an event
    n_events: int
    # The relative risk, and when survival falls to one half; infinity where it never does.
    theta: float
    median: float
    # The steps of the curve that the tree predicts with, up to the last follow-up of the leaf.
    times: Floats
    survival: Floats
    # The lower and upper confidence limit at the same times; not numbers where nothing is known.
    band: tuple[Floats, Floats] | None
    colour: str  # the colour of the relative risk
    # The confidence limits of both; infinity where a median has none, and not numbers where it is
    # not known whether it has.
    theta_limits: tuple[float, float]
    median_limits: tuple[float, float]
    observed: ObservedCurve | None  # what was observed, where the tree keeps it
    censored: Floats  # when rows were censored; of many at almost the same time, one
    last_time: float  # the last follow-up of the leaf. Nothing is drawn after it
    n_persons: int | None = None  # the persons whose rows they are, where that is known

    @property
    def name(self) -> str:
        """The name of the leaf in pictures, with the number that ``apply`` returns."""
        return f"leaf {self.node}"

    @property
    def last_survival(self) -> float:
        """Survival after the last step."""
        return float(self.survival[-1]) if self.survival.size else 1.0

    @property
    def no_events(self) -> bool:
        """Whether no row has an event: then the relative risk is no estimate, and has a limit."""
        return self.n_events == 0

    @property
    def few_events(self) -> bool:
        """Whether too few rows have an event for numbers that say much about new rows."""
        return self.n_events < FEW_EVENTS


def read_leaves(
    tree: Tree,
    kind: LeafCurveKind | None = None,
    level: float = LEVEL,
    colours: Sequence[str] | None = None,
) -> tuple[Leaf, ...]:
    """Return the leaves of a tree as they are drawn, in the order of ``tree.leaves``."""
    kind = curve_kind(tree, kind)
    if colours is None:
        colours = risk_colours(tree.theta[tree.leaves])
    return tuple(
        _read_leaf(tree, leaf, kind, level, colour)
        for leaf, colour in zip(tree.leaves.tolist(), colours, strict=True)
    )


def _read_leaf(tree: Tree, leaf: int, kind: LeafCurveKind, level: float, colour: str) -> Leaf:
    curve, band = curve_of(tree, leaf, kind), survival_band(tree, leaf, kind, level)
    observed, last_time = None, tree.baseline.last_time
    censored = np.empty(0)
    if tree.risk:
        observed = _observed(tree, leaf, level)
        last_time = _last_time(tree, leaf)
        censored = tree.risk[leaf_position(tree, leaf)].censored
    # A product-limit curve only moves at its own events, and other leaves may have thousands.
    shown = tree.baseline.times <= last_time
    if kind == "kaplan-meier" and observed is not None:
        shown &= np.isin(tree.baseline.times, observed.times)
    return Leaf(
        node=leaf,
        n_samples=int(tree.n_samples[leaf]),
        n_events=int(tree.n_events[leaf]),
        theta=float(tree.theta[leaf]),
        median=curve.median,
        times=curve.survival.x[shown],
        survival=curve.survival.y[shown],
        band=(band[0][shown], band[1][shown]),
        colour=colour,
        theta_limits=theta_limits(tree, leaf, level),
        median_limits=median_limits(tree, leaf, kind, level),
        observed=observed,
        censored=censored,
        last_time=last_time,
        n_persons=None if tree.n_persons is None else int(tree.n_persons[leaf]),
    )


def _observed(tree: Tree, leaf: int, level: float) -> ObservedCurve:
    counts = tree.risk[leaf_position(tree, leaf)]
    steps = counts.step[counts.deaths > 0]
    survival = curve_of(tree, leaf, "kaplan-meier").survival.y
    lower, upper = survival_band(tree, leaf, "kaplan-meier", level)
    return ObservedCurve(tree.baseline.times[steps], survival[steps], lower[steps], upper[steps])


def _last_time(tree: Tree, leaf: int) -> float:
    """Return the last follow-up of a leaf; in files of version 1, when rows are known to be there.

    These have the event times of the leaf, and what is at risk at round times.
    """
    counts = tree.risk[leaf_position(tree, leaf)]
    if counts.of_all_times:
        return counts.last_time
    ticks = round_times(float(tree.baseline.times[-1]))
    known = [*tree.baseline.times[counts.step], *ticks[counts.round_at_risk > 0]]
    return float(max(known, default=0.0))


def time_label(time_unit: str | None) -> str:
    """Return the label of a time axis."""
    return "time" if time_unit is None else f"time ({printable(time_unit)})"


def caption(tree: Tree, kind: LeafCurveKind | None, level: float) -> str:
    """Return in words how leaves are drawn, and what a relative risk is."""
    kind = curve_kind(tree, kind)
    said = [f"{_CURVES[kind]}, with {100 * level:g}% {BANDS[kind]}."]
    if tree.risk:
        observed = "" if kind == "kaplan-meier" else "Thin line: observed (Kaplan-Meier). "
        said.append(f"{observed}Tick: censored rows. Curves end at the last follow-up of a leaf.")
    if tree.weighted:
        said.append("Weights count as repeated rows.")
    said.append("Relative risk: events of a leaf over those that all rows let expect.")
    return " ".join(said)


def at_risk(tree: Tree, position: int, times: Floats) -> Floats:
    """Return the weight of a leaf that is at risk at some times.

    A tree knows this at the times that can be ticks of an axis; at others the answer is not a
    number.
    """
    counts = tree.risk[position].round_at_risk.astype(np.float64)
    multiples = np.asarray(times) / round_step(float(tree.baseline.times[-1]))
    nearest = np.minimum(np.rint(multiples), counts.size - 1)
    known = np.abs(multiples - nearest) < 1e-6
    return np.where(known, counts[nearest.astype(np.intp)], np.nan)


def read_everyone(tree: Tree) -> Leaf:
    """Return all rows together as they are drawn: what the baseline hazard predicts, in grey."""
    times, survival = tree.baseline.times, tree.baseline.survival(1.0)
    return Leaf(
        node=0,
        n_samples=int(tree.n_samples[0]),
        n_events=int(tree.n_events[0]),
        theta=1.0,
        median=median_time(times, survival),
        times=times,
        survival=survival,
        band=None,
        colour=risk_colours([1.0])[0],
        theta_limits=(1.0, 1.0),
        median_limits=(np.nan, np.nan),
        observed=None,
        censored=np.empty(0),
        last_time=tree.baseline.last_time,
    )

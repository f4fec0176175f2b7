"""One event: a relative risk and a survival curve in each group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite, nan
from typing import Any

from surtree._support.parameters import LeafCurveKind
from surtree._support.types import Floats
from surtree.outcomes._group import Group
from surtree.outcomes.curve import UNKNOWN, Channel, Column, GroupCurve
from surtree.outcomes.outcome import Outcome
from surtree.survival.confidence import LEVEL
from surtree.tree.hazard_ratios import LeafHazardRatio, leaf_hazard_ratios, shows_ratios
from surtree.tree.leaf_curve import curve_kind, median_limits, theta_limits
from surtree.tree.tree import Tree
from surtree.words.colour import risk_colours

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


RELATIVE_RISK = (
    "Relative risk: observed over expected events of a leaf (expected at the hazard of all rows)."
)


class OneEvent(Outcome):
    """One event that ends the time of a row."""

    name = "event"
    shows_ratios = True
    reference = (
        "LeBlanc M, Crowley J. Relative risk trees for censored survival data. Biometrics 48, 1992."
    )

    @property
    def channels(self) -> tuple[Channel, ...]:
        return (Channel("event", "event", risk_colours([1.0])[0]),)

    def columns(self, groups: Sequence[Group], level: float = LEVEL) -> tuple[Column, ...]:
        """Return events, relative risk, hazard ratio over a reference leaf, and median."""
        return event_columns(self, groups, level)

    def printed_columns(self, groups: Sequence[Group], level: float = LEVEL) -> tuple[Column, ...]:
        """Return the same without hazard ratios and limits: it has no room for them."""
        return tuple(_columns(self, groups, level, whole=False))

    def curves(
        self, group: Group, kind: LeafCurveKind | None = None, level: float = LEVEL
    ) -> tuple[GroupCurve, ...]:
        return (self.together(group, kind, level),)

    def risks(self, channel: Any = None) -> Floats:
        if channel is not None:
            raise ValueError("This tree knows of one cause only: fit a CompetingRisksTree.")
        return self.tree.theta

    def caption(self, kind: LeafCurveKind | None, level: float) -> str:
        """Return in words how leaves are drawn, and what a relative risk is."""
        return leaf_caption(self.tree, kind, level)

    def figure_notes(self) -> tuple[str, ...]:
        """Say what relative risks and hazard ratios are."""
        ratio = "Hazard ratio: by a Cox model with a factor for the leaf (Breslow's ties)."
        risk = self.tree.objective.theta_note or RELATIVE_RISK
        return (risk, ratio) if shows_ratios(self.tree) else (risk,)

    def objective_text(self, loss: str) -> str:
        """Return what the tree optimises: what its objective says."""
        return self.tree.objective.method_words.format(loss=loss)


def _hazard_ratios(tree: Tree, level: float) -> tuple[LeafHazardRatio, ...]:
    """Return hazard ratios of leaves, once for all parts of a page that show them."""
    known = tree._hazard_ratios
    if level not in known:
        known[level] = leaf_hazard_ratios(tree, level=level)
    ratios: tuple[LeafHazardRatio, ...] = known[level]
    return ratios


def leaf_caption(tree: Tree, kind: LeafCurveKind | None, level: float) -> str:
    """Return in words how the curve of all events is drawn, and what a relative risk is."""
    kind = curve_kind(tree, kind)
    sentences = [f"{_CURVES[kind]}, with {100 * level:g}% {BANDS[kind]}."]
    if tree.risk:
        observed = "" if kind == "kaplan-meier" else "Thin line: observed (Kaplan-Meier). "
        sentences.append(
            f"{observed}Tick: censored rows. Curves end at the last follow-up of a leaf."
        )
    if tree.weighted:
        sentences.append("Weights count as repeated rows.")
    sentences.append(tree.objective.theta_note or RELATIVE_RISK)
    return " ".join(sentences)


def event_columns(outcome: Outcome, groups: Sequence[Group], level: float) -> tuple[Column, ...]:
    """Return the figures of all events together: events, relative risk, hazard ratio, median."""
    return tuple(_columns(outcome, groups, level, whole=True))


def _columns(
    outcome: Outcome, groups: Sequence[Group], level: float, *, whole: bool
) -> Iterator[Column]:
    tree = outcome.tree
    yield Column("events", "events", "events", [g.n_events for g in groups], is_count=True)
    limits = [
        theta_limits(tree, group.leaf, level) if whole or not group.n_events else UNKNOWN
        for group in groups
    ]
    none = [position for position, group in enumerate(groups) if group.n_events == 0]
    yield Column(
        "risk",
        "relative risk",
        "theta",
        [group.theta if group.n_events else nan for group in groups],
        limits if whole else None,
        instead={position: ("at most", limits[position][1]) for position in none},
        colours=risk_colours([group.theta for group in groups]),
    )
    if whole and shows_ratios(tree) and [g.node for g in groups] == tree.leaves.tolist():
        of_leaves = _hazard_ratios(tree, level)
        yield Column(
            "hazard_ratio",
            "hazard ratio",
            "hazard ratio",
            [one.ratio for one in of_leaves],
            [one.limits for one in of_leaves],
            texts=[one.text for one in of_leaves],
            is_printed=False,
        )
    medians = [outcome.median(group) for group in groups]
    last = tree.last_event
    yield Column(
        "median",
        "median survival",
        "median",
        medians,
        [median_limits(tree, group.leaf, None, level) for group in groups] if whole else None,
        instead={p: (">", last) for p, median in enumerate(medians) if not isfinite(median)},
        style=".6g",
        qualifier=tree.leaf_curve,
        is_time=True,
    )

"""Functions of one kind of outcome that are not yet behind the seam: to be deleted."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from surtree._support.parameters import LeafCurveKind
from surtree._support.types import Floats
from surtree.outcomes.arm_effects import arms_of, effects_of_leaf
from surtree.outcomes.cause_figures import (
    cause_events,
    cause_limits,
    cause_theta,
    causes_of,
    read_cause_names,
)
from surtree.outcomes.causes import COLOURS as _COLOURS
from surtree.outcomes.group import at_round_times
from surtree.outcomes.incidence import incidence_of
from surtree.survival.competing_risks import CauseHazards
from surtree.tree.leaf_curve import curve_kind, leaf_position
from surtree.tree.tree import Tree
from surtree.words.numbers import plural
from surtree.words.quoting import printable


def has_causes(tree: Tree) -> bool:
    """Return whether a tree is one of competing risks."""
    return isinstance(tree.objective, CauseHazards)


def cause_text(tree: Tree, leaf: int, cause: int, style: str) -> str:
    """Return the relative risk of a cause in a leaf; without events, the most that it may be."""
    if cause_events(tree, cause)[leaf] > 0:
        return format(cause_theta(tree, cause)[leaf], style)
    most = cause_limits(tree, leaf, cause)[1]
    return f"at most {format(most, style)}" if np.isfinite(most) else "unknown"


def effect_texts(tree: Tree, leaf: int, style: str = ".3g") -> list[str]:
    """Return the hazard ratios of a leaf in words; none where the tree has no arms."""
    if tree.arms is None:
        return []
    return [
        f"{effect.contrast}: "
        f"{format(effect.ratio, style) if np.isfinite(effect.ratio) else 'unknown'}"
        for effect in effects_of_leaf(tree, leaf)
    ]


def median_text(tree: Tree, leaf: int, style: str) -> str:
    """Return the median survival of a leaf, or that it is after the last event."""
    median = tree.median(leaf)
    if np.isfinite(median):
        return format(median, style)
    return f"> {format(tree.baseline.times[-1], style)}"


def cause_names(tree: Tree, names: Mapping[int, str] | None = None) -> dict[int, str]:
    """Return what each cause is called."""
    given = read_cause_names(tree, names)
    return {
        cause: printable(str(given.get(cause, f"cause {cause}")))
        for cause in causes_of(tree).causes
    }


def cause_colours(tree: Tree) -> list[str]:
    """Return the colour of each cause."""
    return [_COLOURS[place % len(_COLOURS)] for place in range(causes_of(tree).n_channels)]


def causes_text(tree: Tree, leaf: int, names: Mapping[int, str]) -> str:
    """Return how many rows and events of each cause a leaf has."""
    parts = [f"{name} ({cause_events(tree, cause)[leaf]:g})" for cause, name in names.items()]
    return f"{plural(int(tree.n_samples[leaf]), 'row')}; events: {', '.join(parts)}"


def stacked_incidence(
    tree: Tree, leaf: int, kind: LeafCurveKind | None = None
) -> tuple[Floats, Floats]:
    """Return the corners of the areas of a leaf, each on top of those of the causes before."""
    all_times = tree.baseline.times
    last = float(all_times[-1])
    if tree.risk:
        last = min(last, tree.risk[leaf_position(tree, leaf)].last_time)
    incidence = incidence_of(tree, leaf, kind)[:, all_times <= last]
    upper = np.cumsum(np.column_stack([np.zeros(len(incidence)), incidence]), axis=0)
    times = np.concatenate([[0.0], all_times[all_times <= last]])
    if times[-1] < last:
        times, upper = np.append(times, last), np.column_stack([upper, upper[:, -1]])
    return times, upper


def arms_caption(
    tree: Tree, kind: LeafCurveKind | None, level: float, *, ticks: bool = True
) -> str:
    """Return in words how the arms of leaves are drawn, and what a hazard ratio is."""
    kind = curve_kind(tree, kind)
    curves = {
        "kaplan-meier": f"Kaplan-Meier survival of each arm, with {100 * level:g}% confidence band",
        "baseline": "Survival of each arm as its hazard predicts it; thin line: observed",
        "shrunk": "Survival of each arm, shrunk towards all rows; thin line: observed",
        "breslow": "Survival of each arm as the hazard ratio predicts it; thin line: observed",
    }
    reference = arms_of(tree).names[0]
    return (
        f"{curves[kind]}. {'Tick: censored rows. ' if ticks else ''}Hazard ratio: the hazard of an "
        f"arm over that of {reference}, by a Cox model in the leaf; below one it does better. "
        "Leaves were chosen because arms differ in them: intervals do not know that."
    )


def arm_at_risk(tree: Tree, leaf: int, arm: int, times: Floats) -> Floats:
    """Return the weight of an arm of a leaf that is at risk at some round times."""
    return at_round_times(tree, arms_of(tree).risk[leaf_position(tree, leaf)][arm], times)

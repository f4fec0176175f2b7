"""Leaves of competing risks as plots and reports draw them: stacked areas, names and colours."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from surtree._support.parameters import LeafCurveKind
from surtree._support.types import Floats
from surtree.tree.cause_curves import incidence_of
from surtree.tree.causes import cause_events, causes_of, read_cause_names
from surtree.tree.leaf_curve import leaf_position
from surtree.tree.tree import Tree
from surtree.words.numbers import plural
from surtree.words.quoting import printable

# Told apart by all common kinds of colour blindness, also in print; then they are repeated.
_COLOURS = ("#C04808", "#0A5FB5", "#D9A21B", "#5B7F3A", "#7A4E9C", "#8B8B8B")


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

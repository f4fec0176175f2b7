"""A tree as printed text: a line for each node, with the numbers of its leaves."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from surtree.tree.arms import arm_cells, arm_headings
from surtree.tree.causes import cause_events, cause_text, causes_of, has_causes
from surtree.tree.evidence import advice, events_note, theta_text

if TYPE_CHECKING:
    from surtree.tree.tree import Tree

_Line = tuple[str, tuple[str, ...], str]


def tree_text(tree: Tree) -> str:
    """Return a tree as text."""
    headings = _headings(tree)
    lines: list[_Line] = [("", headings, ""), *_draw(tree, 0, "all rows", "", "")]
    label_width = max(len(label) for label, _, _ in lines)
    columns = zip(*(cells for _, cells, _ in lines if cells), strict=True)
    widths = [max(map(len, column)) for column in columns]
    drawn = [
        "  ".join([label.ljust(label_width), *map(str.rjust, cells, widths), note]).rstrip()
        for label, cells, note in lines
    ]
    return "\n".join([*drawn, *filter(None, [advice(tree)])])


def median_text(tree: Tree, leaf: int, style: str) -> str:
    """Return the median survival of a leaf, or that it is after the last event."""
    median = tree.median(leaf)
    if np.isfinite(median):
        return format(median, style)
    return f"> {format(tree.baseline.times[-1], style)}"


def _draw(tree: Tree, node: int, label: str, before: str, below: str) -> Iterator[_Line]:
    """Yield a label and, for a leaf, its numbers and a note, for a node and for all below it."""
    if tree.is_leaf[node]:
        yield before + label, _cells(tree, node), events_note(int(tree.n_events[node]))
        return
    yield before + label, (), ""
    for child, tip, line in ((tree.left[node], "├─ ", "│  "), (tree.right[node], "└─ ", "   ")):
        condition = tree.condition(node, child)
        yield from _draw(tree, int(child), condition, below + tip, below + line)


def _headings(tree: Tree) -> tuple[str, ...]:
    counts = ("n",) if tree.n_persons is None else ("persons", "rows")
    if tree.arms is not None:
        return (*counts, *arm_headings(tree.arms))
    if has_causes(tree):
        causes = causes_of(tree).causes
        named = (f"{name} {cause}" for cause in causes for name in ("events", "theta"))
        return (*counts, *named)
    return (*counts, "events", "theta", f"median ({tree.leaf_curve})")


def _cells(tree: Tree, leaf: int) -> tuple[str, ...]:
    counts = [] if tree.n_persons is None else [str(tree.n_persons[leaf])]
    counts.append(str(tree.n_samples[leaf]))
    if tree.arms is not None:
        return (*counts, *arm_cells(tree, leaf))
    if has_causes(tree):
        figures = (
            (f"{cause_events(tree, cause)[leaf]:g}", cause_text(tree, leaf, cause, ".3g"))
            for cause in causes_of(tree).causes
        )
        return (*counts, *chain.from_iterable(figures))
    return (
        *counts,
        str(tree.n_events[leaf]),
        theta_text(tree, leaf, ".3g"),
        median_text(tree, leaf, ".6g"),
    )

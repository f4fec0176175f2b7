"""A tree as printed text: a line for each node, with the figures of its leaves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from surtree.survival.confidence import LEVEL
from surtree.tree.leaf_curve import advice, events_note
from surtree.tree.reversals import reversal_text

if TYPE_CHECKING:
    from surtree.tree.tree import Tree

_Line = tuple[str, tuple[str, ...], str]


def tree_text(tree: Tree) -> str:
    headings, cells = _table(tree)
    lines: list[_Line] = [("", tuple(headings), ""), *_draw(tree, cells, 0, "all rows", "", "")]
    label_width = max(len(label) for label, _, _ in lines)
    columns = zip(*(cells for _, cells, _ in lines if cells), strict=True)
    widths = [max(map(len, column)) for column in columns]
    drawn = [
        "  ".join([label.ljust(label_width), *map(str.rjust, cells, widths), note]).rstrip()
        for label, cells, note in lines
    ]
    note = tree.objective.tree_note(tree.total_loss, float(tree.loss[0]))
    return "\n".join([*drawn, *filter(None, [advice(tree), reversal_text(tree.reversals()), note])])


def _table(tree: Tree) -> tuple[list[str], dict[int, tuple[str, ...]]]:
    """Return the headings of the columns, and the cells of each leaf."""
    leaves = tree.leaves.tolist()
    headings = ["leaf", "n"]
    columns = [list(tree.leaf_names.values()), list(map(str, tree.n_samples[leaves].tolist()))]
    if tree.n_persons is not None:
        headings[1:] = ["persons", "rows"]
        columns.insert(1, list(map(str, tree.n_persons[leaves].tolist())))
    more_headings, more_columns = printed_columns(tree)
    cells = zip(*columns, *more_columns, strict=True)
    return [*headings, *more_headings], dict(zip(leaves, cells, strict=True))


def printed_columns(tree: Tree, level: float = LEVEL) -> tuple[list[str], list[list[str]]]:
    """Return the figures of leaves that a picture has room for: headings, and columns of texts."""
    headings: list[str] = []
    columns: list[list[str]] = []
    for column in tree.outcome.printed_columns(tree.outcome.groups, level):
        cells = [column.text(position) for position in range(tree.n_leaves)]
        if column.joins:
            headings[-1] += f", {column.printed_heading}"
            columns[-1] = [f"{one}, {other}" for one, other in zip(columns[-1], cells, strict=True)]
            continue
        headings.append(column.printed_heading)
        columns.append(cells)
        if column.shows_limits:
            headings.append(f"{100 * level:g}% interval")
            columns.append([column.limits_text(position) for position in range(tree.n_leaves)])
    return headings, columns


def _draw(
    tree: Tree, cells: dict[int, tuple[str, ...]], node: int, label: str, before: str, below: str
) -> Iterator[_Line]:
    """Yield a label and, for a leaf, its numbers and a note, for a node and for all below it."""
    if tree.is_leaf[node]:
        yield before + label, cells[node], events_note(int(tree.n_events[node]))
        return
    yield before + label, (), ""
    for child, tip, line in ((tree.left[node], "├─ ", "│  "), (tree.right[node], "└─ ", "   ")):
        condition = tree.condition(node, child)
        yield from _draw(tree, cells, int(child), condition, below + tip, below + line)

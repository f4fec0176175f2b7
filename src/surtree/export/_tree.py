"""What all exports share: names of columns, categories of a cut, lines of a leaf."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from surtree.cuts.cut import Cut
from surtree.tree.resolve import renamed, tree_of
from surtree.tree.tree import Tree


def named_tree(model: Any, feature_names: Sequence[str] | None = None) -> Tree:
    tree = tree_of(model)
    if feature_names is None:
        return tree
    names = list(map(str, feature_names))
    needed = int(tree.column.max(initial=-1)) + 1
    if len(names) < needed:
        raise ValueError(
            f"feature_names has {len(names)} names, but the tree asks about column {needed - 1} "
            "(counted from 0): give a name for each column of the training table."
        )
    return renamed(tree, names)


def membership(cut: Cut) -> tuple[bool, tuple[Any, ...]] | None:
    """Return the categories for which the answer to a question is yes."""
    if cut.known is None:
        return None if cut.categories is None else (not cut.negated, cut.categories)
    listed = cut.categories or ()
    no, yes = (listed, cut.others) if cut.negated else (cut.others, listed)
    return (False, no) if cut.missing or cut.categories is None else (True, yes)


def leaf_lines(tree: Tree, leaf: int) -> tuple[str, ...]:
    group = tree.outcome.group(leaf)
    figures = tree.outcome.printed_columns([group])
    return (
        group.name,
        *(column.phrase(0) for column in figures if not column.is_count),
        *tree.outcome.count_lines(group),
        *([group.note] if group.note == "few events" else []),
    )

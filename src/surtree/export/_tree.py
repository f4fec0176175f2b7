"""What all exports share: names of columns, categories of a cut, lines of a leaf."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from surtree.cuts.cut import Cut
from surtree.outcomes.cause_figures import cause_events, causes_of
from surtree.outcomes.legacy import cause_text, effect_texts, has_causes, median_text
from surtree.summary.wording import counted_node
from surtree.tree.evidence import FEW_EVENTS, events_note, theta_text
from surtree.tree.resolve import renamed, tree_of
from surtree.tree.tree import Tree
from surtree.words.numbers import plural


def named_tree(model: Any, feature_names: Sequence[str] | None = None) -> Tree:
    """Return the tree of a model, with the names of its columns replaced where others are given."""
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
    """Return what a picture says in a leaf, line by line."""
    n_events = int(tree.n_events[leaf])
    if has_causes(tree):
        return (
            f"leaf {leaf}",
            *(
                f"cause {cause}: theta {cause_text(tree, leaf, cause, '.3g')}, "
                f"events {cause_events(tree, cause)[leaf]:g}"
                for cause in causes_of(tree).causes
            ),
            plural(int(tree.n_samples[leaf]), "row"),
        )
    if tree.arms is not None:
        return (f"leaf {leaf}", *effect_texts(tree, leaf), counted_node(tree, leaf))
    return (
        f"leaf {leaf}",
        f"theta {theta_text(tree, leaf, '.3g')}",
        f"median {median_text(tree, leaf, '.6g')} ({tree.leaf_curve})",
        counted_node(tree, leaf),
        *([events_note(n_events)] if 0 < n_events < FEW_EVENTS else []),
    )

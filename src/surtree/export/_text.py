"""Rules as indented text, in the layout of scikit-learn's ``export_text``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from surtree._support.parameters import require_whole
from surtree.cuts.cut import Cut
from surtree.export._tree import named_tree
from surtree.tree.leaf_curve import events_note
from surtree.tree.tree import Tree

# The most blanks or digits.
_WIDEST = 100


def export_text(
    model: Any,
    *,
    feature_names: Sequence[str] | None = None,
    max_depth: int = 10,
    spacing: int = 3,
    decimals: int = 2,
    show_weights: bool = False,
) -> str:
    """Return the rules of a tree as indented text, as scikit-learn's function of this name does.

    Parameters
    ----------
    model : fitted estimator or Tree
        A model of this package, a pipeline that ends in one, or its ``tree_``.
    feature_names : sequence of str, optional
        A name for each column of the training table; by default the names that it had.
    max_depth : int, default=10
        Questions below this depth are left out; the root is at depth 0.
    spacing : int, default=3
        The width of a step to the right, up to 100.
    decimals : int, default=2
        The digits after the point of theta, median and weights, up to 100. Thresholds keep all the
        digits that it takes to decide as the tree does.
    show_weights : bool, default=False
        Whether to add the weight of the rows, and that of their events, to each leaf.

    Returns
    -------
    str
        Each leaf has its hazard relative to the baseline (theta), its median survival with the
        kind of curve that it is read off, and its rows and events. A leaf without events has the
        most that theta may be, the upper limit of its 95% confidence interval.

    Examples
    --------
    >>> from surtree import SurTree
    >>> from surtree.datasets import load_gbsg2
    >>> from surtree.export import export_text
    >>> model = SurTree(max_depth=1).fit(*load_gbsg2())
    >>> print(export_text(model))
    |--- positive_nodes <= 3
    |   |--- leaf: A, theta: 0.63, median (baseline): > 2456.00, rows: 376, events: 119
    |--- positive_nodes >  3
    |   |--- leaf: B, theta: 1.61, median (baseline): 1059.00, rows: 310, events: 180
    """
    tree = named_tree(model, feature_names)
    require_whole("max_depth", max_depth, 0)
    require_whole("spacing", spacing, 1, _WIDEST)
    require_whole("decimals", decimals, 0, _WIDEST)
    step = "|" + " " * spacing
    tip = "|" + "-" * spacing + " "

    def lines(node: int, depth: int) -> Iterator[str]:
        start = step * depth + tip
        if tree.is_leaf[node]:
            yield start + _leaf_text(tree, node, decimals, show_weights)
        elif depth > max_depth:
            yield f"{start}truncated branch of depth {_depth_below(tree, node)}"
        else:
            cut = tree.worded_cuts[node]
            for side, holds in ((tree.left, False), (tree.right, True)):
                yield start + _rule(cut, holds=holds)
                yield from lines(int(side[node]), depth + 1)

    return "\n".join(lines(0, 0))


def _rule(cut: Cut, *, holds: bool) -> str:
    text = (cut.rule if holds else cut.negated_rule)[len(cut.shown_name) :]
    # As wide as the sign of the other side, so that thresholds stand below each other.
    text = text.replace(" > ", " >  ", 1) if cut.threshold is not None else text
    return cut.shown_name + text


def _leaf_text(tree: Tree, leaf: int, decimals: int, show_weights: bool) -> str:
    style = f".{decimals}f"
    figures = tree.outcome.printed_columns([tree.outcome.group(leaf)])
    parts = [f"leaf: {tree.leaf_names[leaf]}"]
    parts += [
        f"{column.printed_heading}: {column.text(0, style)}"
        for column in figures
        if not column.is_count
    ]
    parts += [
        *([] if tree.n_persons is None else [f"persons: {tree.n_persons[leaf]}"]),
        f"rows: {tree.n_samples[leaf]}",
        f"events: {tree.n_events[leaf]}",
    ]
    if show_weights:
        parts.append(f"weights: [{tree.weight[leaf]:{style}}, {tree.events[leaf]:{style}}]")
    return ", ".join([*parts, *filter(None, [events_note(int(tree.n_events[leaf]))])])


def _depth_below(tree: Tree, node: int) -> int:
    """Count the nodes on the longest way down, the last one included, as scikit-learn does."""
    if tree.is_leaf[node]:
        return 1
    return 1 + max(_depth_below(tree, int(side[node])) for side in (tree.left, tree.right))


def export_json(model: Any, *, indent: int | None = None) -> str:
    """Return a tree as JSON, which `Tree.from_dict` reads back without loss.

    Parameters
    ----------
    model : fitted estimator or Tree
        A model of this package, a pipeline that ends in one, or its ``tree_``.
    indent : int, optional
        Spaces of a step to the right; by default everything is on one line.

    Returns
    -------
    str
        An object whose ``format`` is "surtree.tree" and whose ``version`` is 2; the fields are
        described in ``docs/files.md``.

    Examples
    --------
    >>> import json
    >>> from surtree import SurTree, Tree
    >>> from surtree.export import export_json
    >>> y = [True] * 4, [4.0, 3.0, 2.0, 1.0]
    >>> model = SurTree(max_depth=1).fit([[0], [0], [1], [1]], y)
    >>> Tree.from_dict(json.loads(export_json(model))) == model.tree_
    True
    """
    return json.dumps(
        named_tree(model).to_dict(), indent=indent, allow_nan=False, ensure_ascii=False
    )

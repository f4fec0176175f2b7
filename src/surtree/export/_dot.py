"""A tree in the language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from surtree.export._tree import leaf_lines, named_tree
from surtree.tree.tree import Tree
from surtree.words.quoting import dot_text

_HEAD = """\
digraph tree {
  node [shape=box, style=rounded, fontname="Helvetica,Arial,sans-serif", margin="0.2,0.1"]
  edge [fontname="Helvetica,Arial,sans-serif"]"""


def export_dot(model: Any, *, feature_names: Sequence[str] | None = None) -> str:
    r"""Return a tree in the language of Graphviz, to be drawn by ``dot``.

    Parameters
    ----------
    model : fitted estimator or Tree
        A model of this package, a pipeline that ends in one, or its ``tree_``.
    feature_names : sequence of str, optional
        A name for each column of the training table; by default the names that it had.

    Returns
    -------
    str
        Nodes have the numbers that they have in the tree; the answer no goes left.

    Examples
    --------
    >>> from surtree import SurTree
    >>> from surtree.datasets import load_gbsg2
    >>> from surtree.export import export_dot
    >>> model = SurTree(max_depth=1).fit(*load_gbsg2())
    >>> print(export_dot(model))
    digraph tree {
      node [shape=box, style=rounded, fontname="Helvetica,Arial,sans-serif", margin="0.2,0.1"]
      edge [fontname="Helvetica,Arial,sans-serif"]
      0 [label="positive_nodes > 3", style=solid]
      1 [label="leaf A\ntheta 0.635\nmedian > 2456 (baseline)\n376 rows, 119 events"]
      2 [label="leaf B\ntheta 1.61\nmedian 1059 (baseline)\n310 rows, 180 events"]
      0 -> 1 [label=" no"]
      0 -> 2 [label=" yes"]
    }
    """
    tree = named_tree(model, feature_names)
    return "\n".join((_HEAD, *_nodes(tree), *_edges(tree), "}"))


def _nodes(tree: Tree) -> Iterator[str]:
    for node in range(tree.n_nodes):
        if tree.is_leaf[node]:
            label = "\\n".join(map(dot_text, leaf_lines(tree, node)))
            yield f'  {node} [label="{label}"]'
        else:
            rule = tree.worded_cuts[node].rule
            yield f'  {node} [label="{dot_text(rule)}", style=solid]'


def _edges(tree: Tree) -> Iterator[str]:
    for node in range(tree.n_nodes):
        if not tree.is_leaf[node]:
            yield f'  {node} -> {tree.left[node]} [label=" no"]'
            yield f'  {node} -> {tree.right[node]} [label=" yes"]'

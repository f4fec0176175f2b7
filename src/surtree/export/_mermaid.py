"""A tree as a Mermaid flowchart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from surtree.export._tree import leaf_lines, named_tree
from surtree.tree.tree import Tree
from surtree.words.quoting import mermaid_text


def export_mermaid(model: Any, *, feature_names: Sequence[str] | None = None) -> str:
    """Return a tree as a Mermaid flowchart, which GitHub and many wikis draw.

    Parameters
    ----------
    model : fitted estimator or Tree
        A model of this package, a pipeline that ends in one, or its ``tree_``.
    feature_names : sequence of str, optional
        A name for each column of the training table; by default the names that it had.

    Returns
    -------
    str
        In Markdown it stands in a block of code whose language is ``mermaid``.

    Examples
    --------
    >>> from surtree import SurTree
    >>> from surtree.export import export_mermaid
    >>> y = [True] * 4, [4.0, 3.0, 2.0, 1.0]
    >>> model = SurTree(max_depth=1).fit([[0], [0], [1], [1]], y)
    >>> print(export_mermaid(model))
    flowchart TD
      n0["x0 #62; 0"]
      n1("leaf A<br>theta 0.632<br>median 4 (baseline)<br>2 rows, 2 events<br>few events")
      n2("leaf B<br>theta 2.4<br>median 2 (baseline)<br>2 rows, 2 events<br>few events")
      n0 -- no --> n1
      n0 -- yes --> n2
    """
    tree = named_tree(model, feature_names)
    return "\n".join(("flowchart TD", *_nodes(tree), *_edges(tree)))


def _nodes(tree: Tree) -> Iterator[str]:
    for node in range(tree.n_nodes):
        if tree.is_leaf[node]:
            label = "<br>".join(map(mermaid_text, leaf_lines(tree, node)))
            yield f'  n{node}("{label}")'
        else:
            yield f'  n{node}["{mermaid_text(tree.worded_cuts[node].rule)}"]'


def _edges(tree: Tree) -> Iterator[str]:
    for node in range(tree.n_nodes):
        if not tree.is_leaf[node]:
            yield f"  n{node} -- no --> n{tree.left[node]}"
            yield f"  n{node} -- yes --> n{tree.right[node]}"

"""A tree in the languages of Graphviz and Mermaid, which draw it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from surtree.export._tree import leaf_lines, named_tree
from surtree.tree.tree import Tree
from surtree.words.quoting import dot_text, mermaid_text

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
    shapes = '  {} [label="{}"]', '  {} [label="{}", style=solid]', '  {} -> {} [label=" {}"]'
    lines = _drawn(named_tree(model, feature_names), *shapes, lines=(dot_text, "\\n"))
    return "\n".join((_HEAD, *lines, "}"))


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
    shapes = '  n{}("{}")', '  n{}["{}"]', "  n{0} -- {2} --> n{1}"
    lines = _drawn(named_tree(model, feature_names), *shapes, lines=(mermaid_text, "<br>"))
    return "\n".join(("flowchart TD", *lines))


def _drawn(
    tree: Tree, leaf: str, question: str, arrow: str, *, lines: tuple[Callable[[str], str], str]
) -> Iterator[str]:
    """Yield each node, then what leads to its sides, in these shapes."""
    quoted, line_break = lines
    for node in range(tree.n_nodes):
        if tree.is_leaf[node]:
            yield leaf.format(node, line_break.join(map(quoted, leaf_lines(tree, node))))
        else:
            yield question.format(node, quoted(tree.worded_cuts[node].rule))
    for node in np.flatnonzero(~tree.is_leaf).tolist():
        yield arrow.format(node, tree.left[node], "no")
        yield arrow.format(node, tree.right[node], "yes")

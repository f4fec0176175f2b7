"""A tree as JSON text."""

from __future__ import annotations

import json

from surtree.export._tree import read_tree
from surtree.tree.tree import Tree


def export_json(tree: Tree, *, indent: int | None = None) -> str:
    """Return a tree as JSON, which `Tree.from_dict` reads back without loss.

    Parameters
    ----------
    tree : Tree
        The tree of a fitted model.
    indent : int, optional
        Spaces of a step to the right; by default everything is on one line.

    Returns
    -------
    str
        An object whose ``format`` is "surtree.tree" and whose ``version`` is 1; the fields are
        described in ``docs/files.md``.

    Examples
    --------
    >>> import json
    >>> from surtree import SurTree, Tree
    >>> from surtree.export import export_json
    >>> model = SurTree(max_depth=1).fit([[0], [0], [1], [1]], [4.0, 3.0, 2.0, 1.0])
    >>> Tree.from_dict(json.loads(export_json(model.tree_))) == model.tree_
    True
    """
    return json.dumps(read_tree(tree).to_dict(), indent=indent, allow_nan=False, ensure_ascii=False)

"""A tree as JSON text."""

from __future__ import annotations

import json
from typing import Any

from surtree.export._tree import named_tree


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

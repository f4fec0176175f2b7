"""A tree that was grown in R, read from the JSON that a function in ``docs/audits.md`` writes."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.json_file import Number, list_of, one_of, optional, record, text
from surtree.cuts.cut import Cut
from surtree.data.table import Table

FORMAT = "surtree.r-tree"

_id = Number("the number of a node", 1, 2**53, whole=True)
_NODE = record(
    {"id": _id},
    also={
        "column": text,
        "kids": list_of(_id),
        "threshold": Number("a finite number"),
        "above": one_of("left", "right"),
        "right": list_of(text),
    },
)
_TREE = record(
    {"format": one_of(FORMAT), "package": text, "nodes": list_of(_NODE)},
    also={"leaf": optional(list_of(_id))},
)


@dataclass(frozen=True, eq=False)
class RTree:
    """A tree of rpart or another package of R, for `audit_tree`.

    Parameters
    ----------
    package : str
        What grew it.
    nodes : tuple of mappings
        The nodes in preorder: ``id``; of a split its ``column``, ``kids`` and either ``threshold``
        and ``above``, the side of greater values, or ``right``, the categories that go there.
    leaf : array of int or None
        The leaf of each training row, by its id.

    Examples
    --------
    >>> import json
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from surtree import read_r_tree
    >>> split = {"id": 1, "column": "age", "kids": [2, 3], "threshold": 50, "above": "right"}
    >>> nodes = [split, {"id": 2}, {"id": 3}]
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "tree.json"
    ...     content = {"format": "surtree.r-tree", "package": "rpart", "nodes": nodes}
    ...     _ = path.write_text(json.dumps(content))
    ...     tree = read_r_tree(path)
    >>> tree.package, tree.nodes[0]["column"]
    ('rpart', 'age')
    """

    package: str
    nodes: tuple[Mapping[str, Any], ...]
    leaf: NDArray[np.int64] | None

    def __repr__(self) -> str:
        return f"RTree({self.package}, {sum('column' in node for node in self.nodes)} splits)"

    def topology(self, table: Table) -> tuple[NDArray[np.int32], NDArray[np.int32], list[Cut]]:
        """Return the children of each node, those where its question holds second, and questions.

        Parameters
        ----------
        table : Table
            The rows. Missing values go where the question does not hold.
        """
        number_of = {node["id"]: number for number, node in enumerate(self.nodes)}
        left, right = (np.full(len(self.nodes), -1, dtype=np.int32) for _ in range(2))
        cuts = []
        for number, node in enumerate(self.nodes):
            if "column" not in node:
                continue
            low, high = (number_of[kid] for kid in node["kids"])
            if node.get("above") == "left":
                low, high = high, low
            left[number], right[number] = low, high
            cuts.append(_question(node, table))
        return left, right, cuts


def _question(node: Mapping[str, Any], table: Table) -> Cut:
    name = node["column"]
    if name not in table.names:
        raise ValueError(f"the tree asks about {name!r}, which is no column of the table")
    index = table.names.index(name)
    column = table.column(index)
    missing = False if column.has_missing else None
    if "threshold" in node:
        threshold = float(node["threshold"])
        # R asks "at least", this package "more than".
        if column.kind != "categorical" and (column.values == threshold).any():
            threshold = float(np.nextafter(threshold, -np.inf))
        return Cut(index, name, threshold=threshold, missing=missing)
    known = column.known
    if column.kind != "categorical":
        raise ValueError(f"the tree divides categories of {name!r}, which has none in the table")
    by_text = {str(category): category for category in column.categories}
    listed = tuple(by_text[each] for each in node["right"] if each in by_text)
    return Cut(index, name, categories=listed, missing=missing, known=known)


def read_r_tree(path: str | os.PathLike[str]) -> RTree:
    """Read a tree that was written in R.

    Parameters
    ----------
    path : str or path
        The JSON file that ``write_rpart`` or ``write_party`` wrote, R functions in
        ``docs/audits.md``.

    Returns
    -------
    RTree
        For `audit_tree`, with the rows that the tree was grown on.

    Examples
    --------
    >>> import json
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from surtree import read_r_tree
    >>> split = {"id": 1, "column": "age", "kids": [2, 3], "threshold": 50, "above": "right"}
    >>> nodes = [split, {"id": 2}, {"id": 3}]
    >>> content = {"format": "surtree.r-tree", "package": "rpart", "nodes": nodes}
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "tree.json"
    ...     _ = path.write_text(json.dumps(content))
    ...     tree = read_r_tree(path)
    >>> tree
    RTree(rpart, 1 splits)
    """
    try:
        saved = json.loads(Path(path).read_text(encoding="utf-8"))
        _TREE(saved, "")
        _require_tree(saved["nodes"])
    except ValueError as error:
        raise ValueError(f"{path} is no tree of R as docs/audits.md writes it: {error}") from None
    leaf = saved.get("leaf")
    return RTree(
        saved["package"],
        tuple(saved["nodes"]),
        None if leaf is None else np.array(leaf, dtype=np.int64),
    )


def _require_tree(nodes: list[dict[str, Any]]) -> None:
    """Raise an error unless nodes stand after their parents, each below just one of them."""
    if not nodes:
        raise ValueError("it has no nodes")
    below = {nodes[0]["id"]}
    for node in nodes:
        if node["id"] not in below:
            raise ValueError(f"node {node['id']} is below no node before it, or stands twice")
        below.remove(node["id"])
        is_split = "column" in node
        if is_split and (
            len(node.get("kids", [])) != 2
            or ("threshold" in node) == ("right" in node)
            or ("threshold" in node) != ("above" in node)
        ):
            raise ValueError(f"node {node['id']} does not say where its rows go")
        below.update(node["kids"] if is_split else ())
    if below:
        raise ValueError(f"node {min(below)} is not there")

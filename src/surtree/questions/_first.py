"""The first question of a tree, as the user gives it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.parameters import is_number
from surtree.cuts.cut import Cut
from surtree.cuts.encoder import encoder_of
from surtree.data.table import Column, Table
from surtree.fitting.training import TrainingData
from surtree.tree.tree import Tree

Answers = NDArray[np.bool_]


def position_of(name: Any, table: Table) -> int:
    """Return the position of a column; a ValueError says that there is none of this name."""
    if name not in table.names:
        raise ValueError(f"{name!r} is no column of the table: there are {', '.join(table.names)}")
    return table.names.index(name)


def first_questions(first: Any, estimator: Any, data: TrainingData) -> list[tuple[Cut, Answers]]:
    """Return the questions that may be asked first, and their answers for the rows that count."""
    if isinstance(first, str):
        index = position_of(first, data.table)
        encoder = encoder_of(estimator)
        others = set(range(data.table.n_columns)) - {index}
        encoder.fit_encode(data.table, data.table_weight, data.sums, others)
        cuts = list(encoder.cuts_)
    else:
        cuts = _both_sides(_read(first, data.table), data)
    return [(cut, cut.holds(data.table.column(cut.column))[data.present]) for cut in cuts]


def asked_text(tree: Tree, paths: Iterable[str], columns: Mapping[str, str] | None = None) -> str:
    """Return what a tree asks at the ends of paths, in words; of some, that is a column alone."""
    parts = []
    for path in paths:
        node = 0
        for answer in path:
            node = int((tree.right if answer == "y" else tree.left)[node])
        answers = ", ".join({"y": "yes", "n": "no"}[answer] for answer in path)
        column = (columns or {}).get(path)
        what = f'"{tree.worded_cuts[node].rule}"' if column is None else f"about {column}"
        parts.append(f"{what} {f'after {answers}' if path else 'first'}")
    return f"asks {' and '.join(parts)}"


def wish_text(
    wanted: Mapping[str, Any], forbid: Sequence[str] | Mapping[str, Sequence[str]], tree: Tree
) -> str:
    """Return what was asked for, in words."""
    columns = {path: one for path, one in wanted.items() if isinstance(one, str)}
    parts = [asked_text(tree, wanted, columns)] if wanted else []
    sides = forbid if isinstance(forbid, Mapping) else {"": forbid}
    for side, names in sides.items():
        if names:
            parts.append(
                f"does not ask about {', '.join(names)}{f' below {side!r}' if side else ''}"
            )
    return " and ".join(parts)


def _read(first: Any, table: Table) -> Cut:
    if isinstance(first, Cut):
        index = position_of(first.name, table)
        return replace(first, column=index, known=table.column(index).known)
    if isinstance(first, tuple) and len(first) == 2:
        index = position_of(first[0], table)
        column = table.column(index)
        plain = Cut(index, column.name, known=column.known)
        if is_number(first[1]) and column.kind == "numeric":
            return replace(plain, threshold=float(first[1]))
        if column.kind == "categorical" and not is_number(first[1]):
            return replace(plain, categories=_categories(first[1], column))
    raise ValueError(
        "first must be the name of a column, a Cut, or a column and a threshold or categories, as "
        f"('age', 50) and ('grade', ['II', 'III']); got {first!r}"
    )


def _categories(given: Any, column: Column) -> tuple[Any, ...]:
    listed = (given,) if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
    unknown = [name for name in listed if name not in (column.known or ())]
    if unknown or not 0 < len(set(listed)) < len(column.known or ()):
        raise ValueError(
            f"first must name some of the categories of {column.name!r}, and not all: "
            f"{', '.join(map(str, column.known or ()))}; got {given!r}"
        )
    return tuple(name for name in column.known or () if name in listed)


def _both_sides(cut: Cut, data: TrainingData) -> list[Cut]:
    """Return a question with missing values on the side that it says, or on either."""
    if not data.table.column(cut.column).missing[data.present].any():
        return [replace(cut, missing=None)]
    if cut.missing is not None:
        return [cut]
    return [replace(cut, missing=side) for side in (False, True)]

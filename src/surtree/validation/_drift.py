"""Drift: values of columns that training did not have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from surtree.cuts.cut import Cut
from surtree.data.table import Column, Table
from surtree.tree.tree import Tree
from surtree.words.quoting import printable


@dataclass(frozen=True)
class ColumnDrift:
    """How the values of a column differ from those in training.

    Parameters
    ----------
    name : str
        The column.
    asked : bool
        Whether the tree asks about it.
    missing : float
        The share of rows without a value.
    had_missing : bool
        Whether training had such rows.
    below, above : float
        The share of rows with a number below the least and above the greatest of training.
    unseen : float
        The share of rows with a category that training never had.

    Examples
    --------
    >>> from surtree import SurTree, evaluate
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> model = SurTree(max_depth=1).fit(X, y)
    >>> older = X.assign(age=X["age"] + 20)
    >>> (age,) = (column for column in evaluate(model, older, y).columns if column.name == "age")
    >>> age.asked, round(age.above, 2)
    (False, 0.27)
    """

    name: str
    asked: bool
    missing: float
    had_missing: bool
    below: float
    above: float
    unseen: float

    @property
    def outside(self) -> float:
        """The share of rows with a value, or the lack of one, that training never had."""
        missing = 0.0 if self.had_missing else self.missing
        return missing + self.below + self.above + self.unseen

    @property
    def has_changed(self) -> bool:
        """Whether some row has such a value."""
        return self.outside > 0

    def __str__(self) -> str:
        parts = [
            f"{share:.1%} {words}"
            for share, words in (
                (0.0 if self.had_missing else self.missing, "missing, where training had none"),
                (self.below, "below the least of training"),
                (self.above, "above the greatest of training"),
                (self.unseen, "of categories that training never had"),
            )
            if share > 0
        ]
        asked = "" if self.asked else " (the tree does not ask about it)"
        return f"{printable(self.name)}: {', '.join(parts) or 'as in training'}{asked}"


def column_drifts(tree: Tree, cuts: Iterable[Cut], table: Table) -> tuple[ColumnDrift, ...]:
    """Return how the columns of a table differ from those in training, the most different first."""
    asked = {cut.column for cut in tree.cuts}
    known: dict[int, Cut] = {}
    for cut in cuts:
        # A question about a missing value alone does not know the range of its column.
        if cut.column not in known or (cut.threshold, cut.categories) != (None, None):
            known[cut.column] = cut
    drifts = [
        _drift(cut, table.column(position), position in asked) for position, cut in known.items()
    ]
    return tuple(sorted(drifts, key=lambda drift: (-drift.outside, not drift.asked, drift.name)))


def _drift(cut: Cut, column: Column, asked: bool) -> ColumnDrift:
    values, missing = column.values, column.missing
    below = above = 0.0
    if cut.seen is not None and column.kind != "categorical":
        below, above = float((values < cut.seen[0]).mean()), float((values > cut.seen[1]).mean())
    unseen = cut.unseen(column) if cut.known is not None else np.zeros(values.size, dtype=bool)
    return ColumnDrift(
        cut.name,
        asked,
        float(missing.mean()),
        cut.missing is not None,
        below,
        above,
        float(unseen.mean()),
    )


def drift_lines(columns: Sequence[ColumnDrift]) -> list[str]:
    """Return the columns whose values have changed, as lines of text."""
    changed = [column for column in columns if column.has_changed]
    if not columns:
        return []
    if not changed:
        return ["", "all columns have values as in training"]
    return ["", "not as in training:", *(f"  {column}" for column in changed)]

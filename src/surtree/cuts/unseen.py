"""A warning about categories that training never had, which count as missing values."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from surtree._words import plural
from surtree.cuts.cut import Cut
from surtree.data.table import Table

# The most categories of a column that a warning names.
_MOST_NAMED = 5


class UnseenCategoryWarning(UserWarning):
    """Some rows hold categories that the training table never had; they count as missing.

    To refuse such rows, turn the warning into an error.

    Examples
    --------
    >>> import warnings
    >>> from surtree import SurTree, UnseenCategoryWarning
    >>> y = [True] * 4, [4.0, 3.0, 2.0, 1.0]
    >>> model = SurTree(max_depth=1).fit([["I"], ["I"], ["II"], ["II"]], y)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", UnseenCategoryWarning)
    ...     model.predict([["ii"]])
    Traceback (most recent call last):
    surtree.cuts.unseen.UnseenCategoryWarning: Categories that training never had count as missing \
values: 'ii' in 1 row of column 'x0'
    """


def warn_of_unseen(
    cuts: Iterable[Cut],
    table: Table,
    *,
    stacklevel: int,
    counted: NDArray[np.bool_] | slice = slice(None),
) -> None:
    """Warn once of all columns that hold categories which training never had.

    Parameters
    ----------
    cuts : iterable of Cut
        The questions that are asked; other columns do not matter.
    table : Table
        The rows.
    stacklevel : int
        Whose line the warning names, as in `warnings.warn`, counted from the caller.
    counted : array of bool or slice
        The rows that count; by default all.
    """
    asked = {cut.column: cut for cut in cuts if cut.known is not None}
    found = [text for cut in asked.values() if (text := _unseen_text(cut, table, counted))]
    if found:
        warnings.warn(
            f"Categories that training never had count as missing values: {'; '.join(found)}",
            UnseenCategoryWarning,
            stacklevel=stacklevel + 1,
        )


def _unseen_text(cut: Cut, table: Table, counted: NDArray[np.bool_] | slice) -> str:
    column = table.column(cut.column)
    column = replace(column, values=column.values[counted])
    unseen = cut.unseen(column)
    n_rows = int(unseen.sum())
    if not n_rows:
        return ""
    held = np.unique(column.values[unseen]).tolist()
    if column.kind == "categorical":
        held = [column.categories[code] for code in held]
    named = ", ".join(map(repr, held[:_MOST_NAMED]))
    more = f" and {len(held) - _MOST_NAMED} more" if len(held) > _MOST_NAMED else ""
    return f"{named}{more} in {plural(n_rows, 'row')} of column {column.name!r}"

"""A warning about categories that training never had, which count as missing values."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.package import user_level
from surtree.cuts.cut import Cut
from surtree.data.table import Table
from surtree.words.numbers import plural

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
    counted: NDArray[np.bool_] | slice = slice(None),
) -> None:
    """Warn once of all columns that hold categories which training never had."""
    warn_of(find_unseen(cuts, table, counted))


# By the name of a column: in how many rows it holds each category that training never had.
Unseen = dict[str, Counter[Any]]


def find_unseen(
    cuts: Iterable[Cut], table: Table, counted: NDArray[np.bool_] | slice = slice(None)
) -> Unseen:
    """Return the categories that training never had, of the columns that hold some."""
    unseen: Unseen = {}
    for cut in {cut.column: cut for cut in cuts if cut.known is not None}.values():
        column = table.column(cut.column)
        column = replace(column, values=column.values[counted])
        held, counts = np.unique(column.values[cut.unseen(column)], return_counts=True)
        if held.size:
            names = held.tolist()
            if column.kind == "categorical":
                names = [column.categories[code] for code in names]
            unseen[column.name] = Counter(dict(zip(names, counts.tolist(), strict=True)))
    return unseen


def warn_of(unseen: Unseen) -> None:
    """Warn once of categories that training never had, as `find_unseen` finds them."""
    if unseen:
        warnings.warn(unseen_text(unseen), UnseenCategoryWarning, stacklevel=user_level())


def unseen_text(unseen: Unseen) -> str:
    """Return a line about categories that training never had."""
    texts = "; ".join(_text(name, held) for name, held in unseen.items())
    return f"Categories that training never had count as missing values: {texts}"


def _text(name: str, held: Counter[Any]) -> str:
    named = ", ".join(map(repr, sorted(held)[:_MOST_NAMED]))
    more = f" and {len(held) - _MOST_NAMED} more" if len(held) > _MOST_NAMED else ""
    return f"{named}{more} in {plural(held.total(), 'row')} of column {name!r}"

"""A sheet of cells as texts, and the names of its columns."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from surtree.reading._numbers import numbers
from surtree.reading.dates import DATE
from surtree.reading.errors import UserError, note
from surtree.words.numbers import plural


@dataclass(frozen=True)
class Sheet:
    """The first line of a file, and the cells below it."""

    path: Path  # the file, for messages
    header: list[str]  # the cells of the first line
    cells: pl.DataFrame  # the other lines, all of them texts

    def named(self) -> pl.DataFrame:
        """Return the cells below their names, without blank lines and row names."""
        names = [" ".join(name.strip().strip('"').split()) for name in self.header]
        self._require_header(names)
        cells = self._without_blank_lines()
        kept = [index for index, name in enumerate(names) if name or _has_cells(cells, index)]
        if kept and not names[kept[0]] and _all_differ(cells, kept[0]):
            note(f"the first column of {self.path} has no name: row names, left out")
            del kept[0]
        names = [names[index] for index in kept]
        for name, count in Counter(names).items():
            if not name:
                title = "" if any(names[1:]) else "; if the first line is a title, delete it"
                raise UserError(
                    f"{plural(count, 'column')} of {self.path} "
                    f"{'has' if count == 1 else 'have'} no name: give each a name of its own{title}"
                )
            if count > 1:
                raise UserError(
                    f"{count} columns of {self.path} are called {name!r}: give each a name of its "
                    "own"
                )
        columns = cells.get_columns()
        return pl.DataFrame(
            [columns[index].alias(name) for index, name in zip(kept, names, strict=True)]
        )

    def _require_header(self, names: list[str]) -> None:
        present = pl.Series([name for name in names if name], dtype=pl.String)
        is_data = numbers(present).is_not_null() | present.str.contains(DATE)
        if len(present) and is_data.all():
            shown = ", ".join(map(repr, present.head(3)))
            raise UserError(
                f"the first line of {self.path} holds data and no names ({shown}): put a line with "
                "the names of the columns above it"
            )

    def _without_blank_lines(self) -> pl.DataFrame:
        """Drop lines without content, with a note that counts them."""
        # An empty line is a missing value of a single column.
        if self.cells.width == 1:
            return self.cells
        blank = pl.all_horizontal(pl.all().fill_null("").str.strip_chars() == "")
        kept = self.cells.filter(~blank)
        n_left_out = len(self.cells) - len(kept)
        if n_left_out:
            note(f"{plural(n_left_out, 'blank line')} of {self.path} left out")
        return kept


def _has_cells(cells: pl.DataFrame, index: int) -> bool:
    column = cells.to_series(index)
    return bool((column.fill_null("").str.strip_chars() != "").any())


def _all_differ(cells: pl.DataFrame, index: int) -> bool:
    column = cells.to_series(index)
    return column.null_count() == 0 and column.n_unique() == len(column)

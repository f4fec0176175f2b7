"""Columns of texts as numbers, truth values and texts."""

from __future__ import annotations

from collections.abc import Collection

import polars as pl

from surtree.cli._console import UserError
from surtree.cli._numbers import described, find_decimal, has_evidence, may_be_either, numbers

_TRUTH = {"true": True, "false": False}


def typed(
    texts: pl.DataFrame,
    *,
    missing: Collection[str],
    as_texts: Collection[str],
    decimal: str | None,
    may_have_commas: bool,
) -> tuple[pl.DataFrame, dict[str, str]]:
    """Return a table with numbers where all cells of a column are, and how these are written.

    Parameters
    ----------
    texts : polars.DataFrame of String
        The cells.
    missing : collection of str
        The cells that are missing values.
    as_texts : collection of str
        Columns that stay texts.
    decimal : {".", ","}, optional
        The decimal mark, if the user has said it.
    may_have_commas : bool
        Whether decimal commas are looked for: not where commas stand between the cells.
    """
    cleaned = [_cleaned(texts[name], missing) for name in texts.columns]
    mark = decimal
    if decimal is None and may_have_commas:
        mark = find_decimal(column for column in cleaned if column.name not in as_texts)
    columns, ways = [], {}
    for column in cleaned:
        if column.name in as_texts:
            columns.append(column)
            continue
        if may_have_commas and mark is None and may_be_either(column):
            raise UserError(
                f"column {column.name!r} holds {_example(column)!r}, which may be a thousand or a "
                "fraction: say --decimal . or --decimal ,"
            )
        marks = [mark or "."]
        if may_have_commas and decimal is None:
            marks += [other for other in ".," if other != marks[0] and has_evidence(column, other)]
        found, way = _typed(column, marks)
        columns.append(found)
        if way:
            ways[column.name] = way
    return pl.DataFrame(columns), ways


def _cleaned(column: pl.Series, missing: Collection[str]) -> pl.Series:
    """Return texts without blanks and quotation marks around them, null where missing."""
    stripped = column.str.strip_chars(" ")
    if stripped.str.starts_with('"').any():  # after a blank, or twice
        stripped = stripped.str.replace(r'^"(.*)"$', "$1").str.strip_chars(" ")
    absent = stripped.str.strip_chars().is_in(list({*missing, ""}))
    found = pl.select(pl.when(~absent).then(stripped)).to_series()
    return found.cast(pl.String).alias(column.name)


def _typed(column: pl.Series, marks: list[str]) -> tuple[pl.Series, str]:
    if column.null_count() == len(column):
        return column, ""
    if str(column.drop_nulls()[0]).lower() in _TRUTH:
        words = column.str.to_lowercase()
        truth = words.replace_strict(_TRUTH, default=None, return_dtype=pl.Boolean)
        if truth.null_count() == column.null_count():
            return truth, ""
    for mark in marks:
        values = numbers(column, mark)
        if values.null_count() == column.null_count():
            whole = column.str.strip_chars().cast(pl.Int64, strict=False)
            is_whole = whole.null_count() == column.null_count()
            found = whole if is_whole else values
            return found.alias(column.name), "" if is_whole else described(column, mark)
    return column, ""


def _example(column: pl.Series) -> str:
    place = column.str.contains(",", literal=True).arg_max()
    return str(column[place or 0])

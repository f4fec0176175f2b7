"""Columns of texts as numbers, truth values and texts."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

import polars as pl

from surtree.reading.errors import Format, UserError
from surtree.reading.numbers import described, find_decimal, has_evidence, may_be_either, numbers

Source = Literal["commas", "other marks", "workbook"]

_TRUTH = {"true": True, "false": False}


def typed(
    texts: pl.DataFrame,
    missing: Collection[str],
    as_texts: Collection[str],
    form: Format,
    source: Source,
) -> tuple[pl.DataFrame, dict[str, str]]:
    """Return a table with numbers where all cells of a column are, and how these are written."""
    decimal = form.decimal
    cleaned = [_cleaned(texts[name], missing) for name in texts.columns]
    default = "." if source == "commas" else None
    if source == "other marks" and decimal is None:
        default = find_decimal(column for column in cleaned if column.name not in as_texts)
    columns, ways = [], {}
    for column in cleaned:
        if column.name in as_texts:
            columns.append(column)
            continue
        marks = [decimal or default or "."]
        if decimal is None and source != "commas":
            seen = _points_as_commas(column) if source == "workbook" else column
            marks += [mark for mark in ".," if mark != marks[0] and has_evidence(seen, mark)]
            if default is None and len(marks) == 1 and may_be_either(column):
                raise UserError(
                    f"column {column.name!r} holds {_with_comma(column)!r}, which may be a "
                    f"thousand or a fraction: say {form.option('decimal', '.')} or "
                    f"{form.option('decimal', ',')}"
                )
        values, way = _typed(column, marks, points=source == "workbook")
        columns.append(values)
        if way:
            ways[column.name] = way
    return pl.DataFrame(columns), ways


def _cleaned(column: pl.Series, missing: Collection[str]) -> pl.Series:
    """Return texts without blanks and quotation marks around them, null where missing."""
    stripped = column.str.strip_chars(" ")
    if stripped.str.starts_with('"').any():  # after a blank, or twice
        stripped = stripped.str.replace(r'^"([^"]*)"$', "$1").str.strip_chars(" ")
    absent = stripped.str.strip_chars().is_in(list({*missing, ""}))
    present = pl.select(pl.when(~absent).then(stripped)).to_series()
    return present.cast(pl.String).alias(column.name)


def _typed(column: pl.Series, marks: list[str], *, points: bool) -> tuple[pl.Series, str]:
    if column.null_count() == len(column):
        return column, ""
    if str(column.drop_nulls()[0]).lower() in _TRUTH:
        words = column.str.to_lowercase()
        truth = words.replace_strict(_TRUTH, default=None, return_dtype=pl.Boolean)
        if truth.null_count() == column.null_count():
            return truth, ""
    for mark in marks:
        texts = _points_as_commas(column) if points and mark == "," else column
        values = numbers(texts, mark)
        if values.null_count() == column.null_count():
            whole = column.str.strip_chars().cast(pl.Int64, strict=False)
            is_whole = whole.null_count() == column.null_count()
            numeric = whole if is_whole else values
            return numeric.alias(column.name), "" if is_whole else described(texts, mark)
    return column, ""


def _points_as_commas(column: pl.Series) -> pl.Series:
    """Return cells with a decimal comma, where the numbers of a workbook have a point."""
    is_number = ~column.str.contains(",", literal=True)
    commas = column.str.replace(".", ",", literal=True)
    return pl.select(pl.when(is_number).then(commas).otherwise(column)).to_series()


def _with_comma(column: pl.Series) -> str:
    index = column.str.contains(",", literal=True).arg_max()
    return str(column[index or 0])

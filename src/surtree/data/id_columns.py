"""Columns that say whose row it is, or when it begins: no question for a tree."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.types import Floats

# From so many rows on, a different value in nearly every one of them is no coincidence, and from
# so many on, that they are in order.
FEWEST_ROWS = 20
_FEWEST_IN_ORDER = 100
# The share of rows that have a value of their own in a column of text ids.
_MOSTLY = 0.9
# Persons have so many rows each, on average, and there are so many persons: else they are centres.
_MOST_ROWS_EACH = 10
_FEWEST_PERSONS = 10
# In fewer rows, that each begins before its end may be a coincidence.
_FEWEST_STARTS = 40

_BETWEEN = r"[ _.-]"
_WHO = "p|pt|pat|patient|subj|subject|person|proband|case|rec|record|stud|study"
# Words at the end of the name of a column that tells rows or persons apart.
_ID_NAME = re.compile(
    rf"(?i:(?:^|{_BETWEEN})(?:{_WHO}|row|obs|sample)?{_BETWEEN}?"
    r"(?:id|nr|no|num|number|nummer|index|key|uuid|guid|mrn))\W*$|[a-z](?:ID|Id|Nr)\W*$"
)
# Fewer names: "number" and "index" are also the names of counts and measures, which repeat.
_PERSON_NAME = re.compile(
    rf"(?i:(?:^|{_BETWEEN})(?:(?:{_WHO}|family|fam|pair)?{_BETWEEN}?id|mrn"
    rf"|(?:{_WHO}){_BETWEEN}?(?:nr|no|num|number|nummer|key))|^(?:patient|subject|person))\W*$"
    r"|[a-z](?:ID|Id)\W*$"
)
_START_NAME = re.compile(
    rf"(?i)(?:time|t)?{_BETWEEN}?(?:start|begin|entry){_BETWEEN}?(?:time|t)?|t(?:ime)?_?0|beginn"
)
# The share of rows of which a rule of start-stop rows must be true.
_NEARLY_ALL = 0.99


def is_named_like_id(name: str) -> bool:
    """Return whether a column has the name of an id, a number of a person or a start."""
    return bool(_ID_NAME.search(name) or _PERSON_NAME.search(name) or _START_NAME.fullmatch(name))


def numbers_rows(name: str, values: Floats) -> bool:
    """Return whether numbers tell rows apart: each once, and without gaps, in order or so named."""
    if values.size < FEWEST_ROWS or not (values == np.floor(values)).all():
        return False
    ascending = np.sort(values)
    if not (ascending[1:] > ascending[:-1]).all():
        return False
    if ascending[-1] - ascending[0] + 1 == values.size or _ID_NAME.search(name):
        return True
    in_order = (ascending == values).all() or (ascending == values[::-1]).all()
    return bool(in_order and values.size >= _FEWEST_IN_ORDER)


def labels_rows(n_texts: int, n_rows: int) -> bool:
    """Return whether so many different texts in so many rows tell rows apart."""
    return n_rows >= FEWEST_ROWS and n_texts > _MOSTLY * n_rows


def is_named_like_person(name: str) -> bool:
    return _PERSON_NAME.search(name) is not None


def are_persons(n_values: int, n_rows: int) -> bool:
    fewest = max(_FEWEST_PERSONS, n_rows / _MOST_ROWS_EACH)
    return n_rows >= FEWEST_ROWS and fewest <= n_values < n_rows


def starts_rows(name: str, values: Floats, time: Floats) -> bool:
    """Return whether rows begin there: by the name, or as each begins where the last one ends."""
    inside = (values >= 0) & (values < time)
    if values.size < _FEWEST_STARTS or inside.mean() < _NEARLY_ALL:
        return False
    if _START_NAME.fullmatch(name):
        return bool(np.unique(values[inside]).size > 2)
    if np.count_nonzero(values == 0) < 2:  # a single chain may be a count of rows
        return False
    late = values[1:] > 0
    follows = late & (values[1:] == time[:-1])
    return bool(follows.sum() >= max(FEWEST_ROWS / 2, _NEARLY_ALL * late.sum()))


def are_numbers(texts: Sequence[Any]) -> bool:
    """Return whether texts are numbers: not those of codes, which begin with zeros."""
    return all(isinstance(text, str) and _is_number(text) for text in texts)


def _is_number(text: str) -> bool:
    if text == "nan":
        return True
    digits = text.lstrip("+-")
    if not digits[:1].isdigit() or (digits[0] == "0" and digits[1:2].isdigit()):
        return False
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def n_distinct(values: NDArray[Any]) -> int:
    """Return how many values a column has, missing ones aside."""
    present = values[values >= 0] if values.dtype.kind == "i" else values[~np.isnan(values)]
    return int(np.unique(present).size)

"""Checks of values that were read from a file; together they describe a format.

A check takes a value and where it stands, and raises a ValueError of one line where the value is
something else.
"""

from __future__ import annotations

import math
import reprlib
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

Check = Callable[[Any, str], None]
Read = TypeVar("Read")

LARGEST = sys.float_info.max
# The least number above zero.
POSITIVE = 5e-324

_LONGEST = 80


def shown(value: Any) -> str:
    """Return a value for a message: short, and on one line."""
    text = reprlib.repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def format_and_version(saved: Any) -> tuple[Any, Any]:
    """Return the format and version that a file states, None and None if it does not."""
    if not isinstance(saved, dict):
        return None, None
    return saved.get("format"), saved.get("version")


def is_known(version: Any, versions: Mapping[int, Any]) -> bool:
    """Tell whether a version that a file says it has is a key here; 1.0 and true are not 1."""
    return type(version) is int and version in versions


@dataclass(frozen=True)
class Number:
    """The check of a finite number in a range; truth is no number."""

    wanted: str  # what the number must be, in words
    least: float = -LARGEST  # the range, both ends included
    most: float = LARGEST
    whole: bool = False  # whether the number must be whole, and written so

    def __call__(self, value: Any, where: str) -> None:
        """Check one number."""
        kinds: Any = int if self.whole else int | float
        # NaN is in no range.
        right = isinstance(value, kinds) and self.least <= value <= self.most
        if not right or isinstance(value, bool):
            raise _unlike(where, value, self.wanted)

    def holds_for_all(self, values: list[Any]) -> bool:
        """Check many numbers at once: a baseline may have a million."""
        kinds = {int} if self.whole else {int, float}
        return not values or (
            set(map(type, values)) <= kinds
            and self.least <= min(values)
            and max(values) <= self.most
            and not any(map(math.isnan, values))
        )


def text(value: Any, where: str) -> None:
    """Check a text: also that a file can hold it."""
    if not isinstance(value, str):
        raise _unlike(where, value, "a text")
    if not value.isascii() and any("\ud800" <= sign <= "\udfff" for sign in value):
        raise ValueError(f"{where} has half of a character: {shown(value)}")


def flag(value: Any, where: str) -> None:
    """Check that a value is true or false."""
    if not isinstance(value, bool):
        raise _unlike(where, value, "true or false")


def anything(value: Any, where: str) -> None:
    """Accept any value; another check follows."""


def one_of(*allowed: str | int) -> Check:
    """Return the check of a value that is one of a few."""

    def check(value: Any, where: str) -> None:
        if not any(value == known and type(value) is type(known) for known in allowed):
            raise _unlike(where, value, f"one of {', '.join(map(repr, allowed))}")

    return check


def optional(inside: Check) -> Check:
    """Return the check of a value that may be null."""

    def check(value: Any, where: str) -> None:
        if value is not None:
            inside(value, where)

    return check


def list_of(inside: Check) -> Check:
    """Return the check of a list all of whose items pass the same check."""

    def check(value: Any, where: str) -> None:
        if not isinstance(value, list):
            raise _unlike(where, value, "a list")
        if isinstance(inside, Number) and inside.holds_for_all(value):
            return
        for position, item in enumerate(value):
            inside(item, f"{where}[{position}]")

    return check


def record(fields: Mapping[str, Check], also: Mapping[str, Check] | None = None) -> Check:
    """Return the check of an object with certain fields and no others."""
    known = {**fields, **(also or {})}

    def check(value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise _unlike(where, value, "an object")
        within = f" in {where}" if where else ""
        for name in fields:
            if name not in value:
                raise ValueError(f"{name!r} is not there{within}")
        for name, item in value.items():
            if name not in known:
                raise ValueError(f"{shown(name)} is not a field{within}")
            known[name](item, f"{where}.{name}" if where else name)

    return check


def read_each(read: Callable[[Any], Read], items: Iterable[Any], where: str) -> tuple[Read, ...]:
    """Read the items of a list, and say in an error which one it is about."""
    values = []
    for position, item in enumerate(items):
        try:
            values.append(read(item))
        except ValueError as error:
            raise ValueError(f"{where}[{position}]: {error}") from None
    return tuple(values)


def _unlike(where: str, value: Any, wanted: str) -> ValueError:
    return ValueError(f"{where or 'it'} is {shown(value)}, not {wanted}")

"""A figure of each of some groups, as tables, printed trees and pictures show it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import isfinite, nan

from surtree.words.numbers import interval_text

Limits = tuple[float, float]
UNKNOWN: Limits = (nan, nan)


@dataclass(frozen=True)
class Column:
    """A figure of each of some groups: a column of a table of leaves."""

    name: str  # in CSV, JSON and tables of predictions
    heading: str  # in tables for people
    symbol: str  # in printed trees and pictures, where there is little room
    values: Sequence[float]  # NaN where there is no estimate, infinity where none is reached
    limits: Sequence[Limits] | None = None  # the confidence limits of each value
    # What stands in place of a value that is no estimate: words, and a number that follows them.
    instead: Mapping[int, tuple[str, float]] = field(default_factory=dict)
    texts: Sequence[str] | None = None  # what people read, where it is more than the value
    style: str = ".3g"  # the digits of a value
    qualifier: str = ""  # what a value is read off, such as the kind of curve
    is_count: bool = False
    is_time: bool = False
    is_printed: bool = True  # whether printed trees and pictures have room for it
    joins: bool = False  # whether a printed tree writes it into the cell of the column before
    shows_limits: bool = False  # whether printed trees show the limits in a cell of their own

    def text(self, position: int, form: str | Callable[[float], str] | None = None) -> str:
        """Return a value as people read it, with other digits where a form is given."""
        value = self.values[position]
        if self.texts is not None:
            return self.texts[position]
        if self.is_count:
            return str(value) if isinstance(value, int) else f"{value:g}"
        write = form if callable(form) else partial(_written, form or self.style)
        if position not in self.instead:
            return write(value) if isfinite(value) else "unknown"
        words, bound = self.instead[position]
        return f"{words} {write(bound)}" if isfinite(bound) else "unknown"

    @property
    def picture_heading(self) -> str:
        """The heading in a picture, on two lines."""
        text = self.symbol if self.joins or " " in self.symbol else self.heading
        return text.replace(" ", "\n", 1)

    @property
    def printed_heading(self) -> str:
        """The heading in a printed tree."""
        return f"{self.symbol} ({self.qualifier})" if self.qualifier else self.symbol

    def phrase(self, position: int) -> str:
        """Return what a value is, and the value, as a picture writes it in a leaf."""
        colon = ":" if " " in self.symbol else ""
        after = f" ({self.qualifier})" if self.qualifier else ""
        return f"{self.symbol}{colon} {self.text(position)}{after}"

    def limits_text(self, position: int) -> str:
        """Return the limits of a value in words."""
        limits = UNKNOWN if self.limits is None else self.limits[position]
        return interval_text(limits) or "unknown"


def _written(style: str, value: float) -> str:
    return format(value, style)

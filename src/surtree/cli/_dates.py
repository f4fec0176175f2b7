"""Dates and times of day, as texts."""

from __future__ import annotations

_TIME = r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?"
_ZONE = r"(?: ?Z|[+-]\d{2}:?\d{2})?"
_DAY = "|".join(
    (
        r"\d{4}-\d{1,2}-\d{1,2}",
        r"\d{4}/\d{1,2}/\d{1,2}",
        r"\d{1,2}\.\d{1,2}\.(?:\d{4}|\d{2})",
        r"\d{1,2}/\d{1,2}/(?:\d{4}|\d{2})",
        r"\d{1,2}-\d{1,2}-\d{4}",
        r"\d{1,2}[- .]?[A-Za-z]{3}[- .]?(?:\d{4}|\d{2})",
    )
)
# A whole text that is a date, with or without a time of day, or a time of day alone.
DATE = rf"^(?:(?:{_DAY})(?:[ T]{_TIME}{_ZONE})?|{_TIME})$"

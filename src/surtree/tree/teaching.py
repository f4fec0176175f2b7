"""What a fit kept of a teacher, whose risks no file has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from surtree._support.schema import Number, optional, record, text

_loss = optional(Number("a number, zero or more", 0.0))
teaching_format = record({"teacher": text, "training_loss": _loss, "plain_loss": _loss})


@dataclass(frozen=True)
class Teaching:
    """Who taught a tree, and how well it and the plain optimum fit the events of its rows."""

    teacher: str  # in words
    training_loss: float | None  # of the tree, on the events of its training rows
    # The same of the tree of at most as many splits that is best at it; None where it is unknown.
    plain_loss: float | None = None


def save_teaching(teaching: Teaching | None) -> dict[str, Any] | None:
    """Return it as plain values that JSON can hold."""
    return None if teaching is None else asdict(teaching)


def read_teaching(saved: Mapping[str, Any] | None) -> Teaching | None:
    """Return what `save_teaching` wrote."""
    return None if saved is None else Teaching(**saved)

"""A score card as programs: SQL and Python that add up its points."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from surtree.averages.points import PointsTable
from surtree.cuts.cut import Cut
from surtree.tree.resolve import last_step, renamed_cuts

Decisions = list[tuple[list[tuple[Cut, int]], int]]


def card_of(model: Any) -> PointsTable | None:
    """Return the score card that a model, or the last step of a pipeline, is; None for others."""
    last = last_step(model).model
    return last if isinstance(last, PointsTable) else None


def points_program(
    card: PointsTable,
    value: Any,
    feature_names: Sequence[str] | None,
    write: Callable[[Decisions, tuple[float, float] | None], str],
) -> str:
    """Return a card as a program; a risk has its logarithm without points, and of a point."""
    if value not in ("leaf", "risk"):
        raise ValueError(
            'Of a score card, value is "leaf" (the default) for the sum of its points, or "risk"; '
            f"got {value!r}."
        )
    decisions = card.decisions_
    if feature_names is not None:
        names = list(map(str, feature_names))
        decisions = [
            ([(cut, n) for cut, (_, n) in zip(_renamed(asked, names), asked, strict=True)], rest)
            for asked, rest in decisions
        ]
    zero, ten = (math.log(risk) for risk in card.risk_of([0, 10]).tolist())
    return write(decisions, (zero, (ten - zero) / 10) if value == "risk" else None)


def _renamed(asked: list[tuple[Cut, int]], names: list[str]) -> tuple[Cut, ...]:
    return renamed_cuts([cut for cut, _ in asked], names)

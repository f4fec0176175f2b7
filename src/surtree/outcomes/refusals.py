"""Verbs that know of one event only refuse models of several hazards."""

from __future__ import annotations

from typing import Any


def refuse_causes(model: Any, what: str) -> None:
    """Raise an error for a model of several hazards, where there is nothing for more than one."""
    reason = getattr(model, "_several_hazards", None)
    if reason is not None:
        raise ValueError(f"There is no {what} {reason}")

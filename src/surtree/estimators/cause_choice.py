"""Which causes a tree is to tell apart, and how much each counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from surtree._support.parameters import is_number, is_whole, require_leaf_curve
from surtree.estimators.parameters import Checks, of_value
from surtree.solver.problem import Limits

CauseChoice = int | Sequence[int] | Mapping[int, float] | None


@dataclass(frozen=True)
class CauseLimits(Limits):
    """How large a tree may be, and how small its leaves: events are those of the chosen causes."""

    @property
    def least(self) -> dict[str, float]:
        """The least value in a leaf of each count of `RowSums`, by its name."""
        return {"samples": self.min_samples_leaf, "counted_events": self.min_events_leaf}


def require_causes(causes: Any) -> None:
    """Raise an error unless ``causes`` names causes, or weights of causes."""
    named = list(_weights(causes).items()) if causes is not None else []
    wrong = any(not is_whole(cause) or cause < 1 for cause, _ in named) or any(
        not is_number(weight) or not 0 <= weight < float("inf") for _, weight in named
    )
    if wrong or (causes is not None and not any(weight > 0 for _, weight in named)):
        raise ValueError(
            "causes must be None for all causes, one of them (1), several ([1, 2]), or weights of "
            f"them ({{1: 1.0, 2: 0.5}}); got {causes!r}."
        )


def require_cause_curve(leaf_curve: Any) -> None:
    """Raise an error for a kind of curve that competing risks do not have."""
    require_leaf_curve(leaf_curve)
    if leaf_curve == "breslow":
        raise ValueError(
            'leaf_curve="breslow" is for one cause of events: with competing risks, use '
            '"kaplan-meier", "shrunk" or "baseline".'
        )


CAUSE_CHECKS: Checks = {
    "causes": of_value(require_causes),
    "leaf_curve": of_value(require_cause_curve),
}


def cause_weights(causes: CauseChoice, present: Iterable[int]) -> tuple[float, ...]:
    """Return the weight of each cause that rows have."""
    present = tuple(present)
    if causes is None:
        return (1.0,) * len(present)
    weights = _weights(causes)
    absent = [cause for cause, weight in weights.items() if weight > 0 and cause not in present]
    if absent:
        raise ValueError(
            f"No row has an event of cause {', '.join(map(str, absent))}: the causes in y are "
            f"{', '.join(map(str, present)) or 'none'}"
        )
    return tuple(float(weights.get(cause, 0.0)) for cause in present)


def plain_causes(causes: CauseChoice) -> Any:
    """Return a choice of causes as JSON can hold it: weights as a list of pairs."""
    if causes is None or is_whole(causes):
        return causes if causes is None else int(causes)  # type: ignore[arg-type]
    if isinstance(causes, Mapping):
        return [[int(cause), float(weight)] for cause, weight in causes.items()]
    return [int(cause) for cause in causes]  # type: ignore[union-attr]


def read_causes(saved: Any) -> CauseChoice:
    """Return a choice of causes that `plain_causes` wrote."""
    if isinstance(saved, list) and saved and all(isinstance(one, list) for one in saved):
        return {int(cause): float(weight) for cause, weight in saved}
    return saved  # type: ignore[no-any-return]


def _weights(causes: Any) -> dict[Any, Any]:
    if isinstance(causes, Mapping):
        return dict(causes)
    if is_whole(causes) or isinstance(causes, str) or not isinstance(causes, Iterable):
        return {causes: 1.0}
    return dict.fromkeys(causes, 1.0)

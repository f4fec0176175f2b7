"""All objectives that a file can name."""

from __future__ import annotations

from typing import Any

from surtree._support.json_file import Number, list_of, record, shown, text
from surtree.survival.competing_risks import CauseHazards
from surtree.survival.objective import RELATIVE_RISK, Objective, RelativeRisk
from surtree.survival.taught import TaughtRisk
from surtree.survival.treatment import ArmContrasts, ArmHazards

OBJECTIVES: tuple[type[Objective], ...] = (
    RelativeRisk,
    CauseHazards,
    ArmHazards,
    ArmContrasts,
    TaughtRisk,
)


OBJECTIVE_FORMAT = record({"name": text, "parameters": list_of(Number("a finite number"))})


def save_objective(objective: Objective) -> dict[str, Any]:
    """Return an objective as plain values that JSON can hold."""
    return {"name": objective.name, "parameters": list(objective.settings)}


def read_objective(saved: dict[str, Any]) -> Objective:
    """Return the objective of a tree or a model that was read from a file."""
    if "objective" not in saved:
        return RELATIVE_RISK
    OBJECTIVE_FORMAT(saved["objective"], "objective")
    name, parameters = saved["objective"]["name"], saved["objective"]["parameters"]
    known = {kind.name: kind for kind in OBJECTIVES}
    if name not in known:
        raise ValueError(
            f"its tree was fitted for the objective {shown(name)}, and this surtree knows "
            f"{', '.join(map(repr, known))} only: install the surtree that wrote it, or a newer one"
        )
    try:
        return known[name].from_settings(*parameters)
    except TypeError:
        raise ValueError(
            f"{len(parameters)} parameters are not those of the objective {name!r}"
        ) from None

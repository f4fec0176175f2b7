"""All objectives that a file can name."""

from __future__ import annotations

from surtree.survival.competing_risks import CauseHazards
from surtree.survival.objective import Objective, RelativeRisk
from surtree.survival.taught import TaughtRisk
from surtree.survival.treatment import ArmContrasts, ArmHazards

OBJECTIVES: tuple[type[Objective], ...] = (
    RelativeRisk,
    CauseHazards,
    ArmHazards,
    ArmContrasts,
    TaughtRisk,
)

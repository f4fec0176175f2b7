"""Survival analysis without trees: the baseline hazard, the objective, Kaplan-Meier and curves."""

from surtree.survival.baseline import Baseline
from surtree.survival.competing_risks import CauseHazards
from surtree.survival.objective import Objective, RelativeRisk
from surtree.survival.step_function import BeyondFollowUpWarning, StepFunction

__all__ = [
    "Baseline",
    "BeyondFollowUpWarning",
    "CauseHazards",
    "Objective",
    "RelativeRisk",
    "StepFunction",
]

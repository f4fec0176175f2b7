"""Survival analysis without trees: the baseline hazard, the objective, Kaplan-Meier and curves."""

from surtree.survival.baseline import Baseline
from surtree.survival.step_function import StepFunction

__all__ = ["Baseline", "StepFunction"]

"""Validation: what models are worth in new data, by resampling and on the rows of others."""

from surtree.validation._by_group import GroupPerformance
from surtree.validation._drift import ColumnDrift
from surtree.validation._external import Evaluation, evaluate
from surtree.validation._leaf_checks import LeafCheck
from surtree.validation._measures import Measure
from surtree.validation._resampling import validate
from surtree.validation._stability import ColumnUse, LeafStability
from surtree.validation.comparison import Comparison, compare
from surtree.validation.held_out import HeldOutScores
from surtree.validation.recalibration import recalibrate
from surtree.validation.results import Validation
from surtree.validation.risk_groups import risk_groups
from surtree.validation.sizes import SizeScores, Tuning

__all__ = [
    "ColumnDrift",
    "ColumnUse",
    "Comparison",
    "Evaluation",
    "GroupPerformance",
    "HeldOutScores",
    "LeafCheck",
    "LeafStability",
    "Measure",
    "SizeScores",
    "Tuning",
    "Validation",
    "compare",
    "evaluate",
    "recalibrate",
    "risk_groups",
    "validate",
]

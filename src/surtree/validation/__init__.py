"""Validation: what models are worth in new data, by resampling and on the rows of others."""

from surtree.validation.drift import ColumnDrift
from surtree.validation.external import Evaluation, evaluate
from surtree.validation.held_out import HeldOutScores
from surtree.validation.leaf_checks import LeafCheck
from surtree.validation.measures import Measure
from surtree.validation.resampling import validate
from surtree.validation.results import Validation
from surtree.validation.sizes import SizeScores, Tuning
from surtree.validation.stability import ColumnUse, LeafStability

__all__ = [
    "ColumnDrift",
    "ColumnUse",
    "Evaluation",
    "HeldOutScores",
    "LeafCheck",
    "LeafStability",
    "Measure",
    "SizeScores",
    "Tuning",
    "Validation",
    "evaluate",
    "validate",
]

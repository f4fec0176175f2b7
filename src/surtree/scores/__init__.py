"""Scores on rows that models had not seen: of sizes, of the chosen one, of samples, of others."""

from surtree.scores.held_out import HeldOutScores
from surtree.scores.sizes import SizeScores
from surtree.scores.tuning import Tuning
from surtree.scores.validation import (
    ColumnUse,
    LeafStability,
    Measure,
    Repetitions,
    Validation,
)

__all__ = [
    "ColumnUse",
    "HeldOutScores",
    "LeafStability",
    "Measure",
    "Repetitions",
    "SizeScores",
    "Tuning",
    "Validation",
]

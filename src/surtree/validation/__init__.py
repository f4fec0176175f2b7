"""Validation: what models are worth in new data, and on the rows of others."""

from surtree.validation.drift import ColumnDrift
from surtree.validation.external import Evaluation, LeafCheck, Performance, evaluate
from surtree.validation.resampling import validate

__all__ = ["ColumnDrift", "Evaluation", "LeafCheck", "Performance", "evaluate", "validate"]

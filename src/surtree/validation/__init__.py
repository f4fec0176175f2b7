"""Validation: what a whole way of building models is worth on rows to come."""

from surtree.validation.bootstrap import validate
from surtree.validation.result import ColumnUse, Validation

__all__ = ["ColumnUse", "Validation", "validate"]

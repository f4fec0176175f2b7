"""Questions by force: the best tree that asks this first, or never asks that; and what it costs."""

from surtree.questions._force import ForcedTree, force_questions
from surtree.questions.columns import ColumnCost, ColumnCosts, column_costs

__all__ = ["ColumnCost", "ColumnCosts", "ForcedTree", "column_costs", "force_questions"]

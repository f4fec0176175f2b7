"""The size of a tree: cross-validation over every size, and the tree for every price of a split."""

from surtree.model_selection.cost_complexity import CostComplexityPath, cost_complexity_path
from surtree.model_selection.cv import SurTreeCV
from surtree.model_selection.event_kfold import EventStratifiedKFold
from surtree.model_selection.folds import FoldProgress

__all__ = [
    "CostComplexityPath",
    "EventStratifiedKFold",
    "FoldProgress",
    "SurTreeCV",
    "cost_complexity_path",
]

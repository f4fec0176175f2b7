"""The size of a tree: cross-validation over every size, and the tree for every price of a split."""

from typing import TYPE_CHECKING

from surtree._support.package import late_names
from surtree._support.parallel import FoldProgress
from surtree.model_selection._cost_complexity import CostComplexityPath, cost_complexity_path
from surtree.model_selection.cv import SurTreeCV

if TYPE_CHECKING:
    from surtree.model_selection.event_kfold import EventStratifiedKFold

__all__ = [
    "CostComplexityPath",
    "EventStratifiedKFold",
    "FoldProgress",
    "SurTreeCV",
    "cost_complexity_path",
]

__getattr__, __dir__ = late_names(
    __name__, __all__, {"EventStratifiedKFold": "surtree.model_selection.event_kfold"}
)

"""Optimal survival trees: the provably best tree of every size, from right-censored data.

Examples
--------
>>> from surtree import SurTree
>>> from surtree.datasets import load_gbsg2
>>> X, y = load_gbsg2()
>>> model = SurTree(max_depth=2).fit(X, y)
>>> model.status_
'optimal'
"""

from importlib.metadata import version

from surtree.audit import Audit, audit
from surtree.cost_complexity import cost_complexity_path
from surtree.encoding import Encoder
from surtree.estimator import SurTree
from surtree.report import report
from surtree.selection import SurTreeCV
from surtree.splitter import EventStratifiedKFold
from surtree.tree import Tree
from surtree.unseen import UnseenCategoryWarning

__all__ = [
    "Audit",
    "Encoder",
    "EventStratifiedKFold",
    "SurTree",
    "SurTreeCV",
    "Tree",
    "UnseenCategoryWarning",
    "audit",
    "cost_complexity_path",
    "report",
]

__version__ = version("surtree")

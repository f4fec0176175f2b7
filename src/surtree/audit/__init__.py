"""How far any tree is from the best of its size, and which of its questions cost most."""

from surtree.audit.audit import audit_tree
from surtree.audit.r_tree import RTree, read_r_tree
from surtree.audit.result import Audit, Optimum, SplitCost

__all__ = ["Audit", "Optimum", "RTree", "SplitCost", "audit_tree", "read_r_tree"]

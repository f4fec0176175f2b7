"""Averages over all trees, exactly, and one readable tree near to them."""

from surtree.posterior.bayes import SurTreeBayes
from surtree.posterior.taught import TaughtTree

__all__ = ["SurTreeBayes", "TaughtTree"]

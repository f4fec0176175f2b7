"""Averages over all trees, exactly, and one readable tree near to them."""

from surtree.posterior.bayes import SurTreeBayes
from surtree.posterior.points import PointsCard, PointsColumn, PointsTable
from surtree.posterior.taught import TaughtTree

__all__ = ["PointsCard", "PointsColumn", "PointsTable", "SurTreeBayes", "TaughtTree"]

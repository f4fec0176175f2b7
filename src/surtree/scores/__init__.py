"""Scores on rows that trees had not seen: of every size, and of the chosen one."""

from surtree.scores.held_out import HeldOutScores
from surtree.scores.sizes import SizeScores

__all__ = ["HeldOutScores", "SizeScores"]

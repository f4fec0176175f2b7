"""Optimal trees of competing risks: events of several causes, of which the first one counts."""

from surtree.competing_risks.cv import CompetingRisksTreeCV
from surtree.competing_risks.tree import CompetingRisksTree

__all__ = ["CompetingRisksTree", "CompetingRisksTreeCV"]

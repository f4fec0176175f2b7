"""Cuts: yes-or-no questions about a column, found in a table, each with a rule in words."""

from surtree.cuts.cut import Cut
from surtree.cuts.encoder import Encoder
from surtree.cuts.unseen import UnseenCategoryWarning

__all__ = ["Cut", "Encoder", "UnseenCategoryWarning"]

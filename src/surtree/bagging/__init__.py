"""Bagging: the average over optimal trees of bootstrap samples."""

from surtree.bagging.bag import SurTreeBag

__all__ = ["SurTreeBag"]

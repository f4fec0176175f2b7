"""Survival tables to learn and to test with: five classics, and draws from a known tree."""

from surtree.datasets._distributions import Distribution
from surtree.datasets._load import load_gbsg2, load_lung, load_melanoma, load_regimes, load_rossi
from surtree.datasets._synthetic import GroundTruthTree, Leaf, Split, make_survival_tree_data

__all__ = [
    "Distribution",
    "GroundTruthTree",
    "Leaf",
    "Split",
    "load_gbsg2",
    "load_lung",
    "load_melanoma",
    "load_regimes",
    "load_rossi",
    "make_survival_tree_data",
]

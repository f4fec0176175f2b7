"""Heuristic trees: fast, without a proof, to compare optimal trees with."""

from surtree.heuristics.ctree import ConditionalInferenceTree, NodeTests
from surtree.heuristics.greedy import GreedyTree, PrunedTree
from surtree.heuristics.local_search import LocalSearchTree

__all__ = [
    "ConditionalInferenceTree",
    "GreedyTree",
    "LocalSearchTree",
    "NodeTests",
    "PrunedTree",
]

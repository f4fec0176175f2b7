"""Heuristic trees: fast, without a proof, to compare optimal trees with."""

from surtree.heuristics._ctree import ConditionalInferenceTree, NodeTests
from surtree.heuristics._greedy import GreedyTree, PrunedTree
from surtree.heuristics._local_search import LocalSearchTree

__all__ = [
    "ConditionalInferenceTree",
    "GreedyTree",
    "LocalSearchTree",
    "NodeTests",
    "PrunedTree",
]

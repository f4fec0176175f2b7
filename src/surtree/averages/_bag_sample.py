"""One bootstrap sample: its optimal tree, and the risk of the rows that were not drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surtree._support.status import Status
from surtree._support.types import Floats
from surtree.data.bootstrap import Counts, draw_counts
from surtree.data.target import Target
from surtree.estimators.fit import search_quietly
from surtree.estimators.parameters import check_parameters
from surtree.estimators.tree import SurTree
from surtree.fitting.fit_problem import FitProblem
from surtree.tree.rows import find_leaves
from surtree.tree.tree import Tree


@dataclass(frozen=True, eq=False)
class SampleTree:
    """What one sample says."""

    tree: Tree  # its optimal tree
    status: Status  # how the search ended
    left_out: NDArray[np.intp]  # the rows that were not drawn
    risk: Floats  # what the tree predicts for them


def draw_sample(random: np.random.Generator, group: NDArray[np.intp], target: Target) -> Counts:
    """Draw a sample, again if none of its rows has an event after time zero."""
    counts_most = target.event & (target.time > 0)
    while True:
        counts = draw_counts(random, group)
        if counts[counts_most].any():
            return counts


def fit_sample(template: SurTree, problem: FitProblem, counts: Counts) -> SampleTree:
    """Find the optimal tree of a sample, with the cuts of all rows."""
    data, drawn = problem.data, counts > 0
    sample = problem.take(drawn, counts)
    path = search_quietly(template, sample, check_parameters(template))
    price = float(template.ccp_alpha)
    best = path.choose(price)
    tree = best.tree
    if template.leaf_curve != "baseline":
        tree = sample.build_with_at_risk(path.topologies[best.splits], template.leaf_curve)
    left_out = np.flatnonzero(~drawn)
    held_out = data.table.take(np.flatnonzero(data.present)[left_out])
    risk = tree.theta[find_leaves(tree, held_out)]
    return SampleTree(tree, path.status_of(best, price), left_out, risk)

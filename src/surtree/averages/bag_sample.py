"""One bootstrap sample: its optimal tree, and the risk of the rows that were not drawn."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from surtree._support.parameters import read_time_limit
from surtree._support.status import Status
from surtree._support.types import Floats
from surtree.cuts.encoder import Encoder
from surtree.data.bootstrap import Counts, draw_counts
from surtree.data.table import Table
from surtree.data.target import Target
from surtree.estimators.tree import SurTree, check_parameters, choose_size
from surtree.fitting.fit_problem import FitProblem
from surtree.fitting.size_path import find_path
from surtree.fitting.training import training_data
from surtree.solver.problem import BinnedRows
from surtree.solver.search import SearchSettings
from surtree.tree.rows import find_leaves
from surtree.tree.tree import Tree


@dataclass(frozen=True, eq=False)
class BagRows:
    """The rows that samples are drawn from, cut once for all of them.

    Parameters
    ----------
    table, target, weight : Table, Target, array of float
        The rows; all weights are positive.
    encoder, binned : Encoder, BinnedRows
        Their cuts and bins.
    """

    table: Table
    target: Target
    weight: Floats
    encoder: Encoder
    binned: BinnedRows


@dataclass(frozen=True, eq=False)
class SampleTree:
    """What one sample says.

    Parameters
    ----------
    tree : Tree
        Its optimal tree.
    status : Status
        How the search ended.
    left_out : array of int
        The rows that were not drawn.
    risk : array of float
        What the tree predicts for them.
    """

    tree: Tree
    status: Status
    left_out: NDArray[np.intp]
    risk: Floats


def draw_sample(random: np.random.Generator, group: NDArray[np.intp], target: Target) -> Counts:
    """Draw a sample, again if none of its rows has an event after time zero.

    Parameters
    ----------
    random : numpy.random.Generator
        Where the draw comes from.
    group : array of int
        As in `draw_counts`.
    target : Target
        At least one row has an event after time zero.
    """
    counts_most = target.event & (target.time > 0)
    while True:
        counts = draw_counts(random, group)
        if counts[counts_most].any():
            return counts


def fit_sample(template: SurTree, rows: BagRows, counts: Counts) -> SampleTree:
    """Find the optimal tree of a sample.

    Parameters
    ----------
    template : SurTree
        Its parameters are those of the fit.
    rows : BagRows
        All rows.
    counts : array of int
        How often each row was drawn; its weight counts as often.
    """
    drawn = counts > 0
    bins = np.ascontiguousarray(rows.binned.bins[:, drawn])
    objective = template._objective(rows.target)
    data = training_data(rows.table, rows.target, counts * rows.weight, objective)
    problem = FitProblem(data, rows.encoder, replace(rows.binned, bins=bins))
    settings = SearchSettings(
        check_parameters(template),
        read_time_limit(template.time_limit),
        memory_limit=template.memory_limit,
    )
    path = find_path(problem, settings)
    if path.status == "interrupted":
        raise KeyboardInterrupt
    best = choose_size(template, path)
    tree = best.tree
    if template.leaf_curve != "baseline":
        tree = problem.build_with_at_risk(path.topologies[best.splits], template.leaf_curve)
    left_out = np.flatnonzero(~drawn)
    risk = tree.theta[find_leaves(tree, rows.table.take(left_out))]
    status = path.status_of(best, float(template.ccp_alpha))
    return SampleTree(tree, status, left_out, risk)

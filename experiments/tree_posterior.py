"""Rows, trees and draws of the posterior of trees, as simulations need them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from experiments.scores import Floats, Labels, Target
from surtree import SurTreeBayes
from surtree.cuts.encoder import encoder_of
from surtree.data.named import RowInputs
from surtree.fitting.training import FitProblem, make_problem, read_training_data
from surtree.fitting.warm_start import bins_held
from surtree.solver.average import TreePrior
from surtree.solver.problem import BinnedRows, Limits, TreeTopology

PRIOR = TreePrior()
MODEL = SurTreeBayes(n_stages=1)
LIMITS = Limits(MODEL.max_depth, min_samples_leaf=MODEL.min_samples_leaf)


def problem_of(X: Any, y: Target) -> FitProblem:
    """Return rows with the cuts that `SurTreeBayes` has for them."""
    return make_problem(encoder_of(MODEL), read_training_data(MODEL, RowInputs(X, y)))


def target(event: Any, time: Any) -> Target:
    """Return events and times as a structured array."""
    y = np.empty(len(time), dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = event, time
    return y


def leaves_of(tree: TreeTopology, binned: BinnedRows, bins: Any) -> Labels:
    """Return the node in which each row of given bins ends."""
    node = np.zeros(bins.shape[1], dtype=np.intp)
    for number in np.flatnonzero(tree.cut >= 0):
        rows, cut = np.flatnonzero(node == number), int(tree.cut[number])
        held = bins_held(binned, np.array([cut]))[bins[binned.cut_column[cut], rows], 0]
        node[rows] = np.where(held, tree.right[number], tree.left[number])
    return node


def columns_of(tree: TreeTopology, binned: BinnedRows) -> Labels:
    """Return the columns that a tree asks about, by their number in the table of bins."""
    return np.unique(binned.cut_column[tree.cut[tree.cut >= 0]])


def drawn_thetas(
    tree: TreeTopology,
    strength: float,
    leaf: Labels,
    sums: tuple[Floats, Floats],
    rng: np.random.Generator,
) -> Floats:
    """Return a draw of theta for each node of a tree, given the leaves and the sums of rows."""
    events, expected = (np.bincount(leaf, one, minlength=tree.cut.size) for one in sums)
    return rng.gamma(strength + events) / (strength + expected)


def frame(columns: Floats) -> pd.DataFrame:
    """Return columns with names."""
    return pd.DataFrame(columns, columns=[f"x{k}" for k in range(columns.shape[1])])

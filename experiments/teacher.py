"""Trees that are taught by a bag of trees, beside trees of the same size that are not."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from experiments.bag import Bag
from experiments.clock import processor_seconds
from experiments.experiment import Measures
from experiments.our_methods import ONE
from experiments.real import N_FOLDS, Outer, RealCase, cut_fold
from experiments.scores import Floats, risk_concordance, risk_loss
from experiments.tables import REAL_TABLES
from experiments.task import Status
from experiments.teacher_objective import taught
from surtree import SurTree
from surtree.cuts.encoder import encoder_of
from surtree.data.named import RowInputs
from surtree.estimators.parameters import check_parameters
from surtree.fitting.fit_problem import make_problem
from surtree.fitting.size_path import find_path
from surtree.fitting.training import read_training_data
from surtree.solver.search import SearchSettings

# How much the teacher counts; 0 is the plain optimum.
SHARES = (0.0, 0.5, 0.75, 1.0)
SPLITS = (3, 5, 7)
# Depth and shrinkage of the trees.
SETTINGS = ((3, 0.0), (3, 3.0), (4, 0.0))
# What did best on folds of another seed, before any of these was run: it decides.
DECIDES, SHARE = SETTINGS[0], 0.75
SEEDS = (17, 18, 19)
N_TREES = 100


@dataclass(frozen=True)
class TeacherCase:
    """The trees of all sizes with one share of the teacher, on one fold of a real table."""

    table: str
    seed: int
    fold: int
    depth: int
    shrinkage: float
    share: float
    trees: int = N_TREES


def cases(quick: bool) -> list[TeacherCase]:
    """Return all cases; the quick ones are a fold of two small tables, with few trees."""
    tables = ("acath", "csl") if quick else REAL_TABLES
    return [
        TeacherCase(table, seed, fold, *setting, share, 5 if quick else N_TREES)
        for table in tables
        for seed in (SEEDS[:1] if quick else SEEDS)
        for fold in range(1 if quick else N_FOLDS)
        for setting in SETTINGS
        for share in SHARES
    ]


def measure(case: TeacherCase) -> Measures:
    """Search with the events of a teacher, fill the leaves with real ones, and score each size."""
    outer = _outer(case.table, case.seed, case.fold)
    model = SurTree(case.depth, max(SPLITS), shrinkage=case.shrinkage, **ONE)
    problem = make_problem(
        encoder_of(model), read_training_data(model, RowInputs(outer.X_train, outer.y_train))
    )
    asked = problem
    if case.share:
        risk = teacher_risk(case.table, case.seed, case.fold, case.trees)
        asked = taught(problem, risk, case.share)
    start = processor_seconds()
    found = find_path(asked, SearchSettings(check_parameters(model)))
    seconds = processor_seconds() - start
    # The same questions, with what the rows themselves say in the leaves.
    filled = problem.build(found.topologies)
    measures: Measures = {}
    for splits in SPLITS:
        tree = filled[min(splits, len(filled) - 1)].tree
        theta = tree.theta[tree.apply(outer.X_test)]
        measures |= {
            f"loss_{splits}": risk_loss(outer.y_train, outer.y_test, theta),
            f"c_{splits}": risk_concordance(outer.y_test, theta),
            f"training_{splits}": tree.unpenalised_loss / len(outer.y_train),
        }
    return measures | {"seconds": seconds, "status": str(Status.DONE)}


@lru_cache(maxsize=2)
def teacher_risk(table: str, seed: int, fold: int, trees: int) -> Floats:
    """Return what a bag says of each training row, by the trees that have not seen it."""
    outer = _outer(table, seed, fold)
    risk = Bag(trees).fit(outer.X_train, outer.y_train).oob_risk_
    # A row that every tree has seen, as a few of five trees have, has the average risk.
    return np.where(np.isfinite(risk), risk, 1.0)


@lru_cache(maxsize=2)
def _outer(table: str, seed: int, fold: int) -> Outer:
    return cut_fold(RealCase(table, "clean", 3, fold, "surtree", seed))

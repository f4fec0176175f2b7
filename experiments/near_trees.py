"""Is the set of near-optimal trees useful? Its mean, its range, and its best monotone tree.

All settings were written down before any row was run; every row is kept. Trees are of depth 3; a
set is what `near_optimal` lists within 1, 5 or 10% of what the best tree explains, 1,000 trees at
most.

- "mean": draws of 200 rows of each real table, of a seed that nothing was chosen on. The tree that
  cross-validation chooses, the mean of theta over each set of that size and shrinkage, a bag of 50
  trees, and `SurTreeBayes`, by Harrell's C and loss on the other rows. The question: is the mean
  over the set of 5% ahead of the best tree, in C or loss (two-sided Wilcoxon signed-rank tests over
  tables)?
- "truth": 300 simulated rows whose survival is known, with hazards that step or that slope. How
  often is the true survival of a new row, at the median time, between the least and the greatest
  prediction of a set, and how far is the mean of the set from it, and the best tree?
- "monotone": draws of 500 rows of ten tables, with signs of columns that are plausible (`SIGNS`),
  trees of five splits with a shrinkage of three events. What the best monotone tree costs on the
  training rows, and on the other rows. Each has a minute.

One thing was changed for time, when one row of each part had been seen and no summary: fewer draws
(1 and 10, not 2 and 15). Seven tables have a second draw from before; it is kept. The monotone part
was run twice, with the same signs: first one draw, among the first 20,000 trees (one table of ten
had no monotone tree there), then, when `SurTree` had ``monotone``, five draws.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from experiments.bag import Bag
from experiments.clock import processor_seconds
from experiments.experiment import Measures
from experiments.scores import Floats, Target, risk_concordance, risk_loss
from experiments.small_cohorts import CohortCase, cohort
from experiments.tables import REAL_TABLES
from experiments.task import Status
from surtree import (
    SurTree,
    SurTreeBayes,
    SurTreeCV,
    UnseenCategoryWarning,
    near_optimal,
)
from surtree.tree import Tree

DEPTH, SEED, TEST_ROWS, MOST_TREES = 3, 3, 2000, 1000
WITHIN = (0.01, 0.05, 0.1)
MEAN_ROWS, MEAN_DRAWS, BAG = 200, 1, 50
TRUTH_ROWS, TRUTH_DRAWS, DESIGNS = 300, 10, ("steps", "slopes")
MONOTONE_ROWS, MONOTONE_DRAWS, MONOTONE_SECONDS = 500, 5, 60.0
# Whether more of a column raises the risk. Of UnempDur the event is a new job.
SIGNS: dict[str, dict[str, int]] = {
    "Dialysis": {"num_age": 1},
    "Framingham": {"num_sbp": 1, "num_dbp": 1, "num_scl": 1, "num_age": 1},
    "UnempDur": {"num_age": -1, "num_reprate": -1},
    "acath": {"num_age": 1, "num_choleste": 1},
    "csl": {"num_age": 1, "num_prot": -1, "num_prot_prev": -1, "num_prot_base": -1},
    "dataDIVAT3": {"num_ageR": 1, "num_ageD": 1},
    "flchain": {"num_age": 1, "num_kappa": 1, "num_lambda": 1, "num_creatinine": 1},
    "nwtco": {"num_stage": 1},
    "oldmort": {"num_birthdate": -1},
    "rott2": {"num_nodes": 1, "num_progesterone": -1, "num_estrogen": -1, "fac_grade": 1},
}


@dataclass(frozen=True)
class NearCase:
    """One draw of a table or a design."""

    part: str
    table: str
    draw: int


def cases(quick: bool) -> list[NearCase]:
    """Return all cases; the quick ones are a draw of each part."""
    if quick:
        parts = {"mean": ("acath",), "truth": DESIGNS[:1], "monotone": ("acath",)}
        return [NearCase(part, table, 0) for part, tables in parts.items() for table in tables]
    parts = {"mean": REAL_TABLES, "truth": DESIGNS, "monotone": tuple(SIGNS)}
    draws = {"mean": MEAN_DRAWS, "truth": TRUTH_DRAWS, "monotone": MONOTONE_DRAWS}
    return [
        NearCase(part, table, draw)
        for part, tables in parts.items()
        for table in tables
        for draw in range(draws[part])
    ]


def measure(case: NearCase) -> Measures:
    """Return the columns of one part; those of the others are empty."""
    start = processor_seconds()
    measures: Measures = dict.fromkeys(COLUMNS, np.nan)
    status, message = Status.DONE, ""
    with warnings.catch_warnings():
        # A few hundred rows do not have every category.
        warnings.simplefilter("ignore", UnseenCategoryWarning)
        try:
            measures |= _PARTS[case.part](case)
        except Exception as error:
            status, message = Status.ERROR, f"{type(error).__name__}: {error}"
    seconds = processor_seconds() - start
    return measures | {"seconds": seconds, "status": str(status), "message": message}


def _name(within: float) -> str:
    return f"near_{round(100 * within)}"


_METHODS = ("best", *map(_name, WITHIN), "bag", "bayes", "monotone")
COLUMNS = (
    *(f"{score}_{method}" for method in _METHODS for score in ("c", "loss")),
    *(f"{what}_{_name(within)}" for within in WITHIN for what in ("trees", "inside", "width")),
    *(f"error_{method}" for method in ("best", *map(_name, WITHIN))),
    *("splits", "turns", "cost", "looked_at", "gap"),
)


def _theta(tree: Tree, X: Any) -> Floats:
    return tree.theta[tree.apply(X)]


def _scores(name: str, y: Target, y_test: Target, theta: Floats) -> Measures:
    return {
        f"c_{name}": risk_concordance(y_test, theta),
        f"loss_{name}": risk_loss(y, y_test, theta),
    }


def _draw(case: NearCase, rows: int) -> Any:
    return cohort(CohortCase("real", case.table, rows, case.draw, "", TEST_ROWS, DEPTH, SEED))


def _mean(case: NearCase) -> Measures:
    outer = _draw(case, MEAN_ROWS)
    X, y, X_test, y_test = outer.X_train, outer.y_train, outer.X_test, outer.y_test
    model = SurTreeCV(max_depth=DEPTH, cv=5).fit(X, y)
    measures: Measures = {"splits": model.tree_.n_splits}
    measures |= _scores("best", y, y_test, _theta(model.tree_, X_test))
    for within in WITHIN:
        near = near_optimal(model, X, y, within=within, max_trees=MOST_TREES)
        theta = np.mean([_theta(tree, X_test) for tree in near.trees], axis=0)
        measures |= _scores(_name(within), y, y_test, theta)
        measures[f"trees_{_name(within)}"] = near.n_trees
    for name, other in (("bag", Bag(BAG)), ("bayes", SurTreeBayes())):
        measures |= _scores(name, y, y_test, other.fit(X, y).predict(X_test))
    return measures


def simulate(design: str, n: int, rng: np.random.Generator) -> tuple[pd.DataFrame, Floats]:
    """Return columns and the true hazard of each row."""
    X = pd.DataFrame(rng.normal(size=(n, 5)), columns=list("abcde"))
    a, b, c = (X[name].to_numpy() for name in "abc")
    if design == "steps":
        return X, np.exp(0.9 * (a > 0) + 0.6 * (b > 0.5) * (a > 0) + 0.5 * (c > 0) * (a <= 0))
    return X, np.exp(0.6 * a + 0.4 * b + 0.2 * c)


def _truth(case: NearCase) -> Measures:
    rng = np.random.default_rng([SEED, DESIGNS.index(case.table), case.draw])
    X, hazard = simulate(case.table, TRUTH_ROWS, rng)
    time, end = rng.exponential(1 / hazard), rng.exponential(2.0, TRUTH_ROWS)
    y = np.empty(TRUTH_ROWS, dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = time <= end, np.minimum(time, end)
    X_test, true_hazard = simulate(case.table, TEST_ROWS, rng)
    at = float(np.median(y["time"]))
    truth = np.exp(-true_hazard * at)
    model = SurTreeCV(max_depth=DEPTH, cv=5).fit(X, y)

    def survival(tree: Tree) -> Floats:
        return np.exp(-_theta(tree, X_test) * float(tree.baseline.at(at)))

    best = survival(model.tree_)
    measures: Measures = {"splits": model.tree_.n_splits, "error_best": abs(best - truth).mean()}
    for within in WITHIN:
        near = near_optimal(model, X, y, within=within, max_trees=MOST_TREES)
        said = np.array([survival(tree) for tree in near.trees])
        low, high = said.min(axis=0), said.max(axis=0)
        name = _name(within)
        measures |= {
            f"trees_{name}": near.n_trees,
            f"inside_{name}": float(((low <= truth) & (truth <= high)).mean()),
            f"width_{name}": float((high - low).mean()),
            f"error_{name}": float(abs(said.mean(axis=0) - truth).mean()),
        }
    return measures


def _monotone(case: NearCase) -> Measures:
    outer = _draw(case, MONOTONE_ROWS)
    X, y, X_test, y_test = outer.X_train, outer.y_train, outer.X_test, outer.y_test
    parameters = {"max_depth": DEPTH, "max_splits": 5, "shrinkage": 3}
    model = SurTree(**parameters).fit(X, y)
    signs = SIGNS[case.table]
    kept = SurTree(**parameters, monotone=signs, time_limit=MONOTONE_SECONDS).fit(X, y)
    explained = model.tree_.loss[0] - model.loss_
    return {
        "splits": model.tree_.n_splits,
        "turns": sum(turn.name in signs for turn in model.tree_.reversals()),
        "looked_at": kept.n_evaluated_,
        "gap": kept.gap_,
        "cost": (kept.loss_ - model.loss_) / explained if explained > 0 else 0.0,
        **_scores("best", y, y_test, _theta(model.tree_, X_test)),
        **_scores("monotone", y, y_test, _theta(kept.tree_, X_test)),
    }


_PARTS = {"mean": _mean, "truth": _truth, "monotone": _monotone}

"""Competing risks: the optimum by trying all trees, and a model that is the same after a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from fuzz.checks import check_finished, require, shown
from fuzz.families.optimum import BRUTE
from fuzz.tables import Rng, chance, counted, draw_case, pick
from surtree import CompetingRisksTree
from surtree.estimators.cause_prediction import CauseLimits, cause_weights
from surtree.outcomes.incidence import incidence_of
from surtree.solver import reference
from surtree.survival.competing_risks import CauseHazards
from surtree.survival.row_sums import RowSums
from tests.problems import Case, limits_of, row_hazard


def causes(rng: Rng) -> None:
    """Two to four causes, all, one, some or weighted, with limits, weights, entry and shrinkage.

    Losses are those of the reference, incidences and survival add up to one, and a model that was
    saved and loaded is the same.
    """
    depth = pick(rng, [0, 1, 1, 2, 2, 2, 3])
    most_rows, most_columns = BRUTE[depth]
    n = int(rng.integers(2, min(most_rows, 30) + 1))
    case = draw_case(rng, n, int(rng.integers(1, most_columns + 1)), depth)
    case.limits["n_thresholds"] = pick(rng, [1, 3, 10])
    cause = np.where(case.y["event"], rng.integers(1, pick(rng, [2, 3, 4, 5]), n), 0)
    here = counted(case)
    there = np.ones(n, dtype=bool) if case.weight is None else case.weight > 0
    found = sorted(set(cause[there].tolist()) - {0})
    chosen = _choose(rng, found)
    with shown(case, causes=chosen, cause=cause.tolist()):
        model = CompetingRisksTree(causes=chosen, **case.limits)
        model.fit(case.X, (cause, case.y["time"]), case.weight, case.entry)
        holds = model.encoder_.transform(here.X).astype(bool)
        objective = CauseHazards(
            causes=model.causes_,
            weights=cause_weights(chosen, model.causes_),
            shrinkage=case.limits.get("shrinkage", 0.0),
        )
        expected = _losses(here, cause[there], objective, holds)
        losses = np.array([size.loss for size in model.path_])
        best = expected[np.minimum(np.arange(losses.size), expected.size - 1)]
        slack = 1e-9 * (1 + np.abs(best) + (1 if here.weight is None else here.weight.sum()))
        require(bool((np.abs(losses - best) <= slack).all()), "losses", losses, "but", best)
        check_finished(model, case)
        for leaf in model.tree_.leaves.tolist():
            total = incidence_of(model.tree_, leaf, "baseline").sum(axis=0)
            require(bool((total <= 1 + 1e-9).all()), "incidence above one in leaf", leaf)
        if chance(rng, 0.2):
            _after_a_file(model, case)


def _choose(rng: Rng, found: list[int]):
    kind = pick(rng, ["all", "one", "some", "weights"])
    if kind == "all":
        return None
    if kind == "one":
        return int(pick(rng, found))
    if kind == "some":
        return [int(cause) for cause in found[: int(rng.integers(1, len(found) + 1))]]
    return {int(cause): float(pick(rng, [0.1, 1.0, 3.0])) for cause in found}


def _losses(case: Case, cause: np.ndarray, objective: CauseHazards, holds: np.ndarray):
    weight = np.ones(len(cause)) if case.weight is None else case.weight
    lines, constant, some = [], 0.0, np.zeros(len(cause), dtype=bool)
    for one, counts in zip(objective.causes, objective.weights, strict=True):
        y = case.y.copy()
        y["event"] = cause == one
        hazard = row_hazard(y, weight, case.entry)
        lines += [weight * y["event"], weight * hazard]
        constant -= counts * (weight * y["event"]) @ np.log(hazard)
        some |= y["event"] & (counts > 0)
    ones = np.ones(len(cause))
    counts = {"samples": ones, "counted_events": some.astype(float)}
    rows = RowSums(objective, np.stack(lines), counts, ones, 0 * ones)
    limits = CauseLimits(**vars(limits_of(replace(case, limits=case.limits))))
    return constant - np.asarray(reference.solve(holds, rows, limits).gains)


def _after_a_file(model: CompetingRisksTree, case: Case) -> None:
    with TemporaryDirectory() as folder:
        model.save(Path(folder) / "model.json")
        loaded = CompetingRisksTree.load(Path(folder) / "model.json")
    require(loaded.tree_ == model.tree_ and loaded.path_ == model.path_, "another tree in the file")
    require(loaded.status_ == model.status_, "the file is", loaded.status_)
    for cause in model.causes_:
        rows = counted(case).X
        same = np.array_equal(loaded.predict(rows, cause), model.predict(rows, cause))
        require(same, "another prediction from the file")

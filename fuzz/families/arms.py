"""Arms of a trial against the reference, and persons whose rows are divided against whole ones."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from fuzz.checks import check_finished, require, shown
from fuzz.families.optimum import BRUTE
from fuzz.tables import Rng, chance, counted, draw_case, pick
from surtree import EffectTree, NotRandomisedWarning, SurTree
from surtree.data.target import Target
from surtree.data.target_array import make_target
from surtree.solver import reference
from surtree.survival.row_sums import RowSums
from tests.problems import Case, row_hazard


def arms(rng: Rng) -> None:
    """Two to four arms, both objectives, with limits on arms, weights, entry and shrinkage.

    Losses are those of the reference but for their zero, and a model that was saved and loaded is
    the same.
    """
    depth = pick(rng, [0, 1, 1, 2, 2, 2, 3])
    most_rows, most_columns = BRUTE[depth]
    n = int(rng.integers(4, min(most_rows, 30) + 1))
    case = draw_case(rng, n, int(rng.integers(1, most_columns + 1)), depth)
    case.limits["n_thresholds"] = pick(rng, [1, 3, 10])
    case.limits.pop("min_samples_leaf", None)
    n_arms = int(rng.integers(2, 5))
    there = np.ones(n, dtype=bool) if case.weight is None else case.weight > 0
    arm = rng.integers(0, n_arms, n)
    if np.unique(arm[there]).size < n_arms:  # some arm has no row
        return
    here = counted(case)
    objective = pick(rng, ["effect", "both"])
    least = int(rng.integers(0, 3))
    with shown(case, arm=arm.tolist(), objective=objective, min_events_arm=least):
        model = EffectTree(objective=objective, min_events_arm=least, **case.limits)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotRandomisedWarning)
            model.fit(case.X, case.y, arm, case.weight, case.entry)
        holds = model.encoder_.transform(here.X).astype(bool)
        gains = _gains(here, arm[there], model, holds)
        losses = np.array([size.loss for size in model.path_])
        gains = gains[np.minimum(np.arange(losses.size), gains.size - 1)]
        # Of differences, as the zero of the loss of effects is arbitrary.
        off = (losses - losses[0]) + (gains - gains[0])
        slack = 1e-9 * (1 + np.abs(gains) + (1 if here.weight is None else here.weight.sum()))
        require(bool((np.abs(off) <= 10 * slack).all()), "losses", losses, "but gains", gains)
        check_finished(model, case)
        least_found = model.tree_.arms.n_events[model.tree_.leaves].min()
        single = model.tree_.n_leaves == 1
        require(single or least_found >= least, "too few events of an arm:", least_found)
        if chance(rng, 0.2):
            with TemporaryDirectory() as folder:
                model.save(Path(folder) / "model.json")
                loaded = EffectTree.load(Path(folder) / "model.json")
            require(loaded.tree_ == model.tree_, "another tree in the file")


def _gains(case: Case, arm: np.ndarray, model: EffectTree, holds: np.ndarray) -> np.ndarray:
    weight = np.ones(len(arm)) if case.weight is None else case.weight
    event = case.y["event"]
    hazard = row_hazard(case.y, weight, case.entry)
    n_arms = int(arm.max()) + 1
    inside = (arm == np.arange(n_arms)[:, None]).astype(float)
    values = np.stack([inside * (weight * event), inside * (weight * hazard)], axis=1)
    ones = np.ones(len(arm))
    counts = {"samples": ones, "events": event.astype(float)}
    counts |= {f"events_{place}": inside[place] * event for place in range(n_arms)}
    target = Target(event, case.y["time"]).with_arms(arm, tuple(range(n_arms)))
    limits = model._limits(target)
    rows = RowSums(model._objective(target), values.reshape(2 * n_arms, -1), counts, ones, 0 * ones)
    return np.asarray(reference.solve(holds, rows, limits).gains)


def persons(rng: Rng) -> None:
    """Rows that are cut in pieces at random times: the tree and its loss stay the same."""
    depth = pick(rng, [1, 2, 3])
    case = draw_case(rng, int(rng.integers(4, 60)), int(rng.integers(1, 5)), depth)
    if (case.y["time"] == 0).any():
        return
    entry = np.zeros(len(case.y)) if case.entry is None else np.asarray(case.entry)
    pieces = []
    for row, (event, time) in enumerate(case.y.tolist()):
        inner = rng.uniform(entry[row], time, int(rng.integers(0, 3)))
        inner = np.unique(inner[(inner > entry[row]) & (inner < time)])
        ends = [entry[row], *inner, time]
        pieces += [
            (row, ends[k], ends[k + 1], event and k == len(inner)) for k in range(len(ends) - 1)
        ]
    rng.shuffle(pieces)
    person, start, stop, event = (np.array(part) for part in zip(*pieces, strict=True))
    person = person.astype(int)
    X = case.X.iloc[person].reset_index(drop=True)
    weight = None if case.weight is None else np.asarray(case.weight)[person]
    with shown(case, person=person.tolist(), start=start.tolist(), stop=stop.tolist()):
        whole = SurTree(**case.limits).fit(case.X, case.y, case.weight, entry)
        divided = SurTree(**case.limits).fit(
            X, make_target(event.astype(bool), stop), weight, start, person
        )
        losses, others = (
            np.array([size.loss for size in model.path_]) for model in (whole, divided)
        )
        require(losses.size == others.size, "sizes", losses.size, others.size)
        total = len(case.y) if case.weight is None else float(np.sum(case.weight))
        off = np.abs(losses - others) <= 1e-9 * (1 + np.abs(losses) + total)
        require(bool(off.all()), "losses", losses, "but in pieces", others)
        n_persons = replace(divided.tree_).n_persons
        require(n_persons is not None and n_persons[0] > 0, "no persons")

"""The order of the rows changes nothing: every model is the same to the last bit."""

from dataclasses import fields

import numpy as np
import pandas as pd
import pytest

from surtree import CompetingRisksTree, EffectTree, SurTree
from surtree.cuts.encoder import encoder_of
from surtree.data.named import RowInputs
from surtree.fitting.training import make_problem, read_training_data

SEEDS = range(6)


def table(seed: int, n: int = 300) -> dict[str, object]:
    """Draw rows with fractional weights, entry times, ties, missing values and texts."""
    rng = np.random.default_rng([21, seed])
    risk = rng.normal(size=n)
    X = pd.DataFrame(
        {
            "number": np.where(rng.random(n) < 0.1, np.nan, risk),
            "tied": np.round(rng.normal(size=n), 1),
            "flag": rng.random(n) < 0.4,
            "text": pd.Series(rng.choice(["a", "b", "c", "d"], n)).where(rng.random(n) < 0.9),
            "many": rng.choice([f"c{k}" for k in range(14)], n),
        }
    )
    entry = np.where(rng.random(n) < 0.5, 0.0, np.round(rng.exponential(0.3, n), 2))
    time = entry + np.round(rng.exponential(np.exp(-risk)), 2) + 0.01
    weight = rng.uniform(0.1, 3.0, n) * 10.0 ** (3 * (seed % 3) * rng.random(n))
    return {
        "X": X,
        "cause": rng.choice([0, 1, 2], n, p=[0.4, 0.4, 0.2]),
        "time": time,
        "sample_weight": weight,
        "entry": entry if seed % 2 else None,
        "treatment": rng.integers(0, 3, n),
    }


def fit(model, rows: dict[str, object], order: np.ndarray):
    """Fit a model on the rows in some order."""
    chosen = {
        name: values
        if values is None
        else (values.iloc[order] if name == "X" else np.asarray(values)[order])
        for name, values in rows.items()
    }
    cause, time = chosen.pop("cause"), chosen.pop("time")
    if isinstance(model, EffectTree):  # which refuses uneven weights
        chosen["sample_weight"] = np.sqrt(chosen["sample_weight"])
    else:
        chosen.pop("treatment")
    event = cause if isinstance(model, CompetingRisksTree) else cause > 0
    return model.fit(chosen.pop("X"), np.rec.fromarrays([event, time], names="e,t"), **chosen)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "model",
    [
        SurTree(),
        SurTree(shrinkage=2.5, min_samples_leaf=12, min_events_leaf=3, max_categories=6),
        SurTree(max_depth=2, n_thresholds=None, min_support=0.0, category_cuts="one"),
        CompetingRisksTree(max_depth=2, causes={1: 1.0, 2: 0.3}),
        EffectTree(max_depth=2, min_events_arm=3),
    ],
    ids=["default", "limits", "all thresholds", "causes", "arms"],
)
@pytest.mark.filterwarnings("ignore:.*randomi")
def test_a_model_is_the_same_for_rows_in_any_order(model, seed):
    rows = table(seed)
    n = len(rows["time"])
    one, other = (
        fit(type(model)(**model.get_params()), rows, order)
        for order in (np.arange(n), np.random.default_rng(seed).permutation(n))
    )
    assert one.tree_.to_dict() == other.tree_.to_dict()
    assert one.encoder_.cuts_ == other.encoder_.cuts_
    assert one.encoder_.heavier_side_.tolist() == other.encoder_.heavier_side_.tolist()
    assert [(size.loss, size.lower_bound) for size in one.path_] == [
        (size.loss, size.lower_bound) for size in other.path_
    ]
    for name in ("loss_", "lower_bound_", "gap_", "status_"):
        assert getattr(one, name) == getattr(other, name)


@pytest.mark.parametrize("seed", SEEDS)
def test_so_are_all_sums_and_what_the_core_finds(seed):
    rows = table(seed)
    n = len(rows["time"])
    y = np.rec.fromarrays([rows["cause"] > 0, rows["time"]], names="e,t")
    found = []
    for order in (np.arange(n), np.random.default_rng(seed).permutation(n)):
        model = SurTree(max_depth=3)
        entry = None if rows["entry"] is None else rows["entry"][order]
        data = read_training_data(
            model, RowInputs(rows["X"].iloc[order], y[order], rows["sample_weight"][order], entry)
        )
        problem = make_problem(encoder_of(model), data)
        solution = problem.core.solve(model._limits_type(3))
        sums = data.sums
        found.append((sums.total.tolist(), sums.constant, sums.scale, sums.unit, data.baseline))
        found[-1] += tuple(
            getattr(solution, field.name).tolist() for field in fields(solution)[1:3]
        )
        found[-1] += (sums.loss(np.full(n, 1.25)), sums.partition_loss(problem.binned.bins[0]))
    assert found[0] == found[1]

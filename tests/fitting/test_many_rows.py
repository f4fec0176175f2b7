"""Many rows are added up in batches, and as tables: the model is that of rows taken at once."""

import json

import numpy as np
import pandas as pd
import pytest

from surtree import SurTree
from surtree.solver.core import Problem


@pytest.fixture
def many(monkeypatch):
    """Let a few rows count as many, and note whether tables stood for them."""
    used = []

    def in_tables(self, limits):
        tables = original(self, limits)
        used.append(tables is not None)
        return tables

    original = Problem.in_tables
    monkeypatch.setattr(Problem, "in_tables", in_tables)
    monkeypatch.setattr("surtree._support.exact.AT_ONCE", 700)
    monkeypatch.setattr("surtree.solver.core.AT_ONCE", 700)
    monkeypatch.setattr("surtree.solver.core._BATCH", 450)
    monkeypatch.setattr("surtree.data.table._MOST_COPIED", 5000)
    return used


def rows(kind):
    rng = np.random.default_rng(3)
    n = 2500
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=[*"abcd"])
    X["count"] = rng.integers(0, 4, n)
    if kind != "numbers":
        X["site"] = rng.choice([*"pqrstuvwxy"], n)
    time = rng.exponential(np.exp(-0.8 * (X["a"] > 0.3)))
    weight = {"weights": rng.uniform(0.5, 2.0, n), "repeats": rng.integers(1, 4, n)}.get(kind)
    return X, (rng.random(n) < 0.6, time), weight


def saved(model, path):
    model.save(path)
    return json.loads(path.read_text())


@pytest.mark.parametrize("kind", ["numbers", "texts", "weights", "repeats"])
@pytest.mark.parametrize("limits", [{}, {"min_samples_leaf": 60, "min_events_leaf": 20}])
def test_many_rows_have_the_model_of_few(request, tmp_path, kind, limits):
    whole = saved(SurTree(**limits).fit(*rows(kind)), tmp_path / "whole.json")
    used = request.getfixturevalue("many")
    assert saved(SurTree(**limits).fit(*rows(kind)), tmp_path / "many.json") == whole
    assert used == [True]


@pytest.mark.parametrize(
    "why", [{"max_depth": 4}, {"n_thresholds": 80, "max_depth": 2}, {"time_limit": 60.0}]
)
def test_other_searches_take_rows_in_batches(request, tmp_path, why):
    whole = saved(SurTree(**why).fit(*rows("weights")), tmp_path / "whole.json")
    used = request.getfixturevalue("many")
    assert saved(SurTree(**why).fit(*rows("weights")), tmp_path / "many.json") == whole
    assert not any(used)

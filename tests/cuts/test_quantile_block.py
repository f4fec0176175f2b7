"""Numeric columns that are read together have the cuts that each has alone."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surtree import Encoder
from surtree.cuts import _quantile_block as quantile_block
from surtree.data.table import read_table


def encoded(X, weight, *, together, **parameters):
    """Return the binned rows and the cuts of a table, its columns read together or one by one."""
    encoder = Encoder(**parameters)
    table = read_table(encoder, X, reset=True)
    with pytest.MonkeyPatch.context() as patch:
        if not together:
            none = lambda values, *_: [None] * len(values)  # noqa: E731
            patch.setattr("surtree.cuts.encoder.quantile_columns", none)
        binned = encoder.fit_encode(table, weight)
    return binned, tuple(encoder.cuts_), encoder.heavier_side_


def require_same(X, weight, **parameters):
    one, other = (encoded(X, weight, together=together, **parameters) for together in (True, False))
    for field in fields(one[0]):
        mine, theirs = getattr(one[0], field.name), getattr(other[0], field.name)
        assert mine.dtype == theirs.dtype
        np.testing.assert_array_equal(mine, theirs, err_msg=field.name)
    assert one[1] == other[1]
    assert [cut.seen for cut in one[1]] == [cut.seen for cut in other[1]]
    np.testing.assert_array_equal(one[2], other[2])


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(1, 60),
    n_thresholds=st.integers(1, 12),
    weights=st.sampled_from(["ones", "whole", "fractions", "some zero"]),
    min_support=st.sampled_from([0.0, 0.01, 0.2]),
    long=st.booleans(),
)
def test_columns_read_together_have_the_cuts_that_each_has_alone(
    seed, n_rows, n_thresholds, weights, min_support, long
):
    rng = np.random.default_rng(seed)
    columns = [
        rng.normal(size=n_rows),
        rng.integers(0, 5, n_rows),
        rng.integers(0, 40, n_rows) / 7,
        rng.normal(size=n_rows).round(1) ** 3,
        np.where(rng.random(n_rows) < 0.8, 1.0, rng.normal(size=n_rows)),
        rng.choice([1e300, 1.7e308, -1.7e308, 0.0, 5e-324], n_rows),
        1.0 + np.arange(n_rows) * 2.0**-52,
    ]
    X = np.column_stack(columns)
    if rng.random() < 0.5:
        X[rng.random(X.shape) < 0.3] = np.nan
    if rng.random() < 0.2:
        X[:, 1] = np.nan
    weight = {
        "ones": np.ones(n_rows),
        "whole": rng.integers(1, 4, n_rows).astype(float),
        "fractions": rng.random(n_rows) + 0.1,
        "some zero": np.append(1.0, rng.integers(0, 2, n_rows - 1)),
    }[weights]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quantile_block, "LONG", 1 if long else 10**9)
        require_same(X, weight, n_thresholds=n_thresholds, min_support=min_support)


def test_given_thresholds_stay_beside_columns_read_together():
    X = np.random.default_rng(0).normal(size=(50, 4))
    parameters = {"thresholds": {"x2": [0.0, 0.5]}}
    require_same(X, np.ones(50), **parameters)


def test_columns_are_read_in_several_goes(monkeypatch):
    monkeypatch.setattr("surtree.cuts.encoder._CELLS_AT_ONCE", 100)
    require_same(np.random.default_rng(1).normal(size=(40, 9)), np.ones(40))


def test_numbers_beside_other_columns(monkeypatch):
    monkeypatch.setattr("surtree.data.table._WORTH_ONE_ARRAY", 2)
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(70, 5)), columns=list("abcde"))
    X["b"] = rng.choice(["u", "v", "w"], 70)
    X["d"] = rng.integers(0, 30, 70)
    X["f"] = rng.random(70) < 0.4
    table = read_table(Encoder(), X, reset=True)
    assert table.line_of == {0: 0, 2: 1, 3: 2, 4: 3}
    require_same(X, np.ones(70))
    require_same(X, np.append(np.zeros(5), np.ones(65)))


def test_whole_numbers_and_infinity():
    rng = np.random.default_rng(2)
    require_same(rng.integers(0, 1000, size=(80, 3)), np.ones(80))
    X = rng.normal(size=(80, 3))
    X[7, 1] = np.inf
    with pytest.raises(ValueError, match="Column 'x1' holds infinity"):
        Encoder().fit(X)

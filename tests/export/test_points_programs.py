"""Programs of a score card give the points that the model gives, for rows of any kind."""

import sqlite3
import warnings

import numpy as np
import pandas as pd
import pytest

from surtree import PointsTable, UnseenCategoryWarning
from surtree.datasets import load_gbsg2
from surtree.export import export_python, export_sql


def mixed_table(n_rows=300, seed=3):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "size": np.where(rng.random(n_rows) < 0.2, np.nan, rng.normal(50, 20, n_rows)),
            "age": rng.integers(20, 90, n_rows).astype(float),
            "site": np.where(
                rng.random(n_rows) < 0.2, None, rng.choice(["A b", "C", "D'"], n_rows)
            ),
            "smoker": rng.random(n_rows) < 0.4,
            "stage": pd.Categorical(
                rng.choice(["low", "mid", "high"], n_rows), ["low", "mid", "high"], ordered=True
            ),
        }
    )
    risk = 0.03 * X["size"].fillna(80) + X["smoker"] + (X["site"] == "C") + (X["stage"] == "low")
    time = rng.exponential(np.exp(-risk)) + 1e-3
    return X, (rng.random(n_rows) < 0.8, time)


def changed(X):
    """Rows with values that training never had, or had not missing."""
    rows = X.copy()
    rows.loc[:40, "age"] = np.nan
    rows.loc[20:60, "site"] = "elsewhere"
    rows.loc[60:90, "stage"] = None
    rows.loc[90:99, "size"] = 1e6
    return rows


@pytest.mark.parametrize("table", ["mixed", "gbsg2"])
def test_programs_add_up_the_points_of_the_card(table):
    X, y = mixed_table() if table == "mixed" else load_gbsg2(backend="pandas")
    model = PointsTable().fit(X, y)
    assert max(len(column.points) for column in model.card_) <= 12
    rows = changed(X) if table == "mixed" else X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenCategoryWarning)
        expected, risk = model.points(rows), model.predict(rows)
    for value, answer in (("leaf", expected), ("risk", risk)):
        namespace = {}
        exec(export_python(model, value=value, name="score"), namespace)
        told = [namespace["score"](row) for row in rows.to_dict("records")]
        np.testing.assert_allclose(told, answer)
        with sqlite3.connect(":memory:") as connection:
            connection.create_function("EXP", 1, np.exp)
            rows.to_sql("rows", connection, index=False)
            query = f"SELECT {export_sql(model, value=value)} FROM rows"
            told = [float(one) for (one,) in connection.execute(query)]
        np.testing.assert_allclose(told, answer)


def test_columns_may_have_other_names_in_the_database():
    X, y = load_gbsg2(backend="pandas")
    model = PointsTable().fit(X, y)
    text = export_sql(model, feature_names=[f"c{k}" for k in range(X.shape[1])])
    assert '"c0" > ' in text
    assert "positive_nodes" not in text


def test_other_values_are_refused():
    model = PointsTable().fit(*load_gbsg2())
    for export in (export_python, export_sql):
        with pytest.raises(ValueError, match="Of a score card, value is"):
            export(model, value="median")

"""The experiment on near-optimal trees: rows of each part, and the page that is made of them."""

import numpy as np
import pandas as pd
import pytest

from experiments import near_trees, near_trees_page
from experiments.near_trees import SIGNS, TRUTH_ROWS, NearCase, cases, measure, simulate
from experiments.tables import real_table


def test_signs_are_of_numbers_that_the_tables_have():
    for table, signs in SIGNS.items():
        X = real_table(table).X
        assert all(X[name].dtype.kind in "if" for name in signs)
        assert set(signs.values()) <= {-1, 1}


def test_the_true_hazard_is_the_one_that_times_are_drawn_by():
    X, hazard = simulate("steps", TRUTH_ROWS, np.random.default_rng(0))
    assert set(np.log(hazard).round(9)) == {0.0, 0.5, 0.9, 1.5}
    assert hazard[(X["a"] > 0) & (X["b"] > 0.5)] == pytest.approx(np.exp(1.5))


def test_a_larger_set_has_no_narrower_range():
    row = measure(NearCase("truth", "slopes", 0))
    assert row["status"] == "done"
    assert row["trees_near_1"] <= row["trees_near_5"] <= row["trees_near_10"]
    assert row["width_near_1"] <= row["width_near_5"] <= row["width_near_10"]
    assert row["inside_near_1"] <= row["inside_near_5"] <= row["inside_near_10"]


def test_the_page_shows_every_row(monkeypatch, tmp_path):
    rng = np.random.default_rng(1)
    rows = pd.DataFrame(
        [
            {
                **vars(case),
                **{name: rng.random() for name in near_trees.COLUMNS},
                "status": "done",
                "message": "",
            }
            for case in cases(quick=False)
        ]
    )
    rows.loc[0, ["status", "message"]] = "error", "it broke"
    text = "\n".join(near_trees_page.page(rows, tmp_path))
    assert "it broke" in text
    monotone = rows[rows["part"] == "monotone"]
    for table, draw in zip(monotone["table"], monotone["draw"], strict=True):
        assert f"| {table} | {draw} |" in text

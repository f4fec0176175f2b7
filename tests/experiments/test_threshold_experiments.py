"""The experiments on thresholds: what their rows must agree on, and what their pages say."""

import math
from contextlib import contextmanager

import pandas as pd
import pytest

from experiments import real, threshold_curve, threshold_held_out, threshold_speed, thresholds
from experiments.figures import figure
from experiments.threshold_choices import CHOICES


def rows_of(experiment, cases):
    return pd.DataFrame([vars(case) | experiment.measure(case) for case in cases])


@pytest.fixture(scope="module")
def rows():
    return rows_of(thresholds, thresholds.cases(quick=True))


def test_no_tree_has_a_smaller_loss_than_the_proven_one(rows):
    losses = rows.pivot_table(index="table", columns="method", values="loss")
    every = rows[rows["method"] == "every threshold"].set_index("table")
    assert every["proven"].all()
    assert (every["gap"] == 0).all()
    assert set(losses) == set(thresholds.METHODS)
    assert losses.ge(every["loss"] - 1e-9, axis=0).all(axis=None)
    assert losses["ten quantiles"]["acath"] > every["loss"]["acath"] + 1
    assert 0 < every["evaluated"]["acath"] < 0.5


def test_page_says_whether_some_tree_is_better_than_the_proven_one(rows, tmp_path):
    text = "\n".join(thresholds.page(rows, tmp_path))
    assert "2 of 2 tables are proven. Of the 5 other trees of each of these, 0 have" in text
    worse = rows.copy()
    worse.loc[(rows["table"] == "acath") & (rows["method"] == "greedy"), "loss"] = 1.0
    assert "each of these, 1 have a smaller loss" in "\n".join(thresholds.page(worse, tmp_path))


def test_threads_change_seconds_alone():
    found = rows_of(threshold_speed, threshold_speed.cases(quick=True))
    assert list(found["threads"]) == [1, 2]
    assert found["loss"].nunique() == 1
    assert (found["loss"] < found["ten_quantiles_loss"]).all()
    assert (found["status"] == "done").all()


def test_ten_quantiles_are_what_the_experiment_on_real_tables_tunes():
    case = threshold_held_out.HeldOutCase("acath", 1, "ten quantiles", depth=2)
    mine = threshold_held_out.measure(case)
    theirs = real.measure(real.RealCase("acath", "clean", 2, 1, "surtree"))
    for name in ("c", "ib", "loss", "splits"):
        assert mine[name] == pytest.approx(theirs[name], rel=1e-12)
    assert mine["tuning"] == mine["search"] == "optimal"


def test_held_out_page_names_searches_that_met_their_limit(tmp_path):
    cases = [
        threshold_held_out.HeldOutCase(name, 0, choice, depth=2)
        for name in ("divorce", "acath")
        for choice in CHOICES
    ]
    rows = rows_of(threshold_held_out, cases)
    assert "Every search ended" in "\n".join(threshold_held_out.page(rows, tmp_path))
    rows.loc[rows["choice"] == "every threshold", "tuning"] = "time_limit"
    text = "\n".join(threshold_held_out.page(rows, tmp_path))
    assert "| acath | every threshold | 1 | 0 |" in text
    assert "| acath | ten quantiles |" not in text


@pytest.fixture(scope="module")
def curve():
    return rows_of(threshold_curve, threshold_curve.cases(quick=True))


def test_more_thresholds_never_cost_training_loss_where_they_contain_the_fewer(curve):
    found = curve.set_index("thresholds")["training_loss"]
    assert found["every"] < found["10"]
    assert found["every"] < found["3"]


def test_curve_compares_fold_by_fold_with_ten_thresholds(curve, tmp_path):
    # A second fold in which three thresholds cost 0.02 more than in the first.
    other = curve.assign(fold=1, held_out_loss=curve["held_out_loss"])
    other.loc[other["thresholds"] == "3", "held_out_loss"] += 0.02
    text = "\n".join(threshold_curve.page(pd.concat([curve, other]), tmp_path))
    loss = curve.set_index("thresholds")["held_out_loss"]
    assert f"| {loss['3'] + 0.01 - loss['10']:+.4f} ± 0.0100 |" in text
    assert "| +0.0000 ± 0.0000 |" in text
    assert (tmp_path / "thresholds-curve.svg").exists()


def test_figure_keeps_the_place_of_a_table_that_a_depth_lacks(rows, tmp_path, monkeypatch):
    drawn = {}

    @contextmanager
    def spy(path, n_rows, n_columns, **options):
        with figure(path, n_rows, n_columns, **options) as axes:
            yield axes
            places = [text.get_text() for text in axes[0][0].get_yticklabels()]
            for depth, ax in zip((2, 3), axes[0], strict=True):
                line = next(line for line in ax.get_lines() if line.get_label() == "ctree")
                values = line.get_xdata()
                drawn[depth] = {places[int(y)]: values[int(y)] for y in line.get_ydata()}

    monkeypatch.setattr(thresholds, "figure", spy)
    fewer = rows[rows["table"] == "acath"].assign(depth=3)
    thresholds.page(pd.concat([rows, fewer]), tmp_path)
    assert drawn[3]["acath"] == drawn[2]["acath"] > 0
    assert math.isnan(drawn[3]["divorce"])

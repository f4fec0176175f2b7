"""The experiment on small cohorts: its draws, its Cox model, its scores, and what its page says."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from experiments import cohort_comparison, real, small_cohorts, small_cohorts_page
from experiments.cohort_methods import COHORT_METHODS, GRIDS
from experiments.forecast import CURVES, PRIORS, brier_column
from experiments.prior_curves import prior_curves
from experiments.scores import Partition, tuning_concordance
from experiments.small_cohorts import ALL_ROWS, CohortCase, cohort
from experiments.tables import real_table
from experiments.task import Task
from surtree import SurTreeCV, leaf_curves
from surtree._support.parameters import LEAF_CURVES
from surtree.data.target import read_target
from surtree.metrics import normalized_integrated_brier_score
from surtree.metrics._kaplan_meier import kaplan_meier

ACATH = CohortCase("real", "acath", 100, 3, "surtree", test_rows=500, depth=2)


@pytest.fixture(scope="module")
def task():
    outer = cohort(ACATH)
    return Task(outer.X_train, outer.y_train, outer.X_test, 2), outer.y_test


def test_draws_are_stratified_and_leave_the_rest_to_the_test_part():
    everything = real_table("acath")
    drawn = cohort(ACATH)
    assert (len(drawn.y_train), len(drawn.y_test)) == (100, 500)
    assert drawn.y_train["event"].sum() == round(100 * everything.y["event"].mean())
    assert not set(drawn.X_train.index) & set(drawn.X_test.index)
    for other in (replace(ACATH, draw=4), replace(ACATH, rows=200)):
        assert set(cohort(other).X_train.index) != set(drawn.X_train.index)
    pd.testing.assert_frame_equal(cohort(replace(ACATH, method="cox")).X_train, drawn.X_train)


def test_few_events_are_tuned_by_few_folds():
    few = CohortCase("real", "dataDIVAT3", 100, 0, "no shrinkage", test_rows=500, depth=1)
    found = small_cohorts.measure(few)
    assert (found["events"], found["folds"], found["status"]) == (6, 5, "done")


def test_scores_are_those_of_the_model(task):
    task, y_test = task
    scores = COHORT_METHODS["surtree"](task).scores(task.y_train, y_test)
    model = SurTreeCV(2, cv=10).fit(task.X_train, task.y_train)
    assert scores["loss"] == pytest.approx(model.loss(task.X_test, y_test) / len(y_test))
    leaf = np.searchsorted(model.tree_.leaves, model.apply(task.X_test))
    for kind in CURVES:
        if kind in PRIORS:
            assert np.isfinite(scores[brier_column(kind)])
            continue
        if kind not in LEAF_CURVES:
            assert np.isnan(scores[brier_column(kind)])
            continue
        curves = [curve.survival for curve in leaf_curves(model.best_estimator_, kind)]
        expected = normalized_integrated_brier_score(
            task.y_train, y_test, [curves[place] for place in leaf]
        )
        assert scores[brier_column(kind)] == pytest.approx(expected)


def test_curve_with_a_prior_lies_between_that_of_the_leaf_and_that_of_all_rows(task):
    task, _ = task
    y, leaf = task.y_train, np.arange(100) % 2
    own, some, most = (prior_curves(y, leaf, 2, prior)[0] for prior in (1e-9, 10.0, 1e9))
    target = read_target(y, len(y))
    kept = own.x <= y["time"][leaf == 0].max()
    np.testing.assert_allclose(
        own.y[kept], kaplan_meier(target.take(leaf == 0))(own.x[kept]), atol=1e-6
    )
    np.testing.assert_allclose(most.y, kaplan_meier(target)(most.x), atol=1e-6)
    assert abs(some.y - most.y).max() < abs(own.y - most.y).max()


def test_whole_tables_without_shrinkage_are_those_of_the_real_tables():
    mine = small_cohorts.measure(
        CohortCase("full", "acath", ALL_ROWS, 1, "no shrinkage", test_rows=0, depth=2)
    )
    theirs = real.measure(real.RealCase("acath", "clean", 2, 1, "surtree"))
    assert mine["c"] == pytest.approx(theirs["c"], rel=1e-12)
    assert mine["ib_kaplan_meier"] == pytest.approx(theirs["ib"], rel=1e-9)
    assert mine["splits"] == theirs["splits"]


def test_failure_is_a_row_with_a_status(monkeypatch):
    def fail(task):
        raise ValueError("no such tree")

    monkeypatch.setitem(COHORT_METHODS, "failing", fail)
    found = small_cohorts.measure(replace(ACATH, method="failing"))
    assert (found["status"], found["message"]) == ("error", "ValueError: no such tree")
    done = small_cohorts.measure(replace(ACATH, method="no shrinkage"))
    assert list(found) == list(done)


def test_fold_without_a_comparable_pair_says_nothing():
    y = np.array([(True, 1.0), (False, 2.0), (True, 3.0)], dtype=[("event", "?"), ("time", "f8")])
    leaves = Partition(np.array([0, 0, 1]), np.array([0, 0, 1]))
    assert tuning_concordance(y, y, leaves) != 0.5
    assert tuning_concordance(y, y[1:], Partition(leaves.train, leaves.test[1:])) == 0.5


@pytest.fixture
def rows():
    """Nine real tables and one whole, where shrinkage is better by a little each time."""
    random = np.random.default_rng(0)
    found = []
    for kind, table, n in [*(("real", f"t{i}", 100) for i in range(9)), ("full", "t0", ALL_ROWS)]:
        for draw in range(2):
            base = random.uniform(0.1, 0.2)
            for place, method in enumerate(["surtree", "no shrinkage", "cox", *GRIDS]):
                value = base - 0.01 * (1 + base) * place
                case = CohortCase(kind, table, n, draw, method)
                measured = {"events": 30, "folds": 10, "c": 0.5 + value, "loss": 1 - value}
                measured |= {brier_column(curve): value for curve in CURVES}
                measured |= {"splits": 2, "shrinkage": 1.0, "seconds": 0.1, "status": "done"}
                found.append(vars(case) | measured | {"message": ""})
    return pd.DataFrame(found)


def test_page_says_which_bars_are_met(rows, tmp_path):
    text = "\n".join(small_cohorts_page.page(rows, tmp_path))
    assert "- met: Harrell's C, real tables: better on 9 of 9, worse on 0" in text
    assert "- met: Held-out loss per row (lower is better), real tables: better on 9 of 9" in text
    assert "- met: a mean Brier score of at least 0 in every cell" in text
    assert (
        "- **missed**: whole tables, held-out loss better on at least 9: better on 1 of 1" in text
    )

    worse = rows.assign(ib_baseline=rows["ib_baseline"] - 0.5)
    text = "\n".join(small_cohorts_page.page(worse, tmp_path))
    assert "- **missed**: a mean Brier score of at least 0 in every cell: not in real, 100" in text


def test_page_compares_draws_that_both_methods_have(rows):
    lost = rows.drop(rows.index[(rows["method"] == "cox") & (rows["draw"] == 0)])
    far = lost.assign(c=lost["c"].where(lost["draw"] == 1, 0.0))
    found = cohort_comparison.compare(far[far["kind"] == "real"], "c", "surtree", "cox")
    assert (found["tables"], found["better"], found["worse"]) == (9, 9, 0)
    swapped = cohort_comparison.compare(far[far["kind"] == "real"], "loss", "cox", "surtree")
    assert (swapped["better"], swapped["worse"]) == (0, 9)

"""The experiments: each one quickly, resuming, and rows that depend on their seed alone."""

import itertools
import math
import os
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest

from experiments import our_methods, small_cohorts
from experiments.__main__ import main
from experiments.catalogue import EXPERIMENTS
from experiments.comparison import average_ranks, holm, signed_rank_tests, wins
from experiments.evaluation_designs import LATE
from experiments.experiment import Experiment
from experiments.facts import fold_of_rows, paper_tables, published_folds
from experiments.limited import CrashError, run_limited
from experiments.methods import METHODS, attempt
from experiments.page import adjusted, p_text, table
from experiments.runner import run
from experiments.sampled_rows import BY_EVENT, MEAN_ONE, MERGED, Seen, sample
from experiments.scores import Partition, brier, concordance, held_out_loss, training_loss
from experiments.store import Store, read_rows
from experiments.tables import binary, numeric, real_table
from experiments.task import Method, Status, Task
from surtree import SurTree
from surtree.datasets import load_gbsg2
from surtree.heuristics import ConditionalInferenceTree
from surtree.metrics import normalized_integrated_brier_score

FIGURES = {"gaps", "synthetic", "training-score", "scalability", "ablation", "theta"} | {
    "thresholds",
    "thresholds-curve",
}
WITH_ROWS = [name for name, experiment in EXPERIMENTS.items() if not experiment.rows_of]


def run_quick(folder, *arguments):
    main(["run", *arguments, "--quick", "--results", str(folder)])


def rows_of(folder, name):
    return read_rows(folder / f"{name}.csv")


@pytest.fixture(scope="module")
def parts():
    X, y = load_gbsg2(backend="pandas")
    train = np.arange(len(y)) % 3 != 0
    return X[train], y[train], X[~train], y[~train]


def test_p_values_are_adjusted_for_all_tests_of_a_page():
    np.testing.assert_allclose(holm(pd.Series([0.01, 0.04, 0.03, 0.005])), [0.03, 0.06, 0.06, 0.02])
    lines = adjusted(
        [*table(pd.DataFrame({"p-value": [0.01, 0.04]}), 4), "", f"So: {p_text(0.00001)}."]
    )
    assert lines[2:5] == ["| 0.0100 | 0.0200 |", "| 0.0400 | 0.0400 |", ""]
    assert lines[5] == "So: p < 0.0001, Holm 0.0000."
    assert "3 two-sided" in lines[-1]
    assert adjusted(["no test"]) == ["no test"]


def test_draws_that_confirm_are_none_that_were_chosen_on():
    chosen_on = {(case.kind, case.draw, case.seed) for case in small_cohorts.cases(False)}
    again = small_cohorts.cases_again(False)
    assert len(again) == 1935
    assert not {(case.kind, case.draw, case.seed) for case in again} & chosen_on
    synthetic = {case.draw for case in again if case.kind == "synthetic"}
    assert synthetic == set(range(10, 20))


@pytest.mark.parametrize("name", WITH_ROWS)
def test_quick_version_makes_rows_and_a_page(name, tmp_path):
    run_quick(tmp_path, name)
    rows = rows_of(tmp_path, name)
    assert len(rows) == len(EXPERIMENTS[name].cases(True))
    assert set(rows["status"]) == {"done"}, rows[rows["status"] != "done"].to_string()

    main(["report", name, "--quick", "--results", str(tmp_path)])
    text = (tmp_path / f"{name}.md").read_text()
    assert f"python -m experiments run {name} --quick" in text
    assert "|---|" in text
    assert "nan" not in text
    assert (tmp_path / f"{name}.svg").exists() == (name in FIGURES)


def test_run_time_page_is_made_of_the_rows_of_the_real_tables(tmp_path):
    run_quick(tmp_path, "real-d3", "--only", "table=divorce", "--only", "method=surtree,greedy")
    main(["report", "runtime", "--quick", "--results", str(tmp_path)])
    text = (tmp_path / "runtime.md").read_text()
    rows = rows_of(tmp_path, "real-d3")
    paper = rows[rows["protocol"] == "paper"].set_index("method")["seconds"]
    assert f"| {paper['greedy'] / paper['surtree']:.1f} |" in text


def test_list_names_every_experiment(capsys):
    main(["list"])
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == list(EXPERIMENTS)


def test_rows_that_are_there_are_not_run_again(tmp_path, capsys):
    only = ("--only", "table=divorce", "--only", "method=surtree,ctree")
    run_quick(tmp_path, "real-d3", *only)
    path = tmp_path / "real-d3.csv"
    first = path.read_text()
    capsys.readouterr()
    run_quick(tmp_path, "real-d3", *only)
    assert path.read_text() == first
    assert "0 of 18 cases" in capsys.readouterr().err

    lines = first.splitlines(keepends=True)
    path.write_text("".join(lines[:1] + lines[2:]))
    run_quick(tmp_path, "real-d3", *only)
    again = rows_of(tmp_path, "real-d3")
    (tmp_path / "first.csv").write_text(first)
    expected = rows_of(tmp_path, "first")
    pd.testing.assert_frame_equal(again.drop(columns="seconds"), expected.drop(columns="seconds"))
    assert (again["seconds"] != expected["seconds"]).sum() == 1


def test_rows_do_not_depend_on_the_number_of_jobs(tmp_path):
    only = ("--only", "table=divorce")
    run_quick(tmp_path / "one", "real-d3", *only, "--jobs", "1")
    run_quick(tmp_path / "two", "real-d3", *only, "--jobs", "2")
    one, two = (rows_of(tmp_path / jobs, "real-d3") for jobs in ("one", "two"))
    assert len(one) == 9
    pd.testing.assert_frame_equal(one.drop(columns="seconds"), two.drop(columns="seconds"))


@dataclass(frozen=True)
class Fold:
    fold: int
    method: str


def run_folds(folder, jobs):
    def measure(case):
        late = case.method == "slow"
        return {"seconds": 9.0, "status": str(Status.TIME_LIMIT if late else Status.DONE)}

    experiment = Experiment(
        title="",
        page=lambda rows, folder: [],
        cases=lambda quick: [
            Fold(fold, method) for fold in range(3) for method in ("slow", "fast")
        ],
        measure=measure,
        pilot_of=lambda case: None if case.fold == 0 else replace(case, fold=case.fold - 1),
    )
    run("folds", experiment, folder, jobs=jobs)
    return rows_of(folder, "folds")


def test_what_ran_out_of_time_is_not_tried_again(tmp_path):
    rows = run_folds(tmp_path / "one", 1)
    statuses = rows.set_index(["method", "fold"])["status"]
    assert statuses["fast"].tolist() == ["done"] * 3
    assert statuses["slow"].tolist() == ["time limit", "not tried", "not tried"]
    assert rows[rows["status"] == "not tried"]["seconds"].isna().all()
    pd.testing.assert_frame_equal(rows, run_folds(tmp_path / "two", 2))


def test_a_row_is_added_in_the_order_of_its_file(tmp_path):
    path = tmp_path / "folds.csv"
    path.write_text("status,fold,method,seconds,cores,version\ndone,0,fast,1.000000,2,0.1.0\n")
    Store(path, Fold).add(Fold(1, "fast"), {"seconds": 9.0, "status": "done"})
    rows = read_rows(path)
    assert rows["fold"].tolist() == [0, 1]
    assert rows["status"].tolist() == ["done", "done"]
    assert rows["seconds"].tolist() == [1.0, 9.0]


def persons(n=400, **parts):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (n, 2)).astype(float)
    event = rng.integers(0, 2, n)
    stratum = rng.random(n) < 0.5
    return Seen(X, event, rng.integers(1, 9, n).astype(float), **parts), stratum


def test_merged_rows_are_the_persons_that_they_stand_for():
    everyone, stratum = persons()
    seen = sample(MERGED, 200, everyone, stratum, np.random.default_rng(1))
    assert seen.weight.sum() == 200
    assert len(seen.time) < 100
    repeated = np.repeat(np.arange(len(seen.time)), seen.weight.astype(int))
    one = np.column_stack([seen.X, seen.event, seen.time])[repeated]
    all_columns = np.column_stack([everyone.X, everyone.event, everyone.time])[:200]
    np.testing.assert_array_equal(one, all_columns[np.lexsort(all_columns.T[::-1])])


def test_weights_of_a_sample_are_one_over_the_chance():
    everyone, stratum = persons(4000)
    seen = sample(BY_EVENT, 1000, everyone, stratum, np.random.default_rng(1))
    np.testing.assert_array_equal(seen.weight, np.where(seen.event == 1, 1.0, 4.0))
    assert np.average(seen.event, weights=seen.weight) == pytest.approx(0.5, abs=0.05)
    mean_one = sample(MEAN_ONE, 1000, everyone, stratum, np.random.default_rng(1))
    assert mean_one.weight.mean() == pytest.approx(1)
    assert sorted(set(mean_one.weight / mean_one.weight.min())) == pytest.approx([1, 4])


def test_who_has_the_event_before_the_entry_is_not_seen():
    everyone, stratum = persons(entry=np.full(400, 4.0))
    seen = sample(LATE, 100, everyone, stratum, np.random.default_rng(1))
    assert seen.weight is None
    assert seen.time.min() == 5
    with pytest.raises(ValueError, match="300 rows are wanted"):
        sample(LATE, 300, everyone, stratum, np.random.default_rng(1))


def test_unknown_column_is_named(tmp_path):
    with pytest.raises(SystemExit, match="no column colour: there are table, protocol"):
        run_quick(tmp_path, "real-d3", "--only", "colour=red")


def test_published_means_are_the_numbers_of_the_paper():
    published = published_folds()
    columns = {"c": "harrell_c", "ib": "normalised_ibs"}
    for (name, method, depth), part in published.groupby(["dataset", "method", "depth"]):
        for metric, column in columns.items():
            printed = paper_tables().loc[name, f"d{depth}_{metric}_{method}"]
            if not math.isnan(printed):
                assert part[column].mean() == pytest.approx(printed, abs=0.0051)


@pytest.mark.parametrize("name", ["Aids2", "csl", "nwtco"])
def test_tables_are_those_of_the_paper(name):
    loaded, described = real_table(name), paper_tables().loc[name]
    assert len(loaded.y) == described["rows"] == len(fold_of_rows(name, 3))
    assert 100 * (1 - loaded.y["event"].mean()) == pytest.approx(described["censored"], abs=0.051)
    assert loaded.X.shape[1] == described["columns"]
    assert binary(loaded.X).shape[1] == described["cuts"]


def test_trees_of_the_published_sizes_are_the_published_trees(tmp_path):
    run_quick(tmp_path, "paper-size")
    rows = rows_of(tmp_path, "paper-size")
    np.testing.assert_allclose(rows["loss"], rows["paper_loss"], rtol=1e-6)
    np.testing.assert_allclose(rows["c"], rows["paper_c"], atol=2e-6)
    np.testing.assert_allclose(rows["ib"], rows["paper_ib"], atol=5e-4)


def test_scores_of_leaves_are_those_of_the_model(parts):
    X, y, X_test, y_test = parts
    model = SurTree(2, leaf_curve="kaplan-meier").fit(X, y)
    leaves = Partition(model.apply(X), model.apply(X_test))
    assert leaves.splits == model.tree_.n_splits
    assert training_loss(y, leaves.train) == pytest.approx(model.loss_, rel=1e-12)
    # The paper does not compare an event with a row that is censored at the same time.
    apart = y_test.copy()
    apart["time"][~y_test["event"]] -= 1e-6
    assert concordance(y, y_test, leaves) == pytest.approx(model.score(X_test, apart), rel=1e-12)
    assert held_out_loss(y, y_test, leaves) == pytest.approx(
        model.loss(X_test, y_test) / len(y_test), rel=1e-12
    )
    curves = model.predict_survival_function(X_test)
    expected = normalized_integrated_brier_score(y, y_test, curves)
    assert brier(y, y_test, leaves) == pytest.approx(expected, rel=1e-9)


def test_test_row_in_a_leaf_without_training_rows_is_an_error(parts):
    _, y, _, y_test = parts
    leaves = Partition(np.zeros(len(y), int), np.arange(len(y_test)))
    with pytest.raises(ValueError, match="no training row"):
        concordance(y, y_test, leaves)


def test_one_ctree_contains_those_of_all_stricter_levels(parts, monkeypatch):
    X, y, *_ = parts
    monkeypatch.setattr(our_methods, "CTREE_ALPHAS", (1e-9, 1e-4, 1e-2, 0.05, 0.1, 0.3))
    whole = ConditionalInferenceTree(4, alpha=0.3).fit(X, y)
    found = our_methods.stricter_leaves(whole, X)
    for alpha, leaves in zip(our_methods.CTREE_ALPHAS, found, strict=True):
        alone = ConditionalInferenceTree(4, alpha=alpha).fit(X, y).apply(X)
        # The same partition: no label of one is shared by two of the other.
        pairs = set(zip(leaves, alone, strict=True))
        assert len(pairs) == len(set(leaves)) == len(set(alone))
    assert len({len(set(leaves)) for leaves in found}) > 3


def test_node_below_one_that_splits_no_more_is_part_of_it():
    left, right = np.array([1, 2, -1, -1, -1]), np.array([4, 3, -1, -1, -1])
    only_below = np.array([False, True, False, False, False])
    assert our_methods.ends(left, right, only_below).tolist() == [0, 0, 0, 0, 0]
    assert our_methods.ends(left, right, ~only_below).tolist() == [0, 1, 1, 1, 4]


@pytest.mark.parametrize("name", METHODS)
def test_tuned_methods_keep_the_depth_and_find_something(name, parts):
    package = METHODS[name].package
    if package is not None:
        pytest.importorskip(package)
    X, y, X_test, y_test = parts
    if name != "surtree":
        X, X_test = numeric(X), numeric(X_test)
    tried = attempt(name, "tune", Task(X, y, X_test, 2, limit=100.0))
    assert tried.status == Status.DONE, tried.message
    assert 1 <= tried.leaves.splits <= 3
    assert concordance(y, y_test, tried.leaves) > 0.58


def test_failures_are_statuses(parts, monkeypatch):
    X, y, X_test, _ = parts
    task = Task(X, y, X_test, 2)

    def fail(task):
        raise ValueError("no such tree")

    absent = Method("binary", fail, fail, "a_package_that_is_not_there")
    monkeypatch.setitem(METHODS, "absent", absent)
    monkeypatch.setitem(METHODS, "failing", Method("binary", fail, fail))
    assert attempt("absent", "fit", task).status == Status.NOT_INSTALLED
    failed = attempt("failing", "fit", task)
    assert (failed.status, failed.message) == (Status.ERROR, "ValueError: no such tree")
    assert failed.leaves is None


def test_limited_functions():
    assert run_limited(30, math.sqrt, 9) == 3
    with pytest.raises(ValueError, match=r"math domain|nonnegative"):
        run_limited(30, math.sqrt, -1)
    with pytest.raises(TimeoutError):
        run_limited(0.2, sum, itertools.repeat(1))
    with pytest.raises(CrashError):
        run_limited(30, os._exit, 3)


def test_wins_and_ranks_are_by_two_decimals():
    scores = pd.DataFrame({"a": [0.701, 0.5, 0.6], "b": [0.704, 0.4, np.nan], "c": [0.6, 0.6, 0.5]})
    assert wins(scores).to_dict() == {"a": 2, "b": 1, "c": 1}
    ranks = average_ranks(scores)
    assert ranks.to_dict() == pytest.approx({"a": 4.5 / 3, "b": 7.5 / 3, "c": 2.0})


def test_signed_rank_tests_find_a_difference_that_is_always_there():
    rng = np.random.default_rng(0)
    one = rng.uniform(size=15)
    scores = pd.DataFrame({"one": one, "better": one + 0.01 + 0.01 * one, "same": one})
    p_value = signed_rank_tests(scores).set_index(["one", "other"])["p-value"]
    assert p_value["one", "better"] < 0.001
    assert p_value["one", "same"] == 1.0

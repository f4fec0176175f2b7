"""The search itself: stoppable, bounded, the same answer by every road."""

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from sklearn.exceptions import ConvergenceWarning

from problems import Case, cases, limits_of, objective_of, relative_risk_rows
from surtree import SurTree, _core
from surtree.cuts.encoder import Encoder, join_binned
from surtree.data.table import read_table
from surtree.data.target import read_target
from surtree.datasets import make_survival_tree_data
from surtree.heuristics import GreedyTree, LocalSearchTree
from surtree.solver import reference
from surtree.solver.core import Problem
from surtree.solver.problem import BinnedRows, Limits, Switches, TreeTopology
from surtree.solver.pruning import best_subtrees
from surtree.survival.baseline import nelson_aalen
from surtree.survival.objective import RELATIVE_RISK

LEFT_OUT = {
    "memo": False,
    "merge": False,
    "regroup": False,
    "bounds": False,
    "sweep": False,
    "share": False,
    "fill": False,
}


def encode(X, y, **parameters):
    encoder = Encoder(**parameters)
    weight = np.ones(len(y))
    binned = encoder.fit_encode(read_table(encoder, X, reset=True), weight)
    target = read_target(y, len(y))
    return binned, RELATIVE_RISK.row_sums(target, weight, nelson_aalen(target, weight))


def test_every_switch_is_tried():
    assert {field.name for field in fields(Switches)} == {
        *LEFT_OUT,
        "kernel_depth",
        "screen",
        "bisect",
        "stop_after",
    }


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases(max_rows=30, max_columns=5))
def test_speed_ups_change_no_answer(case: Case):
    limits = limits_of(case)
    binned, sums = encode(case.X, case.y, n_thresholds=4, min_support=0.0)
    problem = binned, replace(sums, objective=objective_of(case))
    expected = Problem(*problem).solve(limits)
    others = [Switches(**{name: False}) for name in LEFT_OUT]
    others += [Switches(kernel_depth=1), Switches(kernel_depth=2), Switches(screen=2)]
    others += [Switches(bisect=0), Switches(bisect=0, memo=False, regroup=False)]
    for switches in others:
        found = Problem(*problem).solve(limits, switches=switches)
        # Without merging there are more rows, and so more sizes that bring nothing.
        n = min(len(expected.gains), len(found.gains))
        np.testing.assert_allclose(found.gains[:n], expected.gains[:n], rtol=1e-12, atol=1e-12)
    no_memory = Problem(*problem).solve(limits, memory_limit=0)
    np.testing.assert_array_equal(no_memory.gains, expected.gains)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases(max_rows=12, max_columns=2))
def test_bounds_hold_after_every_task_of_a_search(case: Case):
    limits = limits_of(case)
    limits = replace(limits, max_depth=min(limits.max_depth, 3))
    encoder = Encoder(n_thresholds=3, min_support=0.0)
    holds = encoder.fit(case.X).transform(case.X).astype(bool)
    binned, sums = encode(case.X, case.y, n_thresholds=3, min_support=0.0)
    problem = binned, replace(sums, objective=objective_of(case))
    best = reference.solve(holds, problem[1], limits).gains
    # Kernels of one level leave all sides of the root to tasks of their own; then, bisection.
    for switches in (Switches(kernel_depth=1), Switches(kernel_depth=2), Switches(bisect=0)):
        status, n_tasks = "", 0
        while status != "optimal":
            early = replace(switches, stop_after=n_tasks)
            found = Problem(*problem).solve(limits, switches=early)
            expected = best[np.minimum(np.arange(found.gains.size), best.size - 1)]
            assert (found.gains <= expected + 1e-9).all()
            assert (found.gain_bounds >= expected - 1e-9).all()
            status, n_tasks = found.status, n_tasks + 1


@pytest.mark.parametrize("time_limit", [1e9, 1e10, 1e300, float("inf")])
def test_a_time_limit_of_ages_is_none(time_limit):
    X, y, _ = make_survival_tree_data(400, random_state=2)
    model = SurTree(max_depth=4, time_limit=time_limit).fit(X, y)
    assert model.status_ == "optimal"
    assert model.loss_ == SurTree(max_depth=4).fit(X, y).loss_


def test_a_slow_hook_does_not_delay_the_clock():
    X, y, _ = make_survival_tree_data(2000, factor=2, random_state=1)
    calls = []

    def slow(progress):
        calls.append(progress)
        time.sleep(0.5)

    model = SurTree(max_depth=6, time_limit=0.2, progress=slow).fit(X, y)
    assert model.status_ == "time_limit"
    assert len(calls) <= 1  # after the limit nobody is asked


@pytest.mark.parametrize("depth", [5, 6])
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(case=cases(max_rows=60, max_columns=6))
def test_shared_sides_change_no_answer(depth, case: Case):
    leaf_limits = ("min_samples_leaf", "min_events_leaf")
    limits = Limits(depth, **{k: v for k, v in case.limits.items() if k in leaf_limits})
    problem = encode(case.X, case.y, n_thresholds=4, min_support=0.0)
    expected = Problem(*problem).solve(limits, switches=Switches(share=False))
    # By two threads, with too little memory for all sides, and with a clock at hand.
    for options in ({}, {"n_jobs": 2}, {"memory_limit": 100_000}, {"time_limit": 100.0}):
        found = Problem(*problem).solve(limits, **options)
        np.testing.assert_array_equal(found.gains, expected.gains)
        for ours, theirs in zip(found.topologies, expected.topologies, strict=True):
            np.testing.assert_array_equal(ours.cut, theirs.cut)


def entangled_table(rng):
    """Return columns that say much about each other, so that many cuts divide few sets of rows."""
    n = int(rng.integers(20, 300))
    columns = []
    for _ in range(rng.integers(3, 7)):
        kind = rng.integers(4)
        if kind == 0 and columns:  # a coarser copy
            values = columns[rng.integers(len(columns))].astype("float") // 2
        elif kind == 1 and columns:  # mostly another one
            values = columns[rng.integers(len(columns))].astype("float")
            values = values.where(rng.random(n) < 0.9, 0.0)
        else:
            values = pd.Series(rng.integers(0, rng.integers(2, 9), n).astype(float))
        if rng.random() < 0.3:
            values = values.mask(rng.random(n) < 0.2)
        columns.append(values)
    X = pd.concat(columns, axis=1)
    X.columns = [f"c{k}" for k in range(X.shape[1])]
    for name in X.columns[rng.random(X.shape[1]) < 0.3]:
        X[name] = X[name].map(lambda value: None if np.isnan(value) else f"v{value:g}")
    y = np.empty(n, dtype=[("event", bool), ("time", float)])
    y["event"] = rng.random(n) < rng.choice([0.2, 0.6, 1.0])
    y["event"][0] = True
    y["time"] = rng.integers(1, 30, n)
    return X, y


@pytest.mark.parametrize("seed", range(40))
def test_what_columns_share_changes_no_answer(seed):
    rng = np.random.default_rng(seed)
    problem = encode(*entangled_table(rng), n_thresholds=int(rng.integers(2, 8)), min_support=0.0)
    if seed % 5 == 0:  # every column twice
        problem = join_binned(problem[0], problem[0]), problem[1]
    leaf_limits = rng.choice([(1, 0), (1, 0), (5, 0), (2, 2)]).tolist()
    limits = Limits(int(rng.choice([4, 4, 5])), None, *leaf_limits)
    expected = Problem(*problem).solve(limits, switches=Switches(share=False))
    found = Problem(*problem).solve(limits, n_jobs=1 + seed % 2)
    np.testing.assert_array_equal(found.gains, expected.gains)
    for ours, theirs in zip(found.topologies, expected.topologies, strict=True):
        np.testing.assert_array_equal(ours.cut, theirs.cut)


@pytest.fixture(scope="module")
def slow():
    """A problem that takes many seconds to solve."""
    X, y, _ = make_survival_tree_data(3000, factor=2, random_state=1)
    return X, y


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("time_limit", [0.3, 1.0])
def test_a_time_limit_ends_the_search_with_a_good_tree(slow, n_jobs, time_limit):
    X, y = slow
    model = SurTree(max_depth=6, time_limit=time_limit, n_jobs=n_jobs)
    start = time.process_time()  # of all threads; other processes do not count
    model.fit(X, y)
    seconds = time.process_time() - start
    assert model.status_ == "time_limit"
    assert 0 < model.gap_ <= 1
    assert model.lower_bound_ < model.loss_ == model.path_[-1].loss
    # A good tree of the full depth comes early: better than the best of depth four.
    assert model.tree_.depth > 4
    assert model.loss_ < SurTree(max_depth=4).fit(X, y).loss_
    # Far from a benchmark: a search that does not stop takes a hundred times as long.
    assert seconds < 10 * n_jobs * time_limit


def test_a_tree_by_local_search_is_the_least_that_a_time_limit_leaves(slow, monkeypatch):
    X, y = slow
    original = Problem.solve

    def find_nothing(*arguments, **options):
        found = original(*arguments, **options | {"time_limit": 1e-9})
        return replace(
            found,
            status="time_limit",
            gains=np.full_like(found.gains, found.gains[0]),
            topologies=found.topologies[:1] * found.gains.size,
        )

    monkeypatch.setattr(Problem, "solve", find_nothing)
    model = SurTree(max_depth=5, time_limit=30).fit(X, y)
    local = LocalSearchTree(max_depth=5, n_restarts=1).fit(X, y)
    assert model.loss_ <= local.loss_ * (1 + 1e-12)
    assert model.lower_bound_ < model.loss_ < model.path_[0].loss


def test_a_warning_says_that_a_limit_ended_the_search(slow, recwarn):
    X, y = slow
    with pytest.warns(ConvergenceWarning, match=r"The time limit ended .* a gap of \d"):
        SurTree(max_depth=6, time_limit=0.05).fit(X, y)
    SurTree(max_depth=2, time_limit=60).fit(X, y)
    assert not recwarn.list


def test_bounds_hold_whenever_a_search_ends():
    X, y, _ = make_survival_tree_data(800, random_state=2)
    whole = SurTree(max_depth=4).fit(X, y)
    calls = 0
    for stop_after in range(1, 4):

        def stop(_, stop_after=stop_after):
            nonlocal calls
            calls += 1
            return calls >= stop_after

        calls = 0
        early = SurTree(max_depth=5, progress=stop).fit(X, y)
        assert early.status_ in ("interrupted", "optimal")
        assert early.lower_bound_ <= early.loss_
        assert early.path_[-1].lower_bound <= whole.loss_ + 1e-9


def test_progress_tells_how_far(slow):
    X, y = slow
    seen = []

    def watch(progress):
        seen.append(progress)
        return len(seen) >= 25

    model = SurTree(max_depth=5, progress=watch).fit(X, y)
    assert model.status_ == "interrupted"
    fractions = [progress.fraction for progress in seen]
    assert fractions == sorted(fractions)
    assert 0 <= fractions[-1] < 1
    losses = [progress.loss for progress in seen]
    assert losses == sorted(losses, reverse=True)
    assert all(progress.lower_bound <= progress.loss for progress in seen)
    assert model.loss_ <= losses[-1] + 1e-9


def test_who_ends_a_search_of_depth_five_has_the_best_trees_of_depth_four():
    # Where nothing depends on anything, no tree that is found early is the best by luck.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 8)), rng.exponential(size=2000)
    four = SurTree(max_depth=4).fit(X, y)
    early = SurTree(max_depth=5, progress=lambda now: now.fraction > 0).fit(X, y)
    assert early.status_ == "interrupted"
    for best, found in zip(four.path_, early.path_, strict=False):
        assert found.loss <= best.loss + 1e-9


def test_an_error_in_the_hook_reaches_the_caller(slow):
    X, y = slow

    def fail(_):
        raise LookupError("no such screen")

    with pytest.raises(LookupError, match="no such screen"):
        SurTree(max_depth=6, progress=fail).fit(X, y)


def test_control_c_ends_a_search():
    code = """
import os, signal, time
from surtree import SurTree
from surtree.datasets import make_survival_tree_data
X, y, _ = make_survival_tree_data(3000, factor=2, random_state=1)
SurTree(max_depth=1).fit(X, y)
n_threads = len(os.listdir("/proc/self/task"))
signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever started the tests
print("ready", flush=True)
try:
    SurTree(max_depth=6, n_jobs=2).fit(X, y)
except KeyboardInterrupt:
    print(n_threads == len(os.listdir("/proc/self/task")))
"""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(1.0)
        os.kill(process.pid, signal.SIGINT)
        no_thread_left = process.stdout.readline().strip()  # the whole search takes hours
    assert no_thread_left == "True"


def test_binary_columns_are_as_good_as_the_columns_they_came_from():
    X, y, _ = make_survival_tree_data(400, random_state=6)
    raw = SurTree(max_depth=4).fit(X, y)
    binary = SurTree(max_depth=4).fit(raw.encoder_.transform(X), y)
    assert binary.loss_ == pytest.approx(raw.loss_, rel=1e-12)


def test_thousands_of_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 1500))
    y = rng.exponential(1.0 + 3 * (X[:, 700] > 0.5) * (X[:, 1200] > 0))
    model = SurTree(max_depth=2).fit(X, y)
    assert model.status_ == "optimal"
    best_stump = SurTree(max_depth=1).fit(X, y)
    assert model.loss_ < best_stump.loss_


def test_many_identical_rows():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 3, size=(50_000, 4)), columns=list("abcd"))
    y = rng.exponential(1.0 + X["a"] * (X["b"] > 1)) + 0.01
    together = SurTree(max_depth=3).fit(X, y)
    binned, sums = encode(X, pd.Series(y).to_numpy())
    apart = Problem(binned, sums).solve(Limits(3), switches=Switches(merge=False))
    assert sums.constant - apart.gains[-1] == pytest.approx(together.loss_, rel=1e-10)


def test_kernels_have_a_name():
    assert _core.kernels() in ("portable", "avx2", "avx512")


@pytest.mark.parametrize("kernels", ["portable", "avx2", "avx512"])
def test_every_instruction_set_finds_the_same_tree(kernels):
    code = """
from surtree import SurTree, _core
from surtree.datasets import make_survival_tree_data
X, y, _ = make_survival_tree_data(700, random_state=4)
model = SurTree(max_depth=4).fit(X, y)
limited = SurTree(max_depth=4, min_samples_leaf=20, min_events_leaf=9).fit(X, y)
print(repr(model.loss_), model.tree_.cut.tolist(), repr(limited.loss_), limited.tree_.cut.tolist())
print(_core.kernels())
"""
    (here, _), (there, used) = (
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"SURTREE_KERNELS": name},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
        for name in ("", kernels)
    )
    if used != kernels:
        pytest.skip(f"this processor has no {kernels}")
    assert here == there


def test_two_searches_at_once():
    X, y, _ = make_survival_tree_data(500, random_state=8)
    found = []

    def fit():
        found.append(SurTree(max_depth=4).fit(X, y).loss_)

    threads = [threading.Thread(target=fit) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [found[0]] * 3


# Wide tables


def wide_table(n_rows, n_columns):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n_rows, n_columns))
    rate = np.exp(0.8 * (X[:, 0] > 0) + 0.6 * (X[:, 1] > 0.5))
    return X, rng.exponential(1 / rate)


def test_a_table_of_many_columns_has_its_optimum():
    # So many columns have more tables than are kept at once. Depth three by its definition.
    X, y = wide_table(150, 16)
    model = SurTree(max_depth=3, max_splits=4).fit(X, y)
    holds = model.encoder_.transform(X).astype(bool)
    best = np.inf
    for cut in range(holds.shape[1]):
        yes = holds[:, cut]
        sides = [
            reference_path(X[side], y[side], holds[side], model.tree_.baseline)
            for side in (yes, ~yes)
        ]
        # Four splits: the root, and three below it in any way.
        best = min(best, *(sides[0][k] + sides[1][3 - k] for k in range(4)))
    assert model.loss_ == pytest.approx(best, rel=1e-9)


def reference_path(X, y, holds, baseline):
    """Return the least loss of depth two with at most 0 to 3 splits, by trying all cuts."""
    target = read_target(y, len(y))
    sums = RELATIVE_RISK.row_sums(target, np.ones(len(y)), baseline)
    values = np.vstack([sums.values, np.ones(len(y))])

    def loss(total):
        events, hazard = total[0], total[1]
        return -events * np.log(
            np.where(events > 0, events, 1.0) / np.where(events > 0, hazard, 1.0)
        )

    def stump(inside):
        part = values[:, inside]
        total = part.sum(axis=1)
        yes = part @ holds[inside]
        no = total[:, None] - yes
        divides = (yes[2] > 0) & (no[2] > 0)
        split = loss(yes[:, divides]) + loss(no[:, divides])
        return loss(total), min(loss(total), split.min(initial=np.inf))

    everyone = np.ones(len(y), dtype=bool)
    leaf, one = stump(everyone)
    two = three = one
    for cut in range(holds.shape[1]):
        yes = holds[:, cut]
        if yes.all() or not yes.any():
            continue
        (leaf_yes, stump_yes), (leaf_no, stump_no) = stump(yes), stump(~yes)
        two = min(two, stump_yes + leaf_no, leaf_yes + stump_no)
        three = min(three, stump_yes + stump_no)
    return sums.constant + np.array([leaf, one, two, min(two, three)])


@pytest.mark.parametrize(("n_columns", "depth"), [(60, 3), (60, 4), (300, 2)])
@pytest.mark.parametrize("time_limit", [1e-9, 0.2])
def test_a_search_of_a_wide_table_that_ends_early_is_as_good_as_greedy(
    n_columns, depth, time_limit
):
    X, y = wide_table(400, n_columns)
    model = SurTree(max_depth=depth, time_limit=time_limit).fit(X, y)
    greedy = GreedyTree(max_depth=depth).fit(X, y)
    assert model.loss_ <= greedy.tree_.total_loss * (1 + 1e-9)
    losses = [size.loss for size in model.path_]
    assert losses == sorted(losses, reverse=True)
    # Smaller sizes have trees too: the best parts of the largest.
    assert len(set(losses)) > 2 ** (depth - 1)


def test_subtrees_of_every_size_are_the_best():
    rng = np.random.default_rng(0)
    X, y = wide_table(200, 5)
    tree = GreedyTree(max_depth=3, n_thresholds=5).fit(X, y).tree_

    def every(node, worth):
        """Yield the splits and the worth of all subtrees at a node."""
        yield 0, worth[node]
        if tree.left[node] >= 0:
            for n_left, left in every(tree.left[node], worth):
                for n_right, right in every(tree.right[node], worth):
                    yield 1 + n_left + n_right, left + right

    for _ in range(20):
        worth = rng.normal(size=tree.n_nodes)
        gains, trees = best_subtrees(TreeTopology(tree.cut, tree.left, tree.right), worth)
        subtrees = list(every(0, worth))
        for splits, gain in enumerate(gains):
            assert gain == pytest.approx(max(w for n, w in subtrees if n == splits))
            assert np.count_nonzero(trees[splits].cut >= 0) == splits


@pytest.mark.parametrize("sizes", [(13, 6, 2), (20, 4, 3), (12, 6, 2)])
def test_sharing_changes_nothing_where_a_column_has_many_categories(sizes):
    rng = np.random.default_rng(sizes)
    n = 200
    cuts = np.array([(line, k) for line, q in enumerate(sizes) for k in range(q)], dtype=np.int32)
    binned = BinnedRows(
        bins=np.array([rng.integers(0, q, n) for q in sizes], dtype=np.uint16),
        n_bins=np.array(sizes, dtype=np.int32),
        missing_bin=np.full(3, -1, dtype=np.int32),
        cut_column=cuts[:, 0].copy(),
        cut_first=cuts[:, 1].copy(),
        cut_last=cuts[:, 1].copy(),
        cut_missing=np.zeros(len(cuts), dtype=bool),
        cut_gaps=np.zeros(len(cuts), dtype=np.uint64),
    )
    event = rng.random(n) < 0.6
    sums = relative_risk_rows(event * 1.0, rng.uniform(0.05, 3.0, n), event)
    for limits in (Limits(4, 5), Limits(4), Limits(5, 6)):
        gains = [
            Problem(binned, sums).solve(limits, switches=switches).gains
            for switches in (Switches(), Switches(share=False), Switches(bisect=0))
        ]
        np.testing.assert_allclose(gains[0], gains[1], rtol=1e-12)
        np.testing.assert_allclose(gains[0], gains[2], rtol=1e-12)

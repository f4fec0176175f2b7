"""However a search ends, it has a strong tree, and what it shows meanwhile only gets better."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from surtree import Encoder, SurTree, SurTreeCV, validate
from surtree.data.table import read_table
from surtree.data.target import read_target
from surtree.heuristics import GreedyTree, LocalSearchTree
from surtree.solver._column_rounds import ColumnRounds
from surtree.solver._incumbent import first_tree, improve, with_subtrees
from surtree.solver._restriction import only_columns
from surtree.solver.clock import Clock, Watch
from surtree.solver.core import Problem
from surtree.solver.problem import Forest, Limits, Progress, Switches
from surtree.solver.search import SearchSettings, search
from surtree.survival.baseline import nelson_aalen
from surtree.survival.objective import RELATIVE_RISK


def wide_table(n_rows, n_columns, seed=0):
    """Return columns two of which matter only together, and 40% of the rows censored."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    risk = 1.2 * ((X[:, 0] > 0) ^ (X[:, 1] > 0)) + 0.8 * (X[:, 2] > 0.5)
    y = np.empty(n_rows, dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = rng.random(n_rows) < 0.6, rng.exponential(np.exp(-risk))
    return X, y


def encode(X, y, **parameters):
    encoder = Encoder(**parameters)
    weight = np.ones(len(y))
    binned = encoder.fit_encode(read_table(encoder, X, reset=True), weight)
    target = read_target(y, len(y))
    return binned, RELATIVE_RISK.row_sums(target, weight, nelson_aalen(target, weight))


def quiet(problem):
    return Watch(None, problem.sums.constant)


def gain_of(problem, topology):
    """Return what a tree gains, added up from its leaves; and the sums of its leaves."""
    sums = problem.sum_nodes(Forest.of([topology]), problem.sums.values)[:, topology.cut < 0]
    return float(problem.sums.objective.gain(sums).sum())


@pytest.mark.parametrize("seed", range(40))
def test_local_search_from_a_tree_is_never_worse_and_keeps_the_limits(seed):
    rng = np.random.default_rng(seed)
    problem = Problem(*encode(*wide_table(80, 6, seed), n_thresholds=5))
    start = problem.local_search(Limits(4), n_restarts=1, seed=seed).topology
    whole = problem.local_search(Limits(4), n_restarts=4, seed=seed, start=start)
    assert whole.worth.max() >= gain_of(problem, start) - 1e-9
    assert whole.worth.max() == pytest.approx(gain_of(problem, whole.topology))
    limits = Limits(int(rng.integers(1, 4)), int(rng.integers(1, 6)), int(rng.integers(1, 12)))
    found = problem.local_search(limits, n_restarts=4, seed=seed, start=start)
    assert found.worth.max() == pytest.approx(gain_of(problem, found.topology))
    assert (found.topology.cut >= 0).sum() <= limits.max_splits
    rows = np.bincount(problem.find_leaves(found.topology), minlength=found.topology.cut.size)
    assert rows[found.topology.cut < 0].min() >= limits.min_samples_leaf
    assert found.worth.max() <= problem.solve(limits).gains[-1] + 1e-9


def test_the_optimum_over_some_columns_is_that_of_a_table_without_the_others():
    X, y = wide_table(150, 8)
    problem = Problem(*encode(X, y))
    lines = np.array([0, 1, 5])
    some = only_columns(problem.binned, lines)
    found = Problem(some.binned, problem.sums).solve(Limits(3))
    alone = Problem(*encode(X[:, lines], y)).solve(Limits(3))
    np.testing.assert_allclose(found.gains, alone.gains)
    tree = some.original(found.topologies[-1])
    assert gain_of(problem, tree) == pytest.approx(found.gains[-1])
    assert set(problem.binned.cut_column[tree.cut[tree.cut >= 0]]) <= set(lines)


def test_some_columns_find_what_changes_of_a_node_do_not():
    problem = Problem(*encode(*wide_table(300, 120)))
    limits = Limits(3)
    known = first_tree(problem, limits, clock=Clock(None), watch=quiet(problem))
    rounds = ColumnRounds(problem, limits)
    assert rounds.is_useful
    for _ in range(10):
        found = rounds.run(known, Clock(None), quiet(problem))
        if found is not None:
            assert found.gains[-1] > known.gains[-1]
            assert gain_of(problem, found.topologies[-1]) == pytest.approx(found.gains[-1])
            known = found
    local = problem.local_search(limits, n_restarts=20, seed=1)
    assert known.gains[-1] >= local.worth.max()


def test_trees_are_improved_for_no_longer_than_there_is_time():
    problem = Problem(*encode(*wide_table(300, 120)))
    known = first_tree(problem, Limits(3), clock=Clock(None), watch=quiet(problem))
    clock = Clock(0.3)
    found = improve(problem, Limits(3), known, clock=clock, watch=quiet(problem))
    assert clock.is_over
    assert found.gains[-1] > known.gains[-1]
    assert (np.diff(found.gains) >= 0).all()
    # A watcher that has seen enough ends it at once.
    watch = Watch(lambda now: True, problem.sums.constant)
    watch.know(float(known.gains[-1]))
    stopped = improve(problem, Limits(3), known, clock=Clock(60.0), watch=watch)
    assert watch.stopped
    assert stopped.gains[-1] >= known.gains[-1]


@pytest.mark.parametrize(("n_columns", "depth"), [(400, 2), (400, 3), (60, 4)])
def test_an_early_end_is_at_least_as_good_as_the_heuristics(n_columns, depth):
    X, y = wide_table(200, n_columns)
    model = SurTree(max_depth=depth, time_limit=1.0).fit(X, y)
    assert model.loss_ <= GreedyTree(max_depth=depth).fit(X, y).tree_.total_loss + 1e-9
    local = LocalSearchTree(max_depth=depth, n_restarts=5, ccp_alpha=0.0).fit(X, y)
    assert model.loss_ <= local.loss_ + 1e-9


@pytest.mark.parametrize(
    ("n_columns", "options"),
    [
        (300, {"max_depth": 3}),
        (40, {"max_depth": 4}),
        (6, {"max_depth": 4, "n_thresholds": None, "min_support": 0.0}),
    ],
)
@pytest.mark.parametrize("time_limit", [None, 1.5])
def test_what_is_shown_only_gets_better(n_columns, options, time_limit):
    X, y = wide_table(400, n_columns)
    seen = []

    def watch(now):
        seen.append(now)
        return len(seen) == 60

    model = SurTree(**options, time_limit=time_limit, progress=watch).fit(X, y)
    assert model.status_ in ("interrupted", "time_limit")
    for name, sign in (("fraction", 1), ("loss", -1), ("lower_bound", 1)):
        values = sign * np.array([getattr(now, name) for now in seen])
        assert (np.diff(values) >= 0).all(), name
    assert all(0 <= now.lower_bound <= now.loss < np.inf for now in seen)
    assert model.loss_ <= seen[-1].loss + 1e-9
    assert model.lower_bound_ >= seen[-1].lower_bound - 1e-9 * seen[-1].loss


def test_a_watch_passes_on_the_best_of_all_parts():
    shown = []
    watch = Watch(shown.append, 100.0)
    part, whole = watch.part(), watch.whole()
    part(Progress(0.5, np.inf, 0.0))  # no tree yet
    watch.know(10.0)
    part(Progress(0.5, 95.0, 70.0))
    whole(Progress(0.2, 97.0, 20.0))
    whole(Progress(0.3, 60.0, 10.0))
    assert shown == [
        Progress(0.0, 90.0, 0.0),
        Progress(0.2, 90.0, 20.0),
        Progress(0.3, 60.0, 20.0),
    ]
    assert Watch(None, 1.0).whole() is None


def test_a_search_is_at_least_as_good_as_the_tree_that_it_starts_from():
    problem = Problem(*encode(*wide_table(300, 60)))
    best = problem.local_search(Limits(4), n_restarts=20, seed=3).topology
    how = SearchSettings(Limits(4), time_limit=1e-9, start=best)
    found = search(problem, how)
    assert found.gains[-1] >= gain_of(problem, best) - 1e-6
    # Of a smaller size, at least as good as its best part.
    parts = with_subtrees(problem, best)
    assert (found.gains[: parts.gains.size] >= parts.gains - 1e-9).all()
    # Limits of the search rule.
    shallow = search(problem, replace(how, limits=Limits(2)))
    assert max(topology.cut.size for topology in shallow.topologies) <= 7


def test_the_depth_up_to_which_optima_are_known():
    X, y = wide_table(200, 60)
    two = SurTree(max_depth=2).fit(X, y)
    assert two.proven_depth_ == 2
    early = SurTree(max_depth=5, time_limit=1.0).fit(X, y)
    assert early.status_ == "time_limit"
    assert 2 <= early.proven_depth_ < 5
    # Trees of as many splits cannot be deeper: they are proven, and so are their bounds.
    for splits in range(early.proven_depth_ + 1):
        size = early.path_[splits]
        assert size.lower_bound == pytest.approx(size.loss, rel=1e-9)
        if splits <= 2:
            assert size.loss == pytest.approx(two.path_[splits].loss, rel=1e-9)
    assert early.path_[3].loss <= two.loss_ + 1e-9
    none = SurTree(max_depth=5, progress=lambda now: True).fit(X, y)
    assert none.proven_depth_ == 0


def test_every_stage_of_a_search_knows_its_depth():
    problem = Problem(*encode(*wide_table(150, 5), n_thresholds=4))
    best = {depth: problem.solve(Limits(depth)).gains for depth in range(1, 5)}
    seen = set()
    for stop_after in range(0, 90, 2):
        found = problem.solve(
            Limits(4), time_limit=1e6, switches=Switches(stop_after=stop_after, kernel_depth=2)
        )
        seen.add(found.proven_depth)
        for splits in range(found.gains.size):
            if found.proven_depth and splits < 2**found.proven_depth:
                assert found.gains[splits] >= best[found.proven_depth][splits] - 1e-9
            assert found.gain_bounds[splits] >= best[4][splits] - 1e-9
            if splits <= found.proven_depth:
                assert found.gain_bounds[splits] == pytest.approx(best[4][splits])
    assert {2, 3} <= seen


def test_columns_are_left_out_when_time_is_over_while_they_are_read(monkeypatch):
    X, y = wide_table(100, 30)
    now = iter(np.arange(0, 1e6, 0.5))
    encoder = Encoder()
    clock = Clock(5.0)
    monkeypatch.setattr("surtree.solver.clock.perf_counter", lambda: clock._end - 2.0 + next(now))
    binned = encoder.fit_encode(read_table(encoder, X, reset=True), np.ones(100), clock=clock)
    assert encoder.n_unread_ == 25
    assert len(binned.bins) == 5
    assert {cut.column for cut in encoder.cuts_} == set(range(5))
    monkeypatch.undo()
    monkeypatch.setattr("surtree.estimators.fit.LEAST_READING", 0.0)
    with pytest.warns(ConvergenceWarning, match="29 columns were not even read"):
        model = SurTree(time_limit=1e-9).fit(X, y)
    # Nothing is proven of the columns that were not read.
    assert (model.status_, model.gap_, model.proven_depth_) == ("time_limit", 1.0, 0)
    assert model.predict(X).shape == (100,)


def test_there_is_one_warning_of_many_searches():
    X, y = wide_table(120, 40)
    options = {"max_depth": 4, "time_limit": 0.01}
    calls = [
        lambda: SurTreeCV(cv=3, shrinkage=(0.0,), **options).fit(X, y),
        lambda: validate(SurTree(**options), X, y, n_bootstraps=3),
    ]
    for call in calls:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            call()
        said = [one for one in caught if issubclass(one.category, ConvergenceWarning)]
        assert len(said) == 1
        assert "at least one of the searches" in str(said[0].message)
        assert said[0].filename == __file__


def test_trees_that_are_no_better_than_known_ones_are_not_built():
    problem = Problem(*encode(*wide_table(150, 12)))
    for options in (
        {"switches": Switches(stop_after=3)},
        {"switches": Switches(stop_after=3, bisect=0)},
    ):
        plain = problem.solve(Limits(4), **options)
        assert plain.status == "interrupted"
        known = plain.gains + 1e-3 * (np.arange(plain.gains.size) % 2)
        found = problem.solve(Limits(4), known_gains=known, **options)
        for splits in range(1, known.size):
            if splits % 2 == 1:
                assert found.topologies[splits].cut.tolist() == [-1]
                assert found.gains[splits] == plain.gains[0]


def test_bounds_rise_long_before_the_last_cut_is_solved():
    problem = Problem(*encode(*wide_table(600, 4), n_thresholds=8))
    whole = problem.solve(Limits(5))
    n_sides = 2 * problem.binned.cut_column.size

    def gap(share):
        # Depth three, the incumbent and four columns are a task each; then come sides.
        stop = Switches(share=False, stop_after=6 + int(share * n_sides))
        early = problem.solve(Limits(5), known_gains=whole.gains, switches=stop, n_jobs=1)
        assert early.status == "interrupted"
        assert early.proven_depth == 4
        total = problem.sums.constant
        return 1 - (total - early.gain_bounds[-1]) / (total - whole.gains[-1])

    # In the order of what cuts promise, the gap is 84% after 40% of them.
    assert gap(0.4) < 0.5
    assert gap(0.7) < 0.3

"""A search that is divided among the workers of a cluster: the same trees, to the last bit."""

import os
import signal
import threading
import warnings

import joblib
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from fuzz.families.parts import parts
from fuzz.family import Family, run_case
from problems import random_problem, relative_risk_rows
from solver_checks import draw_limits
from surtree import CompetingRisksTree, EffectTree, NotRandomisedWarning, SurTree
from surtree.datasets import load_gbsg2, load_melanoma, make_survival_tree_data
from surtree.solver import _cluster as cluster
from surtree.solver.core import Problem
from surtree.solver.problem import Switches

ENGINES = {
    "sweep": Switches(),
    "one level": Switches(kernel_depth=1),
    "bisection": Switches(bisect=0),
}


def draw(seed):
    """Draw a problem with few rows, so that many trees are equally good."""
    rng = np.random.default_rng(seed)
    binned, _ = random_problem(rng, max_rows=20)
    n = binned.bins.shape[1]
    event = rng.random(n) < rng.choice([0.3, 0.6, 1.0])
    event[0] = True
    hazard = rng.choice([0.2, 0.5, 1.0], n) if rng.random() < 0.5 else rng.uniform(0.05, 3.0, n)
    sums = relative_risk_rows(event.astype(float), hazard, event, rng.choice([0.0, 0.0, 1.0]))
    limits = draw_limits(rng)
    return Problem(binned, sums), type(limits)(**{**vars(limits), "max_depth": 2 + seed % 4})


def solve_parts(problem, limits, n, switches):
    parts = cluster.divide_cuts(problem.binned, n)
    assert (np.sum(parts, axis=0) == 1).all()
    return parts, {
        number: problem.solve(limits, leads=leads, switches=switches)
        for number, leads in enumerate(parts)
    }


@pytest.mark.parametrize("engine", ENGINES)
def test_parts_make_the_whole(engine):
    for seed in range(150):
        problem, limits = draw(seed)
        whole = problem.solve(limits, switches=ENGINES[engine])
        parts, found = solve_parts(problem, limits, 1 + seed % 7, ENGINES[engine])
        joined = cluster.join_parts(problem.sums, parts, found, "time_limit")
        assert joined.status == "optimal"
        assert joined.proven_depth == whole.proven_depth
        # Trees that are the same may be found by other ways, and their gains be added up otherwise.
        np.testing.assert_allclose(joined.gains, whole.gains, rtol=1e-14, err_msg=str(seed))
        np.testing.assert_array_equal(joined.gain_bounds, joined.gains)
        for ours, theirs in zip(joined.topologies, whole.topologies, strict=True):
            np.testing.assert_array_equal(ours.cut, theirs.cut, err_msg=str(seed))


@pytest.mark.parametrize("engine", ENGINES)
def test_parts_without_an_end_enclose_the_optimum(engine):
    for seed in range(60):
        problem, limits = draw(seed)
        whole = problem.solve(limits)
        for last in range(4):
            switches = Switches(**{**vars(ENGINES[engine]), "stop_after": last})
            parts, found = solve_parts(problem, limits, 3, switches)
            joined = cluster.join_parts(problem.sums, parts, found, "time_limit")
            assert (joined.gains <= whole.gains + 1e-9).all(), seed
            assert (joined.gain_bounds >= whole.gains - 1e-9).all(), seed
            known = slice(0, joined.proven_depth + 1)
            np.testing.assert_allclose(joined.gains[known], whole.gains[known], atol=1e-9)


def test_without_a_part_nothing_is_proven():
    problem, limits = draw(3)
    parts, found = solve_parts(problem, limits, 3, Switches())
    assert len(parts) > 1
    del found[0]
    joined = cluster.join_parts(problem.sums, parts, found, "interrupted")
    assert (joined.status, joined.proven_depth) == ("interrupted", 0)
    assert (joined.gain_bounds >= problem.sums.constant).all()


@pytest.fixture
def tasks(monkeypatch, client):
    """Have every search sent that can be, and count the tasks."""
    monkeypatch.setattr(cluster, "LEAST_ESTIMATE", 0.0)
    monkeypatch.setattr(cluster, "SECONDS_HERE", 1e-9)
    sent = []
    inner = cluster.divide_cuts

    def divide(*arguments):
        parts = inner(*arguments)
        sent.append(len(parts))
        return parts

    monkeypatch.setattr(cluster, "divide_cuts", divide)
    with joblib.parallel_config(backend="dask"):
        yield sent


DATA = make_survival_tree_data(600, random_state=1)
DEEP = SurTree(max_depth=4)
EVERY_THRESHOLD = SurTree(max_depth=3, n_thresholds=None)


def content(model):
    return model.tree_, model.path_, model.lower_bound_, model.gap_, model.status_


@pytest.mark.parametrize("model", [DEEP, SurTree(max_depth=5, n_thresholds=3), EVERY_THRESHOLD])
def test_workers_find_the_same_model(model, tasks):
    X, y = DATA[:2]
    found = model.fit(X, y)
    assert tasks == [8] or len(tasks) == 2  # of long columns, the search over some quantiles too
    with joblib.parallel_config(backend="loky"):
        alone = SurTree(**model.get_params()).fit(X, y)
    assert content(found) == content(alone)
    assert found.status_ == "optimal"


def test_other_objectives_are_sent_too(tasks):
    X, y = load_gbsg2()
    arm = X.pop("hormone_therapy")
    for fit in (
        lambda n_jobs: CompetingRisksTree(max_depth=4, n_jobs=n_jobs).fit(*load_melanoma()),
        lambda n_jobs: EffectTree(max_depth=4, min_events_arm=5, n_jobs=n_jobs).fit(X, y, arm),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotRandomisedWarning)  # the trial was not, in part
            alone, found = fit(1), fit(None)
        assert len(tasks) > 0
        tasks.clear()
        assert content(found) == content(alone)


def test_rows_of_any_size_are_sent(tasks, monkeypatch):
    X, y = DATA[:2]
    alone = SurTree(max_depth=4, n_jobs=1).fit(X, y)
    monkeypatch.setattr(cluster, "MOST_INLINE", 0)
    found = SurTree(max_depth=4).fit(X, y)
    assert tasks == [8]
    assert content(found) == content(alone)


def test_a_short_search_ends_where_it_begins(tasks, monkeypatch):
    X, y = DATA[:2]
    monkeypatch.setattr(cluster, "SECONDS_HERE", 100.0)
    assert SurTree(max_depth=4).fit(X, y).status_ == "optimal"
    assert tasks == []


def test_a_search_stays_here_unless_a_cluster_is_asked_for(tasks):
    X, y = DATA[:2]
    SurTree(max_depth=4, n_jobs=1).fit(X, y)  # so many threads, here
    SurTree(max_depth=3).fit(X, y)  # the kernels solve it at once
    SurTree(max_depth=5, max_splits=3).fit(X, y)  # and this
    for backend in ("loky", "threading"):
        with joblib.parallel_config(backend=backend, n_jobs=2):
            SurTree(max_depth=4).fit(X, y)
    assert tasks == []


def shares_of_a_worker(seed):
    """Return among how many a task would divide a search."""
    cluster.LEAST_ESTIMATE = 0.0
    problem, limits = draw(seed)
    with joblib.parallel_config(backend="dask"):
        return cluster.n_workers(problem, limits, None)


def test_searches_of_tasks_are_not_divided_again(tasks, client):
    assert draw(3)[1].max_depth == 5
    assert cluster.n_workers(*draw(3), None) == 2
    assert client.submit(shares_of_a_worker, 3).result() == 0


def test_a_worker_that_dies_costs_time_and_not_the_answer(tasks, client):
    X, y = make_survival_tree_data(800, factor=2, random_state=2)[:2]
    model = SurTree(max_depth=5, n_thresholds=3)
    killed, over = [], threading.Event()

    def kill():
        address, process = next(iter(client.run(os.getpid).items()))
        while not client.processing().get(address) and not over.wait(0.005):
            pass
        if not over.is_set():
            os.kill(process, signal.SIGKILL)
            killed.append(process)

    with joblib.parallel_config(backend="threading"):
        alone = SurTree(**model.get_params()).fit(X, y)
    killer = threading.Thread(target=kill)
    killer.start()
    found = model.fit(X, y)
    over.set()
    killer.join()
    assert killed
    assert content(found) == content(alone)


def test_progress_and_ends(tasks):
    X, y = DATA[:2]
    seen = []
    model = SurTree(max_depth=4, progress=seen.append).fit(X, y)
    assert seen[-1].fraction == 1
    assert [now.fraction for now in seen] == sorted(now.fraction for now in seen)
    assert seen[-1].loss == pytest.approx(model.loss_)

    ended = SurTree(max_depth=4, progress=lambda now: now.fraction > 0).fit(X, y)
    assert ended.status_ == "interrupted"
    assert 0 <= ended.lower_bound_ <= model.loss_ <= ended.loss_

    with pytest.warns(ConvergenceWarning):
        early = SurTree(max_depth=6, n_thresholds=None, time_limit=1.0).fit(X, y)
    assert early.status_ == "time_limit"
    assert early.lower_bound_ <= model.loss_
    assert early.loss_ <= model.path_[1].loss


def test_parts_tell_sizes_apart_that_uneven_weights_tell_apart():
    """Where sums have two parts, the core takes less for a tie: the 25th split gains 2e-11 here."""
    assert run_case(Family(parts), 3591997742, 285).verdict == "compared"

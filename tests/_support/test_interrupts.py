"""Ctrl-C while searches run side by side: all of them stop, and the process ends normally."""

import os
import signal
import subprocess
import sys
import threading
import time

import joblib
import numpy as np
import pytest

from surtree import EventStratifiedKFold, SurTree, SurTreeCV, validate
from surtree._support.parallel import Stopped, require_running, run_all
from surtree.datasets import load_gbsg2

# A search of hours, and what a test says once it runs in two threads.
PRELUDE = """
import os, signal, sys, threading, time
import joblib
from surtree import SurTree, SurTreeCV, validate
from surtree.datasets import make_survival_tree_data
from surtree.solver.core import Problem

signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever started the tests
X, y, _ = make_survival_tree_data(3000, factor=2, random_state=1)
SurTree(max_depth=1).fit(X, y)
n_threads = len(os.listdir("/proc/self/task"))
solve, n_begun, lock = Problem.solve, 0, threading.Lock()


def announced(self, *arguments, **options):
    global n_begun
    with lock:
        n_begun += 1
        if n_begun == BEGUN:
            print("ready", flush=True)
    return solve(self, *arguments, **options)


Problem.solve = announced


def wait_for_threads():
    for _ in range(600):  # only where threads run on
        if len(os.listdir("/proc/self/task")) <= n_threads:
            return print("no thread runs on", flush=True)
        time.sleep(0.1)


"""
SLOW = "SurTreeCV(6, cv=3, n_jobs=2).fit(X, y)"


def interrupted(code, begun=2):
    """Run code, interrupt it once so many searches have begun, and return what it says."""
    with subprocess.Popen(
        [sys.executable, "-c", PRELUDE.replace("BEGUN", str(begun)) + code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.2)
        os.kill(process.pid, signal.SIGINT)
        try:
            output, errors = process.communicate(timeout=120)
        finally:
            process.kill()  # only where it goes on
    assert "terminate called" not in errors
    assert "nanobind: leaked" not in errors
    return process.returncode, output, errors


def test_ctrl_c_ends_the_process_as_any_other():
    code, _, errors = interrupted(SLOW)
    assert code == -signal.SIGINT
    assert errors.rstrip().endswith("KeyboardInterrupt")


def test_after_ctrl_c_no_thread_searches_on():
    caught = f"try:\n    {SLOW}\nexcept KeyboardInterrupt:\n    wait_for_threads()\n"
    code, output, errors = interrupted(caught)
    assert (code, output, errors) == (0, "no thread runs on\n", "")


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_ctrl_c_ends_a_validation_with_what_it_has(backend):
    # The samples of processes are not seen from here: the first one is done when the hook says so.
    code = f"""
def hook(step):
    if step.done == 2:
        print("ready", flush=True)

with joblib.parallel_config("{backend}"):
    found = validate(SurTree(max_depth=2), X, y, n_bootstraps=100_000, n_jobs=2, progress=hook)
print(2 <= found.n_repetitions < found.n_asked, found.stopped_early)
"""
    if backend == "threading":
        code += "wait_for_threads()\n"
    code, output, errors = interrupted(code, begun=-1)
    assert code == 0, errors
    assert output.splitlines() == ["True True", "no thread runs on"][: 1 + (backend != "loky")]


def test_ctrl_c_in_a_slow_validation_stops_its_threads():
    code = """
try:
    with joblib.parallel_config("threading"):
        validate(SurTree(max_depth=3), X, y, n_bootstraps=100_000, n_jobs=2)
except KeyboardInterrupt:
    pass
wait_for_threads()
"""
    code, output, errors = interrupted(code, begun=4)
    assert (code, output) == (0, "no thread runs on\n"), errors


def test_threads_that_were_left_behind_do_not_crash_the_exit():
    code = """
fit = SurTree(max_depth=6, n_jobs=2).fit
threading.Thread(target=fit, args=(X, y), daemon=True).start()
try:
    time.sleep(300)
except KeyboardInterrupt:
    pass
"""
    code, _, errors = interrupted(code, begun=1)
    assert code == 0, errors


# What a job raises, or a hook, ends the others


def wait_until(condition):
    for _ in range(6000):  # only where it never comes true
        if condition():
            return
        time.sleep(0.01)
    raise TimeoutError


def test_an_error_in_one_job_stops_the_others():
    ended = threading.Event()

    def job(number):
        if number == 0:
            raise LookupError("no such fold")
        try:
            wait_until(lambda: require_running())
        except Stopped:
            ended.set()
            raise

    with pytest.raises(LookupError, match="no such fold"):
        run_all(job, range(2), 2, n_jobs=2)
    assert ended.is_set()


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_jobs_within_jobs_stop_too(n_jobs):
    ended = threading.Event()
    inside = threading.Event()

    def inner(_):
        inside.set()
        try:
            wait_until(lambda: require_running())
        except Stopped:
            ended.set()
            raise

    def outer(number):
        if number == 0:
            wait_until(inside.is_set)
            raise LookupError("no such sample")
        return run_all(inner, range(3), 3, n_jobs=n_jobs)

    with pytest.raises(LookupError, match="no such sample"):
        run_all(outer, range(2), 2, n_jobs=2)
    assert ended.is_set()


def test_results_are_in_the_order_of_the_jobs():
    def job(number):
        time.sleep(0.01 * (3 - number))
        return number

    seen = []
    finished = run_all(job, range(4), 4, n_jobs=4, progress=lambda now: seen.append(now.done))
    assert list(finished.results.items()) == [(k, k) for k in range(4)]
    assert seen == [1, 2, 3, 4]
    assert not finished.stopped


# A progress hook that returns something true

X, Y = load_gbsg2(backend="pandas")


def after(n):
    return lambda now: now.done == n


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_hook_ends_the_tuning_with_the_folds_that_are_done(n_jobs):
    search = SurTreeCV(max_depth=2, cv=5, progress=after(3), n_jobs=n_jobs).fit(X, Y)
    assert search.n_splits_ == 3
    assert search.status_ == search.best_estimator_.status_ == "interrupted"
    assert search.held_out_ is None
    assert search.best_estimator_.time_limit is None
    assert search.sizes_.held_out.shape[1] == 3
    assert np.isfinite(search.predict(X)).all()
    if n_jobs is None:  # else it is chance which folds are done first
        folds = list(EventStratifiedKFold(5).split(X, Y["event"]))[:3]
        alone = SurTreeCV(max_depth=2, cv=folds).fit(X, Y)
        assert search.best_params_ == alone.best_params_
        assert search.best_score_ == alone.best_score_


def test_a_hook_that_agrees_after_the_last_fold_stops_nothing():
    search = SurTreeCV(max_depth=1, cv=3, progress=after(3)).fit(X, Y)
    assert search.status_ == "optimal"
    assert search.held_out_ is not None


def test_one_fold_chooses_no_size():
    with pytest.raises(KeyboardInterrupt):
        SurTreeCV(max_depth=2, cv=5, progress=after(1)).fit(X, Y)


def test_validation_of_a_tuned_tree_in_threads_is_as_one_after_the_other():
    model = SurTreeCV(max_depth=1, cv=2)
    alone = validate(model, X, Y, n_bootstraps=3)
    with joblib.parallel_config("threading"):
        # What is not a number is not equal to itself: few samples have no intervals.
        assert repr(validate(model, X, Y, n_bootstraps=3, n_jobs=2)) == repr(alone)


def test_a_model_is_not_stopped_by_a_run_that_is_over():
    run_all(abs, [1], 1, n_jobs=None)
    assert SurTree(max_depth=1).fit(X, Y).status_ == "optimal"

"""Searches that end early: limits of time, hooks and interrupts."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from fuzz.checks import (
    check_bounds,
    check_leaves,
    check_proven,
    finished,
    fit,
    require,
    shown,
    tolerance,
    true_losses,
)
from fuzz.tables import Rng, chance, counted, draw_case, pick
from surtree import SurTree, SurTreeCV
from surtree.cuts.encoder import encoder_of
from surtree.data.named import RowInputs
from surtree.estimators.parameters import check_parameters
from surtree.fitting.training import make_problem, read_training_data
from surtree.solver.problem import Progress, Switches
from tests.problems import Case


def _slow_case(rng: Rng) -> Case:
    """Draw a problem that takes from a few milliseconds to about a second."""
    if chance(rng, 0.3):  # columns that are bisected
        case = draw_case(rng, int(rng.integers(100, 160)), 2, pick(rng, [2, 3]))
        case.X["long"] = rng.normal(size=len(case.y))
        case.limits["n_thresholds"] = None
        return case
    depth, n, n_columns = pick(rng, [(3, 200, 8), (4, 100, 5), (4, 200, 6), (5, 60, 4)])
    case = draw_case(rng, n, n_columns, depth)
    for name in case.X.columns[: n_columns // 2]:
        case.X[name] = rng.normal(size=n)
    case.limits["n_thresholds"] = 10 if depth < 5 else 6
    return case


def _deep_case(rng: Rng) -> Case:
    """Draw a small problem of depth four or five, so that some trees are known before the best."""
    depth, n = pick(rng, [4, 4, 5]), int(rng.integers(12, 40))
    case = draw_case(rng, n, int(rng.integers(2, 5)), depth)
    for name in case.X.columns[:2]:
        case.X[name] = rng.permutation(n) / 4
    case.limits["n_thresholds"] = 10
    if chance(rng, 0.7):  # few splits for the depth: long and narrow trees
        case.limits["max_splits"] = pick(rng, [depth, depth + 1, depth + 3])
    if chance(rng, 0.7):
        case.limits["min_samples_leaf"] = pick(rng, [1, 2, 2, 3])
    return case


def early_end(rng: Rng) -> None:
    """Limits of time, hooks that stop and hooks that raise, with one thread and two.

    The bound is never above the optimum, the loss never below, the path goes down, the status is
    true; what the hook is shown is true as well; the next fit is unharmed. A limit of 1e10 seconds
    or of infinity is none.
    """
    kind = pick(rng, ["by hand", "small", "small", "slow"])
    if kind == "by hand":
        case = draw_case(rng, int(rng.integers(4, 11)), 2, pick(rng, [1, 2, 3]))
    elif kind == "small":
        case = _deep_case(rng)
    else:
        case = _slow_case(rng)
    with shown(case):
        whole = fit(case)
        check_proven(whole, case)
        losses = np.array([size.loss for size in whole.path_])
        if kind == "by hand":
            rows = counted(case)
            losses = true_losses(rows, whole.encoder_.transform(rows.X).astype(bool))
    for _ in range(3):
        options: dict[str, Any] = {"n_jobs": pick(rng, [1, 2])}
        end = pick(rng, ["time", "time", "endless", "stop", "raise"])
        hook = None
        if end == "time":
            options["time_limit"] = float(10.0 ** rng.uniform(-6, -3 if kind == "small" else -1.3))
        elif end == "endless":
            options["time_limit"] = pick(rng, [float("inf"), 1e10, 1e19, 1e300])
        else:
            hook = _Hook(int(rng.integers(1, 8)), raises=end == "raise")
            options["progress"] = hook
        with shown(case, **options):
            try:
                early = fit(case, **options)
            except _Raised:
                require(end == "raise", "an error of a hook that raises none")
            else:
                _check_end(early, end, hook, losses, case)
    with shown(case):
        again = fit(case)
        require(again.tree_ == whole.tree_ and again.path_ == whole.path_, "the next fit differs")


class _Raised(Exception):  # noqa: N818
    """What a hook raises."""


class _Hook:
    """Stops or raises when it is asked for the nth time, and remembers what it was shown."""

    def __init__(self, asked: int, *, raises: bool) -> None:
        self.left = asked
        self.raises = raises
        self.seen: list[Progress] = []

    def __call__(self, progress: Progress) -> bool:
        self.seen.append(progress)
        self.left -= 1
        if self.left <= 0 and self.raises:
            raise _Raised
        return self.left <= 0


def _check_end(early: Any, end: str, hook: _Hook | None, losses: np.ndarray, case: Case) -> None:
    early_status = {"time": "time_limit", "stop": "interrupted"}.get(end)
    require(early.status_ in (*finished(case), early_status), "status", early.status_, "after", end)
    if hook is not None:
        require(hook.left > 0 or early.status_ == "interrupted", "the hook was not heard")
        slack = tolerance(counted(case), float(losses[0]))
        for now in hook.seen:
            require(0 <= now.fraction <= 1, now)
            require(now.lower_bound <= losses[-1] + slack, now, "above the optimum", losses[-1])
            require(now.loss >= losses[-1] - slack, now, "below the optimum", losses[-1])
    check_bounds(early, losses, case)
    check_leaves(early.tree_, case)


def unfinished(rng: Rng) -> None:
    """Stop searches after so many tasks, swept and bisected, with limits and without.

    Bounds are never below the gains of the optimum, gains never above, and every tree gains what
    is claimed for it. Nothing depends on a clock.
    """
    case = _deep_case(rng)
    case.limits["max_depth"] = pick(rng, [2, 3, 4, 4, 5])
    with shown(case):
        model = SurTree(**case.limits)
        rows = read_training_data(model, RowInputs(case.X, case.y, case.weight, case.entry))
        problem, limits = make_problem(encoder_of(model), rows), check_parameters(model)
        best = problem.core.solve(limits).gains
    slack = tolerance(counted(case), float(np.abs(best).max()))
    for _ in range(4):
        switches = Switches(
            stop_after=int(rng.integers(0, 30)), bisect=pick(rng, [0, 100]), share=chance(rng, 0.5)
        )
        with shown(case, switches=switches):
            early = problem.core.solve(limits, switches=switches, n_jobs=pick(rng, [1, 2]))
            require(early.gains.size == best.size, early.gains.size, "sizes of", best.size)
            require(bool((early.gain_bounds >= best - slack).all()), early.gain_bounds, best)
            require(bool((early.gains <= best + slack).all()), early.gains, best)
            done = bool((early.gains >= best - slack).all())
            require(done or early.status == "interrupted", "status", early.status)
            claimed = rows.sums.constant - early.gains
            built = np.array([lazy.loss for lazy in problem.build(early.topologies)])
            require(bool((np.abs(built - claimed) <= slack).all()), "claimed", claimed, built)


def interrupts(rng: Rng) -> None:
    """Control-C at any time during a fit, in one thread and two, with a hook and in folds.

    It ends in KeyboardInterrupt, or comes too late and changes nothing; the next fit is unharmed.
    """
    case = _slow_case(rng)
    options: dict[str, Any] = {"n_jobs": pick(rng, [1, 2])}
    if chance(rng, 0.3):
        options["progress"] = lambda _: False
    if chance(rng, 0.2):
        options["time_limit"] = 100.0
    with shown(case, **options):
        start = perf_counter()
        whole = fit(case, **options)
        seconds = perf_counter() - start
        for _ in range(3):
            late = _interrupted(rng, 1.1 * seconds, lambda: fit(case, **options))
            if late is not None:
                require(late.path_ == whole.path_, "an interrupt that came late changed the path")
        if chance(rng, 0.3) and counted(case).y["event"].sum() > 1:
            folds = SurTreeCV(max_depth=2, cv=2, refit=False)
            _interrupted(rng, 0.05, lambda: folds.fit(case.X, case.y, case.weight, case.entry))
        again = fit(case, **options)
        require(again.tree_ == whole.tree_ and again.path_ == whole.path_, "the next fit differs")


def _interrupted(rng: Rng, most: float, action: Callable[[], Any]) -> Any:
    """Do something, and interrupt this process meanwhile; return None where that ended it."""
    done, number = False, pick(rng, [signal.SIGINT, signal.SIGALRM])

    def interrupt(*_: object) -> None:
        if not done:
            raise KeyboardInterrupt

    before = signal.signal(number, interrupt)
    timer = threading.Timer(float(rng.uniform(0, most)), os.kill, (os.getpid(), number))
    result = None
    try:
        timer.start()
        result = action()
        done = True
    except KeyboardInterrupt:
        done = True
    timer.cancel()
    timer.join()
    signal.signal(number, before)
    return result

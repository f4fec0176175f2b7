"""Screening in single precision: the same gains, to the last bit, and the same trees."""

from dataclasses import replace

import numpy as np

from solver_checks import EXACT, SCREENED, draw_columns
from surtree.solver.core import Problem
from surtree.solver.problem import BinnedRows, Limits, Solution
from surtree.survival.objective import RelativeRisk
from surtree.survival.row_sums import RowSums


def draw_alike(rng: np.random.Generator, n: int, n_columns: int, n_values: int) -> BinnedRows:
    """Draw ordered columns of the same number of values."""
    columns = np.repeat(np.arange(n_columns, dtype=np.int32), n_values - 1)
    return BinnedRows(
        rng.integers(0, n_values, (n_columns, n)).astype(np.uint16),
        np.full(n_columns, n_values, dtype=np.int32),
        np.full(n_columns, -1, dtype=np.int32),
        columns,
        np.tile(np.arange(1, n_values, dtype=np.int32), n_columns),
        np.full(columns.size, n_values - 1, dtype=np.int32),
        np.zeros(columns.size, dtype=bool),
        np.zeros(columns.size, dtype=np.uint64),
    )


def draw_sums(rng: np.random.Generator, n: int) -> RowSums:
    """Draw events and hazards: few or many events, weights of any size, hazards near zero."""
    kind = rng.choice(["none", "whole", "real", "uneven"])
    weight = {
        "none": np.ones(n),
        "whole": rng.integers(1, 4, n).astype(float),
        "real": rng.gamma(1.0, size=n) + 1e-3,
        "uneven": 10.0 ** rng.uniform(-2, 2, n),
    }[kind]
    event = rng.random(n) < rng.choice([0.0, 0.1, 0.6, 1.0])
    event[0] = True
    hazard = rng.uniform(0.05, 3.0, n) if rng.random() < 0.5 else 10.0 ** rng.uniform(-6, 0, n)
    events, hazards = weight * event, weight * hazard
    hazards *= events.sum() / hazards.sum()  # as Nelson and Aalen have it
    counts = {"samples": np.ones(n), "events": event.astype(float)}
    objective = RelativeRisk(float(rng.choice([0.0, 0.0, 0.01, 1.0, 30.0])))
    return RowSums(objective, np.stack([events, hazards]), counts, weight, np.zeros(n))


def draw(seed: int) -> tuple[Problem, Limits]:
    """Draw a problem of depth three."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 200))
    binned = draw_columns(rng, n, int(rng.integers(3, 24)))
    limits = Limits(3)
    if rng.random() < 0.5:
        limits = replace(
            limits,
            max_splits=int(rng.integers(3, 8)),
            min_samples_leaf=int(rng.integers(1, 12)),
            min_events_leaf=int(rng.integers(0, 3)),
        )
    return Problem(binned, draw_sums(rng, n)), limits


def require_same(found: Solution, expected: Solution, what: object) -> None:
    """Require the same gains, to the last bit, and the same trees."""
    assert found.status == expected.status, what
    np.testing.assert_array_equal(found.gains, expected.gains, err_msg=str(what))
    np.testing.assert_array_equal(found.gain_bounds, expected.gain_bounds, err_msg=str(what))
    for mine, theirs in zip(found.topologies, expected.topologies, strict=True):
        np.testing.assert_array_equal(mine.cut, theirs.cut, err_msg=str(what))
        np.testing.assert_array_equal(mine.left, theirs.left, err_msg=str(what))


def test_screening_changes_no_bit():
    for seed in range(120):
        problem, limits = draw(seed)
        expected = problem.solve(limits, switches=EXACT)
        found = problem.solve(limits, switches=SCREENED, n_jobs=1 + seed % 2)
        require_same(found, expected, seed)


def test_wide_tables_are_screened_as_they_are():
    """Tables that are screened without being told to: few survive, or too many to pay."""
    rng = np.random.default_rng(1)
    for n, n_values in ((400, 5), (12, 5), (60, 2)):
        binned = draw_alike(rng, n, 45 if n_values == 5 else 110, n_values)
        sums = draw_sums(np.random.default_rng(n), n)
        expected = Problem(binned, sums).solve(Limits(3), switches=EXACT)
        for n_jobs in (1, 2):
            found = Problem(binned, sums).solve(Limits(3), n_jobs=n_jobs)
            require_same(found, expected, (n, n_jobs))


def test_an_early_end_of_screening_has_valid_bounds():
    problem, limits = draw(3)
    best = problem.solve(limits, switches=EXACT).gains
    for last in range(30):
        found = problem.solve(limits, switches=replace(SCREENED, stop_after=last))
        assert (found.gains <= best + 1e-9).all()
        assert (found.gain_bounds >= best - 1e-9).all()

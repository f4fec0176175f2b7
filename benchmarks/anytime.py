"""The best loss and the bound against time: ours beside local search and pystreed.

python -m benchmarks.solver anytime

One fit of ours is watched by its progress hook. Local search is restarted until the time is over.
pystreed shows no incumbents: it is run with each of the limits, in seconds that pass.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from experiments.peers import fit_pystreed
from experiments.scores import training_loss
from experiments.tables import SurvivalTable, real_table, synthetic_table
from surtree import SurTree
from surtree.cuts.encoder import encoder_of
from surtree.data.named import RowInputs
from surtree.fitting.training import make_problem, read_training_data
from surtree.solver.problem import Limits, Progress

SECONDS = (0.5, 1.0, 2.0, 5.0, 10.0)
# Tables, depths and whether every threshold is a question; pystreed takes some hundred 0/1 columns.
WIDE = ("nki70", "NSBCD", "vdv", "DBCD")


def cases() -> Iterable[tuple[SurvivalTable, int, dict[str, Any]]]:
    """Yield tables, depths and options."""
    for name in WIDE:
        for depth in (2, 3):
            yield real_table(name), depth, {}
    yield synthetic_table(0), 4, {"n_thresholds": None, "min_support": 0.0}
    yield real_table("rott2"), 4, {"n_thresholds": None, "min_support": 0.0}


def anytime(seconds: Iterable[float] = SECONDS, most_cuts: int = 2000) -> list[dict]:
    """Return a row for each table, depth and time.

    Parameters
    ----------
    seconds : iterable of float
        When to look.
    most_cuts : int
        pystreed is not asked about tables of more cuts.
    """
    warnings.simplefilter("ignore", ConvergenceWarning)
    rows = []
    times = sorted(seconds)
    for table, depth, options in cases():
        ours = _watched(table, depth, options, times)
        local = _local_search(table, depth, options, times)
        binary = SurTree(1, **options).fit(table.X, table.y).encoder_.transform(table.X)
        for moment, (loss, bound), local_loss in zip(times, ours, local, strict=True):
            row = {
                "table": table.name,
                "rows": len(table.y),
                "columns": table.X.shape[1],
                "depth": depth,
                "seconds": moment,
                "surtree_loss": loss,
                "surtree_gap": 1 - bound / loss if loss > 0 else 0.0,
                "local_search_loss": local_loss,
                "pystreed_loss": np.nan,
            }
            if binary.shape[1] <= most_cuts:
                row["pystreed_loss"] = _pystreed(binary, table.y, depth, moment)
            rows.append(row)
    return rows


def _watched(
    table: SurvivalTable, depth: int, options: dict[str, Any], times: list[float]
) -> list[tuple[float, float]]:
    """Return loss and bound at each time, of one fit that has as long as the last."""
    start = time.perf_counter()
    seen: list[tuple[float, Progress]] = []

    def watch(now: Progress) -> None:
        seen.append((time.perf_counter() - start, now))

    model = SurTree(depth, time_limit=times[-1], progress=watch, **options).fit(table.X, table.y)
    taken = time.perf_counter() - start
    out = []
    for moment in times:
        before = [now for when, now in seen if when <= moment]
        if taken <= moment or moment == times[-1]:
            out.append((model.loss_, model.lower_bound_))
        elif before:
            out.append((before[-1].loss, before[-1].lower_bound))
        else:
            out.append((model.path_[0].loss, 0.0))
    return out


def _local_search(
    table: SurvivalTable, depth: int, options: dict[str, Any], times: list[float]
) -> list[float]:
    """Return the best loss at each time, reading the table included."""
    start = time.perf_counter()
    model = SurTree(depth, **options)
    data = read_training_data(model, RowInputs(table.X, table.y))
    problem = make_problem(encoder_of(model), data).core
    losses = []
    best = data.sums.constant - float(data.sums.objective.gain(data.sums.total))
    seed = 0
    for moment in times:
        while (left := moment - (time.perf_counter() - start)) > 0:
            found = problem.local_search(
                Limits(depth), n_restarts=10 if seed else 1, seed=seed, time_limit=left
            )
            seed += 1
            if found.worth.size:
                best = min(best, data.sums.constant - float(found.worth.max()))
        losses.append(best)
    return losses


def _pystreed(binary: np.ndarray, y: np.ndarray, depth: int, seconds: float) -> float:
    """Return the loss of pystreed's tree after so many seconds, NaN if there is none."""
    try:
        leaves = fit_pystreed(binary, y, depth, time_limit=seconds)(binary)
    except Exception as error:  # whatever it raises without a tree
        print(f"pystreed: {error}")
        return np.nan
    return training_loss(y, leaves)

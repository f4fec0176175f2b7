"""Time us, pystreed and scikit-survival side by side, fit to fit, in one run.

python -m benchmarks.solver scalability   # the paper's synthetic tables, f=1 and f=2
python -m benchmarks.solver survset       # the paper's real tables
python -m benchmarks.solver wide          # tables of 20 to 5,000 columns
python -m benchmarks.solver anytime       # loss and bound against time
python -m benchmarks.solver growth        # our time against rows, cuts, depth, threads, and input

The tables and the peers are those of the experiments: pip install ".[experiments]".

Prints a table and saves tidy rows to benchmarks/results/. One thread, median of at least --repeat
runs, and of at least half a second of them, in turns.
"""

from __future__ import annotations

import argparse
import csv
import resource
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.peers import fit_pystreed, fit_sksurv, sksurv_leaves
from experiments.scores import training_loss
from experiments.tables import (
    REAL_TABLES,
    SurvivalTable,
    numeric,
    real_table,
    synthetic_table,
    synthetic_tables,
)
from surtree import SurTree, _core

RESULTS = Path(__file__).parent / "results"


# What takes longer than this in all is not run again; what takes less, again and again: the first
# fits of a process are slow, and a median of three of them is luck.
PATIENCE = 15
LEAST = 0.5
# Whoever is timed beside others takes turns of so many seconds.
TURN = 0.1


def race(fits: list[Callable[[], object]], repeat: int) -> list[tuple[float, Any]]:
    """Return the median time of each of some fits, and its last model.

    They take turns, so that a slow moment of the machine is one for all of them.
    """
    times: list[list[float]] = [[] for _ in fits]
    models: list[Any] = [None for _ in fits]

    def is_done(taken: list[float]) -> bool:
        return sum(taken) >= LEAST and (len(taken) >= repeat or sum(taken) >= PATIENCE)

    while not all(map(is_done, times)):
        for k, fit in enumerate(fits):
            if is_done(times[k]) and times[k][-1] > TURN:
                continue  # a short fit goes on as long as the others
            end = sum(times[k]) + TURN
            while sum(times[k]) < end:
                start = time.perf_counter()
                models[k] = fit()
                times[k].append(time.perf_counter() - start)
    return list(zip(map(statistics.median, times), models, strict=True))


def seconds(fit: Callable[[], object], repeat: int) -> tuple[float, Any]:
    """Return the median time of a fit, and the last model."""
    return race([fit], repeat)[0]


def compare(table: SurvivalTable, depth: int, repeat: int, greedy: bool) -> dict:
    """Fit all three to one table."""
    X, y = table.X, table.y
    model = SurTree(max_depth=depth, category_cuts="one")
    binary = model.fit(X, y).encoder_.transform(X).astype(int)
    numbers = numeric(X)
    fits = [
        lambda: SurTree(max_depth=depth, category_cuts="one").fit(X, y),
        lambda: fit_pystreed(binary, y, depth),
        lambda: fit_sksurv(numbers, y, depth),
    ]
    (ours, _), (theirs, peer), *third = race(fits if greedy else fits[:2], repeat)
    row = {
        "table": table.name,
        "rows": len(y),
        "cuts": binary.shape[1],
        "depth": depth,
        "surtree_seconds": ours,
        "pystreed_seconds": theirs,
        "ratio": theirs / ours,
        "surtree_loss": training_loss(y, model.apply(X)),
        "pystreed_loss": training_loss(y, peer(binary)),
    }
    for row["sksurv_seconds"], tree in third:
        row["sksurv_ratio"] = row["sksurv_seconds"] / ours
        row["sksurv_loss"] = training_loss(y, sksurv_leaves(tree, numbers, depth))
    return row


def show(rows: list[dict]) -> None:
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [[_text(row.get(name, "")) for name in names] for row in rows]
    widths = [max(map(len, column)) for column in zip(names, *cells, strict=True)]
    for line in [names, *cells]:
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))


def _text(value) -> str:
    return (
        f"{value:.4g}"
        if isinstance(value, float) and value < 1000
        else (f"{value:.3f}" if isinstance(value, float) else str(value))
    )


def save(name: str, rows: list[dict]) -> None:
    RESULTS.mkdir(exist_ok=True)
    names = list(dict.fromkeys(key for row in rows for key in row))
    with (RESULTS / f"{name}.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def mean_ratio(rows: list[dict]) -> None:
    for depth in sorted({row["depth"] for row in rows}):
        ratios = [row["ratio"] for row in rows if row["depth"] == depth]
        worse = sum(
            row["surtree_loss"] > row["pystreed_loss"] * (1 + 1e-9)
            for row in rows
            if row["depth"] == depth
        )
        print(
            f"depth {depth}: {statistics.geometric_mean(ratios):.1f} times as fast as pystreed "
            f"(geometric mean of {len(ratios)}), loss larger than its in {worse}"
        )
    ratios = [row["ratio"] for row in rows]
    print(f"all: {statistics.geometric_mean(ratios):.1f} times as fast (of {len(ratios)})")


def scalability(options) -> list[dict]:
    rows = []
    for factor, depths in ((1, (2, 3, 4, 5)), (2, (2, 3, 4))):
        for table in synthetic_tables(factor, options.tables):
            for depth in depths:
                if options.depth and depth not in options.depth:
                    continue
                rows.append(compare(table, depth, options.repeat, greedy=True))
                print(".", end="", flush=True)
    print()
    return rows


def real(options) -> list[dict]:
    rows = []
    for name in options.only or REAL_TABLES:
        for depth in options.depth or (4, 5):
            rows.append(compare(real_table(name), depth, options.repeat, greedy=False))
            print(".", end="", flush=True)
    print()
    return rows


# Rows, columns and depth, and whether pystreed can be waited for.
WIDE = (
    (2000, 50, 3, True),
    (2000, 100, 3, False),
    (2000, 200, 3, False),
    (2000, 20, 4, True),
    (2000, 30, 4, False),
    (300, 5000, 2, False),
)


def wide(options) -> list[dict]:
    rows = []
    for n_rows, n_columns, depth, with_peer in WIDE:
        if options.depth and depth not in options.depth:
            continue
        table = wide_table(n_rows, n_columns)
        if with_peer:
            row = compare(table, depth, options.repeat, greedy=False)
        else:
            taken, model = seconds(
                lambda depth=depth, table=table: SurTree(max_depth=depth).fit(table.X, table.y),
                options.repeat,
            )
            row = {
                "table": table.name,
                "rows": len(table.y),
                "cuts": len(model.encoder_.cuts_),
                "depth": depth,
                "surtree_seconds": taken,
                "surtree_loss": model.loss_,
            }
        row["peak_mebibytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        rows.append(row)
        show([row])
    return rows


def wide_table(n_rows: int, n_columns: int) -> SurvivalTable:
    """Return normal columns, four of which matter, and 40% of the rows censored."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    risk = 0.6 * (X[:, 0] > 0) + 0.5 * (X[:, 1] > 0.5) * (X[:, 2] > 0) - 0.4 * (X[:, 3] > 0)
    event_time, end = rng.exponential(np.exp(-risk)), rng.uniform(0, 2.5, n_rows)
    y = np.empty(n_rows, dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = event_time <= end, np.minimum(event_time, end)
    frame = pd.DataFrame(X, columns=[f"x{place}" for place in range(n_columns)])
    return SurvivalTable(f"{n_columns} columns", frame, y)


def growth(options) -> list[dict]:
    rows = []

    def measure(axis, X, y, value, **parameters):
        compare_ours((axis, X, y, value, parameters))

    def compare_ours(*cases):
        # The paper's questions about categories.
        one = {"category_cuts": "one"}
        fits = [
            lambda X=X, y=y, parameters=parameters: SurTree(**parameters | one).fit(X, y)
            for _, X, y, _, parameters in cases
        ]
        times = race(fits, options.repeat)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        for (axis, _, y, value, parameters), (taken, model) in zip(cases, times, strict=True):
            row = {
                "axis": axis,
                "value": value,
                "rows": len(y),
                "cuts": len(model.encoder_.cuts_),
                "depth": parameters["max_depth"],
                "surtree_seconds": taken,
                "peak_mebibytes": memory,
            }
            rows.append(row)
            show([row])

    (X, y), (X2, y2) = (
        (table.X, table.y) for table in (synthetic_table(0), synthetic_table(0, factor=2))
    )
    for depth in (1, 2, 3, 4, 5):
        measure("depth", X, y, depth, max_depth=depth)
    compare_ours(
        *(("threads", X, y, n_jobs, {"max_depth": 5, "n_jobs": n_jobs}) for n_jobs in (1, 2))
    )
    for n_thresholds in (5, 10, 20, 40):
        measure("thresholds", X, y, n_thresholds, max_depth=3, n_thresholds=n_thresholds)
    full = SurTree(max_depth=2, category_cuts="one").fit(X, y).encoder_.transform(X)
    for depth in (4, 5):
        inputs = {"raw": X, "binary": full}
        compare_ours(
            *(("input", table, y, kind, {"max_depth": depth}) for kind, table in inputs.items())
        )
    measure("sizes: all", X2, y2, "all", max_depth=4)
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(300, 2000))
    measure("columns", wide, rng.exponential(size=300), 2000, max_depth=2)
    for n in (1_000, 10_000, 100_000, 1_000_000):
        long = rng.normal(size=(n, 10))
        time_to_event = rng.exponential(1 + (long[:, 0] > 0) + (long[:, 1] > 1) * (long[:, 2] > 0))
        measure("rows", long, time_to_event, n, max_depth=3)
    return rows


def early_ends(_) -> list[dict]:
    from benchmarks.anytime import anytime

    return anytime()


RUNS = {
    "scalability": scalability,
    "survset": real,
    "wide": wide,
    "growth": growth,
    "anytime": early_ends,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("which", choices=tuple(RUNS))
    parser.add_argument("--repeat", type=int, default=3, help="fits of each, at least")
    parser.add_argument("--tables", type=int, default=5, help="synthetic tables of each kind")
    parser.add_argument("--depth", type=int, nargs="*", help="only these depths")
    parser.add_argument("--only", nargs="*", help="only these SurvSet tables")
    options = parser.parse_args()
    print(f"kernels: {_core.kernels()}, one thread unless said otherwise")
    rows = RUNS[options.which](options)
    show(rows)
    if options.which in ("scalability", "survset"):
        mean_ratio(rows)
    save(options.which, rows)


if __name__ == "__main__":
    main()

"""How far fits overrun their time limits, and whether limits end what would have been over.

python -m benchmarks.limits overruns --only 300x5000 --seconds 1
python -m benchmarks.limits proofs

Overruns: for tables of many rows and of many columns, what a fit took beside its limit. Proofs:
fits with a limit of so many times what they take without one, and whether they are still proven.
seconds that passed, and in those of the processor, which other work on the machine does not change.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.solver import save, show, wide_table
from experiments.tables import REAL_TABLES, real_table, synthetic_table
from surtree import SurTree

TABLES = {
    "300x100": (300, 100),
    "300x5000": (300, 5_000),
    "200x20000": (200, 20_000),
    "100000x100": (100_000, 100),
    "1000000x20": (1_000_000, 20),
}
# With every threshold.
LONG_TABLES = {"5000x6": (5_000, 6), "50000x10": (50_000, 10)}
DEPTHS = (2, 3, 4, 5)


def table(n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Return normal columns, the first of which matters, and 40% of the rows censored."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    y = np.empty(n_rows, dtype=[("event", bool), ("time", float)])
    y["event"] = rng.random(n_rows) < 0.6
    y["time"] = rng.exponential(np.exp(-0.7 * (X[:, 0] > 0)))
    return X, y


def timed(X, y, depth: int, **options) -> tuple[SurTree, float, float]:
    """Return a fit, the seconds that passed, and those of the processor."""
    wall, processor = time.perf_counter(), time.process_time()
    model = SurTree(depth, **options).fit(X, y)
    return model, time.perf_counter() - wall, time.process_time() - processor


def overruns(options) -> list[dict]:
    rows = []
    for name, shape in (TABLES | LONG_TABLES).items():
        if options.only and name not in options.only:
            continue
        X, y = table(*shape)
        n_thresholds = None if name in LONG_TABLES else 10
        for depth in options.depth or DEPTHS:
            for limit in options.seconds:
                model, wall, processor = timed(
                    X, y, depth, time_limit=limit, n_thresholds=n_thresholds
                )
                row = {
                    "table": name,
                    "depth": depth,
                    "limit": limit,
                    "seconds": wall,
                    "processor": processor,
                    "overrun": max(wall - limit, 0.0),
                    "too_long": wall > limit + max(0.2, 0.05 * limit),
                    "status": model.status_,
                    "leaves": model.tree_.n_leaves,
                    "gap": model.gap_,
                }
                rows.append(row)
                show([row])
    return rows


def proofs(options) -> list[dict]:
    rows = []
    tables = [lambda name=name: real_table(name) for name in REAL_TABLES]
    tables += [lambda k=k: synthetic_table(k) for k in (0, 1)]
    tables += [lambda: synthetic_table(0, factor=2)]
    tables += [lambda n=n: wide_table(n, 8) for n in (300, 2000)]
    for make in tables:
        one = make()
        name = f"{one.name}, {len(one.y)} rows"
        if options.only and one.name not in options.only:
            continue
        timed(one.X, one.y, 2)  # the first fit of a table is slow
        for depth in options.depth or (4, 5, 6):
            if timed(one.X, one.y, depth, time_limit=options.patience)[0].status_ != "optimal":
                break
            _, untimed, untimed_processor = timed(one.X, one.y, depth)
            for times in options.times:
                limit = times * untimed
                model, wall, processor = timed(one.X, one.y, depth, time_limit=limit)
                row = {
                    "table": name,
                    "depth": depth,
                    "untimed": untimed,
                    "untimed_processor": untimed_processor,
                    "times": times,
                    "limit": limit,
                    "seconds": wall,
                    "processor": processor,
                    "status": model.status_,
                    "gap": model.gap_,
                    "proven_depth": model.proven_depth_,
                }
                rows.append(row)
                show([row])
    for times in options.times:
        here = [row for row in rows if row["times"] == times]
        proven = sum(row["status"] == "optimal" for row in here)
        print(f"{times} times: {proven} of {len(here)} proven")
    return rows


RUNS = {"overruns": overruns, "proofs": proofs}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("which", choices=tuple(RUNS))
    parser.add_argument("--only", nargs="*", help="only these tables")
    parser.add_argument("--seconds", type=float, nargs="*", default=[1.0, 5.0])
    parser.add_argument("--times", type=float, nargs="*", default=[1.2, 1.5])
    parser.add_argument("--patience", type=float, default=5, help="for a fit, at most")
    parser.add_argument("--depth", type=int, nargs="*")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    save({"overruns": "limits", "proofs": "proofs"}[options.which], RUNS[options.which](options))


if __name__ == "__main__":
    main()

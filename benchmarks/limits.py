"""How far fits overrun their time limits.

python -m benchmarks.limits --only 300x5000 --seconds 1

Prints, for tables of many rows and of many columns, what a fit took beside its limit: seconds that
passed, and those of the processor, which other work on the machine does not change.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.solver import save, show
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", help="only these tables")
    parser.add_argument("--seconds", type=float, nargs="*", default=[1.0, 5.0])
    parser.add_argument("--depth", type=int, nargs="*", default=list(DEPTHS))
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    rows = []
    for name, shape in (TABLES | LONG_TABLES).items():
        if options.only and name not in options.only:
            continue
        X, y = table(*shape)
        n_thresholds = None if name in LONG_TABLES else 10
        for depth in options.depth:
            for limit in options.seconds:
                wall, processor = time.perf_counter(), time.process_time()
                model = SurTree(depth, time_limit=limit, n_thresholds=n_thresholds).fit(X, y)
                wall, processor = time.perf_counter() - wall, time.process_time() - processor
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
    save("limits", rows)


if __name__ == "__main__":
    main()

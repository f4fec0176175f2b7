"""What the price of every question and all near-optimal trees cost, on the paper's real tables.

python -m benchmarks.near --seconds 30

Depth three, one thread, processor seconds; every list ends at so many seconds of wall time or at
100,000 trees. Each table has a
process of its own, so that its peak of memory is its own.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from benchmarks.solver import save, show
from experiments.tables import REAL_TABLES, real_table
from surtree import SurTree, near_optimal, question_costs

SHARES = (0.01, 0.05)


def best_of(call: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """Return the least processor seconds of some calls, and the last result."""
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        result = call()
        seconds.append(time.process_time() - start)
    return min(seconds), result


def measure(name: str, limit: float) -> dict[str, Any]:
    """Return a row of the results."""
    table = real_table(name)
    model = SurTree(max_depth=3)
    fitted, _ = best_of(lambda: model.fit(table.X, table.y), 3)
    priced, costs = best_of(lambda: question_costs(model, table.X, table.y), 3)
    row: dict[str, Any] = {
        "table": name,
        "rows": len(table.y),
        "cuts": len(model.encoder_.cuts_),
        "splits": model.tree_.n_splits,
        "fit_seconds": fitted,
        "price_seconds": priced,
        "price_ratio": priced / fitted,
        "priced": sum(len(node.questions) for node in costs.nodes),
    }
    for share in SHARES:
        start = time.process_time()
        near = near_optimal(model, table.X, table.y, within=share, time_limit=limit)
        row |= {
            f"trees_{share:.0%}": near.n_trees,
            f"end_{share:.0%}": near.end,
            f"seconds_{share:.0%}": time.process_time() - start,
        }
    row["peak_mebibytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", help="only these tables")
    parser.add_argument("--seconds", type=float, default=30.0, help="for each list of trees")
    options = parser.parse_args()
    rows = []
    for name in options.only or REAL_TABLES:
        with ProcessPoolExecutor(1) as pool:
            rows.append(pool.submit(measure, name, options.seconds).result())
        show(rows[-1:])
        save("near", rows)


if __name__ == "__main__":
    main()

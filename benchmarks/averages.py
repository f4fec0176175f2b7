"""Time the average over all trees, the Cox model before it, the taught tree and the score card.

python -m benchmarks.averages

Tables of noise and steps: normal columns, of which three say something, half of the rows censored.
Prints a table and saves tidy rows to benchmarks/results/averages.csv: the median of three fits, in
seconds of the clock and of the processor, with one thread and two, and the most memory that the
process has had. On a busy machine those of the clock are those of others too.
"""

from __future__ import annotations

import csv
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from surtree import PointsTable, SurTreeBayes, TaughtTree, target

RESULT = Path(__file__).parent / "results" / "averages.csv"
MODELS: dict[str, Callable[[int], Any]] = {
    "SurTreeBayes": lambda jobs: SurTreeBayes(n_jobs=jobs),
    "SurTreeBayes, cox": lambda jobs: SurTreeBayes(cox="offset", n_jobs=jobs),
    "SurTreeBayes, depth 3, one stage": lambda jobs: SurTreeBayes(3, 1, n_jobs=jobs),
    "TaughtTree": lambda jobs: TaughtTree(n_jobs=jobs),
    "PointsTable": lambda jobs: PointsTable(n_jobs=jobs),
}
ALL = tuple(MODELS)
# Rows, columns, decimals that values are rounded to (None: not at all), and models.
CASES: tuple[tuple[int, int, int | None, tuple[str, ...]], ...] = (
    (500, 10, None, ALL),
    (5_000, 10, None, ALL),
    (500, 100, None, ("SurTreeBayes", "PointsTable")),
    (1_000_000, 6, 0, ("SurTreeBayes", "PointsTable")),
)


def make_table(rows: int, columns: int, decimals: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Return columns and survival."""
    random = np.random.default_rng(0)
    X = random.normal(size=(rows, columns))
    if decimals is not None:
        X = X.round(decimals)
    risk = np.exp(X[:, 0] + (X[:, 1] > 0) * (X[:, 2] > 0))
    time_, censored = random.exponential(1 / risk), random.exponential(1 / risk)
    days = np.ceil(1000 * np.minimum(time_, censored)).clip(max=10_000)
    return X, target(event=time_ <= censored, time=days)


def measure(name: str, rows: int, columns: int, decimals: int | None, jobs: int) -> dict[str, Any]:
    """Fit a model some times, in a process of its own, as its memory is that of the process."""
    X, y = make_table(rows, columns, decimals)
    model, taken, used = MODELS[name](jobs), [], []
    for _ in range(3 if rows < 100_000 else 1):
        start, begun = time.perf_counter(), time.process_time()
        model.fit(X, y)
        taken.append(time.perf_counter() - start)
        used.append(time.process_time() - begun)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    row = {"model": name, "rows": rows, "columns": columns, "threads": jobs}
    return row | {
        "seconds": round(statistics.median(taken), 4),
        "processor": round(statistics.median(used), 4),
        "mebibytes": round(memory),
    }


def main() -> None:
    """Measure every case, print it and save it."""
    if len(sys.argv) > 1:
        name, rows, columns, decimals, jobs = sys.argv[1:]
        kept = None if decimals == "None" else int(decimals)
        print(json.dumps(measure(name, int(rows), int(columns), kept, int(jobs))))
        return
    found = []
    for rows, columns, decimals, names in CASES:
        for name in names:
            for jobs in (1, 2):
                given = [name, *map(str, (rows, columns, decimals, jobs))]
                command = [sys.executable, "-m", "benchmarks.averages", *given]
                said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
                print(said, end="", flush=True)
                found.append(json.loads(said))
    with RESULT.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, found[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)


if __name__ == "__main__":
    main()

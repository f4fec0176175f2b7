"""Rows that are not in memory: time and peak memory of a fit from Parquet, against the rows.

python -m benchmarks.large --rows 100000 1000000 10000000 50000000

Each fit is a process of its own, so that its peak memory is its own (Linux). The table has ten
columns, nine of them continuous, and times in days; it is written in parts to a temporary
directory. In memory, pandas reads the same files; with ``--memory-rows`` up to so many rows. Prints
a line a fit, saves them to benchmarks/results/large.csv, and draws docs/images/large-tables.svg.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl
from matplotlib.ticker import LogLocator, NullFormatter

from benchmarks.solver import save
from experiments.figures import figure

PART = 1_000_000
TARGET = ("event", "time")
IMAGE = Path(__file__).parents[1] / "docs" / "images" / "large-tables.svg"


def write_table(directory: Path, n_rows: int) -> None:
    """Write a table in parts; any number of rows begins with the same ones."""
    for first in range(0, n_rows, PART):
        rng = np.random.default_rng(first)
        n = min(PART, n_rows - first)
        x = rng.normal(size=(9, n))
        x[3:6] = np.exp(x[3:6])
        ward = rng.integers(0, 6, n)
        rate = np.exp(0.7 * (x[0] > 0.2) + 0.5 * (x[1] > -0.5) * (x[3] > 1.5) - 0.4 * (ward == 2))
        death, leaves = rng.exponential(900 / rate), rng.uniform(1, 3000, n)
        frame = pl.DataFrame(
            {f"x{k}": line for k, line in enumerate(x)}
            | {
                "ward": ward.astype(np.int8),
                "event": death <= leaves,
                "time": np.ceil(np.minimum(death, leaves)).astype(np.int32),
            }
        )
        frame.write_parquet(directory / f"part-{first // PART:05}.parquet")


def fit(path: str, depth: int, in_memory: bool, n_jobs: int) -> dict[str, object]:
    """Fit once in this process, and return what it cost."""
    from surtree import SurTree

    start = time.perf_counter()
    passes: list[str] = []

    def note(now: object) -> None:
        title = now.reading.partition(",")[2].partition(":")[0].strip()  # type: ignore[attr-defined]
        if title and (not passes or passes[-1] != title):
            passes.append(title)
            print(f"  {time.perf_counter() - start:6.1f} s  {title}", file=sys.stderr)

    model = SurTree(max_depth=depth, n_jobs=n_jobs, progress=None if in_memory else note)
    rows: object = path
    if in_memory:
        import pandas as pd

        rows = pd.read_parquet(path)
    model.fit(rows, TARGET)
    used = resource.getrusage(resource.RUSAGE_SELF)
    peak = next(
        line.split()[1]
        for line in Path("/proc/self/status").read_text().splitlines()
        if line.startswith("VmHWM")
    )
    return {
        "seconds": round(time.perf_counter() - start, 2),
        "processor_seconds": round(used.ru_utime + used.ru_stime, 2),
        "peak_MiB": int(peak) // 1024,
        "passes": len(passes) or None,
        "loss": model.loss_,
        "leaves": model.tree_.n_leaves,
        "status": model.status_,
    }


def draw(rows: list[dict]) -> None:
    """Draw processor seconds and peak memory against the number of rows."""
    with figure(IMAGE, 1, 2) as (axes,):
        kinds = (("processor_seconds", "processor seconds"), ("peak_MiB", "peak memory, MiB"))
        for ax, (name, label) in zip(axes, kinds, strict=True):
            for how, marker in (("streamed", "o-"), ("pandas, in memory", "s--")):
                own = [row for row in rows if row["how"] == how]
                ax.loglog(
                    [row["rows"] for row in own], [row[name] for row in own], marker, label=how
                )
            ax.set(xlabel="rows", ylabel=label)
            ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            ax.yaxis.set_major_formatter("{x:,.0f}")
            ax.yaxis.set_minor_formatter(NullFormatter())
        axes[0].legend()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--memory-rows", type=int, default=1_000_000)
    parser.add_argument("--fit", help="fit this directory in this process, and print JSON")
    parser.add_argument("--in-memory", action="store_true", help="with --fit, through pandas")
    given = parser.parse_args()
    if given.fit:
        print(json.dumps(fit(given.fit, given.depth, given.in_memory, given.jobs)))
        return
    rows: list[dict] = []
    with tempfile.TemporaryDirectory() as directory:
        for n_rows in given.rows:
            path = Path(directory) / str(n_rows)
            path.mkdir()
            write_table(path, n_rows)
            for how in [[], *([["--in-memory"]] if n_rows <= given.memory_rows else [])]:
                command = [sys.executable, "-m", "benchmarks.large", "--fit", str(path)]
                command += ["--depth", str(given.depth), "--jobs", str(given.jobs), *how]
                found = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
                what = "pandas, in memory" if how else "streamed"
                print(f"{n_rows:>11,} rows  {what:18} {found.stdout.strip()}", flush=True)
                rows.append({"rows": n_rows, "how": what, **json.loads(found.stdout)})
            for part in path.iterdir():
                part.unlink()
    save("large", rows)
    draw(rows)


if __name__ == "__main__":
    main()

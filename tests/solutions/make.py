"""Solutions of seeded problems, to the last bit: what a redesign of the solver must not change.

``SURTREE_KERNELS=portable python tests/solutions/make.py > digests.json`` writes them again. The
portable kernels give the same bits on every processor.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from surtree.solver.core import Problem
from surtree.solver.problem import BinnedRows, Limits, Solution, Switches
from surtree.survival.objective import RELATIVE_RISK
from surtree.survival.row_sums import RowSums

N_PROBLEMS = 300
# By name: what the search may use. All find the same gains; the bounds and trees of unfinished
# searches are their own.
ENGINES = {
    "sweep": Switches(fill=False),
    "alone": Switches(share=False),
    "two levels": Switches(kernel_depth=2),
    "bisection": Switches(bisect=0),
}


def problem(rng: np.random.Generator) -> tuple[BinnedRows, RowSums, Limits]:
    """Draw rows, cuts (ordered or not, with missing values), sums and limits."""
    depth = int(rng.choice([1, 2, 3, 3, 4, 4, 5]))
    n = int(rng.integers(2, 120))
    lines, n_bins, missing_bin, cuts = [], [], [], []
    for line in range(rng.integers(1, 6)):
        q = int(rng.integers(2, 9 if depth < 5 else 5))
        missing, nominal = rng.random(2) < 0.3
        missing_bin.append(q if missing else -1)
        n_bins.append(q + missing)
        for first in range(0 if nominal else 1, q):
            last = first if nominal else q - 1
            cuts.append((line, first, last, False))
            if missing:
                cuts.append((line, first, last, True))
        if missing:
            cuts.append((line, q, q, True))
        lines.append(rng.integers(0, q + missing, n))
    column, first, last, held = zip(*cuts, strict=True)
    binned = BinnedRows(
        np.array(lines, dtype=np.uint16),
        *(np.array(each, dtype=np.int32) for each in (n_bins, missing_bin, column, first, last)),
        np.array(held),
        np.zeros(len(cuts), dtype=np.uint64),
    )
    weight = rng.integers(1, 4, n).astype(float) if rng.random() < 0.5 else np.ones(n)
    event = rng.random(n) < 0.6
    event[0] = True
    hazard = rng.uniform(0.05, 3.0, n)
    values = np.stack([weight * event, weight * hazard])
    counts = {"samples": np.ones(n), "events": event.astype(float)}
    sums = RowSums(RELATIVE_RISK, values, counts, weight, np.zeros(n))
    limits: dict[str, Any] = {}
    if rng.random() < 0.4:
        limits = {
            "min_samples_leaf": int(rng.integers(1, 6)),
            "min_events_leaf": int(rng.integers(3)),
        }
    if rng.random() < 0.3:
        limits["max_splits"] = int(rng.integers(0, 2**depth))
    return binned, sums, Limits(depth, **limits)


def solutions(number: int) -> Iterator[tuple[str, Solution]]:
    """Solve one problem by every engine: to the end, and until it has begun some tasks."""
    binned, sums, limits = problem(np.random.default_rng([20261116, number]))
    for name, switches in ENGINES.items():
        for last in (-1, 1, 2, 3, 5, 8, 13):
            stopped = Switches(**{**vars(switches), "stop_after": last})
            yield f"{name} {last}", Problem(binned, sums).solve(limits, switches=stopped)
    found = Problem(binned, sums).local_search(limits, n_restarts=3, seed=number, price=0.1)
    yield "local search", Solution("local", found.worth, found.worth, (found.topology,))


def digest(number: int) -> str:
    """Name the solutions of one problem, every bit of them."""
    name = hashlib.sha256()
    for engine, found in solutions(number):
        name.update(f"{engine} {found.status}".encode())
        for values in (found.gains, found.gain_bounds):
            name.update(np.ascontiguousarray(values, dtype="<f8").tobytes())
        for tree in found.topologies:
            for values in (tree.cut, tree.left, tree.right):
                name.update(np.ascontiguousarray(values, dtype="<i4").tobytes())
    return name.hexdigest()[:16]


if __name__ == "__main__":
    json.dump([digest(number) for number in range(N_PROBLEMS)], sys.stdout, indent=0)
    print()

"""Time two versions of surtree against each other, in turns, on the same cases.

python -m benchmarks.versions OLD/src NEW/src            # all cases
python -m benchmarks.versions OLD/src NEW/src "depth 4"  # those whose name has this in it

Each directory holds a package `surtree` with its compiled core. Each version has a process of its
own, which fits one case at a time. Processor seconds of one thread, the least of several turns,
since other work on the machine can only add to them. Prints the ratio of each case and their
geometric mean.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

TURNS = 7
# A turn repeats a fit until it has taken this long.
LEAST_SECONDS = 0.15


def cases() -> dict[str, Callable[[], object]]:
    """Name what is timed; nothing but what both versions have."""
    from surtree import SurTree, SurTreeCV
    from surtree.datasets import load_gbsg2, make_survival_tree_data
    from surtree.heuristics import GreedyTree, LocalSearchTree

    gbsg2 = load_gbsg2()
    X, y, _ = make_survival_tree_data(5000, random_state=1)
    rng = np.random.default_rng(0)
    wide = (
        rng.normal(size=(2000, 30)),
        np.rec.fromarrays([rng.random(2000) < 0.6, rng.exponential(size=2000)], names="event,time"),
    )
    tables = {"gbsg2": gbsg2, "synthetic": (X, y), "30 columns": wide}

    def fit(estimator: type, table: str, **parameters: object) -> Callable[[], object]:
        return lambda: estimator(**parameters).fit(*tables[table])

    out = {}
    for table, depths in {"gbsg2": (1, 2, 3, 4, 5), "synthetic": (2, 3, 4, 5)}.items():
        for depth in depths:
            out[f"{table}, depth {depth}"] = fit(SurTree, table, max_depth=depth)
    limits = {"min_samples_leaf": 20, "min_events_leaf": 5}
    for depth in (3, 4):
        name = f"gbsg2, depth {depth}, limits on leaves"
        out[name] = fit(SurTree, "gbsg2", max_depth=depth, **limits)
    for depth in (2, 3):
        name = f"gbsg2, depth {depth}, every threshold"
        out[name] = fit(SurTree, "gbsg2", max_depth=depth, n_thresholds=None)
    out["synthetic, depth 2, every threshold"] = fit(
        SurTree, "synthetic", max_depth=2, n_thresholds=None
    )
    out["gbsg2, depth 3, every threshold, limits on leaves"] = fit(
        SurTree, "gbsg2", max_depth=3, n_thresholds=None, **limits
    )
    out["30 columns, depth 2"] = fit(SurTree, "30 columns", max_depth=2)
    out["30 columns, depth 3"] = fit(SurTree, "30 columns", max_depth=3)
    out["gbsg2, local search"] = fit(
        LocalSearchTree, "gbsg2", max_depth=4, n_restarts=20, random_state=0
    )
    out["gbsg2, greedy"] = fit(GreedyTree, "gbsg2", max_depth=4)
    out["gbsg2, tuned"] = fit(SurTreeCV, "gbsg2", max_depth=3)
    return out


def work() -> None:
    """Time the cases that come by name, one a line."""
    known = cases()
    print(json.dumps(list(known)), flush=True)
    for line in sys.stdin:
        fit, taken = known[json.loads(line)], []
        while not taken or sum(taken) < LEAST_SECONDS:
            start = time.process_time()
            fit()
            taken.append(time.process_time() - start)
        print(min(taken), flush=True)


def start(source: str) -> subprocess.Popen:
    """Start the process of one version."""
    code = f"import sys; sys.path[:0] = [{source!r}]; import benchmarks.versions as v; v.work()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-c", code], text=True, **pipes)


def main(sources: list[str], part: str = "") -> None:
    """Print what both versions take."""
    versions = [start(source) for source in sources]
    names = [json.loads(version.stdout.readline()) for version in versions][-1]
    ratios = []
    print(f"{'case':52} {'old, ms':>9} {'new, ms':>9} {'ratio':>7}")
    for name in (name for name in names if part in name):
        best = [math.inf, math.inf]
        for _ in range(TURNS):
            for k, version in enumerate(versions):
                version.stdin.write(json.dumps(name) + "\n")
                version.stdin.flush()
                best[k] = min(best[k], float(version.stdout.readline()))
        ratios.append(best[1] / best[0])
        print(f"{name:52} {1e3 * best[0]:9.2f} {1e3 * best[1]:9.2f} {ratios[-1]:7.3f}", flush=True)
    print(f"geometric mean {math.exp(np.mean(np.log(ratios))):.3f}, largest {max(ratios):.3f}")
    for version in versions:
        version.stdin.close()
        version.wait()


if __name__ == "__main__":
    main(sys.argv[1:3], *sys.argv[3:])

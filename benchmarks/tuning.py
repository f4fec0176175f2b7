"""Time ten-fold tuning of depth and splits beside a loop of pystreed fits over folds and sizes.

python -m benchmarks.tuning             # depths 3 and 4, all folds of pystreed
python -m benchmarks.tuning --folds 2   # only two of its folds; the others are assumed alike

The table is the paper's synthetic one with 5,000 rows; one thread. Of pystreed only the time within
its fits counts, on columns that are 0/1 already: no encoding, no scoring. Both fit the chosen size
on all rows in the end. (pystreed has a tuning of its own, which ends in a segmentation fault.)
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np

from benchmarks.solver import save, seconds, show
from experiments.peers import fit_pystreed
from experiments.scores import Partition, held_out_loss
from experiments.tables import SurvivalTable, synthetic_table
from surtree import Encoder, EventStratifiedKFold, SurTreeCV, _core
from surtree.validation.sizes import candidate_sizes

N_FOLDS = 10


def tune_pystreed(X, y, sizes, n_folds: int):
    """Return the seconds of all fits, and the held-out loss of each size and fold."""
    taken, losses = [], []
    for train, test in list(EventStratifiedKFold(N_FOLDS).split(X, y))[:n_folds]:
        encoder = Encoder().fit(X.iloc[train])
        binary, others = (encoder.transform(X.iloc[rows]).astype(int) for rows in (train, test))
        fold_seconds, fold_losses = 0.0, []
        for depth, splits in sizes:
            start = time.perf_counter()
            apply = fit_pystreed(binary, y[train], depth, splits)
            fold_seconds += time.perf_counter() - start
            leaves = Partition(apply(binary), apply(others))
            fold_losses.append(held_out_loss(y[train], y[test], leaves))
        taken.append(fold_seconds)
        losses.append(fold_losses)
        print(".", end="", flush=True)
    print()
    return taken, np.array(losses).T


def compare(table: SurvivalTable, depth: int, repeat: int, n_folds: int) -> dict:
    """Tune both on one table."""
    X, y = table.X, table.y
    tuner = SurTreeCV(max_depth=depth, shrinkage=0.0, category_cuts="one")
    ours, search = seconds(lambda: tuner.fit(X, y), repeat)
    # A tree without a split needs no search.
    sizes = [size for size in candidate_sizes(depth, None) if size[1] > 0]
    taken, losses = tune_pystreed(X, y, sizes, n_folds)
    best = sizes[int(np.argmin(losses.mean(axis=1)))]
    binary = Encoder().fit(X).transform(X).astype(int)
    start = time.perf_counter()
    fit_pystreed(binary, y, *best)
    theirs = N_FOLDS * statistics.mean(taken) + time.perf_counter() - start
    return {
        "table": table.name,
        "depth": depth,
        "sizes": len(sizes) + 1,
        "surtree_seconds": ours,
        "pystreed_seconds": theirs,
        "pystreed_folds_timed": n_folds,
        "ratio": theirs / ours,
        "surtree_chose": "{max_depth}/{max_splits}".format(**search.best_params_),
        "pystreed_chose": f"{best[0]}/{best[1]}",
        "largest_difference_of_held_out_loss": float(
            np.abs(-search.sizes_.held_out[1:, :n_folds] - losses).max()
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--depth", type=int, nargs="*", default=[3, 4])
    parser.add_argument("--folds", type=int, default=N_FOLDS, help="folds of pystreed to time")
    options = parser.parse_args()
    print(f"kernels: {_core.kernels()}, one thread")
    table = synthetic_table(0)
    rows = [compare(table, depth, options.repeat, options.folds) for depth in options.depth]
    show(rows)
    save("tuning", rows)


if __name__ == "__main__":
    main()

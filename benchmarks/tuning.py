"""Time ten-fold tuning of depth and splits beside a loop of pystreed fits over folds and sizes.

python benchmarks/tuning.py             # depths 3 and 4, all folds of pystreed
python benchmarks/tuning.py --folds 2   # only two of its folds; the others are assumed alike

The table is the paper's synthetic one with 5,000 rows; one thread. Of pystreed only the time within
its fits counts, on columns that are 0/1 already: no encoding, no scoring. Both fit the chosen size
on all rows in the end. (pystreed has a tuning of its own, which ends in a segmentation fault.)
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np
from peers import fit_pystreed, leaves_of_pystreed
from solver import save, seconds, show
from tables import synthetic

from surtree import Encoder, EventStratifiedKFold, SurTreeCV, _core
from surtree.sizes import candidate_sizes
from surtree.statistics import leaf_theta, likelihood_loss, nelson_aalen, row_sums, total_by
from surtree.target import read_target

N_FOLDS = 10


def held_out_loss(y, train, test, train_leaf, test_leaf) -> float:
    """Return the loss per held-out row of a tree that was fitted on the other rows."""
    fitted, scored = read_target(y[train], len(train)), read_target(y[test], len(test))
    baseline = nelson_aalen(fitted, np.ones(len(train)))
    sums = row_sums(fitted, np.ones(len(train)), baseline)
    size = max(train_leaf.max(), test_leaf.max()) + 1
    hazard = total_by(train_leaf, sums.hazard, size)
    theta = leaf_theta(
        total_by(train_leaf, sums.events, size), np.where(hazard > 0, hazard, np.nan)
    )
    sums = row_sums(scored, np.ones(len(test)), baseline)
    return likelihood_loss(sums, theta[test_leaf]) / len(test)


def tune_pystreed(X, y, sizes, n_folds: int):
    """Return the seconds of all fits, and the held-out loss of each size and fold."""
    taken, losses = [], []
    for train, test in list(EventStratifiedKFold(N_FOLDS).split(X, y))[:n_folds]:
        encoder = Encoder().fit(X.iloc[train])
        binary, others = (encoder.transform(X.iloc[rows]).astype(int) for rows in (train, test))
        fold_seconds, fold_losses = 0.0, []
        for depth, splits in sizes:
            start = time.perf_counter()
            model = fit_pystreed(binary, y[train], depth, splits)
            fold_seconds += time.perf_counter() - start
            leaves = (leaves_of_pystreed(model, part) for part in (binary, others))
            fold_losses.append(held_out_loss(y, train, test, *leaves))
        taken.append(fold_seconds)
        losses.append(fold_losses)
        print(".", end="", flush=True)
    print()
    return taken, np.array(losses).T


def compare(name, X, y, depth: int, repeat: int, n_folds: int) -> dict:
    """Tune both on one table."""
    ours, search = seconds(lambda: SurTreeCV(max_depth=depth).fit(X, y), repeat)
    # A tree without a split needs no search.
    sizes = [size for size in candidate_sizes(depth, None) if size[1] > 0]
    taken, losses = tune_pystreed(X, y, sizes, n_folds)
    best = sizes[int(np.argmin(losses.mean(axis=1)))]
    binary = Encoder().fit(X).transform(X).astype(int)
    start = time.perf_counter()
    fit_pystreed(binary, y, *best)
    theirs = N_FOLDS * statistics.mean(taken) + time.perf_counter() - start
    return {
        "table": name,
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
    name, X, y = next(synthetic(1, 1))
    rows = [compare(name, X, y, depth, options.repeat, options.folds) for depth in options.depth]
    show(rows)
    save("tuning", rows)


if __name__ == "__main__":
    main()

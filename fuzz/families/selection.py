"""Folds of repeated rows, and rows of time zero."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from fuzz.checks import check_same, fit, require, shown, weights_of
from fuzz.tables import Rng, chance, draw_case, pick
from surtree import SurTreeCV
from tests.problems import take


def folds(rng: Rng) -> None:
    """Folds of positions that are drawn with repeats, against a loop by hand over all sizes."""
    n = int(rng.integers(8, 40))
    case = draw_case(rng, n, int(rng.integers(1, 4)), pick(rng, [1, 2, 2, 3]))
    weight = weights_of(case)
    matters = np.flatnonzero(case.y["event"] & (weight > 0))
    positions = []
    for _ in range(int(rng.integers(1, 4))):
        train, test = (rng.integers(0, n, int(rng.integers(1, n + 1))) for _ in range(2))
        positions.append((np.append(train, pick(rng, matters)), np.append(test, matters[0])))
    limits = case.limits | {"cv": positions, "refit": False, "n_jobs": pick(rng, [None, 2])}
    with shown(case, cv=positions), warnings.catch_warnings():
        # Of a fold, held-out rows may have categories that its training rows never had.
        warnings.simplefilter("ignore", UserWarning)
        search = SurTreeCV(**limits).fit(case.X, case.y, case.weight, case.entry)
        for place, (depth, splits) in enumerate(
            zip(search.sizes_.max_depth, search.sizes_.max_splits, strict=True)
        ):
            sizes = {"max_depth": int(depth), "max_splits": int(splits)}
            sizes["shrinkage"] = search.sizes_.shrinkage
            for number, (train, test) in enumerate(positions):
                model, held_out = fit(take(case, train), **sizes), take(case, test)
                loss = model.loss(held_out.X, held_out.y, held_out.weight, held_out.entry)
                trained, tested = weight[train].sum(), weight[test].sum()
                for name, found, expected in (
                    (
                        "training",
                        search.sizes_.training_loss[place, number],
                        model.unpenalised_loss_ / trained,
                    ),
                    ("held-out", -search.sizes_.held_out[place, number], loss / tested),
                ):
                    require(
                        abs(found - expected) <= 1e-9 * max(1.0, abs(expected)),
                        f"fold {number}, {sizes}: {name} loss {found}, by hand {expected}",
                    )


def zero_times(rng: Rng) -> None:
    """Rows of time zero: the censored are left out with a warning, events count as the earliest."""
    case = draw_case(rng, int(rng.integers(4, 20)), int(rng.integers(1, 3)), pick(rng, [1, 2, 2]))
    case = replace(case, entry=None)
    zero = rng.random(len(case.y)) < 0.3
    if chance(rng, 0.5):
        zero &= ~case.y["event"]
    zero[np.flatnonzero(~case.y["event"] | zero)[:1]] = True
    case.y["time"][zero] = 0.0
    weight = weights_of(case)
    dropped = zero & ~case.y["event"]
    kept = np.flatnonzero(~dropped)
    if not (case.y["event"][kept] & (weight[kept] > 0)).any():
        return
    # Only the order of times matters.
    earliest = case.y["time"][case.y["time"] > 0].min(initial=1.0) / 2
    by_hand = take(case, kept)
    by_hand.y["time"][by_hand.y["time"] == 0] = earliest
    with shown(case):
        expected = fit(by_hand)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found = fit(case)
        require(all(issubclass(said.category, UserWarning) for said in told), told)
        absent = dropped & (weight > 0)
        require(bool(told) == bool(absent.any()), f"{absent.sum()} rows dropped; said: {told}")
        check_same(found, expected, by_hand, "with and without rows of time zero")

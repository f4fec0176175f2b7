"""Weights over many orders of magnitude, and an oracle of fractions and decimals."""

from __future__ import annotations

import warnings
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pandas as pd

from fuzz.checks import check_choice, require, shown
from fuzz.tables import Rng, chance, pick, target
from surtree import EffectTree, NotRandomisedWarning, SurTree
from surtree.solver._certificate import PROMISE
from surtree.survival.exactness import EVEN_WEIGHTS
from surtree.tree.size import Size
from tests.problems import Case

# Digits of logarithms and losses.
_DIGITS = 60
# A loss of so little of all events and priors is nothing but rounding, with uneven weights and not.
_NOTHING, _NOTHING_IF_EVEN = 1e-13, 1e-11


def uneven(rng: Rng) -> None:
    """Small tables whose weights differ by up to 24 orders of magnitude, of one hazard or of arms.

    What is called optimal is within 1e-9 of the optimum, no bound is above it, and the gap is that
    of loss and bound.
    """
    n, depth = int(rng.integers(2, 10)), pick(rng, [1, 1, 2, 2, 3])
    X = pd.DataFrame({name: rng.integers(0, 3, n) for name in "ab"[: pick(rng, [1, 2])]})
    event = rng.random(n) < pick(rng, [0.3, 0.6, 0.9])
    event[rng.integers(n)] = True
    time = rng.integers(1, 7, n)
    limits = {"max_depth": depth, "n_thresholds": None, "min_support": 0.0}
    if chance(rng, 0.2):
        limits["shrinkage"] = pick(rng, [0.5, 3.0])
    case = Case(X, target(event, time), _weights(rng, n), None, limits)
    arm = rng.permutation(np.arange(n) % 2) if chance(rng, 0.2) else None
    with shown(case, arm=None if arm is None else arm.tolist()):
        oracle = _Oracle(case, np.zeros(n, dtype=int) if arm is None else arm)
        _check(_fit(case, arm), case, oracle)


def _weights(rng: Rng, n: int) -> np.ndarray:
    if chance(rng, 0.3):  # a few sizes, far apart
        return rng.choice(10.0 ** rng.integers(-6, 10, 3), n) * rng.choice([1.0, 1.0, 3.0], n)
    spread = pick(rng, [2, 3, 4, 5, 6, 8, 12])
    return 10.0 ** rng.uniform(-spread, spread, n)


def _fit(case: Case, arm: np.ndarray | None) -> SurTree:
    if arm is None:
        return SurTree(**case.limits).fit(case.X, case.y, case.weight)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotRandomisedWarning)
        model = EffectTree(objective="both", min_events_arm=0, **case.limits)
        return model.fit(case.X, case.y, arm, case.weight)


class _Oracle:
    """The loss of any tree, and of the best one, in so many digits."""

    def __init__(self, case: Case, arm: np.ndarray) -> None:
        self.weight = [Fraction(float(one)) for one in case.weight]
        self.event, self.arm = case.y["event"].tolist(), arm.tolist()
        self.prior = Fraction(case.limits.get("shrinkage", 0.0))
        self.hazard = self._hazards(case.y["time"].tolist())
        self.is_even = max(self.weight) <= EVEN_WEIGHTS * min(self.weight)
        events = sum(w for w, event in zip(self.weight, self.event, strict=True) if event)
        most = float(events + 2 ** case.limits["max_depth"] * self.prior)
        self.nothing = (_NOTHING_IF_EVEN if self.is_even else _NOTHING) * most
        self._known: dict[tuple[frozenset[int], int, int], Decimal] = {}
        self._cuts = [
            frozenset(np.flatnonzero(column > value).tolist())
            for _, column in case.X.items()
            for value in column.unique()
        ]

    def _hazards(self, time: list[float]) -> list[Fraction]:
        """Return the Nelson-Aalen hazard of each row, at least the floor."""
        steps = {}
        for t in {t for t, event in zip(time, self.event, strict=True) if event}:
            rows = [row for row, end in enumerate(time) if end >= t]
            deaths = sum(self.weight[row] for row in rows if self.event[row] and time[row] == t)
            steps[t] = deaths / sum(self.weight[row] for row in rows)
        floor = min(1 / (sum(self.weight) + 1), *steps.values())
        return [max(sum(step for t, step in steps.items() if t <= end), floor) for end in time]

    def leaf_loss(self, rows: frozenset[int]) -> Decimal:
        """Return the loss of a leaf."""
        dead = [row for row in rows if self.event[row]]
        terms = (_decimal(self.weight[row]) * _log(self.hazard[row]) for row in dead)
        loss = -sum(terms, Decimal(0))
        for arm in set(self.arm):
            own = [row for row in rows if self.arm[row] == arm]
            events = sum((self.weight[row] for row in own if self.event[row]), self.prior)
            hazard = sum((self.weight[row] * self.hazard[row] for row in own), self.prior)
            if events > 0:
                loss -= _decimal(events) * _log(events / hazard)
        return loss

    def best_loss(self, rows: frozenset[int], depth: int, splits: int) -> Decimal:
        """Return the loss of the best tree."""
        known = rows, depth, splits
        if known not in self._known:
            self._known[known] = min(
                [
                    self.leaf_loss(rows),
                    *(
                        self.best_loss(rows & cut, depth - 1, i)
                        + self.best_loss(rows - cut, depth - 1, splits - 1 - i)
                        for cut in set(self._cuts)
                        if depth > 0 and rows & cut and rows - cut
                        for i in range(splits)
                    ),
                ]
            )
        return self._known[known]


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _log(value: Fraction) -> Decimal:
    return _decimal(value).ln()


def _check(model: SurTree, case: Case, oracle: _Oracle) -> None:
    require(model.status_ in ("optimal", "rounded"), "status", model.status_)
    everyone, depth = frozenset(range(len(case.y))), case.limits["max_depth"]
    chosen = Size(2**depth - 1, model.loss_, model.lower_bound_, model.tree_)
    with localcontext(prec=_DIGITS):
        for size in (*model.path_, chosen):
            best = max(oracle.best_loss(everyone, depth, size.splits), Decimal(0))
            _check_size(size, best, case, oracle)
    gap = (model.loss_ - model.lower_bound_) / model.loss_ if model.loss_ > 0 else 0.0
    require(model.gap_ == gap and 0 <= gap <= 1, "gap", model.gap_, "of", gap)
    require((model.status_ == "optimal") == (gap == 0), "status", model.status_, "with gap", gap)
    is_proven = [size.lower_bound == size.loss for size in model.path_]
    known = all(is_proven[: 2**model.proven_depth_])
    require(known, "proven depth", model.proven_depth_, "but", is_proven)
    check_choice(model)


def _check_size(size: Size, best: Decimal, case: Case, oracle: _Oracle) -> None:
    """Compare a tree, its loss and its bound with the optimum."""
    leaf = size.tree.apply(case.X)
    leaves = (frozenset(np.flatnonzero(leaf == one).tolist()) for one in np.unique(leaf))
    exact = sum(map(oracle.leaf_loss, leaves), Decimal(0))
    off = abs(float(exact - Decimal(size.loss)))
    require(off <= PROMISE * size.loss + oracle.nothing, size, "has loss", exact)
    if size.lower_bound < size.loss:
        require(Decimal(size.lower_bound) <= best, size, "has a bound above the optimum", best)
    elif size.loss > oracle.nothing:
        worse = float(exact - best)
        most = PROMISE * float(best) + (oracle.nothing if oracle.is_even else 0.0)
        require(worse <= most, size, "is called optimal; the optimum is", best)

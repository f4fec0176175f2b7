"""What every answer is compared with."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pandas as pd

from fuzz.family import Wrong
from fuzz.tables import CUTS, counted
from surtree import SurTree, Tree
from surtree._support.exact import SAME_LOSS
from surtree.solver import reference
from surtree.solver.problem import Limits
from surtree.survival.exactness import EVEN_WEIGHTS
from tests.problems import Case, leaf_loss, relative_risk_rows, row_hazard
from tests.rules import leaf_by_rules

# A loss of less than the smallest float is rounded to a multiple of it.
_SMALLEST = 5e-324


def require(holds: bool, *what: object) -> None:
    """Raise `Wrong`, with what there is to say, unless something holds."""
    if not holds:
        raise Wrong(" ".join(map(str, what)))


@contextmanager
def shown(case: Case, **options: Any) -> Iterator[None]:
    """Add the problem to any error that is raised meanwhile."""
    try:
        yield
    except Exception as error:
        columns = case.X.to_dict(orient="list") if isinstance(case.X, pd.DataFrame) else case.X
        error.add_note(
            f"X = {columns!r}\nevent = {case.y['event'].astype(int).tolist()}\n"
            f"time = {case.y['time'].tolist()}\n"
            f"weight = {None if case.weight is None else case.weight.tolist()}\n"
            f"entry = {None if case.entry is None else case.entry.tolist()}\n"
            f"{case.limits | options}"
        )
        raise


def fit(case: Case, **options: Any) -> SurTree:
    """Fit a `SurTree` to a problem."""
    model = SurTree(**case.limits | options)
    return model.fit(case.X, case.y, sample_weight=case.weight, entry=case.entry)


def weights_of(case: Case) -> np.ndarray:
    """Return the weight of each row."""
    return np.ones(len(case.y)) if case.weight is None else case.weight


def tolerance(case: Case, loss: float = 0.0) -> float:
    """Return by how much a loss may be off: the solver's own tolerance; denormals are rounded."""
    n_events = float(weights_of(case) @ case.y["event"])
    return SAME_LOSS * (n_events + abs(loss)) + 64 * _SMALLEST


def true_losses(case: Case, holds: np.ndarray) -> np.ndarray:
    """Return the optimal loss for 0, 1, 2, ... splits over some cuts, by trying all trees.

    As `tests.problems.expected_losses` does it, but sums are scaled by a power of two, which is
    exact, so that weights of any magnitude have all of their digits.
    """
    weight = weights_of(case)
    hazard = row_hazard(case.y, weight, case.entry)
    # A prior counts events of weight one: with it, weights are of that order anyway.
    exponent = 0 if case.limits.get("shrinkage") else math.frexp(weight.max())[1]
    scaled = np.ldexp(weight, -exponent)
    events = scaled * case.y["event"]
    limits = {name: value for name, value in case.limits.items() if name not in CUTS}
    shrinkage = limits.pop("shrinkage", 0.0)
    rows = relative_risk_rows(events, scaled * hazard, case.y["event"], shrinkage)
    solution = reference.solve(holds, rows, Limits(**limits))
    return np.ldexp(-(events @ np.log(hazard)) - np.asarray(solution.gains), exponent)


def every_cut(X: pd.DataFrame, category_cuts: str = "one") -> np.ndarray:
    """Return, by hand, all cuts that there are in a table: the answer of each row to each.

    Numbers and ordered categories are cut between all values, other categories are taken one at a
    time or in all sets, missing values are on either side.
    """
    answers = []
    for name in X.columns:
        column = X[name]
        gone = column.isna().to_numpy()
        if isinstance(column.dtype, pd.CategoricalDtype):
            column = column.cat.codes
            asked = [column > code for code in column[~gone].unique()]
        elif column.dtype == object:
            values = column[~gone].unique()
            most = 1 if category_cuts == "one" else len(values)
            asked = [
                column.isin(subset)
                for size in range(1, most + 1)
                for subset in combinations(values, size)
            ]
        else:
            asked = [column > value for value in column[~gone].unique()]
        for answer in asked:
            yes = answer.to_numpy(dtype=bool)
            answers += [yes & ~gone, yes | gone]
        answers.append(gone)
    holds = np.array(answers).T
    divides = holds.any(axis=0) & ~holds.all(axis=0)
    return np.unique(holds[:, divides], axis=1)


def padded(losses: Any, n: int) -> np.ndarray:
    """Return a path of so many sizes; it ends early where more splits bring nothing."""
    losses = list(losses)
    return np.array(losses + losses[-1:] * (n - len(losses)))


def check_path(model: SurTree, case: Case, holds: np.ndarray) -> None:
    """Compare every size of an optimal path with the best of all trees."""
    rows = counted(case)
    expected = true_losses(rows, holds)
    losses = padded([size.loss for size in model.path_], len(expected))
    bounds = padded([size.lower_bound for size in model.path_], len(expected))
    slack = tolerance(rows, float(np.abs(expected).max()))
    require(len(losses) == len(expected), len(losses), "sizes, expected", len(expected))
    require(
        bool((losses >= expected - slack).all())
        and bool((losses <= expected + slack + (losses - bounds)).all()),
        f"losses {losses.tolist()}, expected {expected.tolist()}",
    )
    require(
        bool((bounds <= expected + slack).all()),
        f"bounds {bounds.tolist()} above {expected.tolist()}",
    )
    check_proven(model, case)


def check_proven(model: SurTree, case: Case) -> None:
    """Compare a model of a search to the end with its own claims.

    All is proven, unless weights are so uneven that rounding hides which tree is the best.
    """
    check_finished(model, case)
    even = is_even(case)
    apart = [size.loss - size.lower_bound for size in model.path_]
    require(min(apart) >= 0 and not (even and any(apart)), f"bounds of {model.path_}")
    check_choice(model)


def check_finished(model: SurTree, case: Case) -> None:
    """Check the status and the gap of a search that came to its end."""
    require(model.status_ in finished(case), "not proven:", model.status_)
    require((model.gap_ == 0) == (model.status_ == "optimal"), "gap", model.gap_)


def finished(case: Case) -> tuple[str, ...]:
    """Return how a search of these rows may end that came to its end."""
    return ("optimal",) if is_even(case) else ("optimal", "rounded")


def is_even(case: Case) -> bool:
    """Return whether the weights of rows differ so little that one part holds all sums."""
    weight = weights_of(counted(case))
    return bool(weight.max() <= EVEN_WEIGHTS * weight.min())


def check_choice(model: SurTree) -> None:
    """Check that the path gets no worse with its splits, and that the best of it was chosen."""
    require(all(b.loss <= a.loss for a, b in pairwise(model.path_)), "path", model.path_)
    prices = [size.loss + model.ccp_alpha * size.splits for size in model.path_]
    best = model.path_[int(np.argmin(prices))]
    require(model.loss_ == best.loss, "chosen", model.loss_, "of", model.path_)
    require(model.tree_ == best.tree or model.tree_.n_splits <= best.splits, "tree", model.tree_)
    # A lower bound may be reached by rounding, and is not passed.
    require(model.lower_bound_ <= model.loss_, model.lower_bound_, "above", model.loss_)


def check_bounds(early: SurTree, losses: np.ndarray, case: Case) -> None:
    """Check a search that ended early against the optimal loss of every size."""
    slack = tolerance(counted(case), float(np.abs(losses).max()))
    best = padded(losses, len(early.path_))
    for size in early.path_:
        optimum = best[size.splits]
        require(size.lower_bound <= optimum + slack, "bound", size, "above the optimum", optimum)
        require(size.loss >= optimum - slack, "loss", size, "below the optimum", optimum)
        require(size.tree.n_splits <= size.splits, size, "has", size.tree.n_splits, "splits")
    check_choice(early)
    if early.status_ == "optimal":  # smaller sizes may be open, as their bounds say
        prices = best + early.ccp_alpha * np.arange(len(best))
        found = early.loss_ + early.ccp_alpha * early.tree_.n_splits
        require(found <= prices.min() + slack, "not optimal:", found, "for", prices.min())


def check_leaves(tree: Tree, case: Case, loss: float | None = None) -> None:
    """Apply the printed rules by hand, and compare every leaf with the sums of its rows."""
    rows = counted(case)
    weight = weights_of(rows)
    hazard = row_hazard(rows.y, weight, rows.entry)
    leaf = leaf_by_rules(tree, rows.X)
    require(set(leaf) == set(tree.leaves.tolist()), "rows reach", set(leaf), "of", tree.leaves)
    shrinkage = tree.objective.shrinkage
    expected = leaf_loss(rows.y, weight, hazard, leaf, shrinkage)
    claimed = tree.total_loss if loss is None else loss
    slack = tolerance(rows, expected)
    require(abs(claimed - expected) <= slack, "loss", claimed, "by hand", expected)
    require(tree.depth <= case.limits.get("max_depth", tree.depth), "depth", tree.depth)
    for number in tree.leaves:
        here = leaf == number
        event = rows.y["event"][here]
        events, at_risk = weight[here] @ event, weight[here] @ hazard[here]
        by_hand = {
            "n_samples": here.sum(),
            "n_events": event.sum(),
            "weight": weight[here].sum(),
            "events": events,
            "hazard": at_risk,
            "theta": (
                (events + shrinkage) / (at_risk + shrinkage)
                if events + shrinkage > 0
                else min(0.5 / at_risk, 1.0)
            ),
        }
        for name, value in by_hand.items():
            found = getattr(tree, name)[number]
            require(
                math.isclose(found, value, rel_tol=SAME_LOSS, abs_tol=64 * _SMALLEST),
                f"leaf {number}: {name} {found!r}, by hand {value!r}",
            )
        if tree.n_splits:
            least = case.limits.get("min_samples_leaf", 1), case.limits.get("min_events_leaf", 0)
            require(here.sum() >= least[0], "rows of leaf", number, here.sum())
            require(event.sum() >= least[1], "events of leaf", number, event.sum())


def check_same(one: SurTree, other: SurTree, case: Case, what: str) -> None:
    """Check that two models have the same loss for every size."""
    n = max(len(one.path_), len(other.path_))
    losses = [padded([size.loss for size in model.path_], n) for model in (one, other)]
    slack = tolerance(counted(case), float(losses[0][0]))
    require(
        bool((np.abs(losses[0] - losses[1]) <= slack).all()),
        f"{what}: losses {losses[0].tolist()} and {losses[1].tolist()}",
    )


def check_prediction(model: SurTree, case: Case) -> None:
    """Check that predictions are those of the leaf of each row, and curves are curves."""
    X = counted(case).X  # of the others, some may hold categories that training never had
    leaf = model.apply(X)
    require(bool((leaf == leaf_by_rules(model.tree_, X)).all()), "apply and rules differ")
    require(bool((model.predict(X) == model.tree_.theta[leaf]).all()), "predict is not theta")
    survival = model.predict_survival_function(X, return_array=True)
    require(bool(((survival >= 0) & (survival <= 1)).all()), "survival", survival)
    require(bool((np.diff(survival, axis=1) <= 0).all()), "survival rises", survival)

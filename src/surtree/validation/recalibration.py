"""Recalibration: a fitted tree keeps its questions, and its hazards follow other rows."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surtree._support.parameters import require_shrinkage
from surtree._support.types import Floats
from surtree.data.named import RowInputs
from surtree.data.rows import read_target_rows
from surtree.survival.objective import total_by
from surtree.tree.provenance import RECALIBRATIONS, Recalibration, RecalibrationMethod
from surtree.tree.resolve import chosen_model
from surtree.tree.tree import Tree
from surtree.validation._leaf_checks import is_after

# What stays known of a model with other hazards.
_STAYS = {"time_unit_", "horizons_", "cause_names_"}
_MOST_STEPS = 100
# Factors of files are within these limits.
_LIMITS = (1e-6, 1e6)


def recalibrate(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: ArrayLike | None = None,
    entry: ArrayLike | None = None,
    *,
    id: ArrayLike | None = None,
    method: RecalibrationMethod = "intercept",
    shrinkage: float = 10.0,
) -> Any:
    """Adapt the hazards of a fitted tree to other rows, and keep its questions.

    For a model that ranks new patients well and whose predictions are too high or too low
    (`evaluate` says so). The certificate of the search is void: nothing is proven of new hazards.

    Parameters
    ----------
    model : fitted SurTree, SurTreeCV or TaughtTree
        A tree of one event.
    X, y, sample_weight, entry, id
        The rows, as in `SurTree.fit`; not those that the model was fitted on.
    method : {"intercept", "slope", "leaves"}, default="intercept"
        - "intercept" multiplies all hazards by one number.
        - "slope" also multiplies differences between leaves, on the scale of logarithms.
        - "leaves" multiplies the hazard of each leaf by a number of its own.
    shrinkage : float, default=10
        The old value counts for so many expected events, of all rows with "intercept" and in each
        leaf with "leaves": hazards are multiplied by ``(O + a) / (E + a)``. Zero is no shrinkage.
        "slope" has none.

    Returns
    -------
    fitted model
        A new model of the same class. Its ``status_`` is "recalibrated" and ``recalibration_`` says
        what was done; `predict`, curves, files, reports and exports have the new hazards. Rows
        and events of leaves are still those of the fit, and intervals of leaves do not know of the
        uncertainty of the new hazards.

    Notes
    -----
    Expected events are those of `evaluate`, by the relative risk of leaves. Which method pays with
    how many events is in docs/results/recalibration.md.

    Examples
    --------
    >>> from surtree import SurTree, evaluate, recalibrate
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> model = SurTree(max_depth=2).fit(X[:400], y[:400])
    >>> new = recalibrate(model, X[400:], y[400:], method="leaves")
    >>> new.status_, [round(factor, 2) for factor in new.recalibration_.factors]
    ('recalibrated', [1.2, 0.88, 1.49, 0.65])
    """
    fitted = chosen_model(model)
    if not hasattr(fitted, "path_") or fitted.tree_.outcome.is_several:
        raise TypeError(
            "recalibrate adapts one hazard, that of a SurTree, SurTreeCV or TaughtTree, and "
            f"{type(fitted).__name__} has none or several: fit it anew, on all rows together."
        )
    if method not in RECALIBRATIONS:
        raise ValueError(f"method must be one of {RECALIBRATIONS}; got {method!r}.")
    require_shrinkage(shrinkage)
    tree: Tree = fitted.tree_
    given = RowInputs(X, y, sample_weight, entry, id).in_memory("recalibrate")
    rows = read_target_rows(given, tree.outcome.read_target)
    target, weight = rows.target, rows.weight
    leaf = np.searchsorted(tree.leaves, model.apply(rows.given.X))
    counted = target.event & ~is_after(target, tree.last_time)
    events = total_by(leaf, np.where(counted, weight, 0.0), tree.n_leaves)
    hazard = weight * tree.row_hazard(target)
    if target.entry is not None:
        hazard[target.entry >= tree.last_time] = 0.0
    risk = tree.theta[tree.leaves]
    expected = risk * total_by(leaf, hazard, tree.n_leaves)
    if not expected.sum() > 0:
        raise ValueError("The model expects no events of these rows: they ended too early.")
    slope, factors = _factors(method, shrinkage, events, expected, np.log(risk))
    factors = np.clip(factors, *_LIMITS)
    done = Recalibration(
        method,
        float(shrinkage) if method != "slope" else 0.0,
        int(weight.size),
        int(counted.sum()),
        float(events.sum() / expected.sum()),
        slope,
        tuple(factors.tolist()),
    )
    new = copy(fitted)
    for name in fitted._known_later:
        if name not in _STAYS:
            setattr(new, name, None)
    old = np.ones(tree.n_nodes) if tree.factor is None else tree.factor
    new.tree_ = replace(tree, factor=np.clip(old * _of_nodes(tree, factors, expected), *_LIMITS))
    new.status_, new.lower_bound_, new.gap_, new.proven_depth_ = "recalibrated", 0.0, 1.0, 0
    new.path_ = tuple(size.with_splits(size.splits, 0.0) for size in fitted.path_)
    new.row_digest_, new.recalibration_ = None, done
    return new


def _factors(
    method: RecalibrationMethod, prior: float, events: Floats, expected: Floats, risk: Floats
) -> tuple[float | None, Floats]:
    """Return the slope, and what the hazard of each leaf is multiplied by."""
    if method == "leaves":
        known = expected + prior > 0
        return None, np.where(known, (events + prior) / np.where(known, expected + prior, 1.0), 1.0)
    if method == "intercept":
        ratio = (events.sum() + prior) / (expected.sum() + prior)
        return None, np.full(events.size, ratio)
    seen = expected > 0
    if np.ptp(risk[seen]) == 0 or (events[seen] > 0).sum() < 2:
        raise ValueError(
            "A slope needs rows with events in two leaves of different risk: use "
            "method='intercept'."
        )
    # Poisson regression of the events of leaves on the logarithm of risk, with an offset.
    design = np.stack([np.ones(risk.size), risk - risk[seen].mean()])
    beta = np.array([np.log(events.sum() / expected.sum()), 0.0])
    for _ in range(_MOST_STEPS):
        fitted = expected * np.exp(beta @ design)
        step = np.linalg.solve((design * fitted) @ design.T, design @ (events - fitted))
        beta = beta + np.clip(step, -1.0, 1.0)
        if np.abs(step).max() < 1e-10:
            break
    else:
        raise ValueError("There are too few events for a slope: use method='intercept'.")
    return float(1.0 + beta[1]), np.exp(beta @ design)


def _of_nodes(tree: Tree, factors: Floats, expected: Floats) -> Floats:
    """Return the factor of each node: of those with leaves below them, the mean by events."""
    of_node = np.ones(tree.n_nodes)
    of_node[tree.leaves] = factors
    weight = np.zeros(tree.n_nodes)
    weight[tree.leaves] = np.maximum(expected, 1e-12)
    for node in range(tree.n_nodes - 1, -1, -1):
        if not tree.is_leaf[node]:
            below = [tree.left[node], tree.right[node]]
            weight[node] = weight[below].sum()
            of_node[node] = float(of_node[below] @ weight[below] / weight[node])
    return of_node

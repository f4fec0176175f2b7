"""Hazard ratios, bands and curves of leaves and arms: against a known truth, and on real rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from experiments.experiment import Measures
from experiments.leaf_designs import DESIGNS, TRIALS, Design, draw_leaves, draw_trial
from experiments.leaf_truth import TRUTH_ROWS, counts, log_ratio, share, thetas
from experiments.leaf_variants import VARIANTS, measure_variant
from experiments.tables import REAL_TABLES, real_table
from experiments.task import Status
from surtree import (
    EffectTree,
    SurTree,
    SurTreeCV,
    SuspiciousColumnWarning,
    UnseenCategoryWarning,
    confidence_band,
    datasets,
    leaf_curves,
    leaf_hazard_ratios,
)
from surtree.metrics import normalized_integrated_brier_score
from surtree.survival.cox_groups import hazard_ratios
from surtree.tree.leaf_curve import theta_limits

Kind = Literal["leaves", "arms", "real", "variants"]
Leaves = Literal["given", "fitted", "tuned"]
CURVES = ("baseline", "kaplan-meier", "breslow")
ROWS = (300, 1000)
N_TABLES, N_VARIANT_TABLES, N_SPLITS = 100, 40, 10
# Training rows of a real table, at most.
REAL_ROWS = 500
BUNDLED = {
    "gbsg2": datasets.load_gbsg2,
    "lung": datasets.load_lung,
    "regimes": datasets.load_regimes,
    "rossi": datasets.load_rossi,
}


# What a row may have; each kind of case has some of it.
MEASURES = (
    *("n_leaves", "ratio_covered", "theta_covered", "log_true", "log_cox", "log_theta", "n_train"),
    *(f"{name}_{kind}" for name in ("error", "band", "n_band", "brier") for kind in CURVES),
)


@dataclass(frozen=True)
class LeafCase:
    """One simulated table, or one division of a real one in training and test rows."""

    kind: Kind
    design: str
    rows: int
    leaves: Leaves
    number: int


def cases(quick: bool) -> list[LeafCase]:
    """Return all cases; the quick ones are a table of each kind."""
    if quick:
        return [
            *(LeafCase("leaves", "lognormal", 200, leaves, 0) for leaves in ("given", "fitted")),
            *(LeafCase("arms", "ratio 0.3", 200, leaves, 0) for leaves in ("given", "fitted")),
            LeafCase("real", "rossi", 200, "tuned", 0),
            *(
                LeafCase("variants", design, 200, leaves, 0)
                for design in VARIANTS
                for leaves in ("given", "fitted")
            ),
        ]
    simulated = [
        LeafCase(kind, design, rows, leaves, number)
        for number in range(N_TABLES)
        for kind, designs in (("leaves", DESIGNS), ("arms", TRIALS))
        for design in designs
        for rows in ROWS
        for leaves in ("given", "fitted")
    ]
    real = [
        LeafCase("real", name, REAL_ROWS, "tuned", number)
        for name in (*BUNDLED, *REAL_TABLES)
        for number in range(N_SPLITS)
    ]
    variants = [
        LeafCase("variants", design, rows, leaves, number)
        for number in range(N_VARIANT_TABLES)
        for design in VARIANTS
        for rows in ROWS
        for leaves in ("given", "fitted")
    ]
    return real + simulated + variants


def measure(case: LeafCase) -> Measures:
    """Fit the tree of a case, and compare it with the truth or with held-out rows."""
    found = _MEASURE[case.kind](case)
    return dict.fromkeys(MEASURES, float("nan")) | found | {"status": str(Status.DONE)}


def _seed(case: LeafCase, *more: int) -> np.random.Generator:
    names = {"leaves": list(DESIGNS), "arms": list(TRIALS)}[case.kind]
    return np.random.default_rng([129, names.index(case.design), case.rows, case.number, *more])


def _leaves(case: LeafCase) -> Measures:
    design = DESIGNS[case.design]
    X, y, _ = draw_leaves(design, case.rows, _seed(case))
    columns = X[:, :2] if case.leaves == "given" else X
    model = SurTree(max_depth=2).fit(columns, y)
    tree = model.tree_
    X_true, y_true, group = _truth(case.design)
    leaf = np.searchsorted(tree.leaves, model.apply(X_true[:, : columns.shape[1]]))
    found = leaf_hazard_ratios(model)
    reference = tree.leaves.tolist().index(found[0].reference)
    if case.leaves == "given" and tree.n_leaves == len(design.rates):
        ratio = _ratios_of_groups(case.design)[[group[leaf == one][0] for one in range(4)]]
        ratio = ratio / ratio[reference]
    else:
        ratio = hazard_ratios(
            counts(y_true["event"], y_true["time"], leaf, tree.n_leaves), reference
        )
    asked = [place for place in range(tree.n_leaves) if place != reference]
    low, high = np.array([found[place].limits for place in asked]).reshape(-1, 2).T
    theta = thetas(y_true, leaf, tree.n_leaves)
    limits = np.array([theta_limits(tree, int(node)) for node in tree.leaves])
    top, bottom = ratio.argmax(), ratio.argmin()
    own = np.array([one.ratio for one in found])
    measures: dict[str, Any] = {
        "n_leaves": tree.n_leaves,
        "ratio_covered": share((low <= ratio[asked]) & (ratio[asked] <= high)),
        "theta_covered": share((limits[:, 0] <= theta) & (theta <= limits[:, 1])),
        "log_true": float(np.log(ratio[top] / ratio[bottom])),
        "log_cox": log_ratio(own[top], own[bottom]),
        "log_theta": log_ratio(*tree.theta[tree.leaves][[top, bottom]]),
    }
    return measures | _curve_measures(tree, design, leaf, group)


def _curve_measures(
    tree: Any, design: Design, leaf: NDArray[np.intp], group: NDArray[np.intp]
) -> dict[str, Any]:
    """Return the squared error of each kind of curve, and how often bands hold the true median."""
    times = tree.baseline.times
    grid = np.linspace(*np.quantile(times, [0.02, 0.9]), 50)
    survival = np.stack([design.survival(one, grid) for one in range(len(design.rates))])
    shares = np.stack(
        [np.bincount(group[leaf == one], minlength=len(survival)) for one in range(tree.n_leaves)]
    ).astype(float)
    weight = shares.sum(axis=1) / shares.sum()
    shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1)
    # Median of the leaf's rows, on a fine grid.
    fine = np.geomspace(1e-3, times[-1], 2000)
    of_leaf = shares @ np.stack([design.survival(one, fine) for one in range(len(survival))])
    measures: dict[str, Any] = {}
    for kind in CURVES:
        curves = np.stack([curve.survival(grid) for curve in leaf_curves(tree, kind)])
        # Over rows: what a curve is off for each group in its leaf.
        squared = ((curves[:, None] - survival[None]) ** 2).mean(axis=2)
        measures[f"error_{kind}"] = float(weight @ (shares * squared).sum(axis=1))
        inside = []
        for place, node in enumerate(tree.leaves.tolist()):
            reached = np.flatnonzero(of_leaf[place] <= 0.5)
            if not reached.size:
                continue
            at = float(fine[reached[0]])
            lower, upper = (
                limit(at) if at <= limit.domain[1] else np.nan
                for limit in confidence_band(tree, node, kind=kind)
            )
            if np.isfinite(lower):
                inside.append(lower <= of_leaf[place, reached[0]] <= upper)
        measures[f"band_{kind}"] = share(np.array(inside))
        measures[f"n_band_{kind}"] = len(inside)
    return measures


def _arms(case: LeafCase) -> Measures:
    design, treated = TRIALS[case.design]
    X, y, arm = draw_trial(design, treated, case.rows, _seed(case))
    columns = X[:, :1] if case.leaves == "given" else X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of arms that noise can tell apart by chance
        # A tree of risk and effect splits by a given column whatever the effects are.
        aim = "both" if case.leaves == "given" else "effect"
        model = EffectTree(max_depth=1, objective=aim).fit(columns, y, arm)
    X_true, y_true, arm_true = _true_trial(case.design)
    leaf = model.apply(X_true[:, : columns.shape[1]])
    inside, true, found, theta = [], [], [], []
    for effect in model.effects_:
        own = leaf == effect.leaf
        if case.leaves == "given" and design.shape == "exponential":
            ratio = design.rates[1] / design.rates[0]
        else:
            died, time = y_true["event"][own], y_true["time"][own]
            ratio = float(hazard_ratios(counts(died, time, arm_true[own], 2))[1])
        inside.append(effect.limits[0] <= ratio <= effect.limits[1])
        true.append(np.log(ratio))
        found.append(np.log(effect.ratio))
        of_arm = model.tree_.prediction[:2, effect.leaf]
        theta.append(np.log(of_arm[1] / of_arm[0]))
    return {
        "n_leaves": len(inside),
        "ratio_covered": share(np.array(inside)),
        "log_true": float(np.mean(true)),
        "log_cox": float(np.mean(found)),
        "log_theta": float(np.mean(theta)),
    }


def _real(case: LeafCase) -> Measures:
    X, y = _real_rows(case.design)
    rng = np.random.default_rng([129, case.number])
    order = rng.permutation(len(y))
    n = min(case.rows, 2 * len(y) // 3)
    train, test = order[:n], order[n : n + 5000]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuspiciousColumnWarning)
        warnings.simplefilter("ignore", UnseenCategoryWarning)
        model = SurTreeCV(max_depth=3).fit(X.iloc[train], y[train])
        tree, measures = model.tree_, {}
        place = np.searchsorted(tree.leaves, model.apply(X.iloc[test]))
    for kind in CURVES:
        curves = np.empty(tree.n_leaves, dtype=object)
        curves[:] = [curve.survival for curve in leaf_curves(tree, kind)]
        score = normalized_integrated_brier_score(y[train], y[test], curves[place])
        measures[f"brier_{kind}"] = float(score)
    return {"n_leaves": tree.n_leaves, "n_train": n, **measures}


def _variant(case: LeafCase) -> Measures:
    return measure_variant(case.design, case.rows, case.number, case.leaves == "given")


_MEASURE = {"leaves": _leaves, "arms": _arms, "real": _real, "variants": _variant}


@cache
def _real_rows(name: str) -> tuple[Any, NDArray[np.void]]:
    if name in BUNDLED:
        return BUNDLED[name](backend="pandas")
    table = real_table(name)
    return table.X, table.y


@cache
def _truth(design: str) -> Any:
    return draw_leaves(DESIGNS[design], TRUTH_ROWS, np.random.default_rng([1_000_029]))


@cache
def _ratios_of_groups(design: str) -> NDArray[np.float64]:
    """Return the hazard ratios of the four groups: of proportional hazards, those of the design."""
    if DESIGNS[design].shape == "exponential":
        return np.array(DESIGNS[design].rates, dtype=float)
    _, y, group = _truth(design)
    return hazard_ratios(counts(y["event"], y["time"], group, len(DESIGNS[design].rates)))


@cache
def _true_trial(design: str) -> Any:
    return draw_trial(*TRIALS[design], TRUTH_ROWS, np.random.default_rng([1_000_029]))

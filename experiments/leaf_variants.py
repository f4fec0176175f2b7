"""Hazard ratios of leaves where rows have weights, leaves are shrunk, or causes compete."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.leaf_designs import draw_columns
from experiments.leaf_truth import TRUTH_ROWS, counts, log_ratio, share, thetas
from experiments.sampled_rows import DRAWN, MERGED, WEIGHTS, Seen, in_steps, is_by_stratum, sample
from surtree import CompetingRisksTree, SurTree, leaf_hazard_ratios, target
from surtree.survival.cox_groups import hazard_ratios
from surtree.tree.leaf_curve import theta_limits

SHRINKAGE = 5.0
STEP, LAST_END = 0.05, 2.5
SHRUNK = f"shrinkage {SHRINKAGE:g}"
CAUSES = {"first of two causes": 1, "second of two causes": 2}
EFFECTS = {"1/2/4/8": (1.0, 2.0, 4.0, 8.0), "no effect": (1.0, 1.0, 1.0, 1.0)}


class Variant(NamedTuple):
    """What is special about the rows or the tree, and the hazards of the four groups."""

    what: str
    rates: tuple[float, ...]


VARIANTS = {
    f"{what}, {effect}": Variant(what, rates)
    for what in (*WEIGHTS, SHRUNK, *CAUSES)
    for effect, rates in EFFECTS.items()
}


def draw_everyone(
    variant: Variant, n: int, rng: np.random.Generator
) -> tuple[Seen, NDArray[np.bool_]]:
    """Draw persons, of whom some will be seen, and their strata."""
    X, stratum = draw_columns(n, rng), rng.random(n) < 0.5
    rate = np.array(variant.rates)[(2 * X[:, 0] + X[:, 1]).astype(np.intp)]
    if is_by_stratum(variant.what):
        rate = np.where(stratum, 2 * rate, rate)
    time, end = rng.exponential(1 / rate), rng.uniform(0, LAST_END, n)
    other = rng.exponential(1.0, n) if variant.what in CAUSES else np.full(n, np.inf)
    if variant.what == MERGED:
        time, end, X = in_steps(time, STEP), in_steps(end, STEP), (X > 0).astype(float)
    first = np.minimum(time, other)
    event = np.where(first <= end, np.where(time <= other, 1, 2), 0)
    return Seen(X, event, np.minimum(first, end)), stratum


@cache
def _truth(design: str) -> Seen:
    return draw_everyone(VARIANTS[design], TRUTH_ROWS, np.random.default_rng([1_000_030]))[0]


def measure_variant(design: str, rows: int, number: int, is_given: bool) -> dict[str, Any]:
    """Fit a tree, and compare its hazard ratios and thetas with those of everyone."""
    variant = VARIANTS[design]
    rng = np.random.default_rng([130, list(VARIANTS).index(design), rows, number])
    seen = sample(variant.what, rows, *draw_everyone(variant, DRAWN * rows, rng), rng)
    n_columns = 2 if is_given else seen.X.shape[1]
    model = _fit(variant.what, seen._replace(X=seen.X[:, :n_columns]))
    tree, everyone = model.tree_, _truth(design)
    leaf = np.searchsorted(tree.leaves, model.apply(everyone.X[:, :n_columns]))
    cause = CAUSES.get(variant.what)
    found = leaf_hazard_ratios(model, cause=cause)
    reference = tree.leaves.tolist().index(found[0].reference)
    event = everyone.event == (cause or 1)
    ratio = hazard_ratios(counts(event, everyone.time, leaf, tree.n_leaves), reference)
    asked = [place for place in range(tree.n_leaves) if place != reference]
    low, high = np.array([found[place].limits for place in asked]).reshape(-1, 2).T
    top, bottom = ratio.argmax(), ratio.argmin()
    own = [one.ratio for one in found]
    measures: dict[str, Any] = {
        "n_leaves": tree.n_leaves,
        "ratio_covered": share((low <= ratio[asked]) & (ratio[asked] <= high)),
        "log_true": float(np.log(ratio[top] / ratio[bottom])),
        "log_cox": log_ratio(own[top], own[bottom]),
    }
    if cause is None:
        true = thetas(target(event=event, time=everyone.time), leaf, tree.n_leaves)
        limits = np.array([theta_limits(tree, int(node)) for node in tree.leaves])
        measures["theta_covered"] = share((limits[:, 0] <= true) & (true <= limits[:, 1]))
    return measures


def _fit(what: str, seen: Seen) -> Any:
    y = seen.event, seen.time
    if what in CAUSES:
        return CompetingRisksTree(max_depth=2).fit(seen.X, y)
    shrinkage = SHRINKAGE if what == SHRUNK else 0.0
    return SurTree(max_depth=2, shrinkage=shrinkage).fit(seen.X, y, seen.weight)

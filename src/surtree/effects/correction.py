"""How far apart the effects of leaves are to be expected in new data: the winner's curse.

A tree chooses the leaves in which arms differed most, partly by chance, so the effects that it
reports lie too far apart. Each bootstrap sample has a tree of its own, and rows that are not in it.
In these rows, the effect of a leaf is ``overall + slope * (effect of the leaf - overall)`` on the
logarithmic scale, with one slope for all leaves of all samples, by a Poisson model. A slope of one
means that effects were right, zero that their differences were chance.

Trees of samples are worse than the tree of all rows, so that slope is too small. As in `validate`,
it is weighed against the slope in the rows of the fit, which is one, by the rule .632+ (Efron and
Tibshirani): the less is left outside of samples, the less the rows of the fit count.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from surtree.cuts.encoder import encoder_of
from surtree.data.bootstrap import draw_counts, spawn_generators
from surtree.data.named import RowInputs
from surtree.effects.estimator import EffectTree, arm_limits, labels_of
from surtree.effects.limits import ArmLimits
from surtree.estimator import choose_size
from surtree.fitting.fit_problem import FitProblem, make_problem
from surtree.fitting.size_path import find_path
from surtree.fitting.training import read_training_data, training_data
from surtree.parameters import read_time_limit, require_random_state, require_whole
from surtree.scores.effects import EffectCorrection, correction_of
from surtree.solver.search import SearchSettings
from surtree.tree.arms import hazard_ratios, theta_ratios

_MOST_STEPS = 50


def correct_effects(
    model: EffectTree,
    X: Any,
    y: Any,
    treatment: ArrayLike,
    sample_weight: ArrayLike | None = None,
    entry: ArrayLike | None = None,
    id: ArrayLike | None = None,
    *,
    n_bootstraps: int = 100,
    random_state: int = 0,
) -> EffectCorrection:
    """Say what to expect of the effects of a tree in new data.

    Parameters
    ----------
    model : EffectTree
        A way to build trees; whether it is fitted does not matter.
    X, y, treatment, sample_weight, entry, id
        As in `EffectTree.fit`. With an ``id``, samples are drawn from persons.
    n_bootstraps : int, default=100
        The number of bootstrap samples, on each of which the tree is found again.
    random_state : int, default=0
        Where the samples come from.

    Examples
    --------
    >>> from surtree import EffectTree, correct_effects
    >>> from surtree.datasets import load_rossi
    >>> X, y = load_rossi()
    >>> aid = X.pop("financial_aid")
    >>> print(correct_effects(EffectTree(max_depth=1), X, y, aid, n_bootstraps=50))
    Expect 0% of the differences between leaves in new data.
    leaf 1: yes, hazard ratio 0.859, 0.692 expected in new data
    leaf 2: yes, hazard ratio 0.495, 0.692 expected in new data
    """
    require_whole("n_bootstraps", n_bootstraps, 1)
    require_random_state(random_state)
    template = clone(model).set_params(progress=None)
    given = RowInputs(X, y, sample_weight, entry, id, treatment=treatment)
    data = read_training_data(template, given.in_memory("correct_effects"))
    labels = labels_of(data.target)
    problem = make_problem(encoder_of(template), data)
    limits = arm_limits(template, len(labels))
    path = find_path(problem, _settings(template, limits))
    best = choose_size(template, path)
    tree = problem.build_with_at_risk(path.topologies[best.splits], template.leaf_curve)
    group = data.target.person
    if group is None:
        group = np.arange(data.sums.weight.size)
    group = np.unique(group, return_inverse=True)[1]
    found = [
        each
        for random in spawn_generators(random_state, int(n_bootstraps))
        for each in _outside(template, problem, limits, draw_counts(random, group))
    ]
    outside = _slope(found, len(labels)) if found else float("nan")
    return correction_of(
        hazard_ratios(tree),
        tree.leaves.tolist(),
        labels,
        slope=_weighed(outside),
        outside=outside,
        n_samples=int(n_bootstraps),
    )


@dataclass(frozen=True)
class _Outside:
    """An arm of a leaf of a sample's tree, in rows that the sample does not have.

    Parameters
    ----------
    arm : int
        The number of the arm.
    deviation : float
        By how much its effect in the sample is above that of all rows of the sample.
    events, others : float
        The events of the arm and of the reference, outside of the sample.
    offset : float
        The logarithm of the ratio of their hazards.
    """

    arm: int
    deviation: float
    events: float
    others: float
    offset: float


def _settings(template: EffectTree, limits: ArmLimits) -> SearchSettings:
    time_limit = read_time_limit(template.time_limit)
    return SearchSettings(limits, time_limit, template.n_jobs, template.memory_limit)


def _outside(
    template: EffectTree, problem: FitProblem, limits: ArmLimits, counts: NDArray[np.intp]
) -> Iterator[_Outside]:
    """Yield the arms of the leaves of a sample's tree, as they are in the other rows."""
    data = problem.data
    drawn = counts > 0
    present = np.flatnonzero(data.present)
    weight = np.zeros(data.table.n_rows)
    weight[present] = counts * data.sums.weight
    n_arms = data.sums.values.shape[0] // 2
    events = data.sums.values[0::2]
    if not (events[:, drawn].sum(axis=1) > 0).all():
        return
    sample = training_data(
        data.table.take(present), data.target, weight[present], data.sums.objective
    )
    binned = replace(problem.binned, bins=np.ascontiguousarray(problem.binned.bins[:, drawn]))
    path = find_path(FitProblem(sample, problem.encoder, binned), _settings(template, limits))
    best = choose_size(template, path)
    tree = best.tree
    if tree.n_splits == 0:
        return
    logs = np.log(theta_ratios(tree))
    leaf = problem.core.find_leaves(path.topologies[best.splits])[~drawn]
    sums = np.stack(
        [np.bincount(leaf, line[~drawn], minlength=tree.n_nodes) for line in data.sums.values]
    )
    for node in tree.leaves.tolist():
        for arm in range(1, n_arms):
            own, reference = sums[2 * arm : 2 * arm + 2, node], sums[:2, node]
            if own[1] > 0 and reference[1] > 0 and own[0] + reference[0] > 0:
                yield _Outside(
                    arm,
                    float(logs[arm - 1, node] - logs[arm - 1, 0]),
                    float(own[0]),
                    float(reference[0]),
                    float(np.log(own[1] / reference[1])),
                )


def _weighed(outside: float) -> float:
    """Return the slope by the rule .632+, from that in rows outside of samples."""
    left = min(max(outside, 0.0), 1.0) if np.isfinite(outside) else outside
    weight = 0.632 / (1 - 0.368 * (1 - left))
    return (1 - weight) + weight * left


def _slope(found: list[_Outside], n_arms: int) -> float:
    """Return the slope of effects outside of samples on those inside, by Newton's method.

    Given the events of an arm and of the reference together, those of the arm are binomial: it is a
    logistic regression with an intercept for each arm.
    """
    arm = np.array([each.arm for each in found])
    design = np.column_stack(
        [*(arm == place for place in range(1, n_arms)), [each.deviation for each in found]]
    ).astype(np.float64)
    events = np.array([each.events for each in found])
    total = events + np.array([each.others for each in found])
    offset = np.array([each.offset for each in found])
    beta = np.zeros(design.shape[1])
    for _ in range(_MOST_STEPS):
        share = 1.0 / (1.0 + np.exp(-(offset + design @ beta)))
        gradient = design.T @ (events - total * share)
        curvature = (design * (total * share * (1.0 - share))[:, None]).T @ design
        step = np.linalg.lstsq(curvature, gradient, rcond=None)[0]
        beta = beta + np.clip(step, -2.0, 2.0)
        if np.abs(step).max() < 1e-10:
            break
    return float(beta[-1])

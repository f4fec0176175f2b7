"""How far apart the effects of leaves are to be expected in new data: the winner's curse.

A tree chooses the leaves in which arms differed most, partly by chance, so the effects that it
reports lie too far apart. Rows are divided into folds. The tree is found again without each of
them, and its effects are compared with the rows of the fold: there, the effect of a leaf is
``overall + slope * (effect of the leaf - overall)`` on the logarithmic scale, with one slope for
all leaves of all folds. A slope of one means that effects were right, zero that their differences
were chance.

All effects are those of Cox models that are adjusted for the prognosis of rows (`NullModel`): the
ratio of a leaf whose rows differ in risk would be nearer to one than that of any of its rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri
from sklearn.base import clone

from surtree._support.parameters import require_random_state, require_whole
from surtree._support.types import Floats
from surtree.data.named import RowInputs
from surtree.data.persons import spawn_generators
from surtree.data.target import Target
from surtree.effects._prognosis import Trial, arm_columns
from surtree.estimators.effects import EffectTree
from surtree.estimators.fit import search_quietly
from surtree.outcomes.arm_effects import hazard_ratios
from surtree.outcomes.effect_results import CorrectedEffect, EffectCorrection
from surtree.solver.problem import TreeTopology
from surtree.survival.confidence import LEVEL
from surtree.survival.cox import RiskSets, fit_cox

_FOLDS = 10
# The effect of a leaf is at most this far from that of all rows, on the logarithmic scale.
_FURTHEST = 3.0


def correct_effects(
    model: EffectTree,
    X: Any,
    y: Any,
    treatment: ArrayLike,
    sample_weight: ArrayLike | None = None,
    entry: ArrayLike | None = None,
    id: ArrayLike | None = None,
    *,
    n_repeats: int = 10,
    random_state: int = 0,
) -> EffectCorrection:
    """Estimate the effects of a tree that are expected in new data.

    Parameters
    ----------
    model : EffectTree
        A way to build trees; whether it is fitted does not matter.
    X, y, treatment, sample_weight, entry, id
        As in `EffectTree.fit`. With an ``id``, the rows of a person are in one fold.
    n_repeats : int, default=10
        How often rows are divided into ten folds, without each of which the tree is found again.
    random_state : int, default=0
        Where the folds come from.

    Examples
    --------
    >>> from surtree import EffectTree, correct_effects
    >>> from surtree.datasets import load_rossi
    >>> X, y = load_rossi()
    >>> aid = X.pop("financial_aid")
    >>> correction = correct_effects(EffectTree(max_depth=1), X, y, aid, n_repeats=5)
    >>> correction.share_text
    'Expect 0% of the differences between leaves in new data.'
    >>> [round(leaf.corrected, 2) for leaf in correction.leaves]
    [0.72, 0.72]
    """
    require_whole("n_repeats", n_repeats, 1)
    require_random_state(random_state)
    template = clone(model).set_params(progress=None)
    given = RowInputs(X, y, sample_weight, entry, id, treatment=treatment)
    trial = _Trial.read(template, given.in_memory("correct_effects"))
    labels = trial.target.labels
    everyone = np.ones(trial.target.time.size, dtype=bool)
    topology = trial.fit(everyone)
    tree = trial.problem.build_with_at_risk(topology, template.leaf_curve)
    effects = trial.effects(trial.problem.core.find_leaves(topology), everyone)
    slope, error = trial.slope(
        [trial.held_out(each) for each in spawn_generators(random_state, int(n_repeats))]
    )
    kept, doubt = (slope, error) if np.isfinite(slope) else (0.0, 0.0)
    overall = trial.null.effect.coefficients
    wide = float(ndtri((1 + LEVEL) / 2))
    ratios = hazard_ratios(tree)
    leaves = []
    for node in tree.leaves.tolist():
        deviation = effects.deviation[node]
        expected = overall + kept * deviation
        width = wide * np.hypot(effects.error[node], deviation * doubt)
        with np.errstate(over="ignore"):
            expected_and_limits = np.exp(np.stack([expected, expected - width, expected + width]))
        leaves += [
            CorrectedEffect(node, arm, float(ratio), corrected, (lower, upper))
            for arm, ratio, (corrected, lower, upper) in zip(
                labels[1:], ratios[:, node], expected_and_limits.T.tolist(), strict=True
            )
        ]
    return EffectCorrection(
        slope, error, tuple(np.exp(overall).tolist()), tuple(leaves), int(n_repeats)
    )


@dataclass(frozen=True, eq=False)
class _Effects:
    """The adjusted effects of leaves; arrays have the shape (n_nodes, n_arms - 1)."""

    # By how much the effect of a leaf is above that of all rows, on the logarithmic scale.
    deviation: Floats
    error: Floats  # the standard error of the effect of a leaf


class _Trial(Trial):
    """A trial whose effects are found again without some rows."""

    def fit(self, rows: NDArray[np.bool_]) -> TreeTopology:
        path = search_quietly(self.template, self.problem.take(rows), self.limits)
        return path.topologies[path.choose(float(self.template.ccp_alpha)).splits]

    def effects(self, leaf: NDArray[np.int32], rows: NDArray[np.bool_]) -> _Effects:
        overall, _ = self._effect(rows)
        deviation = np.zeros((int(leaf.max()) + 1, overall.size))
        error = np.full_like(deviation, np.inf)
        for node in np.unique(leaf[rows]).tolist():
            effect, error[node] = self._effect(rows & (leaf == node))
            deviation[node] = np.clip(effect - overall, -_FURTHEST, _FURTHEST)
        return _Effects(deviation, error)

    def held_out(self, random: np.random.Generator) -> Floats:
        """Return the deviation of the effect of each row, from trees that were built without it.

        Its shape is (n_arms - 1, n_rows).
        """
        target = self.target
        person = np.arange(target.arm.size) if target.person is None else target.person
        group = np.unique(person, return_inverse=True)[1]
        n_groups = int(group.max()) + 1
        fold = random.permutation(np.arange(n_groups) % min(_FOLDS, n_groups))[group]
        deviation = np.zeros((len(target.labels) - 1, group.size))
        for one in np.unique(fold).tolist():
            rows = fold != one
            died = np.bincount(
                target.arm[rows], weights=target.event[rows], minlength=len(target.labels)
            )
            if (died > 0).all():
                leaf = self.problem.core.find_leaves(self.fit(rows))
                deviation[:, ~rows] = self.effects(leaf, rows).deviation[leaf[~rows]].T
        return deviation

    def slope(self, deviations: list[Floats]) -> tuple[float, float]:
        """Return the slope of effects on deviations in rows held out, and its standard error.

        Arms are strata, and deviations may have a prognosis of their own.
        """
        deviation = np.concatenate(
            [each for each in deviations if each.any()] or [np.zeros(0)], axis=-1
        )
        if not deviation.any():
            return np.nan, np.nan
        target, n_rows = self.target, self.null.log_risk.size
        n_repeats = deviation.shape[1] // n_rows
        row = np.tile(np.arange(n_rows), n_repeats)
        stratum = np.repeat(np.arange(n_repeats), n_rows) * len(target.labels) + target.arm[row]
        sets = RiskSets.of(_take(target, row), self.problem.data.sums.weight[row], stratum)
        inside = (deviation * arm_columns(target)[:, row]).sum(axis=0)
        fit = fit_cox(
            sets, target.event[row], np.vstack([deviation, inside]), self.null.log_risk[row]
        )
        # Repeats are about the same rows: together they say no more than one.
        error = float(fit.errors[-1] * np.sqrt(n_repeats))
        return float(np.clip(fit.coefficients[-1], 0.0, 1.0)), error

    def _effect(self, rows: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """Return the logarithms of the hazard ratios of arms in some rows, and their errors."""
        target, kept = self.target, np.flatnonzero(rows)
        weight = self.problem.data.sums.weight[kept]
        sets = RiskSets.of(_take(target, kept), weight, np.zeros_like(kept))
        fit = fit_cox(
            sets, target.event[kept], arm_columns(target)[:, kept], self.null.log_risk[kept]
        )
        return fit.coefficients, fit.errors


def _take(target: Target, rows: NDArray[np.intp]) -> Target:
    """Return rows by themselves, whatever persons they are parts of."""
    entry = None if target.entry is None else target.entry[rows]
    return Target(target.event[rows], target.time[rows], entry)

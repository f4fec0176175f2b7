"""A test of heterogeneity: is there any evidence that the effect differs between rows.

The null hypothesis is one effect for everybody, beside any prognosis: the hazard of a row in arm
``a`` is ``h(t) r(x) theta_a``. Arms that are exchanged at random answer another question, that of
no effect at all: they also break the effect that all rows share. So this effect is taken out.

1. A tree of the risk alone divides the rows in strata of similar prognosis.
2. Within strata, the effect ``theta`` of each arm is estimated: the same for all strata.
3. The hazard that a row was exposed to is multiplied by the effect of its arm. If the null
   hypothesis holds, the arm says nothing more about the events of the row, given its columns and
   that hazard: arms can be exchanged, and rows keep columns, prognosis and events. (This is so on
   average. The spread differs between arms where censoring does; simulations say that this is
   harmless, docs/results/effects.md.)
4. The statistic is what the best tree of effects gains by its splits. For each exchange of arms,
   the effect is estimated again within the strata, and the best tree is found again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from surtree._quoting import printable
from surtree._types import ArrayValue, Floats
from surtree.cuts.encoder import encoder_of
from surtree.data.arms import ArmTarget, Label
from surtree.effects.estimator import EffectTree, arm_limits, read_trial
from surtree.effects.limits import ArmLimits
from surtree.fitting.fit_problem import FitProblem, make_problem
from surtree.parameters import require_random_state, require_whole
from surtree.solver.core import Problem
from surtree.solver.problem import Limits
from surtree.survival.objective import RELATIVE_RISK

# Strata have at least so many events.
_EVENTS_OF_STRATUM = 10
# The strata are the leaves of a tree of this depth.
_STRATA_DEPTH = 3
_MOST_STEPS = 200
# Chance at which it is said that there is evidence.
_ALPHA = 0.05


@dataclass(frozen=True, eq=False)
class HeterogeneityTest(ArrayValue):
    """Whether the effect of a treatment differs between rows.

    Parameters
    ----------
    statistic : float
        What the splits of the best tree of effects gain, in log likelihood.
    p_value : float
        How often as much is gained if the effect is the same for everybody.
    overall : tuple of float
        The hazard ratio of each arm over the reference, the same for all rows and within strata of
        similar prognosis.
    arms : tuple
        The labels of the arms, the reference first.
    permuted : array of float
        The statistic of each exchange of arms.

    Examples
    --------
    >>> from surtree import EffectTree, heterogeneity_test
    >>> from surtree.datasets import load_rossi
    >>> X, y = load_rossi()
    >>> aid = X.pop("financial_aid")
    >>> found = heterogeneity_test(EffectTree(max_depth=1), X, y, aid, n_permutations=49)
    >>> found.is_evidence, round(found.overall[0], 3)
    (False, 0.725)
    """

    statistic: float
    p_value: float
    overall: tuple[float, ...]
    arms: tuple[Label, ...]
    permuted: Floats

    @property
    def is_evidence(self) -> bool:
        """Whether the p-value is at most 5%."""
        return self.p_value <= _ALPHA

    def __str__(self) -> str:
        said = (
            "Evidence that the effect differs between rows"
            if self.is_evidence
            else "No evidence that the effect differs between rows"
        )
        reference, *others = (printable(str(arm)) for arm in self.arms)
        pairs = zip(others, self.overall, strict=True)
        ratios = ", ".join(f"{arm} over {reference} {ratio:.3g}" for arm, ratio in pairs)
        lines = [
            f"{said} (p = {self.p_value:.3g}, {self.permuted.size} permutations).",
            f"Hazard ratio of all rows: {ratios}.",
        ]
        if not self.is_evidence:
            lines.append("Use this effect for everybody, not those of leaves.")
        return "\n".join(lines)


def heterogeneity_test(
    model: EffectTree,
    X: Any,
    y: Any,
    treatment: ArrayLike,
    sample_weight: ArrayLike | None = None,
    entry: ArrayLike | None = None,
    id: ArrayLike | None = None,
    *,
    n_permutations: int = 499,
    random_state: int = 0,
) -> HeterogeneityTest:
    """Test whether the effect of a treatment is the same for everybody, by permutations.

    The null hypothesis allows any prognosis and any effect that all rows share. Simulated trials
    without heterogeneity are rejected as often as the level says (docs/results/effects.md).

    Parameters
    ----------
    model : EffectTree
        How large trees may be, and which questions they may ask; whether it is fitted does not
        matter. The statistic is that of the objective "effect". One split finds a single subgroup
        most often; more splits find more complicated ones.
    X, y, treatment, sample_weight, entry, id
        As in `EffectTree.fit`. With an ``id``, arms are exchanged between persons.
    n_permutations : int, default=499
        How often arms are exchanged.
    random_state : int, default=0
        The seed of the exchanges.

    Examples
    --------
    >>> from surtree import EffectTree, heterogeneity_test
    >>> from surtree.datasets import load_rossi
    >>> X, y = load_rossi()
    >>> aid = X.pop("financial_aid")
    >>> print(heterogeneity_test(EffectTree(max_depth=1), X, y, aid, n_permutations=99))
    No evidence that the effect differs between rows (p = 0.75, 99 permutations).
    Hazard ratio of all rows: yes over no 0.725.
    Use this effect for everybody, not those of leaves.
    """
    require_whole("n_permutations", n_permutations, 1)
    require_random_state(random_state)
    template = clone(model).set_params(objective="effect")
    data, labels = read_trial(template, X, y, treatment, sample_weight, entry, id, stacklevel=4)
    trial = _Trial.of(
        make_problem(encoder_of(template), data), arm_limits(template, len(labels)), len(labels)
    )
    observed = trial.statistic(trial.arm)
    rng = np.random.default_rng(random_state)
    permuted = np.array([trial.statistic(trial.permute(rng)) for _ in range(int(n_permutations))])
    # Equal up to rounding counts as equal.
    as_large = int((permuted >= observed - 1e-9 * max(observed, 1.0)).sum())
    return HeterogeneityTest(
        observed,
        (1 + as_large) / (1 + permuted.size),
        tuple(trial.overall[1:].tolist()),
        labels,
        permuted,
    )


@dataclass(frozen=True, eq=False)
class _Trial:
    """The rows of a trial whose overall effect is taken out.

    Parameters
    ----------
    problem : FitProblem
        The rows and the questions.
    limits : ArmLimits
        Of the trees of effects.
    arm, stratum : array of int
        The arm of each row, and its stratum of prognosis.
    events, hazard : array of float
        The weighted events of each row, and its hazard times the effect of its arm.
    overall : array of float
        The effect of each arm; one for the first.
    """

    problem: FitProblem
    limits: ArmLimits
    arm: NDArray[np.intp]
    stratum: NDArray[np.intp]
    events: Floats
    hazard: Floats
    overall: Floats

    @classmethod
    def of(cls, problem: FitProblem, limits: ArmLimits, n_arms: int) -> _Trial:
        data = problem.data
        assert isinstance(data.target, ArmTarget)
        risk = RELATIVE_RISK.row_sums(data.target, data.sums.weight, data.baseline)
        stratum = _strata(Problem(problem.binned, risk))
        events, hazard = risk.values
        overall = common_effect(events, hazard, data.target.arm, stratum, n_arms)
        arm = data.target.arm
        return cls(problem, limits, arm, stratum, events, hazard * overall[arm], overall)

    def statistic(self, arm: NDArray[np.intp]) -> float:
        """Return what the splits of the best tree gain, the rows having these arms."""
        n_arms = self.overall.size
        effect = common_effect(self.events, self.hazard, arm, self.stratum, n_arms)
        inside = (arm == np.arange(n_arms)[:, None]).astype(np.float64)
        values = np.stack([inside * self.events, inside * self.hazard * effect[arm]], axis=1)
        sums, event = self.problem.data.sums, self.problem.data.target.event
        counts = {f"events_{place}": inside[place] * event for place in range(n_arms)}
        drawn = replace(
            sums, values=values.reshape(2 * n_arms, -1), counts=dict(sums.counts) | counts
        )
        gains = Problem(self.problem.binned, drawn).solve(self.limits).gains
        return float(gains[-1] - gains[0])

    def permute(self, rng: np.random.Generator) -> NDArray[np.intp]:
        """Return the arms of rows, exchanged between rows or, if there are any, persons."""
        person = self.problem.data.target.person
        if person is None:
            return rng.permutation(self.arm)
        _, first, place = np.unique(person, return_index=True, return_inverse=True)
        return np.asarray(rng.permutation(self.arm[first])[place])


def _strata(risk: Problem) -> NDArray[np.intp]:
    """Return the leaf of each row in the best tree of the risk."""
    limits = Limits(_STRATA_DEPTH, min_events_leaf=_EVENTS_OF_STRATUM)
    found = risk.solve(limits)
    leaf = risk.find_leaves(found.topologies[-1])
    return np.asarray(np.unique(leaf, return_inverse=True)[1], dtype=np.intp)


def common_effect(
    events: Floats,
    hazard: Floats,
    arm: NDArray[np.intp],
    stratum: NDArray[np.intp],
    n_arms: int,
) -> Floats:
    """Return the hazard of each arm over that of the first, the same in all strata.

    It is the coefficient of a Poisson model with a factor for the arm and one for the stratum.

    Parameters
    ----------
    events, hazard : array of float
        The weighted events of rows, and the hazard that they were exposed to.
    arm, stratum : array of int
        The arm and the stratum of each row.
    n_arms : int
        The number of arms.
    """
    n_strata = int(stratum.max()) + 1
    cell = stratum * n_arms + arm
    died, expected = (
        np.bincount(cell, weights=values, minlength=n_strata * n_arms).reshape(n_strata, n_arms)
        for values in (events, hazard)
    )
    total, of_arm = died.sum(axis=1), died.sum(axis=0)
    effect: Floats = np.ones(n_arms)
    for _ in range(_MOST_STEPS):
        at_effect = (expected * effect).sum(axis=1)
        rate = np.divide(total, at_effect, out=np.zeros(n_strata), where=at_effect > 0)
        # An arm without events has next to no hazard.
        new = np.maximum(of_arm, 1e-9) / np.maximum((rate[:, None] * expected).sum(axis=0), 1e-300)
        new = new / new[0]
        if np.allclose(new, effect, rtol=1e-10, atol=0.0):
            break
        effect = new
    return effect

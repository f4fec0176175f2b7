"""The null model of a trial: one effect for everybody, beside any prognosis.

It is a Cox model in which arms are strata: the hazard of a row in arm ``a`` is ``h_a(t) r(x)``.
Arms may differ in any way over time, and all rows share how they differ.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from surtree._support.types import ArrayValue, Floats
from surtree.cuts.encoder import encoder_of
from surtree.data.named import RowInputs
from surtree.data.target import Target
from surtree.estimators.effects import EffectTree
from surtree.estimators.parameters import limits_of
from surtree.fitting.training import FitProblem, TrainingData, make_problem, read_training_data
from surtree.solver.core import Problem
from surtree.solver.problem import Limits
from surtree.survival.cox import CoxFit, RiskSets, fit_cox
from surtree.survival.objective import RELATIVE_RISK

# The prognosis is a sum of this many best single splits. Each counts by this share, and its sides
# have at least these events and a prior of this many.
_ROUNDS = 20
_SHARE = 0.2
_EVENTS_OF_SIDE = 5
_PRIOR = 5.0
# The sum is multiplied by at most this.
_MOST_STRETCH = 3.0
# The hazard of a row that left before the first event, so that sums can be divided by it.
_LEAST_HAZARD = 1e-9


@dataclass(frozen=True, eq=False)
class NullModel(ArrayValue):
    """One effect for everybody, beside the prognosis of rows."""

    log_risk: Floats  # the logarithm of each row's relative risk, whatever its arm
    sets: RiskSets  # the rows at risk, the arms being strata
    # The logarithm of the hazard ratio of each arm but the first over the first, if the prognosis
    # is given and arms are no strata.
    effect: CoxFit

    @classmethod
    def of(cls, template: EffectTree, data: TrainingData) -> NullModel:
        target, weight = arm_target(data), data.sums.weight
        sets = RiskSets.of(target, weight, target.arm)
        # The cuts of categories depend on the objective: those of the risk serve the prognosis.
        risk = replace(data, sums=RELATIVE_RISK.row_sums(target, weight, data.baseline))
        log_risk = _boost(make_problem(encoder_of(template), risk), sets)
        together = RiskSets.of(target, weight, np.zeros_like(target.arm))
        return cls(log_risk, sets, fit_cox(together, target.event, arm_columns(target), log_risk))

    def expected(self, sets: RiskSets) -> Floats:
        """Return the weighted events to expect of each row, given who is at risk."""
        return _expected(sets, self.log_risk)


@dataclass(frozen=True, eq=False)
class Trial:
    """The rows of a trial, how trees of their effects are built, and the null model beside them."""

    template: EffectTree
    problem: FitProblem
    limits: Limits
    null: NullModel

    @classmethod
    def read(cls, template: EffectTree, given: RowInputs) -> Self:
        data = read_training_data(template, given)
        problem = make_problem(encoder_of(template), data)
        limits = limits_of(template, data.target)
        return cls(template, problem, limits, NullModel.of(template, data))

    @property
    def target(self) -> Target:
        """The arms and the survival of the rows."""
        return arm_target(self.problem.data)


def arm_target(data: TrainingData) -> Target:
    return data.target


def arm_columns(target: Target) -> Floats:
    """Return a column of zeros and ones for each arm but the first."""
    inside = target.arm == np.arange(1, len(target.labels))[:, None]
    return np.asarray(inside, dtype=np.float64)


def _boost(problem: FitProblem, sets: RiskSets) -> Floats:
    """Return the logarithm of the relative risk of rows: a sum of best splits, stretched."""
    sums = replace(problem.data.sums, baseline=None)
    events = sums.values[0]
    log_risk = np.zeros(events.size)
    prior = _PRIOR * float(events[events > 0].mean())
    for _ in range(_ROUNDS):
        expected = _expected(sets, log_risk)
        core = Problem(problem.binned, replace(sums, values=np.stack([events, expected])))
        solution = core.solve(Limits(1, min_events_leaf=_EVENTS_OF_SIDE))
        leaf = core.find_leaves(solution.topologies[-1])
        died, due = (np.bincount(leaf, weights=values) for values in (events, expected))
        log_risk += _SHARE * np.log((died + prior) / (due + prior))[leaf]
    # Small steps fall short of what the rows say.
    fit = fit_cox(sets, problem.data.target.event, log_risk[None], np.zeros_like(log_risk))
    return np.asarray(log_risk * np.clip(fit.coefficients[0], 0.0, _MOST_STRETCH))


def _expected(sets: RiskSets, log_risk: Floats) -> Floats:
    risk = np.exp(log_risk)
    return np.maximum(sets.hazard(risk) * risk, _LEAST_HAZARD) * sets.weight

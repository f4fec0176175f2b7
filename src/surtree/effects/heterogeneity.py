"""A test of heterogeneity: is there any evidence that the effect differs between rows.

The null hypothesis is one effect for everybody, beside any prognosis: the hazard of a row in arm
``a`` is ``h_a(t) r(x)`` (`NullModel`). Arms may differ in any way over time.

1. The statistic is what the best tree of effects gains by its splits, beside the null model.
2. If the null hypothesis holds, an event of an arm strikes one of the rows of the arm that are at
   risk then, in proportion to their prognosis: the argument of Cox's partial likelihood. So each
   event is given to a row that is drawn in this way, and the best tree is found again. Arms keep
   their rows, and their events at their times, also where one arm is small.

Exchanging arms between rows would break what all rows share: a treatment that works late does more
for rows of low risk, which live to see it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from surtree._types import Floats
from surtree.cuts.encoder import encoder_of
from surtree.data.arms import ArmTarget
from surtree.data.named import RowInputs
from surtree.effects.estimator import EffectTree, arm_limits, labels_of
from surtree.effects.limits import ArmLimits
from surtree.effects.prognosis import NullModel, arm_target
from surtree.fitting.fit_problem import FitProblem, make_problem
from surtree.fitting.training import read_training_data
from surtree.parameters import require_random_state, require_whole
from surtree.scores.effects import HeterogeneityTest, monte_carlo_p_value
from surtree.solver.core import Problem

# The events of an arm are drawn within this many periods of time, as far as it has the events.
_PERIODS = 20


def heterogeneity_test(
    model: EffectTree,
    X: Any,
    y: Any,
    treatment: ArrayLike,
    sample_weight: ArrayLike | None = None,
    entry: ArrayLike | None = None,
    id: ArrayLike | None = None,
    *,
    n_draws: int = 499,
    random_state: int = 0,
) -> HeterogeneityTest:
    """Test whether the effect of a treatment is the same for everybody, by simulated events.

    The null hypothesis allows any prognosis, and any effect that all rows share, also one that
    changes over time: hazards of arms are ``h_a(t) r(x)``. Simulated trials without heterogeneity
    are rejected as often as the level says, or less (docs/results/effects.md).

    Parameters
    ----------
    model : EffectTree
        How large trees may be, and which questions they may ask; whether it is fitted does not
        matter. The statistic is that of the objective "effect". One split finds a single subgroup
        most often; more splits find more complicated ones.
    X, y, treatment, sample_weight, entry, id
        As in `EffectTree.fit`.
    n_draws : int, default=499
        How often events are drawn under the null hypothesis.
    random_state : int, default=0
        The seed of the draws.

    Examples
    --------
    >>> from surtree import EffectTree, heterogeneity_test
    >>> from surtree.datasets import load_rossi
    >>> X, y = load_rossi()
    >>> aid = X.pop("financial_aid")
    >>> print(heterogeneity_test(EffectTree(max_depth=1), X, y, aid, n_draws=99))
    No evidence that the effect differs between rows (p = 0.61, 99 draws).
    Adjusted hazard ratio of all rows: yes over no 0.72 (95% interval 0.496 to 1.04).
    Use this effect for everybody, not those of leaves.
    """
    require_whole("n_draws", n_draws, 1)
    require_random_state(random_state)
    template = clone(model).set_params(objective="effect")
    given = RowInputs(X, y, sample_weight, entry, id, treatment=treatment)
    data = read_training_data(template, given.in_memory("heterogeneity_test"))
    labels = labels_of(data.target)
    null = NullModel.of(template, data)
    problem = make_problem(encoder_of(template), data)
    trial = _Trial(problem, arm_limits(template, len(labels)), null.expected)
    events = _Events.of(arm_target(data), null)
    observed = trial.statistic(events.row, events.weight)
    rng = np.random.default_rng(random_state)
    drawn = np.array(
        [trial.statistic(events.draw(rng), events.weight) for _ in range(int(n_draws))]
    )
    return HeterogeneityTest(
        observed,
        monte_carlo_p_value(observed, drawn),
        tuple(null.effect.ratios.tolist()),
        null.effect.limits(),
        labels,
        drawn,
    )


@dataclass(frozen=True, eq=False)
class _Trial:
    """The rows of a trial, and the events to expect of each of them under the null hypothesis."""

    problem: FitProblem
    limits: ArmLimits
    expected: Floats

    def statistic(self, row: NDArray[np.intp], weight: Floats) -> float:
        """Return what the splits of the best tree gain if the events are those of given rows."""
        sums, arm = self.problem.data.sums, arm_target(self.problem.data).arm
        n_arms = self.limits.n_arms
        events = np.bincount(row, weights=weight, minlength=arm.size)
        struck = np.bincount(row, minlength=arm.size)
        inside = arm == np.arange(n_arms)[:, None]
        values = np.stack([inside * events, inside * self.expected], axis=1)
        counts = {f"events_{place}": inside[place] * struck for place in range(n_arms)}
        counts["events"] = struck
        simulated = replace(
            sums,
            values=values.reshape(2 * n_arms, -1),
            counts=dict(sums.counts)
            | {name: count.astype(np.float64) for name, count in counts.items()},
            baseline=None,
        )
        gains = Problem(self.problem.binned, simulated).solve(self.limits).gains
        return float(gains[-1] - gains[0])


@dataclass(frozen=True, eq=False)
class _Events:
    """The events of a trial, and the rows that each of them could have struck.

    Parameters
    ----------
    row : array of int of shape (n_events,)
        The row of each event.
    weight : array of float of shape (n_events,)
        Its weight.
    candidate : array of int
        The rows of the first period of the first arm, those of the second, and so on.
    until : array of float
        The hazard of all candidates up to each of them, with zero before the first.
    first, last : array of int of shape (n_events,)
        The candidates of each event.
    """

    row: NDArray[np.intp]
    weight: Floats
    candidate: NDArray[np.intp]
    until: Floats
    first: NDArray[np.intp]
    last: NDArray[np.intp]

    @classmethod
    def of(cls, target: ArmTarget, null: NullModel) -> _Events:
        sets, risk = null.sets, np.exp(null.log_risk)
        steps = sets.deaths / sets.at_risk(risk)
        row = np.flatnonzero(target.event)
        # Rows that are parts of a person follow each other, so that draws do not depend on parts.
        order = (
            np.arange(risk.size)
            if target.person is None
            else np.lexsort((target.time, target.person))
        )
        candidates, hazards, periods = [], [], np.zeros(steps.size, dtype=np.intp)
        start = 0
        for start, end in sets.periods(_PERIODS):
            inside = np.zeros(steps.size)
            inside[start:end] = steps[start:end]
            hazard = (sets.exposure(inside) * risk * sets.weight)[order]
            candidates.append(order[hazard > 0])
            hazards.append(hazard[hazard > 0])
            periods[start:end] = len(hazards) - 1
        sizes = np.cumsum([0, *map(len, hazards)])
        period = periods[sets.last[row] - 1]
        return cls(
            row,
            sets.weight[row],
            np.concatenate(candidates),
            np.cumsum(np.concatenate([[0.0], *hazards])),
            sizes[period],
            sizes[period + 1],
        )

    def draw(self, rng: np.random.Generator) -> NDArray[np.intp]:
        """Return a row for each event, of its arm and at risk in its period."""
        low, high = self.until[self.first], self.until[self.last]
        drawn = np.searchsorted(self.until, low + rng.random(low.size) * (high - low), "right") - 1
        return self.candidate[np.clip(drawn, self.first, self.last - 1)]

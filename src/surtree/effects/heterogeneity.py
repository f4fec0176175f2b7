"""A test of heterogeneity: is there any evidence that the effect differs between rows.

The null hypothesis is one effect for everybody, beside any prognosis: the hazard of a row in arm
``a`` is ``h_a(t) r(x)`` (`NullModel`). Arms may differ in any way over time.

1. The statistic is what the best tree of effects gains by its splits, beside the null model.
2. Trials are drawn from the null model: rows keep their columns and their arms, and have new times,
   by the hazard of their arm and their prognosis. Who is censored keeps the time of censoring; of
   others it is drawn from those of the arm that are censored later. The hazards of arms are
   estimated again, and the best tree is found again. The prognosis stays: the part that it misses
   is the same in all arms of a leaf, and no effect.

Exchanging arms between rows would break what all rows share: a treatment that works late does more
for rows of low risk, which live to see it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from surtree._support.parameters import require_random_state, require_whole
from surtree._support.types import Floats
from surtree.data.named import RowInputs
from surtree.data.persons import going_on
from surtree.data.target import Target
from surtree.effects._prognosis import NullModel, Trial
from surtree.estimators.effects import EffectTree
from surtree.outcomes.effect_results import HeterogeneityTest, monte_carlo_p_value
from surtree.solver.core import Problem
from surtree.survival.cox import RiskSets


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
    """Test whether the effect of a treatment is the same for everybody, by simulated trials.

    The null hypothesis allows any prognosis, and any effect that all rows share, also one that
    changes over time: hazards of arms are ``h_a(t) r(x)``. Of simulated trials without
    heterogeneity, 5% to 7% are rejected at the 5% level (docs/results/effects.md).

    Parameters
    ----------
    model : EffectTree
        How large trees may be, and which questions they may ask; whether it is fitted does not
        matter. The statistic is that of the objective "effect". One split finds a single subgroup
        most often; more splits find more complicated ones.
    X, y, treatment, sample_weight, entry, id
        As in `EffectTree.fit`.
    n_draws : int, default=499
        How many trials are drawn under the null hypothesis.
    random_state : int, default=0
        The seed of the draws.

    Examples
    --------
    >>> from surtree import EffectTree, heterogeneity_test
    >>> from surtree.datasets import load_rossi
    >>> X, y = load_rossi()
    >>> aid = X.pop("financial_aid")
    >>> print(heterogeneity_test(EffectTree(max_depth=1), X, y, aid, n_draws=99))
    No evidence that the effect differs between rows (p = 0.72, 99 draws).
    Adjusted hazard ratio of all rows: yes over no 0.72 (95% interval 0.496 to 1.04).
    Use this effect for everybody, not those of leaves.
    """
    require_whole("n_draws", n_draws, 1)
    require_random_state(random_state)
    template = clone(model).set_params(objective="effect")
    given = RowInputs(X, y, sample_weight, entry, id, treatment=treatment)
    trial = _Trial.read(template, given.in_memory("heterogeneity_test"))
    null, target = trial.null, trial.target
    observed = trial.statistic(target, trial.problem.data.sums.weight)
    source = _Draws.of(target, null)
    rng = np.random.default_rng(random_state)
    drawn = np.array([trial.statistic(*source.draw(rng)) for _ in range(int(n_draws))])
    return HeterogeneityTest(
        observed,
        monte_carlo_p_value(observed, drawn),
        tuple(null.effect.ratios.tolist()),
        null.effect.limits(),
        target.labels,
        drawn,
    )


class _Trial(Trial):
    """A trial whose times and events may be drawn again."""

    def statistic(self, target: Target, weight: Floats) -> float:
        """Return what the splits of the best tree gain if the rows have given times and events."""
        sums, arm = self.problem.data.sums, self.target.arm
        inside = arm == np.arange(len(self.target.labels))[:, None]
        expected = self.null.expected(RiskSets.of(target, weight, arm))
        values = np.stack([inside * (target.event * weight), inside * expected], axis=1)
        counts = {f"events_{index}": one for index, one in enumerate(inside & target.event)}
        counts["events"] = target.event
        sums = replace(
            sums,
            values=values.reshape(-1, arm.size),
            counts=dict(sums.counts) | {name: one.astype(float) for name, one in counts.items()},
            baseline=None,
        )
        gains = Problem(self.problem.binned, sums).solve(self.limits).gains
        return float(gains[-1] - gains[0])


@dataclass(frozen=True, eq=False)
class _Draws:
    """Trials that are drawn from the null model."""

    target: Target  # the rows
    null: NullModel  # the null model
    censored: RiskSets  # the rows at risk of being censored, the arms being strata
    struck: NDArray[np.intp]  # the positions of the rows whose event is the end of what is known
    # Whether an event ends the rows of a person: in this trial, no person has several.
    is_final: bool

    @classmethod
    def of(cls, target: Target, null: NullModel) -> _Draws:
        censored = Target(target.censored, target.time, target.entry)
        struck, is_final = target.event, False
        if target.person is not None and target.entry is not None:
            struck = struck & ~going_on(target.person, target.time, target.entry)
            is_final = int(np.bincount(target.person[target.event]).max(initial=0)) <= 1
        sets = RiskSets.of(censored, null.sets.weight, target.arm)
        return cls(target, null, sets, np.flatnonzero(struck), is_final)

    def draw(self, rng: np.random.Generator) -> tuple[Target, Floats]:
        """Return rows with new times, and their weights: zero where a person died before."""
        target, sets, risk = self.target, self.null.sets, np.exp(self.null.log_risk)
        everyone, struck = np.arange(risk.size), self.struck
        hazard = rng.exponential(size=risk.size) / risk
        time = sets.draw(sets.deaths / sets.at_risk(risk), sets.first, everyone, hazard)
        end = target.time.copy()
        steps = self.censored.deaths / self.censored.at_risk(np.ones(risk.size))
        since = self.censored.last[struck]
        end[struck] = self.censored.draw(steps, since, struck, rng.exponential(size=struck.size))
        event = time <= end
        # Who is never censored outlives all others.
        new = np.where(event, time, np.minimum(end, target.time.max()))
        weight = sets.weight
        if self.is_final and target.person is not None and target.entry is not None:
            death = np.full(int(target.person.max()) + 1, np.inf)
            np.minimum.at(death, target.person[event], new[event])
            alive = target.entry < death[target.person]
            event, weight = event & alive, np.where(alive, weight, 0.0)
        return Target(event, new, target.entry), weight

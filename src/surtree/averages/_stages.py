"""Stages of the average over all trees: each multiplies the risk of those before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from surtree._support.exact import Terms
from surtree._support.types import Floats
from surtree.solver.average import PairTables, TreeAverage, TreePrior
from surtree.solver.core import Problem
from surtree.solver.problem import BinnedRows
from surtree.survival.objective import RELATIVE_RISK
from surtree.survival.row_sums import RowSums, Sums


@dataclass(frozen=True, eq=False)
class MergedRows:
    """Training rows of equal bins as one, since all trees predict the same for them."""

    binned: BinnedRows  # the distinct rows
    events: Floats  # what each of them adds up
    expected: Floats
    samples: Floats
    index: NDArray[np.intp]  # for each training row, which of them it is

    @classmethod
    def of(cls, binned: BinnedRows, sums: Sums) -> MergedRows:
        """Merge rows; their sums are exact, whatever their order."""
        rows = np.ascontiguousarray(binned.bins.T)
        if rows.shape[1] == 0:
            distinct, index = rows[:1], np.zeros(len(rows), dtype=np.intp)
        else:
            distinct, index = np.unique(rows, axis=0, return_inverse=True)
            index = index.ravel()
        merged = replace(binned, bins=np.ascontiguousarray(distinct.T))
        events, expected = (terms.total_by(index, len(distinct)) for terms in sums.terms)
        samples = Terms.of(sums.counts["samples"]).total_by(index, len(distinct))
        return cls(merged, events, expected, samples, index)

    def problem(self, expected: Floats) -> Problem:
        """Return the problem of these rows, given the events to expect in each."""
        n = self.events.size
        counts = {"samples": self.samples, "events": np.zeros(n)}
        values = np.stack([self.events, expected])
        return Problem(self.binned, RowSums(RELATIVE_RISK, values, counts, np.ones(n), np.zeros(n)))


@dataclass(frozen=True, eq=False)
class Stage:
    """A factor of the risk: a number, times a posterior mean."""

    scale: float  # it makes the events that the stages before expect as many as there are
    mean: PairTables  # the posterior mean of theta over all trees
    log_bayes_factor: float  # the logarithm of the evidence of all trees against that of one leaf

    def risk(self, bins: NDArray[np.uint16]) -> Floats:
        """Return the factor of rows."""
        return np.asarray(self.scale * self.mean.at(bins))


def risk_of(stages: Sequence[Stage], bins: NDArray[np.uint16]) -> Floats:
    """Return the risk of rows: the product of all stages."""
    risk = np.ones(bins.shape[1])
    for stage in stages:
        risk *= stage.risk(bins)
    return risk


def next_stage(average: TreeAverage, rows: MergedRows, scale: float, prior: TreePrior) -> Stage:
    """Return the stage that an average makes."""
    total = float(rows.events.sum())  # as many as are expected
    a = np.array(prior.strengths)
    leaf = gammaln(total + a) - gammaln(a) + a * np.log(a) - (total + a) * np.log(total + a)
    factor = float(logsumexp(average.log_evidence) - logsumexp(leaf))
    return Stage(scale, average.mean, factor)

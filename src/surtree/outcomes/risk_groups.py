"""Risk groups: the leaves of a tree, merged into a few groups of similar risk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isfinite, nan
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from surtree._support.types import Floats
from surtree.outcomes._group import Group
from surtree.outcomes.curve import Channel, GroupCurve, ObservedCurve
from surtree.outcomes.pooled import Pooled
from surtree.survival import cox_groups
from surtree.survival.confidence import LEVEL, median_limits, poisson_limits, profile_limits
from surtree.survival.cox_groups import GroupCounts
from surtree.survival.kaplan_meier import median_time
from surtree.tree.at_risk import AtRiskCounts
from surtree.tree.leaf_curve import FEW_EVENTS
from surtree.tree.tree import Tree
from surtree.words.colour import risk_colours
from surtree.words.numbers import figure, limits_text, plural
from surtree.words.tables import text_table

# What groups are called, the least risk first.
NAMES = {1: ("all rows",), 2: ("low", "high"), 3: ("low", "intermediate", "high")}


def merged_leaves(events: Floats, expected: Floats, k: int) -> tuple[int, ...]:
    """Return the group of each leaf, 0 for the least risk: the best division into k groups.

    The loss of groups is less by the sum of ``E log(E / H)``. That is convex and homogeneous in
    ``E`` and ``H``, so the best groups follow each other in the order of ``E / H``, and a dynamic
    programme over leaves in that order finds them.
    """
    order = np.argsort(events / expected, kind="stable")
    sums = np.concatenate([np.zeros((2, 1)), np.cumsum([events[order], expected[order]], 1)], 1)
    first, last = np.triu_indices(order.size + 1, 1)
    died, hazard = sums[:, last] - sums[:, first]
    gain = np.full((order.size + 1, order.size + 1), -np.inf)
    gain[first, last] = xlogy(died, died / hazard)
    best, starts = gain[0], []
    for _ in range(k - 1):
        totals = best[:, None] + gain
        starts.append(totals.argmax(axis=0))
        best = totals.max(axis=0)
    group, end = np.empty(order.size, dtype=np.intp), order.size
    for number in range(k - 1, -1, -1):
        start = int(starts[number - 1][end]) if number else 0
        group[order[start:end]], end = number, start
    return tuple(group.tolist())


@dataclass(frozen=True, eq=False)
class _HeldOutRows(Group):
    """The rows of a group that were held out when it was formed."""

    counts_held_out: AtRiskCounts | None = None
    remark: ClassVar[str] = " held out"

    @property
    def leaf_counts(self) -> tuple[AtRiskCounts, ...]:
        """What was at risk of them."""
        assert self.counts_held_out is not None
        return (self.counts_held_out,)


@dataclass(frozen=True, eq=False)
class RiskGroup:
    """A risk group: some leaves together.

    Parameters
    ----------
    name : str
        What it is called: "low", "high", ...
    leaves : tuple of int
        The nodes of its leaves.
    n_samples, n_events : int
        Its rows, and those of them with an event; of competing risks, with the main cause.
    ratio, limits : float, tuple of two floats
        The hazard ratio over the reference group, by a Cox model whose only covariate is the group
        (Breslow's ties), and its confidence limits: those of groups that were given beforehand.
    curve : GroupCurve
        The Kaplan-Meier survival of the rows, or the Aalen-Johansen incidence of the main cause:
        ``curve.at(time)`` has its value and limits, ``curve.median`` the median, and
        ``curve.group.at_risk(times)`` the rows at risk.

    Examples
    --------
    >>> from surtree import SurTree, risk_groups
    >>> from surtree.datasets import load_gbsg2
    >>> groups = risk_groups(SurTree(max_depth=2).fit(*load_gbsg2()), k=2)
    >>> high = groups[1]
    >>> high.name, high.leaves, high.n_samples, round(high.ratio, 2)
    ('high', (5,), 161, 3.3)
    """

    name: str
    leaves: tuple[int, ...]
    n_samples: int
    n_events: int
    ratio: float
    limits: tuple[float, float]
    curve: GroupCurve = field(repr=False)

    @property
    def ratio_text(self) -> str:
        """The hazard ratio with its limits, in words."""
        if self.limits == (1.0, 1.0):
            return "1 (reference)"
        if not isfinite(self.ratio):
            return "unknown"
        return f"{figure(self.ratio, 2)} ({limits_text(*self.limits, 2)})"

    @property
    def letters(self) -> str:
        """The names of its leaves."""
        return self.curve.group.letters

    @property
    def observed(self) -> ObservedCurve:
        """Its curve, as it is drawn beside another one."""
        assert self.curve.band is not None
        return ObservedCurve(self.curve.times, self.curve.values, self.curve.band)


@dataclass(frozen=True, eq=False)
class RiskGroups:
    """Leaves merged into groups of similar risk (`surtree.risk_groups`); ``print`` shows them.

    ``groups[0]`` is the group of least risk, and ``len`` counts them.

    Parameters
    ----------
    tree : Tree
        The tree whose leaves they are.
    names : tuple of str
        What groups are called, the least risk first.
    group_of_leaf : tuple of int
        The group of each leaf, in the order of the tree's ``leaves``.
    reference : int
        The group that hazards are compared with.
    losses, errors : tuple of float
        The held-out loss of 1, 2, ... groups above that of the best number, and the standard error
        of that difference: empty where no rows were given.
    n_folds : int
        How many folds held rows out; zero where no rows were given.
    held_out_rows : tuple
        Rows, events and at-risk counts of each group, of rows that were held out when it was
        formed.

    Examples
    --------
    >>> from surtree import SurTree, risk_groups
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> groups = risk_groups(SurTree(max_depth=2).fit(X, y), X, y, k=2)
    >>> groups.predict(X.head(3)).tolist()
    ['low', 'low', 'low']
    >>> round(groups[1].ratio, 2), round(groups.held_out[1].ratio, 2)
    (3.3, 2.53)
    """

    tree: Tree
    names: tuple[str, ...]
    group_of_leaf: tuple[int, ...]
    reference: int
    losses: tuple[float, ...] = ()
    errors: tuple[float, ...] = ()
    n_folds: int = 0
    held_out_rows: tuple[tuple[int, int, AtRiskCounts], ...] = ()

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, position: int) -> RiskGroup:
        return self.groups[position]

    def __iter__(self) -> Iterator[RiskGroup]:
        return iter(self.groups)

    @cached_property
    def groups(self) -> tuple[RiskGroup, ...]:
        """The groups, as they are on the rows of the fit: too far from each other."""
        rows = [Group.of(self.tree, leaves) for leaves in self.leaves]
        pooled = [self._pooled(group.leaf_counts) for group in rows]
        counted = [
            (group.n_samples, round(one.events)) for group, one in zip(rows, pooled, strict=True)
        ]
        if not self.tree.weighted and not self.tree.outcome.is_several:
            counted = [(group.n_samples, group.n_events) for group in rows]
        return self._groups(rows, pooled, counted)

    @cached_property
    def held_out(self) -> tuple[RiskGroup, ...]:
        """The groups of rows that were held out when groups were formed, as new data will be."""
        if not self.held_out_rows:
            return ()
        rows = [
            _HeldOutRows(self.tree, leaves, None, counts)
            for leaves, (_, _, counts) in zip(self.leaves, self.held_out_rows, strict=True)
        ]
        pooled = [self._pooled(group.leaf_counts) for group in rows]
        return self._groups(rows, pooled, [(n, died) for n, died, _ in self.held_out_rows])

    @property
    def leaves(self) -> tuple[tuple[int, ...], ...]:
        """The leaves of each group, by their nodes."""
        return tuple(
            tuple(
                leaf
                for leaf, group in zip(self.tree.leaves.tolist(), self.group_of_leaf, strict=True)
                if group == number
            )
            for number in range(len(self.names))
        )

    @property
    def of_leaf(self) -> dict[int, str]:
        """The name of the group of each leaf: ``export_sql(model, value=groups.of_leaf)``."""
        leaves = self.tree.leaves.tolist()
        return {
            leaf: self.names[group] for leaf, group in zip(leaves, self.group_of_leaf, strict=True)
        }

    def predict(self, X: Any) -> NDArray[np.object_]:
        """Return the name of the group of each row.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            The columns of the training table, in their order.
        """
        names = np.array([self.names[group] for group in self.group_of_leaf], dtype=object)
        return names[np.searchsorted(self.tree.leaves, self.tree.apply(X))]

    @property
    def curves(self) -> tuple[GroupCurve, ...]:
        """What is drawn: curves of held-out rows where there are any, with apparent ones beside."""
        if not self.held_out_rows:
            return tuple(group.curve for group in self.groups)
        return tuple(
            replace(
                group.curve,
                channel=own.curve.channel,
                observed=own.observed,
            )
            for group, own in zip(self.held_out, self.groups, strict=True)
        )

    @property
    def caption(self) -> str:
        """What the curves are, in sentences."""
        kind = "Aalen-Johansen" if self.tree.outcome.is_stacked else "Kaplan-Meier"
        if not self.held_out_rows:
            return (
                f"{kind} curves with {LEVEL:.0%} limits, of the rows that groups were formed on: "
                "too far from each other."
            )
        return (
            f"Corrected: {kind} curves with {LEVEL:.0%} limits of rows that were held out when "
            f"groups were formed ({self.n_folds} folds). Thin line: the rows that groups were "
            "formed on, too far from each other."
        )

    def rows_of_text(self) -> list[list[str]]:
        """Return a table of the groups: its heading, then a row for each."""
        head = ["group", "leaves", "rows", "events", "hazard ratio"]
        rows = [
            [one.name, one.letters, str(one.n_samples), str(one.n_events), one.ratio_text]
            for one in self.groups
        ]
        if not self.held_out_rows:
            return [head, *rows]
        head += ["rows, held out", "events, held out", "corrected"]
        return [head] + [
            [*row, str(one.n_samples), str(one.n_events), one.ratio_text]
            for row, one in zip(rows, self.held_out, strict=True)
        ]

    @property
    def notes(self) -> tuple[str, ...]:
        """How groups were formed, and what their figures are, in sentences."""
        formed = (
            f"{plural(self.tree.n_leaves, 'leaf')} merged into {plural(len(self), 'group')}: no "
            "other division into as many explains more of the events."
        )
        if not self.held_out_rows:
            return (
                formed,
                "Not corrected: give the rows, risk_groups(model, X, y), to see what to expect of "
                "new data.",
            )
        corrected = (
            f"Corrected: rows that were held out when trees and groups were formed "
            f"({self.n_folds} folds), in the group that they fall into then."
        )
        return formed, corrected

    def __str__(self) -> str:
        lines = [text_table(self.rows_of_text()), *self.notes]
        if len(self.losses) > 1:
            lines.append(
                "held-out loss above the best, by the number of groups: "
                + ", ".join(
                    f"{k} {loss:.1f} (standard error {error:.1f})" if loss else f"{k} best"
                    for k, (loss, error) in enumerate(zip(self.losses, self.errors, strict=True), 1)
                )
            )
        return "\n".join(lines)

    def _pooled(self, counts: Sequence[AtRiskCounts]) -> Pooled:
        return self.tree.outcome.pooled(counts)

    def _groups(
        self, rows: Sequence[Group], pooled: Sequence[Pooled], counted: list[tuple[int, int]]
    ) -> tuple[RiskGroup, ...]:
        counts = GroupCounts(
            np.stack([one.at_risk for one in pooled]), np.stack([one.deaths for one in pooled])
        )
        ratios = cox_groups.hazard_ratios(counts, self.reference)
        limits = [
            cox_groups.ratio_limits(counts, number, self.reference) for number in range(len(rows))
        ]
        start = 0.0 if self.tree.outcome.is_stacked else 1.0
        return tuple(
            RiskGroup(
                name,
                group.leaves,
                n_samples,
                n_events,
                float(ratio),
                limit,
                self._curve(name, group, one, n_samples, n_events, start),
            )
            for name, group, one, (n_samples, n_events), ratio, limit in zip(
                self.names, rows, pooled, counted, ratios, limits, strict=True
            )
        )

    def _curve(
        self, name: str, group: Group, one: Pooled, n_samples: int, n_events: int, start: float
    ) -> GroupCurve:
        theta = one.events / one.expected if one.expected > 0 else nan
        limits = profile_limits if self.tree.weighted else poisson_limits
        colour = risk_colours([max(theta, 1e-9) if isfinite(theta) else 1.0])[0]
        times, is_survival = self.tree.event_times, start == 1.0
        shown = (times <= group.last_time) & (one.deaths > 0)
        band = (one.band[0][shown], one.band[1][shown])
        return GroupCurve(
            channel=Channel(name, name, colour),
            group=group,
            n_samples=n_samples,
            n_events=n_events,
            theta=theta,
            median=median_time(times, one.values) if is_survival else nan,
            times=times[shown],
            values=one.values[shown],
            band=band,
            observed=None,
            censored=group.censored,
            last_time=group.last_time,
            start=start,
            theta_limits=limits(one.events, one.expected),
            median_limits=median_limits(times, one.band) if is_survival else (nan, nan),
        )


def reference_of(events: NDArray[Any]) -> int:
    """Return the group that others are compared with: the first with ten events, or with most."""
    enough = np.flatnonzero(events >= FEW_EVENTS)
    return int(enough[0] if enough.size else events.argmax())

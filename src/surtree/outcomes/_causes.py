"""Competing risks: events, relative risk and cumulative incidence of each cause."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import nan
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from surtree._support.parameters import LeafCurveKind
from surtree._support.types import Floats
from surtree.data.causes import read_cause_target
from surtree.data.named import RowInputs
from surtree.data.rows import require_no_arms
from surtree.data.target import Target
from surtree.outcomes._group import Group, ObservedChannel, sum_of
from surtree.outcomes.curve import Channel, Column, GroupCurve
from surtree.outcomes.event import RELATIVE_RISK, event_columns, leaf_caption
from surtree.outcomes.incidence import (
    cause_counts,
    cause_events,
    cause_limits,
    cause_theta,
    causes_of,
    incidence_limits,
    incidence_of,
    leaf_incidence,
    read_cause_names,
)
from surtree.outcomes.measures import (
    JudgedTimes,
    LeafChannel,
    Metric,
    Predictions,
    cause_metrics,
    objects,
)
from surtree.outcomes.outcome import Outcome
from surtree.outcomes.pooled import Pooled, pool_cause
from surtree.survival.aalen_johansen import CauseCounts
from surtree.survival.baseline import Baseline
from surtree.survival.confidence import LEVEL
from surtree.survival.kaplan_meier import median_time
from surtree.survival.step_function import StepFunction
from surtree.tree.at_risk import AtRiskCounts
from surtree.tree.validate import close
from surtree.words.numbers import listed, plural
from surtree.words.quoting import printable

# Told apart by all common kinds of colour blindness, and no colour of a risk; then they repeat.
COLOURS = ("#7A4E9C", "#C08A00", "#3F8F5B", "#B0527A", "#6B7A1E", "#8B8B8B")


class Causes(Outcome):
    """Events of several causes, of which the first ends the time of a row."""

    name = "causes"
    curve_name = "cumulative incidence"
    is_stacked = True
    noun = "competing risks"
    row_columns = ("cause",)
    channel_noun = "cause"
    channels_heading = "The causes"
    how_to_validate = (
        "Run surtree fit with --validate, or set model.validation_ = validate(model, X, y):",
        "surtree fit DATA --time TIME --cause CAUSE --validate 200",
    )
    concordance_name = "Wolbers' C"
    citations: ClassVar[Mapping[str, str]] = {
        "concordance": "wolbers",
        "concordance_ipcw": "wolbers",
    }
    definitions: ClassVar[Mapping[str, str]] = {
        "concordance": (
            "Wolbers' C (Wolbers and others, 2014; here not weighed against censoring) is the "
            "share of comparable pairs of rows in which the one with an event of the cause has the "
            "higher risk; the other one is still under observation then, or has had an event of "
            "another cause; equal risks count one half."
        ),
        "concordance_ipcw": (
            "Wolbers' C before a time weighs these pairs by the inverse of the probabilities of "
            "not being censored before."
        ),
        "calibration": (
            "Observed incidence is the Aalen-Johansen estimate; the prediction is the mean over "
            "rows."
        ),
        "brier": (
            "The reduction of the Brier score is one less the Brier score (Graf and others, "
            "1999) divided by "
            "that of the Aalen-Johansen estimate of the cumulative incidence of all training rows. "
            "Both are integrated between the 10% and 90% quantiles of the times, and rows are "
            "weighed by the inverse probability of not being censored before; 0 is no better than "
            "that curve, 1 is perfect."
        ),
    }

    def read_target(self, given: RowInputs, n_rows: int) -> Target:
        require_no_arms(given)
        target = read_cause_target(given.y, n_rows, given.entry, given.id)
        # New rows may lack a cause that is predicted.
        return replace(target, causes=tuple(sorted({*target.causes, *causes_of(self.tree).causes})))

    def predicted(self, nodes: NDArray[np.intp], target: Target) -> Predictions:
        """Return relative risk and incidence of each cause that counts, the main one first."""
        objective, leaf = causes_of(self.tree), np.searchsorted(self.tree.leaves, nodes)
        causes = tuple(sorted(objective.parts, key=lambda cause: cause != objective.main_cause))
        return Predictions(
            np.stack([cause_theta(self.tree, cause)[nodes] for cause in causes]),
            np.stack([objects(leaf_incidence(self.tree, cause)) for cause in causes]),
            leaf,
            causes,
            leaf,
        )

    def measures(self, times: JudgedTimes) -> tuple[Metric, ...]:
        return cause_metrics(times, causes_of(self.tree).parts)

    def leaf_channels(self, target: Target) -> tuple[LeafChannel, ...]:
        objective, everyone = causes_of(self.tree), np.ones(target.time.size, dtype=bool)
        baselines = dict(zip(objective.causes, self.tree.baseline.of_cause, strict=True))
        return tuple(
            LeafChannel(
                channel.label,
                everyone,
                target.cause == channel.key,
                cause_theta(self.tree, channel.key),
                baselines[channel.key].row_hazard(target),
                channel.key,
            )
            for channel in self.channels
            if channel.key in objective.parts
        )

    def pooled(self, leaves: Sequence[AtRiskCounts], level: float = LEVEL) -> Pooled:
        """Return the incidence of the main cause in leaves together."""
        objective = causes_of(self.tree)
        return pool_cause(self.tree, leaves, objective.position(objective.main_cause), level)

    def observed(self, group: Group) -> Iterator[ObservedChannel]:
        """Yield the same counts for each cause."""
        parts = [cause_counts(self.tree, leaf, "kaplan-meier") for leaf in group.leaves]
        counts = CauseCounts(sum_of(p.at_risk for p in parts), sum_of(p.deaths for p in parts))
        for position, channel in enumerate(self.channels):
            words = f"lost to {channel.label}"
            yield ObservedChannel(
                channel.key, channel.label, counts, group.last_time, words, position
            )

    @property
    def channels(self) -> tuple[Channel, ...]:
        objective = causes_of(self.tree)
        names = read_cause_names(self.tree, self.labels)
        return tuple(
            Channel(
                cause,
                printable(names.get(cause, f"cause {cause}")),
                COLOURS[position % len(COLOURS)],
                weight > 0,
            )
            for position, (cause, weight) in enumerate(
                zip(objective.causes, objective.weights, strict=True)
            )
        )

    def columns(self, groups: Sequence[Group], level: float = LEVEL) -> tuple[Column, ...]:
        """Return events and relative risk of each cause."""
        return tuple(
            column for channel in self.channels for column in self._columns(channel, groups, level)
        )

    def _columns(self, channel: Channel, groups: Sequence[Group], level: float) -> Iterator[Column]:
        cause, label = channel.key, channel.label
        events = [float(cause_events(self.tree, cause)[group.nodes].sum()) for group in groups]
        thetas = cause_theta(self.tree, cause)
        limits = [cause_limits(self.tree, group.leaf, cause, level) for group in groups]
        yield Column(
            f"events_{cause}", f"{label}: events", f"events {cause}", events, is_count=True
        )
        yield Column(
            f"risk_{cause}",
            f"{label}: relative risk",
            f"theta {cause}",
            [float(thetas[g.leaf]) if n > 0 else nan for g, n in zip(groups, events, strict=True)],
            limits,
            instead={p: ("at most", limits[p][1]) for p, n in enumerate(events) if n == 0},
        )

    def overall_columns(self, groups: Sequence[Group], level: float = LEVEL) -> tuple[Column, ...]:
        """Return events, relative risk and median of all causes together."""
        return event_columns(self, groups, level)

    def curves(
        self, group: Group, kind: LeafCurveKind | None = None, level: float = LEVEL
    ) -> tuple[GroupCurve, ...]:
        times = self.tree.event_times
        incidence = incidence_of(self.tree, group.leaf, kind)
        shown = times <= min(group.last_time, float(times[-1]))
        curves = []
        for channel, values in zip(self.channels, incidence, strict=True):
            lower, upper = incidence_limits(self.tree, group.leaf, channel.key, level, kind)
            events = cause_events(self.tree, channel.key)
            curves.append(
                GroupCurve(
                    channel=channel,
                    group=group,
                    n_samples=group.n_samples,
                    n_events=round(float(events[group.leaf])),
                    theta=float(cause_theta(self.tree, channel.key)[group.leaf]),
                    median=median_time(times, 1.0 - values),
                    times=times[shown],
                    values=values[shown],
                    band=(lower[shown], upper[shown]),
                    observed=None,
                    censored=group.censored,
                    last_time=group.last_time,
                    start=0.0,
                    theta_limits=cause_limits(self.tree, group.leaf, channel.key, level),
                )
            )
        return tuple(curves)

    def group_text(self, group: Group, level: float = LEVEL) -> str:
        """Return how many rows and events of each cause a leaf has."""
        parts = [
            f"{channel.label} ({cause_events(self.tree, channel.key)[group.leaf]:g})"
            for channel in self.channels
        ]
        return f"{plural(group.n_samples, 'row')}; events: {', '.join(parts)}"

    def count_lines(self, group: Group) -> tuple[str, ...]:
        events = {c.key: cause_events(self.tree, c.key)[group.leaf] for c in self.channels}
        return (
            *(f"events {cause}: {n:g}" for cause, n in events.items()),
            plural(group.n_samples, "row"),
        )

    def risks(self, channel: Any = None) -> Floats:
        """Return the theta of a cause in each node, by default of the main cause."""
        cause = causes_of(self.tree).main_cause if channel is None else channel
        return cause_theta(self.tree, cause)

    def step_functions(
        self, value: str, kind: LeafCurveKind | None, channel: Any = None
    ) -> list[StepFunction]:
        """Return survival, or the cumulative incidence of a cause."""
        if value == "survival":
            return super().step_functions(value, kind, channel)
        cause = causes_of(self.tree).main_cause if channel is None else channel
        return list(leaf_incidence(self.tree, cause, kind))

    def value_title(self, value: str, kind: LeafCurveKind | None, channel: Any = None) -> str:
        if value == "risk":
            cause = causes_of(self.tree).main_cause if channel is None else channel
            return f"risk of cause {cause}"
        return super().value_title(value, kind, channel)

    def predictions(
        self, quantities: Sequence[str], horizons: Sequence[float], effects: Any = None
    ) -> Mapping[str, Floats]:
        """Return the risk and the incidence of each cause beside survival."""
        leaves = self.tree.leaves
        asked = [name for name in quantities if name != "risk"]
        columns = dict(super().predictions(asked, (), effects))
        if "risk" in quantities:
            columns |= {f"risk_{c.key}": self.risks(c.key)[leaves] for c in self.channels}
        incidence = {c.key: leaf_incidence(self.tree, c.key) for c in self.channels}
        for time in horizons:
            columns |= super().predictions((), (time,), effects)
            for cause, curves in incidence.items():
                at_time = np.array([curve(time) for curve in curves])
                columns[f"incidence_{cause}_{time:.15g}"] = at_time
        return columns

    def caption(self, kind: LeafCurveKind | None, level: float) -> str:
        """Return in words how leaves are drawn."""
        return leaf_caption(self.tree, kind, level)

    def channels_text(self, level: float) -> str:
        """Return what stacked areas show, and what an event is elsewhere."""
        told = listed([channel.label for channel in self.channels if channel.counts])
        return (
            "The share of each group that has had an event of each cause by a time, one on top of "
            f"the other; the rest has had none. The tree was chosen to tell apart {told}. "
            "Everywhere else on this page, but for figures of held-out rows, an event is one of "
            "any cause: survival is to be without any, and the relative risk is that of all causes "
            "together."
        )

    def figure_notes(self) -> tuple[str, ...]:
        """Say what relative risks are."""
        return (RELATIVE_RISK,)

    def objective_text(self, loss: str) -> str:
        """Return what the tree optimises: a sum over the causes that count."""
        told = ", ".join(channel.label for channel in self.channels if channel.counts)
        return (
            "Each leaf has a hazard for each cause, a multiple of that of all rows (Nelson-Aalen "
            f"estimate); {loss} the negative log-likelihood with that hazard of all rows held "
            f"fixed, summed over {told}."
        )

    def events_text(self) -> str:
        counts = (f"{cause_events(self.tree, c.key)[0]:g} of {c.label}" for c in self.channels)
        return f", {' and '.join(counts)}"

    def compared_deaths(self, channel: Any = None) -> tuple[Floats | None, Floats]:
        """Return the deaths of a cause in each leaf, by default of the main cause."""
        objective, tree = causes_of(self.tree), self.tree
        cause = objective.main_cause if channel is None else channel
        position = objective.position(cause)
        deaths = np.zeros((tree.n_leaves, tree.event_times.size))
        for row, leaf in zip(deaths, tree.risk, strict=True):
            row[leaf.step] = leaf.by_cause[position]
        return deaths, cause_events(tree, cause)[tree.leaves]

    def leaf_json(self, group: Group) -> dict[str, Any]:
        """Return events and relative risk of each cause."""
        return {
            "causes": [
                {
                    "cause": channel.key,
                    "events": float(cause_events(self.tree, channel.key)[group.leaf]),
                    "risk": float(cause_theta(self.tree, channel.key)[group.leaf]),
                    "risk_limits": list(cause_limits(self.tree, group.leaf, channel.key)),
                }
                for channel in self.channels
            ]
        }

    def faults(self) -> Iterator[str]:
        """Yield what is wrong with the baselines and counts of causes."""
        tree, n_causes = self.tree, causes_of(self.tree).n_channels
        baselines = tree.baseline.of_cause
        sound = (
            len(baselines) == n_causes
            and all(
                one.times.shape == one.cumulative_hazard.shape
                and bool(np.isin(one.times, tree.event_times).all())
                and bool((np.diff(one.times) > 0).all())
                and bool((np.diff(one.cumulative_hazard) >= 0).all())
                for one in baselines
            )
            and close(_steps(tree.baseline), tree.baseline.hazard)
            and all(
                counts.by_cause.shape == (n_causes, counts.step.size)
                and close(counts.by_cause.sum(axis=0, dtype=np.float64), counts.deaths)
                for counts in tree.risk
            )
        )
        if tree.arms is not None:
            yield "its arms are not those of its rows"
        if not sound:
            yield "its causes are not those of its objective"

    def _name_faults(self, saved: Mapping[str, Any], causes: set[str]) -> Iterator[str]:
        return super()._name_faults(saved, {str(cause) for cause in causes_of(self.tree).causes})

    def save_model(self, model: Any) -> dict[str, Any]:
        names = read_cause_names(self.tree, model.cause_names_)
        return {"cause_names": {str(cause): name for cause, name in names.items()} or None}

    def read_model(self, saved: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the causes are called; files that say nothing know nothing."""
        names = saved.get("cause_names") or {}
        return {"cause_names_": {int(cause): name for cause, name in names.items()} or None}


def _steps(baseline: Baseline) -> Floats:
    return np.asarray(sum(map(baseline.steps_of_cause, range(len(baseline.of_cause)))))

"""Arms of a trial: rows, events and a curve of each arm, and the hazard ratios between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from surtree._support.parameters import LeafCurveKind
from surtree._support.types import Floats
from surtree.data.causes import number_arms
from surtree.data.named import RowInputs
from surtree.data.rows import read_one_event
from surtree.data.target import Target
from surtree.outcomes._group import Group, ObservedChannel, at_round_times
from surtree.outcomes.arm_effects import (
    LeafEffect,
    arm_band,
    arm_risks,
    arms_of,
    counts_of_arm,
    effects_of_leaf,
    has_possible_arms,
    hazard_ratios,
    leaf_arm_curve,
    leaf_effects,
    ratio_text,
)
from surtree.outcomes.curve import Channel, Column, GroupCurve, ObservedCurve
from surtree.outcomes.effect_results import (
    read_correction,
    read_heterogeneity,
    save_correction,
    save_heterogeneity,
)
from surtree.outcomes.event import event_columns
from surtree.outcomes.measures import (
    JudgedTimes,
    LeafChannel,
    Metric,
    Predictions,
    effect_metrics,
    objects,
    one_event_metrics,
)
from surtree.outcomes.outcome import Outcome
from surtree.survival.confidence import LEVEL
from surtree.tree.leaf_curve import curve_kind, leaf_position
from surtree.tree.tree import Tree
from surtree.words.colour import BETTER_TO_WORSE, risk_colours
from surtree.words.numbers import interval_text, plural

# The reference is grey; the others are told apart by all common kinds of colour blindness, and seen
# on white and on black.
COLOURS = ("#7d8288", "#0a7fd0", "#d0701a", "#9a5fc0")
_COX = (
    "Hazard ratios of arms are those of a Cox model of the rows of each leaf, with profile limits."
)


class TrialArms(Outcome):
    """One event, in the arms of a trial."""

    name = "arms"
    judged_by = "effects"
    noun = "treatment effects"
    row_columns = ("event", "treatment")
    compares_leaves = False
    leaves_clause = "in which arms differed most differently in these rows"
    channel_noun = "arm"
    channels_heading = "What the treatment does in each leaf"
    value_names = ("leaf", "risk", "median", "effect")
    scale_ends = ("treatment does better", "treatment does worse")
    scale = BETTER_TO_WORSE
    definitions: ClassVar[Mapping[str, str]] = {
        "c_for_benefit": (
            "The C-for-benefit (van Klaveren and others, 2018) is the share of pairs of pairs, "
            "each of a treated and an untreated row with similar predicted gains in survival, in "
            "which the greater predicted gain goes with the greater observed one; here all such "
            "pairs count, by Kaplan-Meier estimates of both arms; equal predictions count one half."
        ),
        "effect_calibration": (
            "The observed gain in survival is the difference of the Kaplan-Meier estimates of two "
            "arms; the prediction is the mean over rows."
        ),
    }

    @staticmethod
    def is_kept(tree: Tree) -> bool:
        """Tell whether a tree keeps its arms: of the sizes on a path, the chosen one does."""
        return tree.arms is not None

    def read_target(self, given: RowInputs, n_rows: int) -> Target:
        """Return event, time and arm of each row; arms are those of the tree."""
        labels = arms_of(self.tree).labels
        arm = number_arms(given.treatment, n_rows, labels)
        return read_one_event(given, n_rows).with_arms(arm, labels)

    def predicted(self, nodes: NDArray[np.intp], target: Target) -> Predictions:
        """Return the risk and the survival of each row in its arm."""
        tree, n_arms = self.tree, len(target.labels)
        if target.labels != arms_of(tree).labels:
            raise ValueError("The arms of a sample are not those of all rows.")
        leaf = np.searchsorted(tree.leaves, nodes)
        curves = [
            leaf_arm_curve(tree, node, arm).survival
            for node in tree.leaves.tolist()
            for arm in range(n_arms)
        ]
        risk = arm_risks(tree)[target.arm, nodes]
        return Predictions(risk, objects(curves), leaf * n_arms + target.arm, leaf=leaf)

    def measures(self, times: JudgedTimes) -> tuple[Metric, ...]:
        """Return those of one event, of predictions in the arm of each row, and of effects."""
        return (*one_event_metrics(times), *effect_metrics(times, arms_of(self.tree).names))

    def leaf_channels(self, target: Target) -> tuple[LeafChannel, ...]:
        hazard, risks = self.tree.row_hazard(target), arm_risks(self.tree)
        return tuple(
            LeafChannel(name, target.arm == arm, target.event, risks[arm], hazard)
            for arm, name in enumerate(arms_of(self.tree).names)
        )

    def observed(self, group: Group) -> Iterator[ObservedChannel]:
        """Yield the counts of each arm."""
        for arm, one in enumerate(self.channels):
            counts = counts_of_arm(self.tree, group.leaves, arm)
            words = f"without an event in {one.label}"
            yield ObservedChannel(one.key, one.label, *counts, words)

    @property
    def channels(self) -> tuple[Channel, ...]:
        arms = arms_of(self.tree)
        named = zip(arms.labels, arms.names, COLOURS, strict=False)
        return tuple(Channel(label, name, colour) for label, name, colour in named)

    def columns(self, groups: Sequence[Group], level: float = LEVEL) -> tuple[Column, ...]:
        """Return rows and events of each arm, and hazard ratios over the reference."""
        return tuple(self._columns(groups, level))

    def _columns(self, groups: Sequence[Group], level: float) -> Iterator[Column]:
        arms = arms_of(self.tree)
        for arm, channel in enumerate(self.channels):
            rows, events = (
                [int(counts[group.nodes, arm].sum()) for group in groups]
                for counts in (arms.n_samples, arms.n_events)
            )
            key, label = channel.key, channel.label
            yield Column(f"rows_{key}", f"{label}: rows", "", rows, is_count=True, is_printed=False)
            symbol = label if arm else f"events {label}"
            yield Column(
                f"events_{key}", f"{label}: events", symbol, events, is_count=True, joins=arm > 0
            )
        by_leaf = [effects_of_leaf(self.tree, group.leaf, level) for group in groups]
        for effects in zip(*by_leaf, strict=True):
            yield Column(
                f"hazard_ratio_{effects[0].arm}",
                f"hazard ratio, {effects[0].contrast}",
                effects[0].contrast,
                [effect.ratio for effect in effects],
                [effect.limits for effect in effects],
                shows_limits=True,
                colours=risk_colours(
                    [effect.ratio if effect.ratio > 0 else 1.0 for effect in effects], self.scale
                ),
            )

    def overall_columns(self, groups: Sequence[Group], level: float = LEVEL) -> tuple[Column, ...]:
        """Return the hazard ratios, and events, relative risk and median of all arms together."""
        events, *others = event_columns(self, groups, level)
        ratios = (one for one in self._columns(groups, level) if one.shows_limits)
        return (events, *ratios, *(replace(one, is_printed=False) for one in others))

    def effects(self, group: Group, level: float = LEVEL) -> tuple[LeafEffect, ...]:
        return effects_of_leaf(self.tree, group.leaf, level)

    def curves(
        self, group: Group, kind: LeafCurveKind | None = None, level: float = LEVEL
    ) -> tuple[GroupCurve, ...]:
        kind = curve_kind(self.tree, kind)
        return tuple(
            self._curve(group, arm, channel, kind, level)
            for arm, channel in enumerate(self.channels)
        )

    def _curve(
        self, group: Group, arm: int, channel: Channel, kind: LeafCurveKind, level: float
    ) -> GroupCurve:
        tree, leaf, arms = self.tree, group.leaf, arms_of(self.tree)
        counts = arms.risk[leaf_position(tree, leaf)][arm]
        curve = leaf_arm_curve(tree, leaf, arm, kind=kind)
        observed = leaf_arm_curve(tree, leaf, arm, kind="kaplan-meier").survival.y
        lower, upper = arm_band(tree, leaf, arm, level)
        steps = counts.step[counts.deaths > 0]
        shown = tree.event_times <= counts.last_time
        if kind == "kaplan-meier":
            shown = np.isin(np.arange(shown.size), steps)
        return GroupCurve(
            channel=channel,
            group=group,
            n_samples=int(arms.n_samples[leaf, arm]),
            n_events=int(arms.n_events[leaf, arm]),
            theta=float(arm_risks(tree)[arm, leaf]),
            median=curve.median,
            times=curve.survival.x[shown],
            values=curve.survival.y[shown],
            band=(lower[shown], upper[shown]) if kind == "kaplan-meier" else None,
            observed=ObservedCurve(
                tree.event_times[steps], observed[steps], (lower[steps], upper[steps])
            ),
            censored=counts.censored,
            last_time=counts.last_time,
        )

    def tree_curves(
        self, group: Group, kind: LeafCurveKind | None = None, level: float = LEVEL
    ) -> tuple[GroupCurve, ...]:
        return self.curves(group, kind, level)

    def at_risk(self, group: Group, times: Floats) -> tuple[Floats, ...]:
        counts = arms_of(self.tree).risk[leaf_position(self.tree, group.leaf)]
        return tuple(at_round_times(self.tree, of_arm, times) for of_arm in counts)

    def group_text(self, group: Group, level: float = LEVEL) -> str:
        """Return the events of each arm of a leaf, and its hazard ratios with limits."""
        arms, leaf = arms_of(self.tree), group.leaf
        counts = zip(arms.names, arms.n_events[leaf], arms.n_samples[leaf], strict=True)
        events = ", ".join(f"{label} {events} of {rows}" for label, events, rows in counts)
        ratios = (
            f"hazard ratio {effect.contrast}: {ratio_text(effect.ratio)} "
            f"({100 * level:g}% CI {interval_text(effect.limits) or 'unknown'})"
            for effect in self.effects(group, level)
        )
        return "\n".join([f"events: {events}", *ratios])

    def risks(self, channel: Any = None) -> Floats:
        """Return the theta of each node, all arms together."""
        return self.tree.theta

    def leaf_values(
        self, value: str, kind: LeafCurveKind | None, channel: Any = None
    ) -> Mapping[int, float | None]:
        """Return also the hazard ratio of each leaf, where there are two arms."""
        if value != "effect":
            return super().leaf_values(value, kind, channel)
        effects = leaf_effects(self.tree)
        if len(effects) > self.tree.n_leaves:
            raise ValueError(
                'value="effect" is for two arms: of more, give a mapping of leaves to hazard '
                "ratios, such as those of effects_."
            )
        return {one.leaf: one.ratio if isfinite(one.ratio) else None for one in effects}

    def value_title(self, value: str, kind: LeafCurveKind | None, channel: Any = None) -> str:
        """Return what the values of leaves are; of an effect, between which arms."""
        if value == "effect":
            reference, arm = arms_of(self.tree).names[:2]
            return f"hazard ratio of {arm} over {reference}"
        return super().value_title(value, kind, channel)

    def predictions(
        self, quantities: Sequence[str], horizons: Sequence[float], effects: Any = None
    ) -> Mapping[str, Floats]:
        """Return the same of each arm, and hazard ratios; those that are given, or the tree's."""
        tree, leaves = self.tree, self.tree.leaves
        columns = dict(super().predictions(quantities, (), effects))
        for arm, channel in enumerate(self.channels):
            curves = [leaf_arm_curve(tree, leaf, arm, effects) for leaf in leaves.tolist()]
            values = {
                "risk": arm_risks(tree, effects)[arm, leaves],
                "median": np.array([curve.median for curve in curves]),
            }
            columns |= {
                f"{name}_{channel.key}": values[name] for name in quantities if name in values
            }
        ratios = hazard_ratios(tree) if effects is None else effects[1:]
        for channel, of_arm in zip(self.channels[1:], ratios, strict=True):
            columns[f"effect_{channel.key}"] = of_arm[leaves]
        for time in horizons:
            columns |= super().predictions((), (time,), effects)
            for arm, channel in enumerate(self.channels):
                columns[f"survival_{time:.15g}_{channel.key}"] = np.array(
                    [
                        leaf_arm_curve(tree, leaf, arm, effects).survival(time)
                        for leaf in leaves.tolist()
                    ]
                )
        return columns

    def caption(self, kind: LeafCurveKind | None, level: float) -> str:
        """Return in words how the arms of leaves are drawn, and what a hazard ratio is."""
        band = f"with {100 * level:g}% confidence band"
        curves = {
            "kaplan-meier": f"Kaplan-Meier survival of each arm, {band}",
            "baseline": "Survival of each arm as its hazard predicts it; thin line: observed",
            "shrunk": "Survival of each arm, shrunk towards all rows; thin line: observed",
            "breslow": "Survival of each arm as the hazard ratio predicts it; thin line: observed",
        }
        reference = arms_of(self.tree).names[0]
        return (
            f"{curves[curve_kind(self.tree, kind)]}. Tick: censored rows. "
            f"Hazard ratio: the hazard of an arm over that of {reference}, by a Cox model in the "
            "leaf; below one it does better. Leaves were chosen because arms differ in them: "
            "intervals do not know that."
        )

    def figure_notes(self) -> tuple[str, ...]:
        """Say what hazard ratios are."""
        return (
            "Hazard ratio: by a Cox model of the arms in the leaf; below one, the arm does better.",
        )

    def objective_text(self, loss: str) -> str:
        """Return what the tree optimises, and what hazard ratios are."""
        return f"{self.tree.objective.method_words.format(loss=loss)} {_COX}"

    def events_text(self) -> str:
        arms = arms_of(self.tree)
        counted = [
            f"arm {label}: {plural(int(n), 'row')}, {plural(int(events), 'event')}"
            for label, n, events in zip(
                arms.names, arms.n_samples[0], arms.n_events[0], strict=True
            )
        ]
        return f"; {', '.join(counted)}; the reference is {arms.names[0]}"

    def leaf_json(self, group: Group) -> dict[str, Any]:
        return {
            "effects": [
                {
                    "arm": effect.arm,
                    "reference": effect.reference,
                    "hazard_ratio": effect.ratio,
                    "limits": list(effect.limits),
                    "rows": list(effect.n_samples),
                    "events": list(effect.n_events),
                }
                for effect in self.effects(group)
            ]
        }

    def faults(self) -> Iterator[str]:
        """Yield what is wrong with the rows and counts of arms."""
        if self.tree.baseline.of_cause:
            yield "its causes are not those of its objective"
        if not has_possible_arms(self.tree):
            yield "its arms are not those of its rows"

    def model_faults(self, saved: Mapping[str, Any]) -> Iterator[str]:
        """Yield names of causes: arms have none."""
        yield from self._name_faults(saved, set())

    def save_model(self, model: Any) -> dict[str, Any]:
        """Return what is known of whether effects differ."""
        labels = arms_of(self.tree).labels
        return {
            "heterogeneity": save_heterogeneity(model.heterogeneity_, labels),
            "correction": save_correction(model.correction_),
        }

    def read_model(self, saved: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is known of whether effects differ; files that say nothing know nothing."""
        labels, leaves = arms_of(self.tree).labels, self.tree.leaves.tolist()
        ratios = hazard_ratios(self.tree)
        return {
            "heterogeneity_": read_heterogeneity(saved.get("heterogeneity"), labels),
            "correction_": read_correction(saved.get("correction"), ratios, leaves, labels),
        }

"""The contract of a kind of outcome: what groups of rows are at, in figures, curves and words.

One event, causes and arms are the kinds that there are (`event`, `causes`, `arms`). Printed trees,
pages, exports, plots and the command line loop over what an outcome returns; none of them asks
which kind it is. Another kind is a subclass here and a line in `OUTCOMES`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from math import isfinite
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from surtree._support.json_file import shown
from surtree._support.parameters import LeafCurveKind
from surtree._support.types import Floats
from surtree.data.named import RowInputs
from surtree.data.rows import read_event
from surtree.data.target import Target
from surtree.outcomes._group import Group, ObservedChannel, counted
from surtree.outcomes.curve import Channel, Column, GroupCurve, survival_curve
from surtree.outcomes.measures import (
    JudgedTimes,
    LeafChannel,
    Metric,
    Predictions,
    objects,
    one_event_metrics,
)
from surtree.outcomes.pooled import Pooled, pool_events
from surtree.survival.confidence import LEVEL
from surtree.survival.restricted_mean import one_cause
from surtree.survival.step_function import StepFunction
from surtree.tree.at_risk import AtRiskCounts
from surtree.tree.curves import leaf_curves
from surtree.tree.tree import Tree
from surtree.words.colour import LOW_TO_HIGH


class Outcome(ABC):
    """A kind of outcome, as a tree has it."""

    name: ClassVar[str]  # of the kind, in files and messages
    # What a curve shows, and whether those of a group add up to the share that had an event.
    curve_name: ClassVar[str] = "survival"
    is_stacked: ClassVar[bool] = False
    # Which question about new data a page answers: how well the tree predicts, or whether effects
    # of arms differ at all.
    judged_by: ClassVar[Literal["prediction", "effects"]] = "prediction"
    # Whether hazards of leaves are compared with each other.
    compares_leaves: ClassVar[bool] = True
    # Whether tables of leaves show these hazard ratios.
    shows_ratios: ClassVar[bool] = False
    # What theta is called, and what a theta of 2 means.
    risk_name: ClassVar[str] = "relative risk"
    # What the ends of its scale of colours are called, and the colours.
    scale_ends: ClassVar[tuple[str, str]] = ("lower risk", "higher risk")
    scale: ClassVar[tuple[str, ...]] = LOW_TO_HIGH
    risk_note: ClassVar[str] = (
        "A relative risk of 2 is twice the expected events (those at the hazard of all rows)"
    )
    # What leaves are, after "sort the rows into 4 groups, the leaves, ".
    leaves_clause: ClassVar[str] = "each with a survival curve of its own"
    # What a channel is called, and the heading of what a page says of each of them.
    channel_noun: ClassVar[str] = "event"
    channels_heading: ClassVar[str] = "The curves of each leaf"
    # How to learn how well a tree predicts new data: a sentence, and a command.
    how_to_validate: ClassVar[tuple[str, str]] = (
        "Run surtree fit with --validate, or set model.validation_ = validate(model, X, y):",
        "surtree fit DATA --time TIME --event EVENT --validate 200",
    )
    # What its C is called; sentences that define its measures, where they are not those of one
    # event; whom these cite, and whom the likelihood is of.
    concordance_name: ClassVar[str] = "Harrell's C"
    definitions: ClassVar[Mapping[str, str]] = {}
    citations: ClassVar[Mapping[str, str]] = {}
    reference: ClassVar[str] = ""
    # What a model of this kind is of, and the columns of rows that it is about.
    noun: ClassVar[str] = "one event"
    row_columns: ClassVar[tuple[str, ...]] = ("event",)
    # What a program in another language can return for a row.
    value_names: ClassVar[tuple[str, ...]] = ("leaf", "risk", "median")

    def __init__(self, tree: Tree, labels: Mapping[Any, str] | None = None) -> None:
        self.tree = tree
        self.labels = dict(labels or {})

    @staticmethod
    def is_kept(tree: Tree) -> bool:
        """Tell whether a tree keeps what this kind of outcome needs."""
        return True

    def read_target(self, given: RowInputs, n_rows: int) -> Target:
        """Return the target of rows that the tree is asked about."""
        return read_event(given, n_rows)

    def predicted(self, nodes: NDArray[np.intp], target: Target) -> Predictions:
        """Return what the tree says of rows in some leaves: a risk and a curve of each."""
        leaf = np.searchsorted(self.tree.leaves, nodes)
        curves = objects([curve.survival for curve in leaf_curves(self.tree)])
        return Predictions(self.risks()[nodes], curves, leaf, leaf=leaf)

    def measures(self, times: JudgedTimes) -> tuple[Metric, ...]:
        """Return the metrics that say how well such predictions agree with rows."""
        return one_event_metrics(times)

    def leaf_channels(self, target: Target) -> tuple[LeafChannel, ...]:
        hazard = self.tree.row_hazard(target)
        everyone = np.ones(target.time.size, dtype=bool)
        return (LeafChannel("", everyone, target.event, self.tree.theta, hazard),)

    def observed(self, group: Group) -> Iterator[ObservedChannel]:
        """Yield what was observed of each channel of a group over time."""
        yield ObservedChannel(None, "", one_cause(group.counts), group.last_time)

    @property
    @abstractmethod
    def channels(self) -> tuple[Channel, ...]:
        """The hazards of the outcome, in the order of their sums."""

    @property
    def is_several(self) -> bool:
        """Whether groups have several curves, each with a name and a colour."""
        return len(self.channels) > 1

    @abstractmethod
    def columns(self, groups: Sequence[Group], level: float = LEVEL) -> tuple[Column, ...]:
        """Return the figures of groups beside their rows: events, risks, ratios, medians."""

    def overall_columns(self, groups: Sequence[Group], level: float = LEVEL) -> tuple[Column, ...]:
        """Return the figures of groups with all channels together, the events first."""
        return self.columns(groups, level)

    def printed_columns(self, groups: Sequence[Group], level: float = LEVEL) -> tuple[Column, ...]:
        """Return the figures that printed trees and pictures have room for."""
        return tuple(column for column in self.columns(groups, level) if column.is_printed)

    @abstractmethod
    def curves(
        self, group: Group, kind: LeafCurveKind | None = None, level: float = LEVEL
    ) -> tuple[GroupCurve, ...]:
        """Return the curve of each channel in a group."""

    def together(
        self, group: Group, kind: LeafCurveKind | None = None, level: float = LEVEL
    ) -> GroupCurve:
        """Return the survival of a leaf without any event, in the colour of its risk."""
        return survival_curve(group, kind, level)

    def tree_curves(
        self, group: Group, kind: LeafCurveKind | None = None, level: float = LEVEL
    ) -> tuple[GroupCurve, ...]:
        """Return what a picture of the tree draws in a leaf: by default survival of all rows."""
        return (self.together(group, kind, level),)

    def at_risk(self, group: Group, times: Floats) -> tuple[Floats, ...]:
        """Return rows of a table of who is at risk: of all rows of the group, or of each arm."""
        return (group.at_risk(times),) if group.has_counts else ()

    def group_text(self, group: Group, level: float = LEVEL) -> str:
        """Return the rows, events and figures of a group in words, in a few lines."""
        return counted(group)

    def count_lines(self, group: Group) -> tuple[str, ...]:
        """Return what a picture says of the rows and events of a group, line by line."""
        return (counted(group),)

    def leaf_values(
        self, value: str, kind: LeafCurveKind | None, channel: Any = None
    ) -> Mapping[int, float | None]:
        """Return what a program returns for each leaf: one of ``value_names``."""
        leaves = self.tree.leaves.tolist()
        if value == "leaf":
            return {leaf: leaf for leaf in leaves}
        if value == "risk":
            return dict(zip(leaves, self.risks(channel)[leaves].tolist(), strict=True))
        medians = ((leaf, self.median(self.group(leaf), kind)) for leaf in leaves)
        return {leaf: median if isfinite(median) else None for leaf, median in medians}

    def step_functions(
        self, value: str, kind: LeafCurveKind | None, channel: Any = None
    ) -> list[StepFunction]:
        """Return the function of time that a program evaluates for each leaf."""
        if value != "survival":
            raise ValueError("This tree knows of one cause only: fit a CompetingRisksTree.")
        return [group.curve(kind).survival for group in self.groups]

    def value_title(self, value: str, kind: LeafCurveKind | None, channel: Any = None) -> str:
        if value == "median":
            return f"median survival ({kind or self.tree.leaf_curve} curve)"
        return value

    @abstractmethod
    def risks(self, channel: Any = None) -> Floats:
        """Return the relative risk of each node, by default that which predictions rank by."""

    @property
    def ordered_risk(self) -> Floats | None:
        """The risk of each node that columns raise or lower; None where leaves are of effects."""
        return None if self.judged_by == "effects" else self.risks()

    def median(self, group: Group, kind: LeafCurveKind | None = None) -> float:
        """Return the time at which survival without any event falls to one half."""
        return group.curve(kind).median

    def pooled(self, leaves: Sequence[AtRiskCounts], level: float = LEVEL) -> Pooled:
        """Return what leaves are at together, by the event that risk groups are formed by."""
        if not self.compares_leaves:
            raise ValueError(
                "The leaves of an EffectTree differ in what a treatment does, not in risk, so they "
                "make no risk groups: fit a SurTree on the same rows."
            )
        return pool_events(self.tree, leaves, level)

    def predictions(
        self, quantities: Sequence[str], horizons: Sequence[float], effects: Any = None
    ) -> Mapping[str, Floats]:
        """Return columns of predictions, a value for each leaf: risk, median, survival."""
        leaves = self.tree.leaves
        values = {"leaf": leaves, "risk": self.risks()[leaves], "median": self._medians()}
        columns = {name: np.asarray(values[name]) for name in quantities}
        for time in horizons:
            columns[f"survival_{time:.15g}"] = np.array(
                [group.curve(None).survival(time) for group in self.groups]
            )
        return columns

    def _medians(self) -> Floats:
        return np.array([self.median(group) for group in self.groups])

    def group(self, *nodes: int) -> Group:
        return Group.of(self.tree, nodes)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        return tuple(self.group(leaf) for leaf in self.tree.leaves.tolist())

    @abstractmethod
    def caption(self, kind: LeafCurveKind | None, level: float) -> str:
        """Return in words how curves are drawn, and what the figures are."""

    def channels_text(self, level: float) -> str:
        """Return what a page says before it shows the channels of each leaf."""
        return self.caption(None, level)

    @abstractmethod
    def figure_notes(self) -> tuple[str, ...]:
        """Return sentences below a table that say what the figures of leaves are."""

    @abstractmethod
    def objective_text(self, loss: str) -> str:
        """Return what the tree optimises, in sentences; ``loss`` says how it relates to it."""

    def events_text(self) -> str:
        """Return what to add to the number of rows and events, as the part of a sentence."""
        return ""

    def compared_deaths(self, channel: Any = None) -> tuple[Floats | None, Floats]:
        """Return the deaths of each leaf over time that ratios are about, and how many in all.

        The first is None where all events count.
        """
        if channel is not None:
            raise ValueError("This tree knows of one cause only: fit a CompetingRisksTree.")
        return None, self.tree.n_events[self.tree.leaves].astype(np.float64)

    def leaf_json(self, group: Group) -> dict[str, Any]:
        """Return what JSON says of a leaf beside its rows, events, risk and median."""
        return {}

    def faults(self) -> Iterator[str]:
        """Yield what contradicts itself in a tree that was read from a file."""
        if self.tree.baseline.of_cause:
            yield "its causes are not those of its objective"
        if self.tree.arms is not None:
            yield "its arms are not those of its rows"

    def model_faults(self, saved: Mapping[str, Any]) -> Iterator[str]:
        """Yield what a file says of a model that does not go with this kind of outcome."""
        if saved.get("heterogeneity") or saved.get("correction"):
            yield "a test or a correction of effects belongs to a tree without arms"
        yield from self._name_faults(saved, set())

    def _name_faults(self, saved: Mapping[str, Any], causes: set[str]) -> Iterator[str]:
        named = saved.get("cause_names") or {}
        for cause in named.keys() - causes:
            yield f"its tree has no cause {shown(cause)} to be called {shown(named[cause])}"

    def save_model(self, model: Any) -> dict[str, Any]:
        """Return what a file keeps of a model for this kind of outcome."""
        return {}

    def read_model(self, saved: Mapping[str, Any]) -> dict[str, Any]:
        return {}

"""The tree of a page with its curves and figures, which several parts of the page show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite, nan

from surtree.outcomes import Column, Group, GroupCurve, Outcome, everyone
from surtree.outcomes.effect_results import CorrectedEffect
from surtree.report._html import Markup, element, markup, small
from surtree.summary.figures import figure_and_limits, lacks_events, level_text
from surtree.summary.findings import Findings
from surtree.summary.survival_table import SurvivalAt, last_time, survival_table
from surtree.summary.wording import leaf_texts
from surtree.tree.tree import Tree
from surtree.validation import LeafStability


@dataclass(frozen=True, eq=False)
class Shown:
    """A tree as a page shows it."""

    findings: Findings
    level: float  # of confidence intervals
    times: Sequence[float] = ()  # at which survival is stated

    @property
    def tree(self) -> Tree:
        """The tree."""
        return self.findings.tree

    @property
    def outcome(self) -> Outcome:
        """The kind of outcome, with names of its channels."""
        return self.findings.outcome

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The leaves."""
        return self.outcome.groups

    @cached_property
    def curves(self) -> tuple[GroupCurve, ...]:
        """The survival of each leaf without any event."""
        return tuple(self.outcome.together(group, level=self.level) for group in self.groups)

    @cached_property
    def parts(self) -> tuple[tuple[GroupCurve, ...], ...]:
        """The curves of each leaf by cause or by arm; of one event, its survival."""
        if not self.outcome.is_several:
            return tuple((curve,) for curve in self.curves)
        return tuple(self.outcome.curves(group, level=self.level) for group in self.groups)

    @cached_property
    def stability(self) -> dict[int, LeafStability]:
        """How each leaf fares in other samples, where that is known."""
        known = self.findings.validation
        return {} if known is None else {one.leaf: one for one in known.leaves}

    def corrected(self, position: int) -> list[CorrectedEffect]:
        """Return the effects that are expected in new data in a leaf, where they are known."""
        known = self.findings.correction
        leaf = self.groups[position].leaf
        return [] if known is None else [one for one in known.leaves if one.leaf == leaf]

    @cached_property
    def everyone(self) -> GroupCurve:
        """The survival of all rows."""
        return everyone(self.tree)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The figures of leaves, all channels together."""
        return self.outcome.overall_columns(self.groups, self.level)

    @cached_property
    def survival(self) -> tuple[list[SurvivalAt], ...]:
        """The survival of each leaf at some times, with limits from other samples if known."""
        return tuple(
            [self._with_limits(one, curve.group.leaf) for one in survival_table(curve, self.times)]
            for curve in self.curves
        )

    @property
    def has_limits(self) -> bool:
        """Whether limits of survival hold what the choice of the tree adds."""
        return any(one.limits for one in self.stability.values())

    @property
    def limits_name(self) -> str:
        """What limits of survival are called."""
        if not self.has_limits:
            return level_text(self.level)
        validation = self.findings.validation
        return f"{100 * validation.level:g}% interval from other samples" if validation else ""

    def _with_limits(self, at: SurvivalAt, leaf: int) -> SurvivalAt:
        known = self.stability.get(leaf)
        limits = (nan, nan) if known is None else known.limits_at(at.time)
        return replace(at, limits=limits) if isfinite(limits[0]) else at

    @cached_property
    def rules(self) -> dict[int, str]:
        """What holds for the rows of each leaf, in words."""
        return leaf_texts(self.tree, self.findings.labels)

    @cached_property
    def end(self) -> float:
        """The end of the time axis."""
        return last_time(self.tree)

    def dot(self, column: Column, position: int) -> Markup:
        """Return a dot in the colour of a figure; in grey where it may be chance."""
        if column.colours is None:
            return Markup()
        colour = "#8b8b8b" if self.findings.doubt else column.colours[position]
        return element("i", class_="surtree-dot", style=f"--risk:{colour}")

    def heading(self, column: Column) -> str:
        """Return the heading of a column of a table, with what stands in brackets below it."""
        return column.heading + ("" if column.limits is None else f" ({level_text(self.level)})")


def cell(column: Column, position: int) -> tuple[str, str]:
    """Return a figure and what stands below it, as short as a cell must be."""
    text, limits = figure_and_limits(column, position)
    if lacks_events(column, position):
        return text.replace("at most", "≤"), "no events"
    return text, limits


def cell_html(column: Column, position: int, remark: str = "") -> Markup:
    """Return a figure with a remark and its interval in brackets."""
    text, limits = cell(column, position)
    return markup(text, remark, small(f"({limits})" if limits else ""))

"""The tree of a page with its curves and figures, which several parts of the page show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from surtree.outcomes import Column, Group, GroupCurve, Outcome, everyone
from surtree.report._html import Markup, markup, small
from surtree.summary.figures import figure_and_limits, lacks_events, level_text
from surtree.summary.findings import Findings
from surtree.summary.survival_table import SurvivalAt, last_time, survival_table
from surtree.summary.wording import leaf_texts
from surtree.tree.tree import Tree


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
    def everyone(self) -> GroupCurve:
        """The survival of all rows."""
        return everyone(self.tree)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The figures of leaves, all channels together."""
        return self.outcome.overall_columns(self.groups, self.level)

    @cached_property
    def survival(self) -> tuple[list[SurvivalAt], ...]:
        """The survival of each leaf at some times."""
        return tuple(survival_table(curve, self.times) for curve in self.curves)

    @cached_property
    def rules(self) -> dict[int, str]:
        """What holds for the rows of each leaf, in words."""
        return leaf_texts(self.tree, self.findings.labels)

    @cached_property
    def end(self) -> float:
        """The end of the time axis."""
        return last_time(self.tree)

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

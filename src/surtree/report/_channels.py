"""The causes, arms or other channels of each leaf: a chart, numbers at risk, figures, values."""

from __future__ import annotations

import numpy as np

from surtree.outcomes import Group
from surtree.report._chart import SHARES, Axis, Chart
from surtree.report._html import Markup, details, element, markup, note, table, verdict
from surtree.report._shown import Shown, cell_html
from surtree.report._tree import breakable
from surtree.summary.figures import level_text, visible_steps
from surtree.summary.survival_table import time_label
from surtree.words.numbers import number

# Tolerances of curves and of bands; tables have the exact numbers.
TOLERANCES = (0.004, 0.01)


def channels_html(shown: Shown) -> Markup:
    """Return the section about the channels of the outcome; nothing where there is one only."""
    outcome = shown.outcome
    if not outcome.is_several:
        return Markup()
    figures = [_figure_html(shown, group) for group in shown.groups]
    inside = markup(
        element("div", *figures, class_="charts"), _columns_html(shown), _values_html(shown)
    )
    if shown.findings.doubt:
        # What may be chance is behind what says so.
        hidden = details(f"The {_noun(shown)}s of each leaf", inside)
        inside = markup(verdict("", shown.findings.doubt, is_good=False), hidden)
    return element(
        "section",
        element("h2", outcome.channels_heading, id="channels-heading"),
        element("p", outcome.channels_text(shown.level), class_="lead"),
        _legend(shown),
        inside,
        id="channels",
        aria_labelledby="channels-heading",
    )


def _legend(shown: Shown) -> Markup:
    return note(
        *(
            element("span", channel.label, class_="channel", style=f"--risk:{channel.colour}")
            for channel in shown.outcome.channels
        )
    )


def _figure_html(shown: Shown, group: Group) -> Markup:
    x = Axis.until(shown.tree.last_event, time_label(shown.findings.time_unit))
    lines = shown.outcome.group_text(group, shown.level).splitlines()
    caption = element(
        "figcaption",
        element("b", group.name.capitalize()),
        ": ",
        breakable(shown.rules[group.leaf]),
        *(part for line in lines for part in (element("br"), line)),
    )
    return element("figure", _chart(shown, group, x).svg(), _at_risk(shown, group, x), caption)


def _chart(shown: Shown, group: Group, x: Axis) -> Chart:
    outcome = shown.outcome
    name = f"{outcome.curve_name} of each {outcome.channel_noun} in {group.name}"
    chart = Chart(x, Axis(0.0, 1.0, SHARES, outcome.curve_name), name[0].upper() + name[1:])
    curves = outcome.curves(group, level=shown.level)
    if outcome.is_stacked:
        chart.stack(curves)
        return chart
    for curve in curves:
        last = min(curve.last_time, x.high)
        seen = curve if curve.observed is None else curve.observed
        if seen is not curve and shown.findings.predicts_otherwise:
            observed = visible_steps(seen, TOLERANCES[0], start=curve.start)
            chart.steps(observed, last, "observed")
        steps = visible_steps(curve, *TOLERANCES, curve.start)
        chart.steps(steps, last, "curve", curve.colour)
        censored = [time for time in curve.censored.tolist() if time <= last]
        chart.marks(censored, [seen.at(time)[0] for time in censored])
    return chart


def _at_risk(shown: Shown, group: Group, x: Axis) -> Markup:
    rows = shown.outcome.at_risk(group, np.array(x.ticks))
    if not rows:
        return Markup()
    names = [channel.label for channel in shown.outcome.channels]
    return table(
        ["at risk", *(number(tick, 4) for tick in x.ticks)],
        [
            [name, *(number(float(count), 4) for count in row)]
            for name, row in zip(names if len(rows) == len(names) else ["rows"], rows, strict=True)
        ],
        "numbers",
    )


def _columns_html(shown: Shown) -> Markup:
    """Return the figures of each channel in each leaf, as a table."""
    columns = shown.outcome.columns(shown.groups, shown.level)
    headings = ["leaf", *map(shown.heading, columns)]
    rows = [
        [group.letters, *(cell_html(column, position) for column in columns)]
        for position, group in enumerate(shown.groups)
    ]
    return table(headings, rows, "survival", f"Figures of each {_noun(shown)}")


def _values_html(shown: Shown) -> Markup:
    """Return the values of all curves at some times, as a table."""
    end = shown.tree.last_time
    times = [time for time in shown.times if time <= end]
    if not times:
        return Markup()
    name = shown.outcome.curve_name.capitalize()
    rows = [
        [
            f"{group.letters}: {curve.channel.label}",
            *(share_html(*curve.at(time)) for time in times),
        ]
        for group in shown.groups
        for curve in shown.outcome.curves(group, level=shown.level)
    ]
    headings = [f"leaf: {_noun(shown)}", *(number(time, 6) for time in times)]
    return markup(
        note(f"{name} ({level_text(shown.level)}), as far as a group was followed up."),
        table(headings, rows, "survival", f"{name} at some times"),
    )


def share_html(value: float, limits: tuple[float, float]) -> Markup:
    """Return a share of rows with its limits; nothing where it is not known."""
    if not np.isfinite(value):
        return Markup()
    return markup(element("b", f"{value:.0%}"), share_limits(limits))


def share_limits(limits: tuple[float, float]) -> str:
    """Return the limits of a share, in brackets."""
    return f" ({limits[0]:.0%} to {limits[1]:.0%})" if np.isfinite(limits).all() else ""


def _noun(shown: Shown) -> str:
    return shown.outcome.channel_noun

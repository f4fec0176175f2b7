"""Risk groups: leaves merged, their curves with numbers at risk, and hazard ratios."""

from __future__ import annotations

import numpy as np

from surtree.outcomes.risk_groups import RiskGroups
from surtree.report._channels import TOLERANCES, share_html
from surtree.report._chart import SHARES, Axis, Chart
from surtree.report._html import Markup, element, markup, note, table
from surtree.report._shown import Shown
from surtree.summary.figures import visible_steps
from surtree.summary.survival_table import time_label
from surtree.words.numbers import number


def risk_groups_html(groups: RiskGroups | None, shown: Shown) -> Markup:
    """Return the curves and figures of risk groups; nothing where leaves were not merged."""
    if groups is None:
        return Markup()
    head, *rows = groups.rows_of_text()
    return element(
        "section",
        element("h3", "Risk groups"),
        note(
            *(
                element("span", one.name, class_="channel", style=f"--risk:{curve.colour}")
                for one, curve in zip(groups, groups.curves, strict=True)
            )
        ),
        element("div", _figure_html(groups, shown), class_="charts"),
        table(head, rows, "groups", "Risk groups"),
        _values_html(groups, shown),
        note(" ".join(groups.notes)),
        class_="risk-groups",
    )


def _figure_html(groups: RiskGroups, shown: Shown) -> Markup:
    x = Axis.until(shown.tree.last_event, time_label(shown.findings.time_unit))
    chart = Chart(x, Axis(0.0, 1.0, SHARES, shown.outcome.curve_name), "Curves of risk groups")
    for curve in groups.curves:
        last = min(curve.last_time, x.high)
        if curve.observed is not None:
            apparent = visible_steps(curve.observed, TOLERANCES[0], start=curve.start)
            chart.steps(apparent, last, "observed")
        steps = visible_steps(curve, *TOLERANCES, curve.start)
        chart.steps(steps, last, "curve", curve.colour)
    at_risk = table(
        ["at risk", *(number(tick, 4) for tick in x.ticks)],
        [
            [
                curve.channel.label,
                *(number(n, 4) for n in curve.group.at_risk(np.array(x.ticks)).tolist()),
            ]
            for curve in groups.curves
        ],
        "numbers",
    )
    return element("figure", chart.svg(), at_risk, element("figcaption", groups.caption))


def _values_html(groups: RiskGroups, shown: Shown) -> Markup:
    times = [time for time in shown.times if time <= shown.tree.last_time]
    if not times:
        return Markup()
    what = f"{shown.outcome.curve_name.capitalize()} of the risk groups at some times"
    rows = [
        [curve.channel.label, *(share_html(*curve.at(time)) for time in times)]
        for curve in groups.curves
    ]
    return markup(table(["group", *(number(time, 6) for time in times)], rows, "numbers", what))

"""The page of a score card: to be used on a phone, or printed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from surtree._support.types import Floats
from surtree.averages.points import PointsColumn, PointsTable
from surtree.report._chart import SHARES, Axis, Chart
from surtree.report._html import Markup, element, markup, note, table
from surtree.report._plain import Asked, Section, asset, expectation, plain_page
from surtree.report._tree import breakable
from surtree.words.colour import risk_colours
from surtree.words.numbers import number

# About as many sums of points are in the table.
_ROWS = 12


def card_page(model: PointsTable, asked: Asked) -> str:
    """Return the page of a score card."""
    card, most = model.card_, model.card_.most
    totals = np.arange(most + 1)
    risk, survival = model.risk_of(totals), model.survival_of(totals, asked.times)
    sections = [
        expectation(model, asked),
        Section("card-section", "Card", "The card", _form(card, asked)),
        Section(
            "meaning", "What a score means", "What a score means", _meaning(risk, survival, asked)
        ),
    ]
    facts = [("score card", f"0 to {most} points", f"{len(card)} columns are on it")]
    data: dict[str, Any] = {
        "most": most,
        "times": [f"{time:g}" for time in asked.times],
        "unit": asked.unit,
        "totals": [
            {"risk": number(one, 3), "survival": [_percent(share) for share in row]}
            for one, row in zip(risk.tolist(), survival.tolist(), strict=True)
        ],
    }
    return plain_page(model, asked, sections, facts, asset("card.js"), data)


def _form(card: Sequence[PointsColumn], asked: Asked) -> Markup:
    """Return the card as a form: a line of each column is chosen, and the points are added up."""
    fields = (_field(column, number, asked) for number, column in enumerate(card))
    reset = element("button", "Start again", type="reset")
    return markup(
        element(
            "p",
            "Choose the line of each column that holds for a person, and add up the points.",
            class_="lead",
        ),
        element(
            "form",
            element("div", *fields, class_="card"),
            element("div", class_="score", id="score", role="status", aria_live="polite"),
            element("p", reset, class_="buttons"),
            id="card",
            autocomplete="off",
        ),
    )


def _field(column: PointsColumn, position: int, asked: Asked) -> Markup:
    unit = asked.labels.unit(column.name)
    name = asked.labels.name(column.name) + (f" ({unit})" if unit else "")
    lines = (
        element(
            "label",
            element("input", type="radio", name=f"column-{position}", value=str(points)),
            element("span", breakable(label)),
            element("b", str(points)),
        )
        for label, points in zip(column.labels, column.points, strict=True)
    )
    return element("fieldset", element("legend", breakable(name)), *lines)


def _meaning(risk: Floats, survival: Floats, asked: Asked) -> Markup:
    """Return risk and survival by the sum of points: a picture and a table."""
    most = risk.size - 1
    step = next(size for size in (1, 2, 5, 10, 20, 50, 100) if most / size <= _ROWS or size == 100)
    shown = [*range(0, most, step), most]
    headings = ("points", "relative risk", *(f"{time:g}{asked.unit}" for time in asked.times))
    rows = (
        (str(k), number(float(risk[k]), 3), *(_percent(share) for share in survival[k]))
        for k in shown
    )
    return markup(
        element("p", "Survival as the card predicts it, at some times, for each sum of points."),
        element(
            "div",
            element("figure", _chart(survival, asked), _key(asked)),
            table(headings, rows, "numbers", "Survival by points"),
            class_="charts",
        ),
        note(
            "The relative risk is against all rows of the fit: 2 is twice the expected events. "
            "These are predictions without intervals; how well they hold in new data is said above."
        ),
    )


def _chart(survival: Floats, asked: Asked) -> Markup:
    most = len(survival) - 1
    chart = Chart(
        Axis.until(max(most, 1), "points"),
        Axis(0.0, 1.0, SHARES, "survival"),
        "Survival by the sum of points",
    )
    for values, colour in zip(survival.T, _colours(asked), strict=True):
        chart.line(np.arange(most + 1), values, "curve", colour)
    return chart.svg()


def _key(asked: Asked) -> Markup:
    spans = (
        element("span", f"{time:g}{asked.unit}", class_="channel", style=f"--risk:{colour}")
        for time, colour in zip(asked.times, _colours(asked), strict=True)
    )
    return element("figcaption", *spans)


def _colours(asked: Asked) -> list[str]:
    return risk_colours(np.geomspace(0.4, 2.5, len(asked.times)))


def _percent(share: float) -> str:
    return f"{share:.0%}" if share == share else "unknown"

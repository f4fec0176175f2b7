"""All leaves in numbers: on paper, and for readers without a pointer."""

from __future__ import annotations

from math import isfinite

from surtree.report._channels import share_html, share_limits
from surtree.report._html import Markup, element, markup, note, small, table
from surtree.report._shown import Shown, cell_html
from surtree.report._tree import breakable
from surtree.summary.figures import level_text
from surtree.summary.survival_table import SurvivalAt
from surtree.words.numbers import number


def groups_html(shown: Shown) -> Markup:
    """Return the rules and figures of all leaves, and their survival at some times, as tables."""
    persons = [] if shown.tree.n_persons is None else ["persons"]
    headings = ["leaf", "who", *persons, "rows", *map(shown.heading, shown.columns)]
    rows = [_row(shown, position) for position in range(len(shown.groups))]
    return markup(table(headings, rows, "groups"), _survival_html(shown))


def _row(shown: Shown, position: int) -> list[str]:
    group = shown.groups[position]
    few = " (few)" if group.note == "few events" else ""
    counts = [column for column in shown.columns if column.is_count]
    return [
        markup(element("span", "leaf ", class_="unit"), group.letters),
        breakable(shown.rules[group.leaf]),
        *([] if group.n_persons is None else [str(group.n_persons)]),
        str(group.n_samples),
        *(
            cell_html(column, position, few if column in counts[:1] else "")
            for column in shown.columns
        ),
    ]


def _survival_html(shown: Shown) -> Markup:
    times = sorted({row.time for rows in shown.survival for row in rows})
    if not times:
        return Markup()
    rows = []
    for curve, known in zip(shown.curves, shown.survival, strict=True):
        at = {row.time: _cell(row, shown) for row in known}
        cells = [at.get(time, Markup()) for time in times]
        if not known:
            cells[0] = small(f"last follow-up at {number(curve.last_time, 4)}")
        rows.append([curve.group.letters, *cells])
    headings = ["leaf", *(number(time, 6) for time in times)]
    return markup(
        note(_caption(shown)), table(headings, rows, "survival", "Survival at some times")
    )


def _caption(shown: Shown) -> str:
    findings, interval = shown.findings, level_text(shown.level)
    below = ""
    if any(isfinite(row.observed) for rows in shown.survival for row in rows):
        seen = f"observed survival ({interval}) and " if findings.predicts_otherwise else ""
        below = f"; below it {seen}rows at risk"
    unit = f", time in {findings.time_unit}" if findings.time_unit else ""
    text = (
        f"Survival as the tree predicts it ({shown.limits_name}){below}{unit}. Empty where nobody "
        "is left at risk."
    )
    if shown.has_limits:
        text += " Intervals from other samples include the uncertainty of the tree itself."
    elif shown.tree.leaf_curve == "baseline":
        text += " Intervals of predicted survival and of medians are the uncertainty of theta only."
    return text


def _cell(row: SurvivalAt, shown: Shown) -> Markup:
    observed = ""
    if isfinite(row.observed) and shown.findings.predicts_otherwise:
        observed = f"{row.observed:.0%}{share_limits(row.observed_limits)}"
    at_risk = f"{row.at_risk} at risk" if row.at_risk else ""
    return markup(share_html(row.predicted, row.limits), small(observed), small(at_risk))

"""What resampling says: expected performance, calibration, net benefit, stability."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite

import numpy as np

from surtree.metrics import Calibration, DecisionCurve
from surtree.report._chart import Axis, Chart
from surtree.report._tree import breakable
from surtree.summary.findings import Findings
from surtree.summary.labels import Labels
from surtree.summary.wording import leaf_texts, number
from surtree.validation import ColumnUse, LeafStability, Measure, Validation
from surtree.validation.verdict import MEASURE_NAMES
from surtree.words.numbers import missing_figures
from surtree.words.quoting import html_text as escape

_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
# More columns than these are only counted.
_MOST_COLUMNS = 12

_NOTES = {
    "concordance": (
        MEASURE_NAMES["concordance"],
        "of two people, how often the one with the higher predicted risk has the event first; 0.5 "
        "is chance, 1 is perfect",
    ),
    "brier": (
        "error of the survival curves that is saved",
        "of the integrated Brier score, compared with one curve for all; 0% is no better",
    ),
    "calibration_slope": (
        MEASURE_NAMES["calibration_slope"],
        "below 1, predictions are too extreme: high risks are lower, and low ones higher, than "
        "predicted",
    ),
}


def performance_html(found: Validation) -> str:
    """Return what to expect on new rows: figures, and why some are missing."""
    figures = "".join(
        f"<div><dt>{escape(term)}</dt><dd>{escape(_figure(measure))}"
        f"<small>{escape(_apparent(measure))}; {escape(note)}</small></dd></div>"
        for name, (term, note) in _NOTES.items()
        if isfinite((measure := found[name]).value)
    )
    missing = missing_figures(
        (one.words, one.reason, isfinite(one.value)) for one in found.measures
    )
    return (
        f'<dl class="figures scores">{figures}</dl>'
        + "".join(f'<p class="note">{escape(line)}.</p>' for line in missing)
        + f'<p class="note">{escape(_how(found))} Figures outside of this section are about the '
        "rows that the tree was fitted on.</p>"
    )


def _figure(measure: Measure) -> str:
    style = "{:.1%}" if measure.name == "brier" else "{:.2f}"
    value = style.format(measure.value)
    if not isfinite(measure.lower):
        return value
    return f"{value} ({style.format(measure.lower)} to {style.format(measure.upper)})"


def _apparent(measure: Measure) -> str:
    if not isfinite(measure.apparent):
        return "not estimable on the rows it was fitted on"
    style = "{:.1%}" if measure.name == "brier" else "{:.2f}"
    return f"{style.format(measure.apparent)} on the rows it was fitted on"


def _how(found: Validation) -> str:
    what = "samples of the rows, drawn with replacement"
    if found.method == "folds":
        what = "divisions of the rows into folds"
    return (
        "What to expect on new rows: everything that built this tree, tuning included, was "
        f"repeated on {found.n_repetitions} {what}, and each tree was asked "
        f"about the rows that it had not seen. In brackets, {100 * found.level:g}% intervals; they "
        "include the error of drawing no more samples."
    )


def curves_html(findings: Findings) -> str:
    """Return calibration and net benefit on rows that trees had not seen, as pictures."""
    found = findings.validation
    if found is None or found.calibration is None:
        return ""
    when = _when(findings, found)
    figures = _figure_html(
        "Calibration",
        _calibration_chart(found.calibration, when),
        f"Predicted and observed survival at {when}, of rows that the trees had not seen, in "
        "groups of similar predictions. On the line, what was predicted is what happened.",
    )
    if found.decision is not None:
        figures += _figure_html(
            "Is it worth acting on?",
            _decision_chart(found.decision, when),
            f"Net benefit of acting where the predicted risk of an event by {when} is at least the "
            "threshold (thick), on everybody (thin) and on nobody (zero), in true alarms per row. "
            "The tree is of use where its line is above both."
            + (f" The line has a gap: {found.decision.missing}." if found.decision.missing else ""),
        )
    return f'<div class="charts">{figures}</div>'


def _when(findings: Findings, found: Validation) -> str:
    """Return the last horizon with its unit."""
    unit = f" {findings.time_unit}" if findings.time_unit else ""
    return f"{number(found.horizons[-1], 4)}{unit}"


def _figure_html(title: str, chart: Chart, caption: str) -> str:
    return (
        f"<figure><h3>{escape(title)}</h3>{chart.svg()}"
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def _calibration_chart(curve: Calibration, when: str) -> Chart:
    chart = Chart(
        Axis(0.0, 1.0, _SHARES, "predicted survival"),
        Axis(0.0, 1.0, _SHARES, "observed survival"),
        f"Predicted against observed survival at {when}",
    )
    chart.line((0.0, 1.0), (0.0, 1.0), "ideal")
    for point in zip(curve.predicted, curve.observed, curve.lower, curve.upper, strict=True):
        chart.point(*map(float, point))
    return chart


def _decision_chart(curve: DecisionCurve, when: str) -> Chart:
    most = max(0.05, float(curve.treat_all.max()), float(np.nanmax(curve.model, initial=0.0)))
    least = -most / 4
    end = float(curve.thresholds[-1])
    step = 0.1 if end <= 0.55 else 0.2
    ticks = [step * k for k in range(round(end / step + 0.5)) if step * k <= end]
    height = next(size for size in (0.02, 0.05, 0.1, 0.2, 0.5) if most / size <= 5)
    chart = Chart(
        Axis(0.0, end, ticks, "threshold probability"),
        Axis(
            least, most, [height * k for k in range(int(most / height) + 1)], "net benefit", False
        ),
        f"Net benefit against the threshold probability, for events by {when}",
    )
    chart.line((0.0, end), (0.0, 0.0), "ideal")
    shown = curve.treat_all >= least
    chart.line(curve.thresholds[shown].tolist(), curve.treat_all[shown].tolist(), "other")
    chart.line(curve.thresholds.tolist(), curve.model.tolist(), "main")
    return chart


def stability_html(findings: Findings) -> str:
    """Return how stable the questions and the groups are, as tables."""
    found = findings.validation
    if found is None or not found.columns:
        return ""
    return (
        "<h3>Would other rows have given another tree?</h3>"
        f'<p class="note">{escape(_agreement_text(findings, found))}</p>'
        f'<div class="pair">{_columns_html(found.columns, findings.labels)}'
        f"{_leaves_html(findings, found)}</div>"
    )


def _agreement_text(findings: Findings, found: Validation) -> str:
    first = max(found.columns, key=lambda use: use.first)
    text = (
        f"Of {found.n_repetitions} trees of samples, {first.first:.0%} ask about {first.name} "
        "first."
    )
    if not isfinite(found.instability):
        return text
    return (
        f"{text} For one person, their predictions at {_when(findings, found)} differ from "
        f"this tree's by {100 * found.instability:.0f} percentage points on average."
    )


def _columns_html(columns: Sequence[ColumnUse], labels: Labels) -> str:
    rows = (
        (
            breakable(labels.name(use.name)),
            f'<span class="bar" style="--share:{use.anywhere:.4f}"></span>{use.anywhere:.0%}',
            f"{use.first:.0%}",
            escape(_middle(use, labels.unit(use.name))),
        )
        for use in columns[:_MOST_COLUMNS]
    )
    more = ""
    if len(columns) > _MOST_COLUMNS:
        more = f'<p class="note">and {len(columns) - _MOST_COLUMNS} more columns, less often</p>'
    headings = ("column", "asked about", "asked first", "mostly cut")
    return f"<div>{_table(headings, rows)}{more}</div>"


def _middle(use: ColumnUse, unit: str) -> str:
    if use.middle is None:
        return ""
    low, high = (number(value, 4) for value in use.middle)
    said = f"above {low}" if low == high else f"above {low} to {high}"
    return f"{said} {unit}".strip()


def _leaves_html(findings: Findings, found: Validation) -> str:
    rules = leaf_texts(findings.tree, findings.labels)
    rows = (
        (
            f"leaf {leaf.leaf}<small>{breakable(rules.get(leaf.leaf, ''))}</small>",
            f"{leaf.words}<small>{leaf.jaccard:.0%} agreement</small>",
            _range(leaf),
        )
        for leaf in found.leaves
    )
    when = _when(findings, found)
    headings = ("group", "in trees of samples", f"survival at {when}")
    note = (
        '<p class="note">Agreement: of the rows in a group or in the most similar one of another '
        "tree, the share in both. In brackets, what the trees of samples say of a row of the "
        f"group: {100 * found.level:g}% of them, on average.</p>"
    )
    return f"<div>{_table(headings, rows)}{note}</div>"


def _range(leaf: LeafStability) -> str:
    if not isfinite(leaf.survival):
        return ""
    if not isfinite(leaf.lower):
        return f"{leaf.survival:.0%}"
    return f"{leaf.survival:.0%}<small>({leaf.lower:.0%} to {leaf.upper:.0%})</small>"


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of cells that are HTML already; the first of a row is its heading."""
    head = "".join(f'<th scope="col">{escape(heading)}</th>' for heading in headings)
    body = "".join(
        f'<tr><th scope="row">{first}</th>' + "".join(f"<td>{cell}</td>" for cell in rest) + "</tr>"
        for first, *rest in rows
    )
    return (
        f'<div class="scroll"><table class="stability"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )

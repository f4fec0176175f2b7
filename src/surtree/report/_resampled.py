"""What resampling says: expected performance, calibration, net benefit, stability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

import numpy as np

from surtree.metrics import Calibration, DecisionCurve
from surtree.report._chart import SHARES, Axis, Chart
from surtree.report._html import Markup, element, markup, note, small, table, terms
from surtree.report._tree import breakable
from surtree.summary.findings import Findings
from surtree.summary.labels import Labels
from surtree.summary.wording import leaf_texts
from surtree.validation import ColumnUse, LeafStability, Measure, Validation
from surtree.validation._by_group import rows_of_groups
from surtree.validation.held_out import CAUSE_CONCORDANCE, cause_name
from surtree.validation.verdict import MEASURE_NAMES
from surtree.words.numbers import leaf_names, missing_figures, number

# More columns than these are only counted.
_MOST_COLUMNS = 12

_NOTES = {
    "concordance": (
        MEASURE_NAMES["concordance"],
        "of two people, how often the one with the higher predicted risk has the event first; 0.5 "
        "is chance, 1 is perfect",
    ),
    "brier": (
        "reduction of the integrated Brier score",
        "of survival curves, compared with one curve for all; 0% is no better",
    ),
    "calibration_slope": (
        MEASURE_NAMES["calibration_slope"],
        "below 1, predictions are too extreme: high risks are lower, and low ones higher, than "
        "predicted",
    ),
    "c_for_benefit": (
        "C-for-benefit",
        "of two pairs of a treated and an untreated person, how often the one with the greater "
        "predicted gain in survival has the greater observed one; 0.5 is chance",
    ),
}
_AT_HORIZON = {
    "auc": (
        "of two people, one with the event by then and one without, how often the first has the "
        "higher predicted risk; 0.5 is chance"
    ),
    "ici": (
        "integrated calibration index: how far predicted risks are from a smooth curve of the "
        "observed ones, on average; 0 is right"
    ),
}
_CAUSE_NOTES = {
    "concordance": (
        CAUSE_CONCORDANCE,
        "of two people, how often the one with the higher predicted risk has the event of this "
        "cause first, or alone; 0.5 is chance, 1 is perfect",
    ),
    "brier": (_NOTES["brier"][0], _NOTES["brier"][1].replace("survival", "incidence")),
}


def performance_html(
    validation: Validation, noun: str = "tree", names: Mapping[int, str] | None = None
) -> Markup:
    """Return what to expect in new data: figures, and why some are missing."""
    figures = (
        (_term(term, measure.cause, names), _figure(measure), f"{_apparent(measure)}; {meaning}")
        for measure in validation.measures
        for term, meaning in _notes(measure)
        if isfinite(measure.value)
    )
    missing = missing_figures(
        (one.words, one.reason, isfinite(one.value)) for one in validation.measures
    )
    return markup(
        terms(figures, "figures scores"),
        *(note(f"{text}.") for text in missing),
        note(
            f"{_how(validation, noun)} Figures outside of this section are about the rows that the "
            f"{noun} was fitted on."
        ),
    )


def _notes(measure: Measure) -> list[tuple[str, str]]:
    """Return what a measure is called, and what it means; nothing of those that are left out."""
    if measure.kind in _AT_HORIZON:
        return [(measure.words.removeprefix(f"cause {measure.cause}: "), _AT_HORIZON[measure.kind])]
    notes = _NOTES if measure.cause is None else _CAUSE_NOTES
    return [notes[measure.kind]] if measure.kind in notes else []


def _term(term: str, cause: int | None, names: Mapping[int, str] | None) -> str:
    return term if cause is None else f"{cause_name(cause, names)}: {term}"


def _figure(measure: Measure) -> str:
    style = _style(measure)
    value = style.format(measure.value)
    if not isfinite(measure.lower):
        return value
    return f"{value} ({style.format(measure.lower)} to {style.format(measure.upper)})"


def _style(measure: Measure) -> str:
    return {"brier": "{:.1%}", "ici": "{:.3f}"}.get(measure.kind, "{:.2f}")


def _apparent(measure: Measure) -> str:
    if not isfinite(measure.apparent):
        return "not estimable on the rows it was fitted on"
    style = _style(measure)
    return f"{style.format(measure.apparent)} on the rows it was fitted on"


def _how(validation: Validation, noun: str) -> str:
    what = "samples of the rows, drawn with replacement"
    if validation.method == "folds":
        what = "divisions of the rows into folds"
    if validation.method == "groups":
        what = f"division of the rows into {len(validation.groups)} groups"
    return (
        f"Expected in new data: everything that built this {noun}, tuning included, was "
        f"repeated on {validation.n_repetitions} {what}, and each {noun} was asked "
        f"about the rows that it had not seen. In brackets, {100 * validation.level:g}% intervals; "
        "they include the error of drawing no more samples."
    )


def by_group_html(validation: Validation | None) -> Markup:
    """Return how well models of the other groups predict each group, as a table."""
    if validation is None or not validation.groups:
        return Markup()
    head, *rows = rows_of_groups(validation.groups, validation.level)
    return element(
        "section",
        element("h3", "Group by group"),
        table(head, rows, "numbers", "Performance in each group"),
        note(
            "Each group, such as a centre, is predicted by a model of all others. In brackets, "
            f"{100 * validation.level:g}% intervals, about other patients of the same group. SD "
            "between: by how much groups differ beyond chance (DerSimonian and Laird)."
        ),
    )


def curves_html(validation: Validation | None, time_unit: str | None, noun: str = "tree") -> Markup:
    """Return calibration and net benefit on rows that models had not seen, as pictures."""
    if validation is None or validation.calibration is None:
        return Markup()
    when, what = _when(time_unit, validation), validation.curve_name
    return judged_curves_html(validation.calibration, validation.decision, when, what, noun)


def judged_curves_html(
    calibration: Calibration | None, decision: DecisionCurve | None, when: str, what: str, noun: str
) -> Markup:
    """Return calibration and net benefit as pictures, where they are known."""
    if calibration is None:
        return Markup()
    event = "an event" if calibration.cause is None else f"cause {calibration.cause}"
    figures = [
        _figure_html(
            "Calibration",
            _calibration_chart(calibration, when, what),
            f"Predicted and observed {what} at {when}, of rows that the {noun}s had not seen, in "
            "groups of similar predictions. On the line, what was predicted is what happened.",
        )
    ]
    if decision is not None:
        gap = f" The line has a gap: {decision.missing}." if decision.missing else ""
        figures.append(
            _figure_html(
                "Is it worth acting on?",
                _decision_chart(decision, when),
                f"Net benefit of acting where the predicted risk of {event} by {when} is at least "
                "the threshold probability (thick), on everybody (thin) and on nobody (zero), in "
                f"true alarms per row. The {noun} is of use where its line is above both.{gap}",
            )
        )
    return element("div", *figures, class_="charts")


def _when(time_unit: str | None, validation: Validation) -> str:
    """Return the last horizon with its unit."""
    unit = f" {time_unit}" if time_unit else ""
    return f"{number(validation.horizons[-1], 4)}{unit}"


def _figure_html(title: str, chart: Chart, caption: str) -> Markup:
    return element("figure", element("h3", title), chart.svg(), element("figcaption", caption))


def _calibration_chart(curve: Calibration, when: str, what: str) -> Chart:
    chart = Chart(
        Axis(0.0, 1.0, SHARES, f"predicted {what}"),
        Axis(0.0, 1.0, SHARES, f"observed {what}"),
        f"Predicted against observed {what} at {when}",
    )
    chart.line((0.0, 1.0), (0.0, 1.0), "ideal")
    for point in zip(curve.predicted, curve.observed, curve.lower, curve.upper, strict=True):
        chart.point(*map(float, point))
    return chart


def _decision_chart(curve: DecisionCurve, when: str) -> Chart:
    most = max(0.05, float(curve.treat_all.max()), float(np.nanmax(curve.model, initial=0.0)))
    least = -most / 4
    end = float(curve.thresholds[-1])
    chart = Chart(
        Axis.until(end, "threshold probability", percent=True),
        Axis.until(most, "net benefit", low=least),
        f"Net benefit against the threshold probability, for events by {when}",
    )
    chart.line((0.0, end), (0.0, 0.0), "ideal")
    shown = curve.treat_all >= least
    chart.line(curve.thresholds[shown], curve.treat_all[shown], "other")
    chart.line(curve.thresholds, curve.model, "main")
    return chart


def stability_html(findings: Findings) -> Markup:
    """Return how stable the questions and the groups are, as tables."""
    validation = findings.validation
    if validation is None or not validation.columns:
        return Markup()
    return markup(
        element("h3", "Would other data have given another tree?"),
        note(_agreement_text(findings, validation)),
        element(
            "div",
            _columns_html(validation.columns, findings.labels),
            _leaves_html(findings, validation),
            class_="pair",
        ),
    )


def _agreement_text(findings: Findings, validation: Validation) -> str:
    first = max(validation.columns, key=lambda use: use.first)
    text = (
        f"Of {validation.n_repetitions} trees of samples, {first.first:.0%} ask about "
        f"{first.name} first."
    )
    if not isfinite(validation.instability):
        return text
    return (
        f"{text} For one person, their predictions at {_when(findings.time_unit, validation)} "
        f"differ from this tree's by {100 * validation.instability:.0f} percentage points on "
        "average."
    )


def _columns_html(columns: Sequence[ColumnUse], labels: Labels) -> Markup:
    rows = (
        (
            breakable(labels.name(use.name)),
            bar(use.anywhere, f"{use.anywhere:.0%}"),
            f"{use.first:.0%}",
            _middle(use, labels.unit(use.name)),
        )
        for use in columns[:_MOST_COLUMNS]
    )
    more = None
    if len(columns) > _MOST_COLUMNS:
        more = note(f"and {len(columns) - _MOST_COLUMNS} more columns, less often")
    headings = ("column", "asked about", "asked first", "mostly cut")
    return element("div", table(headings, rows, "stability"), more)


def bar(share: float, text: str) -> Markup:
    """Return a share as a bar before its number."""
    return markup(element("span", class_="bar", style=f"--share:{share:.4f}"), text)


def _middle(use: ColumnUse, unit: str) -> str:
    if use.middle is None:
        return ""
    low, high = (number(value, 4) for value in use.middle)
    text = f"above {low}" if low == high else f"above {low} to {high}"
    return f"{text} {unit}".strip()


def _leaves_html(findings: Findings, validation: Validation) -> Markup:
    names = leaf_names(leaf.leaf for leaf in validation.leaves)
    rules = leaf_texts(findings.tree, findings.labels)
    rows = (
        (
            markup(
                f"leaf {names[leaf.leaf]}",
                small(breakable(rules.get(leaf.leaf, ""))),
            ),
            markup(leaf.words, small(f"{leaf.jaccard:.0%} agreement")),
            _range(leaf),
        )
        for leaf in validation.leaves
    )
    curve = f"{validation.curve_name} at {_when(findings.time_unit, validation)}"
    headings = ("group", "in trees of samples", curve)
    return element(
        "div",
        table(headings, rows, "stability"),
        note(
            "Agreement: of the rows in a group or in the most similar one of another tree, the "
            "share in both. In brackets, what the trees of samples say of a row of the group: "
            f"{100 * validation.level:g}% of them, on average."
        ),
    )


def _range(leaf: LeafStability) -> Markup:
    if not isfinite(leaf.survival):
        return Markup()
    limits = f"({leaf.lower:.0%} to {leaf.upper:.0%})" if isfinite(leaf.lower) else ""
    return markup(f"{leaf.survival:.0%}", small(limits))

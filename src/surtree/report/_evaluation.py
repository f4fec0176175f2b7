"""The page of an evaluation: how a fitted model does on other data."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

from surtree.report._html import Content, Markup, element, markup, note, table, terms
from surtree.report._plain import Asked, Section, asked_facts, plain_html
from surtree.report._resampled import judged_curves_html
from surtree.report._strip import Chip, chips_html
from surtree.report._tree import breakable
from surtree.validation import Evaluation, LeafCheck, Measure
from surtree.words.numbers import figure, limits_text, missing_figures, number, plural

_CHANCE = 0.5


def evaluation_page(evaluation: Evaluation, asked: Asked) -> str:
    """Return the page of an evaluation."""
    parts = [
        Section(
            "measures", "Performance", "How well does it predict?", _measures(evaluation, asked)
        ),
        Section("leaves", "Leaves", "Do its groups fare as it says?", _leaves(evaluation, asked)),
        Section("columns", "Columns", "Are these such people?", _columns(evaluation)),
    ]
    facts = [
        ("rows", str(evaluation.n_rows), "that the model was not fitted on"),
        ("events", str(evaluation.n_events), ""),
    ]
    return plain_html(
        asked,
        chips_html([_chip(evaluation)]),
        [part for part in parts if part.content],
        terms(facts, "figures"),
        terms(asked_facts(asked), "facts"),
    )


def _chip(evaluation: Evaluation) -> Chip:
    one = next((one for one in evaluation.measures if one.kind == "concordance"), None)
    if one is None or not isfinite(one.value):
        return Chip("On these new data", "Not estimable", "measures", "unknown")
    better = isfinite(one.lower) and one.lower > _CHANCE
    says = "Ranks people better than chance" if better else "Not clearly better than chance"
    return Chip("On these new data", says, "measures", "good" if better else "doubt", _text(one))


def _text(one: Measure) -> str:
    limits = limits_text(one.lower, one.upper)
    return f"{one.words} {figure(one.value)}" + ("" if limits == "-" else f" ({limits})")


def _measures(evaluation: Evaluation, asked: Asked) -> Markup:
    rows = [
        (one.words, figure(one.value), limits_text(one.lower, one.upper))
        for one in evaluation.measures
    ]
    missing = missing_figures(
        (one.words, one.reason, isfinite(one.value)) for one in evaluation.measures
    )
    headings = ("measure", "value", f"{100 * evaluation.level:g}% interval")
    when = f"{number(evaluation.horizons[-1], 4)}{asked.unit}"
    return markup(
        table(headings, rows, "numbers", "Measures"),
        *(note(f"{text}.") for text in missing),
        judged_curves_html(
            evaluation.calibration, evaluation.decision, when, evaluation.curve_name, "model"
        ),
    )


def _leaves(evaluation: Evaluation, asked: Asked) -> Markup:
    if not evaluation.leaves:
        return Markup()
    when = f"{evaluation.curve_name} at {number(evaluation.horizons[-1], 4)}{asked.unit}"
    headings = ("leaf", "who", "rows", "events", "expected", "observed / expected")
    rows = [list(_leaf(one, asked)) for one in evaluation.leaves]
    return markup(
        element("p", "Above 1, more events were observed than the leaf expects; 1 is right."),
        table(
            (*headings, f"predicted {when}", "observed"), rows, "survival", "Leaves on these rows"
        ),
    )


def _leaf(one: LeafCheck, asked: Asked) -> Iterator[str]:
    yield one.name
    yield breakable(" ".join(filter(None, [one.channel, one.rule])))
    yield from (str(one.n_rows), str(one.n_events), f"{one.expected:.1f}")
    yield _share(one.ratio, one.lower, one.upper, figure)
    yield _percent(one.predicted[-1])
    yield _share(one.observed[-1], one.observed_lower[-1], one.observed_upper[-1], _percent)


def _share(value: float, lower: float, upper: float, form: object) -> str:
    write = form if callable(form) else str
    limits = f" ({write(lower)} to {write(upper)})" if isfinite(lower) else ""
    return f"{write(value)}{limits}"


def _percent(value: float) -> str:
    return f"{value:.0%}" if isfinite(value) else "unknown"


def _columns(evaluation: Evaluation) -> Markup:
    if not evaluation.columns:
        return Markup()
    changed: list[Content] = [
        element("li", str(one)) for one in evaluation.columns if one.has_changed
    ]
    if not changed:
        return element("p", "All columns have values as in training.")
    text = f"{plural(len(changed), 'column')} with values that are not as in training:"
    return markup(element("p", text), element("ul", *changed))

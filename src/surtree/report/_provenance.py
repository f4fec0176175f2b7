"""Where a page comes from: when, by what, from which rows, and how missing values were handled."""

from __future__ import annotations

from datetime import date

from surtree._support.package import VERSION
from surtree.report._html import Markup, element, terms
from surtree.summary.findings import Findings
from surtree.summary.survival_table import INDEPENDENT_CENSORING, follow_up_text, last_time
from surtree.words.numbers import number, plural


def provenance_html(findings: Findings, today: date) -> Markup:
    """Return what a reviewer asks about the fit, as a list of terms."""
    weights = ""
    if findings.tree.weighted:
        weights = (
            "counted as repeated rows (frequency weights): with sampling or inverse probability "
            "weights the confidence intervals are not valid"
        )
    facts = (
        ("made", f"{today.isoformat()} with surtree {VERSION}"),
        ("fitted", f"with surtree {findings.fitted_with}" if findings.fitted_with else ""),
        ("rows and events", _rows_text(findings)),
        ("follow-up", _follow_up_text(findings)),
        ("censoring", INDEPENDENT_CENSORING),
        ("missing values", _missing_text(findings)),
        ("weights", weights),
        ("parameters", _parameters_html(findings)),
    )
    return terms(((term, text, None) for term, text in facts), "facts")


def _rows_text(findings: Findings) -> str:
    rows, events = int(findings.tree.n_samples[0]), int(findings.tree.n_events[0])
    text = f"{plural(rows, 'row')}, {plural(events, 'event')}"
    questions = sum(len(column.cuts) for column in findings.columns)
    if not questions:
        return text
    return (
        f"{text}; {plural(questions, 'candidate question')}, "
        f"{number(events / questions, 2)} events for each"
    )


def _follow_up_text(findings: Findings) -> str:
    unit = f" {findings.time_unit}" if findings.time_unit else ""
    last_event = findings.tree.last_event
    text = (
        f"until {number(last_time(findings.tree), 6)}{unit}; the last event at "
        f"{number(last_event, 6)}{unit}"
    )
    if findings.follow_up is None:
        return text
    return f"{text}; {follow_up_text(findings.follow_up, unit)}"


def _missing_text(findings: Findings) -> str:
    later = (
        "new data: a value that is missing where training had none follows the larger group; a "
        "category that training never had counts as missing"
    )
    if not findings.columns:
        return later
    names = [
        findings.labels.name(column.name)
        for column in findings.columns
        if any(cut.missing is not None for cut in column.cuts)
    ]
    if not names:
        return f"none in the columns of questions; {later}"
    listed = ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
    return (
        f"in {plural(len(names), 'column')} ({listed}): no value was imputed, each question sends "
        f"them to the side that suits the loss; {later}"
    )


def _parameters_html(findings: Findings) -> Markup:
    if not findings.parameters or findings.certificate is None:
        return Markup()
    texts = [
        findings.certificate.method,
        *(f"{name}={value}" for name, value in findings.parameters),
    ]
    return Markup(" ".join(element("code", text) for text in texts))

"""Where a page comes from: when, by what, from which rows, and how missing values were handled."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from surtree._support.version import VERSION
from surtree.summary.findings import Findings
from surtree.summary.leaves import Leaf
from surtree.summary.time import INDEPENDENT_CENSORING, follow_up_text, last_time
from surtree.summary.wording import number
from surtree.words.numbers import plural
from surtree.words.quoting import html_text as escape


def provenance_html(findings: Findings, leaves: Sequence[Leaf], today: date) -> str:
    """Return what a reviewer asks about the fit, as a list of terms."""
    facts = [
        ("made", f"{today.isoformat()} with surtree {VERSION}"),
        ("fitted", f"with surtree {findings.fitted_with}" if findings.fitted_with else ""),
        ("rows and events", _rows_text(findings)),
        ("follow-up", _follow_up_text(findings, leaves)),
        ("censoring", INDEPENDENT_CENSORING),
        ("missing values", _missing_text(findings)),
    ]
    if findings.tree.weighted:
        facts.append(
            (
                "weights",
                "counted as repeated rows (frequency weights): with sampling or inverse "
                "probability weights the confidence intervals are not valid",
            )
        )
    listed = "".join(
        f"<div><dt>{escape(term)}</dt><dd>{escape(text)}</dd></div>" for term, text in facts if text
    )
    return f'<dl class="facts">{listed}{_parameters_html(findings)}</dl>'


def _rows_text(findings: Findings) -> str:
    rows, events = int(findings.tree.n_samples[0]), int(findings.tree.n_events[0])
    said = f"{plural(rows, 'row')}, {plural(events, 'event')}"
    questions = sum(len(column.cuts) for column in findings.columns)
    if not questions:
        return said
    return (
        f"{said}; {plural(questions, 'candidate question')}, "
        f"{number(events / questions, 2)} events for each"
    )


def _follow_up_text(findings: Findings, leaves: Sequence[Leaf]) -> str:
    unit = f" {findings.time_unit}" if findings.time_unit else ""
    last_event = float(findings.tree.baseline.times[-1])
    said = (
        f"until {number(last_time(findings.tree, leaves), 6)}{unit}; the last event at "
        f"{number(last_event, 6)}{unit}"
    )
    if findings.follow_up is None:
        return said
    return f"{said}; {follow_up_text(findings.follow_up, unit)}"


def _missing_text(findings: Findings) -> str:
    later = (
        "a value that is missing where training had none follows the larger group; a category "
        "that training never had counts as missing"
    )
    if not findings.columns:
        return f"new rows: {later}"
    names = [
        findings.labels.name(column.name)
        for column in findings.columns
        if any(cut.missing is not None for cut in column.cuts)
    ]
    if not names:
        return f"none in the columns of questions; new rows: {later}"
    listed = ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
    return (
        f"in {plural(len(names), 'column')} ({listed}): no value was imputed, each question sends "
        f"them to the side that suits the loss; new rows: {later}"
    )


def _parameters_html(findings: Findings) -> str:
    if not findings.parameters or findings.certificate is None:
        return ""
    listed = " ".join(
        f"<code>{escape(f'{name}={value}')}</code>" for name, value in findings.parameters
    )
    method = escape(findings.certificate.method)
    return f"<div><dt>parameters</dt><dd><code>{method}</code> {listed}</dd></div>"

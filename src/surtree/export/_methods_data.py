"""The sentences of the methods about rows and columns."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from surtree.summary.findings import Findings
from surtree.summary.labels import Labels
from surtree.summary.time import INDEPENDENT_CENSORING, follow_up_text, last_time
from surtree.survival.follow_up import FollowUp
from surtree.words.numbers import number, plural


def data(findings: Findings) -> str:
    """Say which rows the tree was fitted on."""
    tree = findings.tree
    rows, events = int(tree.n_samples[0]), int(tree.n_events[0])
    text = f"A survival tree was fitted to {plural(rows, 'row')}"
    if tree.n_persons is not None:
        text += f" of {plural(int(tree.n_persons[0]), 'person')}"
    text += f" with {plural(events, 'event')}"
    if tree.n_persons is None:
        text += f" ({1 - events / rows:.0%} of the rows were censored)"
    text += findings.outcome.events_text()
    unit = f" {findings.time_unit}" if findings.time_unit else ""
    end = last_time(tree)
    event = number(tree.last_event, 6) + unit
    text += f"; the last event was at {event}"
    if np.isfinite(end):
        text += f", and follow-up ended at {number(end, 6)}{unit}"
    text += f".{_follow_up(findings.follow_up, unit)}"
    if tree.weighted:
        text += (
            f" Rows were weighted (total weight {number(float(tree.weight[0]), 6)}); weights count "
            "as repeated rows."
        )
    if tree.enters_late:
        text += " Rows that came under observation late are at risk from then on."
    return f"{text} {INDEPENDENT_CENSORING}"


def _follow_up(quartiles: FollowUp | None, unit: str) -> str:
    if quartiles is None:
        return ""
    return f" The {follow_up_text(quartiles, unit, ' was')}."


def questions(findings: Findings, labels: Labels) -> Iterator[str]:
    """Say what the tree could ask about, and what became of missing values."""
    certificate = findings.certificate
    if findings.columns:
        text = f"The tree could ask about {plural(len(findings.columns), 'column')}"
        if certificate is not None and certificate.questions:
            text += f"; candidate questions: {certificate.questions}"
        yield f"{text}."
        missing = [
            labels.name(column.name)
            for column in findings.columns
            if any(cut.missing is not None for cut in column.cuts)
        ]
        if missing:
            noun = "column" if len(missing) == 1 else "columns"
            yield (
                f"Values were missing in the {noun} {', '.join(missing)}; none was imputed, each "
                "question sends missing values to the side with the smaller loss."
            )
        else:
            yield "No value was missing in a column that questions ask about."

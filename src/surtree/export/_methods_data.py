"""The sentences of the methods about rows and columns."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from surtree.summary.findings import Findings
from surtree.summary.labels import Labels
from surtree.summary.survival_table import INDEPENDENT_CENSORING, follow_up_text, last_time
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


_OBSERVED = "probability of not being censored before"
_DEFINITIONS = {
    "concordance": (
        "Harrell's C (Harrell and others, 1996) is the share of comparable pairs of rows in which "
        "the one with the higher risk has its event first; equal risks count one half."
    ),
    "concordance_ipcw": (
        "Uno's C (Uno and others, 2011) weighs these pairs by the inverse of the squared "
        f"{_OBSERVED}, and counts events before the time that is given."
    ),
    "brier": (
        "The reduction of the Brier score is one less the Brier score (Graf and others, 1999) "
        "divided by that "
        "of the Kaplan-Meier curve of all training rows. Both are integrated between the 10% and "
        f"90% quantiles of the times, and rows are weighed by the inverse {_OBSERVED}; 0 is no "
        "better than that curve, 1 is perfect."
    ),
    "calibration_slope": (
        "The calibration slope is the coefficient of the logarithm of the predicted cumulative "
        "hazard in a Cox model; 1 is right."
    ),
    "auc": (
        "The AUC at a time is how often a row with an event by then has a higher predicted risk at "
        "that time than one without (cumulative cases, dynamic controls), with the same weights."
    ),
    "c": "The C up to a time counts events by then, and ranks by the predicted risk at that time.",
    "ici": (
        "The integrated calibration index (ICI; Austin and others, 2020) is the mean distance "
        "between predicted risks and a smooth curve of the observed ones, a Cox model of a "
        "restricted cubic spline with three knots (of causes, Fine and Gray's model); 0 is right, "
        "and few rows are above it by chance."
    ),
    "e50": "E50 is the median of these distances.",
    "e90": "E90 is their 90% quantile.",
    "calibration": (
        "Observed survival is the Kaplan-Meier estimate; the prediction is the mean over rows."
    ),
}
_CITED = {
    "concordance": (
        "Harrell FE, Lee KL, Mark DB. Multivariable prognostic models. Statistics in Medicine 15, "
        "1996."
    ),
    "concordance_ipcw": (
        "Uno H, Cai T, Pencina MJ, D'Agostino RB, Wei LJ. On the C-statistics for evaluating "
        "overall adequacy of risk prediction procedures with censored survival data. Statistics "
        "in Medicine 30, 2011."
    ),
    "brier": (
        "Graf E, Schmoor C, Sauerbrei W, Schumacher M. Assessment and comparison of prognostic "
        "classification schemes for survival data. Statistics in Medicine 18, 1999."
    ),
    "ici": (
        "Austin PC, Harrell FE, van Klaveren D. Graphical calibration curves and the integrated "
        "calibration index (ICI) for survival models. Statistics in Medicine 39, 2020."
    ),
    "wolbers": (
        "Wolbers M, Blanche P, Koller MT, Witteman JCM, Gerds TA. Concordance for prognostic "
        "models with competing risks. Biostatistics 15, 2014."
    ),
    "c_for_benefit": (
        "van Klaveren D, Steyerberg EW, Serruys PW, Kent DM. The proposed 'concordance-statistic "
        "for benefit' provided a useful metric when modeling heterogeneous treatment effects. "
        "Journal of Clinical Epidemiology 94, 2018."
    ),
    "632+": (
        "Efron B, Tibshirani R. Improvements on cross-validation: the .632+ bootstrap method. "
        "Journal of the American Statistical Association 92, 1997."
    ),
    "follow_up": (
        "Schemper M, Smith TL. A note on quantifying follow-up in studies of failure time. "
        "Controlled Clinical Trials 17, 1996."
    ),
}


def concordance_name(findings: Findings) -> str:
    """Return whose concordance it is: of one of several causes, Wolbers'."""
    return findings.outcome.concordance_name


def with_unit(words: str, time_unit: str | None) -> str:
    return f"{words} {time_unit}" if time_unit and words[-1].isdigit() else words


def definitions(findings: Findings) -> Iterator[str]:
    sentences = {**_DEFINITIONS, **findings.outcome.definitions}
    for name in _measures(findings):
        text = sentences[name]
        if findings.tree.enters_late:
            text = text.replace(_OBSERVED, "probability of being under observation at the time")
        yield text


def cited(findings: Findings) -> Iterator[str]:
    """Cite what measures, their correction and follow-up come from."""
    names = _measures(findings)
    names = [findings.outcome.citations.get(name, name) for name in names]
    if findings.validation is not None:
        method = findings.validation.method
        names.append("concordance" if method == "optimism" else method)
    if findings.follow_up is not None:
        names.append("follow_up")
    for name in dict.fromkeys(names):
        if name in _CITED:
            yield _CITED[name]


def _measures(findings: Findings) -> list[str]:
    """Return the names of the measures that the sentences on validation give."""
    if findings.validation is not None:
        known = (one.kind for one in findings.validation.measures if one.value == one.value)
        return list(dict.fromkeys(known))
    scores = findings.held_out
    if scores is None or findings.outcome.judged_by == "effects":
        return []
    return [name for name in ("concordance", "brier") if scores.mean(name) == scores.mean(name)]


_PAPER = (
    "Huisman T, van der Linden JGM, Demirović E. Optimal Survival Trees: A Dynamic Programming "
    "Approach. Proceedings of the AAAI Conference on Artificial Intelligence 38, 2024. "
    "arXiv:2401.04489."
)


def references(findings: Findings) -> Iterator[str]:
    """Cite what the sentences refer to."""
    if findings.outcome.reference:
        yield findings.outcome.reference
    if findings.certificate is not None and findings.certificate.status is not None:
        yield _PAPER
    yield from cited(findings)

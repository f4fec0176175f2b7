"""How well a tree predicts rows that it has not seen, in words that need no statistics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from surtree.outcomes.legacy import has_causes
from surtree.report._resampled import performance_html
from surtree.summary.findings import Findings
from surtree.validation.held_out import CAUSE_CONCORDANCE, CONCORDANCE, CORRECTED, HeldOutScores
from surtree.validation.verdict import PredictionVerdict, prediction_verdicts
from surtree.words.numbers import plural
from surtree.words.quoting import html_text as escape

PLUS_MINUS = "\u00b1"


@dataclass(frozen=True)
class Score:
    """A figure on held-out rows, and its explanation."""

    term: str  # what is measured
    figure: str  # the mean, with one standard error
    note: str  # what the figure means


def validation_html(findings: Findings) -> str:
    """Return what is known of how well the tree predicts new rows."""
    held_out = findings.held_out
    verdicts = prediction_verdicts(
        findings.validation, held_out, findings.tree.n_splits, findings.cause_names
    )
    shown = "".join(map(_verdict_html, verdicts))
    if findings.validation is not None:
        return shown + performance_html(findings.validation)
    if held_out is None:
        return _unknown_html(findings, verdicts[0])
    figures = "".join(
        f"<div><dt>{escape(score.term)}</dt><dd>{escape(score.figure)}"
        f"<small>{escape(score.note)}</small></dd></div>"
        for score in scores_of(held_out, findings.cause_names)
    )
    return (
        f"{shown}"
        f'<dl class="figures scores">{figures}</dl>'
        + "".join(f'<p class="note">{escape(line)}.</p>' for line in held_out.missing)
        + '<p class="note">Each figure is a mean over '
        f"{plural(held_out.n_folds, 'fold')} of rows that the trees had not seen, {PLUS_MINUS} one "
        f"standard error, {_correction(held_out)} All other figures of this page are about the "
        "rows that the tree was fitted on.</p>"
    )


def _correction(held_out: HeldOutScores) -> str:
    if held_out.corrected:
        return (
            f"{CORRECTED}: the size and the shrinkage of a fold's tree are those that the other "
            "folds choose."
        )
    return f"not {CORRECTED}: they are too good."


def scores_of(held_out: HeldOutScores, names: Mapping[int, str] | None = None) -> list[Score]:
    """Return the figures of a validation; those that could not be computed are left out."""
    return [score for name, one in held_out.by_cause(names) for score in _scores(name, one)]


def _scores(cause: str, held_out: HeldOutScores) -> list[Score]:
    """Return the figures of a cause; where it has no name, of the event."""
    of = f"{cause}: " if cause else ""
    without = held_out.mean("loss_without_tree")
    candidates = [
        (
            "concordance",
            Score(
                of + (CAUSE_CONCORDANCE if cause else CONCORDANCE),
                _figure(held_out, "concordance", "{:.3f}"),
                "of two people, how often the one with the higher predicted risk has the event "
                + ("of this cause first, or alone" if cause else "first")
                + "; 0.5 is chance, 1 is perfect",
            ),
        ),
        (
            "brier",
            Score(
                f"{of}error of the {'incidence' if cause else 'survival'} curves that is saved",
                _figure(held_out, "brier", "{:.1%}"),
                "of the integrated Brier score, compared with one curve for all; 0% is no better, "
                "less is worse",
            ),
        ),
        (
            "loss",
            Score(
                f"{of}held-out loss per row",
                _figure(held_out, "loss", "{:.4f}"),
                f"{without:.4f} without a tree; smaller is better",
            ),
        ),
    ]
    return [score for name, score in candidates if np.isfinite(held_out.mean(name))]


def _figure(held_out: HeldOutScores, name: str, style: str) -> str:
    mean, error = held_out.mean(name), held_out.standard_error(name)
    if not np.isfinite(error):
        return style.format(mean)
    return f"{style.format(mean)} {PLUS_MINUS} {style.format(error)}"


def _verdict_html(verdict: PredictionVerdict) -> str:
    return (
        f'<p class="verdict" data-good="{str(verdict.is_good).lower()}">'
        f"<strong>{escape(verdict.heading)}</strong> {escape(verdict.text)}</p>"
    )


def _unknown_html(findings: Findings, verdict: PredictionVerdict) -> str:
    text, command = _remedy(findings)
    return (
        '<p class="verdict" data-good="false">'
        f"<strong>{escape(verdict.heading)}.</strong> {escape(text)}"
        + (f" <code>{_words(command)}</code>" if command else "")
        + "</p>"
        '<p class="note">All figures of this page are about the rows that the tree was fitted on '
        "(in sample). On such rows a larger tree always looks better; on new rows it may do "
        "worse than no tree.</p>"
    )


def _words(command: str) -> str:
    # A line is broken between the words of a command, never after a hyphen within one.
    return " ".join(f'<span class="word">{escape(word)}</span>' for word in command.split(" "))


def _remedy(findings: Findings) -> tuple[str, str]:
    certificate = findings.certificate
    if certificate is None:
        return "This page was made from a tree alone, without its scores.", ""
    if has_causes(findings.tree):
        return "Choose its size on held-out rows, by CompetingRisksTreeCV or surtree fit.", ""
    if certificate.status is None:
        return (
            "Score it on rows that it has not seen, with scikit-learn:",
            "cross_val_score(model, X, y)",
        )
    return (
        "Run surtree fit with --validate, or set model.validation_ = validate(model, X, y):",
        "surtree fit DATA --time TIME --event EVENT --validate 200",
    )

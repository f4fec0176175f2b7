"""How well a tree predicts rows that it has not seen, in words that need no statistics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surtree._quoting import html_text as escape
from surtree._words import plural
from surtree.report._findings import Findings
from surtree.report._resampled import performance_html
from surtree.scores.held_out import HeldOutScores
from surtree.scores.verdict import PredictionVerdict, prediction_verdict
from surtree.tree.causes import has_causes

PLUS_MINUS = "\u00b1"


@dataclass(frozen=True)
class Score:
    """A figure on held-out rows, and its explanation.

    Parameters
    ----------
    term : str
        What is measured.
    figure : str
        The mean, with one standard error.
    note : str
        What the figure means.
    """

    term: str
    figure: str
    note: str


def validation_html(findings: Findings) -> str:
    """Return what is known of how well the tree predicts new rows.

    Parameters
    ----------
    findings : Findings
        What the page shows.
    """
    held_out = findings.held_out
    verdict = prediction_verdict(findings.validation, held_out, findings.tree.n_splits)
    if findings.validation is not None:
        return _verdict_html(verdict) + performance_html(findings.validation)
    if held_out is None:
        return _unknown_html(findings, verdict)
    figures = "".join(
        f"<div><dt>{escape(score.term)}</dt><dd>{escape(score.figure)}"
        f"<small>{escape(score.note)}</small></dd></div>"
        for score in scores_of(held_out, of_cause=has_causes(findings.tree))
    )
    return (
        f"{_verdict_html(verdict)}"
        f'<dl class="figures scores">{figures}</dl>'
        + "".join(f'<p class="note">{escape(line)}.</p>' for line in held_out.missing)
        + '<p class="note">Each figure is a mean over '
        f"{plural(held_out.n_folds, 'fold')} of rows that the trees had not seen, {PLUS_MINUS} one "
        "standard error. The size of the tree, and its shrinkage where several were tried, were "
        "chosen on the same folds: the figures are slightly optimistic. All other figures of this "
        "page are about the rows that the tree was fitted on.</p>"
    )


def scores_of(held_out: HeldOutScores, *, of_cause: bool = False) -> list[Score]:
    """Return the figures of a validation; those that could not be computed are left out.

    Parameters
    ----------
    held_out : HeldOutScores
        The scores of the folds.
    of_cause : bool
        Whether they are about one of several causes: then the concordance is Wolbers'.
    """
    without = held_out.mean("loss_without_tree")
    candidates = [
        (
            "concordance",
            Score(
                "concordance (Wolbers' C)" if of_cause else "concordance (Harrell's C)",
                _figure(held_out, "concordance", "{:.3f}"),
                "of two people, how often the one with the higher predicted risk has the event "
                "first; 0.5 is chance, 1 is perfect",
            ),
        ),
        (
            "brier",
            Score(
                "error of the survival curves that is saved",
                _figure(held_out, "brier", "{:.1%}"),
                "of the integrated Brier score, compared with one curve for all; 0% is no better, "
                "less is worse",
            ),
        ),
        (
            "loss",
            Score(
                "held-out loss per row",
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

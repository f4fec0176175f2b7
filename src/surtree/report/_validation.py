"""What is known of new data: how well the tree predicts, or whether effects differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from surtree.report._html import Content, Markup, element, markup, note, table, terms, verdict
from surtree.report._resampled import performance_html
from surtree.summary.findings import Findings
from surtree.validation.held_out import CAUSE_CONCORDANCE, CONCORDANCE, CORRECTED, HeldOutScores
from surtree.validation.verdict import prediction_verdicts
from surtree.words.numbers import interval_text, number, plural

PLUS_MINUS = "\u00b1"

# By what an outcome is judged by.
HEADINGS = {"prediction": "How well does it predict?", "effects": "Does the effect differ?"}


@dataclass(frozen=True)
class Score:
    """A figure on held-out rows, and its explanation."""

    term: str  # what is measured
    figure: str  # the mean, with one standard error
    note: str  # what the figure means


def validation_html(findings: Findings) -> Markup:
    """Return what is known of new data."""
    if findings.outcome.judged_by == "effects":
        known = findings.validation
        resampled = Markup() if known is None else performance_html(known)
        return markup(_effects_html(findings), resampled)
    held_out = findings.held_out
    verdicts = prediction_verdicts(
        findings.validation, held_out, findings.tree.n_splits, findings.cause_names
    )
    shown = markup(*(verdict(one.heading, one.text, is_good=one.is_good) for one in verdicts))
    if findings.validation is not None:
        return markup(shown, performance_html(findings.validation, names=findings.cause_names))
    if held_out is None and findings.comparison is not None:
        return element("p", "How it does on held-out rows is said below, beside other models.")
    if held_out is None:
        return _unknown_html(findings, verdicts[0].heading)
    scores = scores_of(held_out, findings.cause_names)
    return markup(
        shown,
        terms(((score.term, score.figure, score.note) for score in scores), "figures scores"),
        *(note(f"{text}.") for text in held_out.missing),
        note(
            f"Each figure is a mean over {plural(held_out.n_folds, 'fold')} of rows that the trees "
            f"had not seen, {PLUS_MINUS} one standard error, {_correction(held_out)} All other "
            "figures of this page are about the rows that the tree was fitted on."
        ),
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
    candidates = {
        "concordance": Score(
            of + (CAUSE_CONCORDANCE if cause else CONCORDANCE),
            _figure(held_out, "concordance", "{:.3f}"),
            "of two people, how often the one with the higher predicted risk has the event "
            + ("of this cause first, or alone" if cause else "first")
            + "; 0.5 is chance, 1 is perfect",
        ),
        "brier": Score(
            f"{of}reduction of the integrated Brier score",
            _figure(held_out, "brier", "{:.1%}"),
            f"of {'incidence' if cause else 'survival'} curves, compared with one curve for all; "
            "0% is no better, less is worse",
        ),
        "loss": Score(
            f"{of}held-out loss per row",
            _figure(held_out, "loss", "{:.4f}"),
            f"{without:.4f} without a tree; smaller is better",
        ),
    }
    return [score for name, score in candidates.items() if np.isfinite(held_out.mean(name))]


def _figure(held_out: HeldOutScores, name: str, style: str) -> str:
    mean, error = held_out.mean(name), held_out.standard_error(name)
    if not np.isfinite(error):
        return style.format(mean)
    return f"{style.format(mean)} {PLUS_MINUS} {style.format(error)}"


def _unknown_html(findings: Findings, heading: str) -> Markup:
    text, command = _remedy(findings)
    # A line is broken between the words of a command, never after a hyphen within one.
    words = (element("span", word, class_="word") for word in command.split(" "))
    code = element("code", Markup(" ".join(words))) if command else Markup()
    remedy: Content = markup(text, " ", code) if command else text
    return markup(
        verdict(f"{heading}.", remedy, is_good=False),
        note(
            "All figures of this page are about the rows that the tree was fitted on (in sample). "
            "On such rows a larger tree always looks better; on new data it may do worse than no "
            "tree."
        ),
    )


def _remedy(findings: Findings) -> tuple[str, str]:
    if findings.certificate is None:
        return "This page was made from a tree alone, without its scores.", ""
    if findings.certificate.status is None:
        return (
            "Score it on rows that it has not seen, with scikit-learn:",
            "cross_val_score(model, X, y)",
        )
    return findings.outcome.how_to_validate


def _effects_html(findings: Findings) -> Markup:
    """Return whether effects differ at all, and how much in new data."""
    test, correction = findings.heterogeneity, findings.correction
    if test is None:
        return verdict(
            "Not tested: nothing is known about whether effects differ.",
            "A tree always finds leaves in which arms differ. Set model.heterogeneity_ = "
            "heterogeneity_test(model, X, y, treatment), and model.correction_ = "
            "correct_effects(model, X, y, treatment).",
            is_good=False,
        )
    heading, *others = str(test).splitlines()
    shown = verdict(heading, " ".join(others), is_good=test.is_evidence)
    if correction is None:
        return shown
    headings = ("leaf", "arm", "hazard ratio here", "expected in new data", "95% interval")
    rows = (
        (
            findings.tree.leaf_names[one.leaf],
            str(one.arm),
            _ratio(one.ratio),
            _ratio(one.corrected),
            interval_text(one.limits) or "unknown",
        )
        for one in correction.leaves
    )
    return markup(shown, element("p", correction.share_text), table(headings, rows, "stability"))


def _ratio(ratio: float) -> str:
    return number(ratio, 3) if np.isfinite(ratio) else "unknown"

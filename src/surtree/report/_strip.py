"""The verdict in three chips below the title: the proof, new data, and other samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal

from surtree.report._html import Markup, element, small
from surtree.summary.certificate import audit_verdict, verdict
from surtree.summary.findings import Findings
from surtree.validation import HeldOutScores, Validation
from surtree.validation.held_out import CONCORDANCE
from surtree.validation.verdict import PredictionVerdict, prediction_verdicts
from surtree.words.numbers import plural

Kind = Literal["doubt", "unknown", "good"]
# What overrules the page comes first, then what nobody has looked at.
_ORDER: tuple[Kind, ...] = ("doubt", "unknown", "good")
_ICONS: dict[Kind, str] = {"doubt": "!", "unknown": "?", "good": "\u2713"}


@dataclass(frozen=True)
class Chip:
    """One finding: what it is about, what it says, and where the page says more."""

    about: str
    says: str
    link: str
    kind: Kind
    figure: str = ""


def strip_html(findings: Findings) -> Markup:
    """Return the chips as a list of links."""
    return chips_html(sorted(_chips(findings), key=lambda chip: _ORDER.index(chip.kind)))


def chips_html(chips: Sequence[Chip]) -> Markup:
    """Return chips in their order."""
    return element("ul", *map(_chip_html, chips), class_="strip", aria_label="The verdict")


def plain_strip_html(model: Any) -> Markup:
    """Return the chip of a model that is no tree: what is known of new data."""
    validation = getattr(model, "validation_", None)
    compared = getattr(model, "comparison_", None) is not None
    known = validation is not None
    verdicts = prediction_verdicts(validation, None, 1, noun="model") if known else []
    return chips_html([_prediction(verdicts, _concordance(validation, None), compared)])


def _chip_html(chip: Chip) -> Markup:
    link = element(
        "a",
        element("i", _ICONS[chip.kind], aria_hidden="true"),
        element("span", chip.about),
        element("b", chip.says),
        small(chip.figure),
        href=f"#{chip.link}",
        data_kind=chip.kind,
    )
    return element("li", link)


def _chips(findings: Findings) -> list[Chip]:
    effects = findings.outcome.judged_by == "effects"
    chips = [_proof(findings), _effects(findings) if effects else _new_data(findings)]
    return [*chips, *([_other_samples(findings)] if findings.tree.n_leaves > 1 else [])]


def _proof(findings: Findings) -> Chip:
    """Return what is proven on these rows."""
    audited, certificate = findings.audited, findings.certificate
    proof = verdict(certificate) if audited is None else audit_verdict(audited)
    known = audited is not None or (certificate is not None and certificate.status is not None)
    kind: Kind = "good" if proof.proven else "doubt" if known else "unknown"
    return Chip("On these rows", proof.heading, "certificate", kind)


def _new_data(findings: Findings) -> Chip:
    """Return how well the tree predicts, by the worst verdict where there are several."""
    validation, held_out = findings.validation, findings.held_out
    verdicts = prediction_verdicts(
        validation, held_out, findings.tree.n_splits, findings.cause_names
    )
    if validation is None and held_out is None:
        verdicts = []
    figure = _concordance(validation, held_out)
    return _prediction(verdicts, figure, findings.comparison is not None)


def _prediction(verdicts: Sequence[PredictionVerdict], figure: str, compared: bool) -> Chip:
    about, link = "On new data", "validation"
    if not verdicts:
        says = "Compared with other models" if compared else "Not validated"
        return Chip(about, says, link, "unknown")
    worst = min(verdicts, key=lambda one: one.is_good)
    return Chip(about, worst.heading, link, "good" if worst.is_good else "doubt", figure)


def _concordance(validation: Validation | None, held_out: HeldOutScores | None) -> str:
    if validation is not None and "concordance" in validation.names:
        one = validation["concordance"]
        if not isfinite(one.value):
            return ""
        limits = f" ({one.lower:.2f} to {one.upper:.2f})" if isfinite(one.lower) else ""
        return f"{CONCORDANCE} {one.value:.2f}{limits}"
    if held_out is None or held_out.of_cause or not isfinite(held_out.mean("concordance")):
        return ""
    return f"{CONCORDANCE} {held_out.mean('concordance'):.2f}"


def _effects(findings: Findings) -> Chip:
    """Return whether effects differ at all."""
    test = findings.heterogeneity
    if test is None:
        return Chip("Do effects differ?", "Not tested", "validation", "unknown")
    says = str(test).splitlines()[0].rstrip(".")
    kind: Kind = "good" if test.is_evidence else "doubt"
    return Chip("Do effects differ?", says, "validation", kind)


def _other_samples(findings: Findings) -> Chip:
    """Return whether the groups are found again in other samples."""
    validation = findings.validation
    leaves = () if validation is None else validation.leaves
    about = "In other samples"
    if not leaves:
        return Chip(about, "Not known whether the groups come again", "validation", "unknown")
    rare = sum(leaf.words == "rarely reproduced" for leaf in leaves)
    if rare:
        says = f"{rare} of {plural(len(leaves), 'group')} rarely reproduced"
        return Chip(about, says, "validation", "doubt")
    return Chip(about, "All groups reproduced, at least in part", "validation", "good")

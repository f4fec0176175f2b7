"""A tree in a notebook: as compact as printed text, with curves."""

from __future__ import annotations

from importlib.resources import files
from math import isfinite
from typing import Any

from surtree.report._html import Markup, element
from surtree.report._shown import Shown
from surtree.report._tree import tree_html
from surtree.report._validation import PLUS_MINUS
from surtree.summary.certificate import percent, verdict
from surtree.summary.findings import Findings, read_findings
from surtree.validation.held_out import CORRECTED, HeldOutScores
from surtree.words.numbers import figure, limits_text

_LEVEL = 0.95


def notebook_html(model: Any) -> str:
    """Return a tree, and what is proven about it, as HTML that can stand anywhere in a page.

    Parameters
    ----------
    model : fitted estimator or Tree
        What to show.
    """
    findings = read_findings(model)
    style = (files("surtree.report") / "tree.css").read_text(encoding="utf-8")
    caption = element("code", repr(model)), f" {_caption(findings)}"
    return element(
        "div",
        element("style", Markup(style)),
        element("div", *caption, class_="surtree-caption"),
        tree_html(Shown(findings, _LEVEL)),
        class_="surtree",
    )


def _caption(findings: Findings) -> str:
    tree, certificate = findings.tree, findings.certificate
    text = f"loss {tree.total_loss:.6g}"
    if certificate is not None:
        proof = verdict(certificate)
        text = f"{proof.heading}{' on these rows' if proof.proven else ''}: {text}"
        if certificate.gap is not None:
            text += f", lower bound {certificate.lower_bound:.6g}, gap {percent(certificate.gap)}"
    return f"{text}; {_validation(findings)}; curves and medians: {tree.leaf_curve}"


def _validation(findings: Findings) -> str:
    if findings.outcome.judged_by == "effects":
        test = findings.heterogeneity
        return "effects not tested" if test is None else test.verdict.rstrip(".")
    if findings.validation is not None:
        one = findings.validation["concordance"]
        if not isfinite(one.value):
            return f"C in new data not estimable: {one.reason}"
        limits = limits_text(one.lower, one.upper)
        return f"C in new data {one.value:.3f}" + ("" if limits == "-" else f" ({limits})")
    held_out = findings.held_out
    if held_out is None:
        return "not validated on new data"
    texts = [
        f"{name}: {_held_out(scores)}" if name else _held_out(scores)
        for name, scores in held_out.by_cause(findings.cause_names)
    ]
    return "; ".join(texts) + (f", {CORRECTED}" if held_out.corrected else "")


def _held_out(scores: HeldOutScores) -> str:
    mean, error = scores.mean("concordance"), scores.standard_error("concordance")
    if not isfinite(mean):
        return f"held-out loss per row {scores.mean('loss'):.3f}"
    return f"held-out C {mean:.3f} {PLUS_MINUS} {figure(error)}"

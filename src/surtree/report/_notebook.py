"""A tree in a notebook: as compact as printed text, with curves."""

from __future__ import annotations

from importlib.resources import files
from math import isfinite
from typing import Any

from surtree.report._tree import tree_html
from surtree.report._validation import PLUS_MINUS
from surtree.summary.certificate import percent, verdict
from surtree.summary.findings import Findings, read_findings
from surtree.summary.leaves import read_everyone, read_leaves
from surtree.validation.held_out import CORRECTED, HeldOutScores
from surtree.words.numbers import figure, limits_text
from surtree.words.quoting import html_text as escape

_LEVEL = 0.95


def notebook_html(model: Any) -> str:
    """Return a tree, and what is proven about it, as HTML that can stand anywhere in a page.

    Parameters
    ----------
    model : fitted estimator or Tree
        What to show.
    """
    findings = read_findings(model)
    tree = findings.tree
    leaves, everyone = read_leaves(tree, level=_LEVEL), read_everyone(tree)
    certificate = findings.certificate
    line = f"loss {tree.total_loss:.6g}"
    if certificate is not None:
        said = verdict(certificate)
        line = f"{said.heading}{' on these rows' if said.proven else ''}: {line}"
        if certificate.gap is not None:
            line += f", lower bound {certificate.lower_bound:.6g}, gap {percent(certificate.gap)}"
    line += f"; {_validation(findings)}; curves and medians: {tree.leaf_curve}"
    style = (files("surtree.report") / "tree.css").read_text(encoding="utf-8")
    return (
        f'<div class="surtree"><style>{style}</style>'
        f'<div class="surtree-caption"><code>{escape(repr(model))}</code> {escape(line)}</div>'
        f"{tree_html(tree, leaves, everyone, _LEVEL, findings.labels)}</div>"
    )


def _validation(findings: Findings) -> str:
    if findings.tree.arms is not None:
        test = findings.heterogeneity
        return "effects not tested" if test is None else test.verdict.rstrip(".")
    if findings.validation is not None:
        one = findings.validation["concordance"]
        if not isfinite(one.value):
            return f"C on new rows not estimable: {one.reason}"
        limits = limits_text(one.lower, one.upper)
        return f"C on new rows {one.value:.3f}" + ("" if limits == "-" else f" ({limits})")
    held_out = findings.held_out
    if held_out is None:
        return "not validated on other rows"
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

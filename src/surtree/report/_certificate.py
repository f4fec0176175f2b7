"""Whether a better tree is possible: the certificate, all sizes, and what questions cost."""

from __future__ import annotations

from surtree._support.exact import SAME_LOSS
from surtree._support.status import WORDS
from surtree.report._html import Markup, details, element, markup, note, table, terms
from surtree.report._html import verdict as verdict_html
from surtree.report._shown import Shown
from surtree.report._tree import tree_html
from surtree.summary.certificate import ROUNDING, audit_verdict, percent, verdict
from surtree.summary.findings import Findings
from surtree.validation.sizes import SizeScores


def certificate_html(findings: Findings) -> Markup:
    """Return what is proven about the tree, with its numbers."""
    audited, certificate = findings.audited, findings.certificate
    proof = verdict(certificate) if audited is None else audit_verdict(audited)
    loss_name = findings.tree.objective.loss_name
    figures: list[tuple[str, str, str | None]] = [
        (f"{loss_name} on these rows", f"{findings.tree.total_loss:.6g}", None)
    ]
    if certificate is not None and certificate.gap is not None and certificate.status is not None:
        figures += [
            ("lower bound", f"{certificate.lower_bound:.6g}", None),
            ("gap", percent(certificate.gap), None),
            ("status", WORDS[certificate.status].title, None),
        ]
    figures += _taught_figures(findings)
    return markup(
        verdict_html(f"{proof.answer} {proof.heading}", proof.text, is_good=proof.proven),
        terms(figures, "figures"),
        note(
            "This is about the rows that the tree was fitted on, not about new data. "
            f"{findings.tree.objective.loss_words}"
        ),
    )


def _taught_figures(findings: Findings) -> list[tuple[str, str, str | None]]:
    """Return what a taught tree has of its teacher, and what that costs on its own rows."""
    teaching = findings.teaching
    if teaching is None:
        return []
    losses = [
        ("loss on the events of these rows", teaching.training_loss, "in sample"),
        (
            "least loss of a tree of this size",
            teaching.plain_loss,
            "in sample: of the tree that follows these rows, and their noise, best",
        ),
    ]
    figures: list[tuple[str, str, str | None]] = [
        ("explains of its teacher", f"{findings.explained[-1]:.1%}", teaching.teacher)
    ]
    return figures + [
        (term, f"{loss:.6g}", remark) for term, loss, remark in losses if loss is not None
    ]


def sizes_html(findings: Findings) -> Markup:
    """Return the best loss of every size, as a placeholder for a chart and as a table."""
    if len(findings.sizes) < 2:
        return Markup()
    if findings.explained:
        return _explained_html(findings)
    first = findings.sizes[0].loss
    rows = (
        (
            str(size.splits),
            f"{size.loss:.6g}",
            f"{size.lower_bound:.6g}",
            f"{100 * (1 - size.loss / first):.1f} %" if first > 0 else "",
        )
        for size in findings.sizes
    )
    headings = ("splits", "loss", "lower bound", "less than without splits")
    heading, text = _sizes_text(findings)
    return element(
        "section",
        element("h3", heading),
        element(
            "p",
            f"{text} On these rows the line always falls; what a size is worth for new data, only "
            "held-out rows tell.",
        ),
        element("div", class_="plot", id="sizes"),
        details("as a table", table(headings, rows, "numbers")),
    )


def _explained_html(findings: Findings) -> Markup:
    """Return the share of its teacher that a tree of each size explains."""
    rows = (
        (str(size.splits), f"{share:.1%}", f"{size.loss:.6g}", f"{size.lower_bound:.6g}")
        for size, share in zip(findings.sizes, findings.explained, strict=True)
    )
    heading = "How much of its teacher does a tree explain?"
    return element(
        "section",
        element("h3", heading),
        element(
            "p",
            "For every number of splits, the most that any tree explains of the difference between "
            "the teacher and one risk for all (Poisson deviance). A larger tree is nearer to the "
            "teacher. Whether it predicts new data better, only held-out rows tell.",
        ),
        element("div", class_="plot", id="sizes"),
        details(
            "as a table",
            table(("splits", "explained", "distance", "lower bound"), rows, "numbers"),
        ),
    )


def _sizes_text(findings: Findings) -> tuple[str, str]:
    # A search that is out of time may have proven the largest tree, and not all smaller ones.
    open_sizes = [
        size for size in findings.sizes if size.loss - size.lower_bound > SAME_LOSS * size.loss
    ]
    certificate = findings.certificate
    is_kept = certificate is not None and certificate.kept is not None
    if (is_kept or verdict(certificate).proven) and not open_sizes:
        return (
            "The best tree of every size",
            "The same search found the smallest loss for every number of splits.",
        )
    return (
        "The best trees found so far",
        "For every number of splits the best tree that is known; a smaller loss may be possible.",
    )


def costs_html(findings: Findings) -> Markup:
    """Return what each question of an audited tree costs, as a table."""
    if findings.audited is None or not findings.audited.costs:
        return Markup()
    least = SAME_LOSS * findings.tree.total_loss
    cuts = findings.tree.worded_cuts
    rows = (
        (findings.labels.rules(cuts[node])[1], f"{cost if cost > least else 0:.3g}")
        for node, cost in findings.audited.costs
    )
    return element(
        "section",
        element("h3", "What each question costs"),
        element(
            "p",
            "By how much the loss could be smaller with another question in its place, when "
            "everything below is the best there is. Together they are the distance to the optimum.",
        ),
        table(("question", "cost"), rows, "numbers"),
    )


def optimum_html(findings: Findings, level: float) -> Markup:
    """Return the best tree of the size of an audited one, to compare with."""
    audited = findings.audited
    if audited is None or audited.missed < ROUNDING:
        return Markup()
    heading = "The best tree of its size" if audited.proven else "A better tree of its size"
    optimum = Shown(Findings(audited.optimum, labels=findings.labels), level)
    tree = element("div", tree_html(optimum, heading), class_="surtree still")
    return markup(element("h3", heading), tree)


def scores_html(findings: Findings) -> Markup:
    """Return the held-out scores of all sizes, as a placeholder for a chart and as a table."""
    scores = findings.scores
    if scores is None:
        return Markup()
    mean = -scores.mean if scores.scoring == "loss" else scores.mean
    rule = {
        "best": "the size with the best mean was chosen",
        "1se": "the smallest size within one standard error of the best mean was chosen",
    }[scores.rule]
    rows = (
        (
            str(scores.max_splits[index]),
            str(scores.max_depth[index]),
            f"{mean[index]:.4f}",
            f"{scores.standard_error[index]:.4f}",
            f"{scores.training_loss[index].mean():.4f}",
            mark,
        )
        for index, mark in enumerate(scores.marks)
    )
    headings = ("splits", "depth", f"held-out {scores.scoring}", "std. error", "training loss", "")
    return element(
        "section",
        element("h3", "Why this size?"),
        element(
            "p",
            "Trees of every size were scored on rows that they had not seen, in "
            f"{scores.held_out.shape[1]} folds; {rule}.{_shrinkage_text(scores)}",
        ),
        element("div", class_="plot", id="scores"),
        details("as a table", table(headings, rows, "numbers")),
    )


def _shrinkage_text(scores: SizeScores) -> str:
    if scores.shrinkage == 0:
        return ""
    return f" All of them have a shrinkage of {scores.shrinkage:g} events."

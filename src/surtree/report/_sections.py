"""The parts of a page that are text and tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite

from surtree._support.parameters import LeafCurveKind
from surtree._support.rounding import SAME_LOSS
from surtree._support.status import WORDS
from surtree.outcomes.effect_results import UNTESTED, HeterogeneityTest
from surtree.questions.columns import HEADING
from surtree.report._tree import breakable, tree_html
from surtree.summary.certificate import ROUNDING, audit_verdict, percent, verdict
from surtree.summary.findings import ColumnCuts, Findings
from surtree.summary.labels import NO_BREAK_SPACE, Labels
from surtree.summary.leaves import BANDS, Leaf, read_everyone, read_leaves
from surtree.summary.wording import median_text, number
from surtree.tree.evidence import FEW_EVENTS, advice
from surtree.tree.hazard_ratios import shows_ratios
from surtree.tree.tree import Tree
from surtree.validation.sizes import SizeScores
from surtree.words.numbers import plural
from surtree.words.quoting import html_text as escape

# Longer lists are cut off.
MOST_CUTS = 12
# With more columns, those that the tree does not use are only counted.
MOST_COLUMNS = 200


def summary_html(findings: Findings, everyone: Leaf) -> str:
    """Return the figures of the whole table, as a list of terms."""
    tree = findings.tree
    rows, events = int(tree.n_samples[0]), int(tree.n_events[0])
    unit = "" if findings.time_unit is None else f" {findings.time_unit}"
    figures = [
        *(
            []
            if tree.n_persons is None
            else [("persons", f"{tree.n_persons[0]}", "some with several rows")]
        ),
        ("rows", f"{rows}", ""),
        ("events", f"{events}", "" if tree.n_persons is not None else _censoring(rows, events)),
        ("median survival", median_text(everyone.median, 3) + _if_reached(everyone, unit), ""),
        ("last event", number(float(tree.baseline.times[-1]), 4) + unit, ""),
    ]
    if findings.follow_up is not None and isfinite(findings.follow_up.median):
        median = number(findings.follow_up.median, 4) + unit
        figures.append(("median follow-up", median, "by the reverse Kaplan-Meier estimate"))
    if findings.columns:
        used = len({cut.column for cut in tree.cuts})
        figures.append(("columns", str(len(findings.columns)), f"{used} of them in the tree"))
    figures.append(
        (
            "tree",
            plural(tree.n_leaves, "leaf"),
            f"{plural(tree.n_splits, 'split')}, depth {tree.depth}",
        )
    )
    if tree.weighted:
        total = number(float(tree.weight[0]), 4)
        figures.append(
            ("weight", total, "rows are weighted; survival and risk count weight, not rows")
        )
    if findings.tree.enters_late:
        figures.append(
            (
                "left truncation",
                "yes",
                "some rows came under observation late and are at risk only from then on",
            )
        )
    return "".join(
        f"<div><dt>{escape(term)}</dt><dd>{escape(figure)}"
        + (f"<small>{escape(note)}</small>" if note else "")
        + "</dd></div>"
        for term, figure, note in figures
    )


def _censoring(rows: int, events: int) -> str:
    if rows == events:
        return "no row is censored"
    return f"{100 * events / rows:.0f} % of the rows, the others censored"


def _if_reached(everyone: Leaf, unit: str) -> str:
    return unit if everyone.median < float("inf") else ""


def certificate_html(findings: Findings) -> str:
    """Return what is proven about the tree, with its numbers."""
    audited = findings.audited
    said = verdict(findings.certificate) if audited is None else audit_verdict(audited)
    figures = [("loss on these rows", f"{findings.tree.total_loss:.6g}")]
    certificate = findings.certificate
    if certificate is not None and certificate.gap is not None and certificate.status is not None:
        figures += [
            ("lower bound", f"{certificate.lower_bound:.6g}"),
            ("gap", percent(certificate.gap)),
            ("status", WORDS[certificate.status].title),
        ]
    listed = "".join(f"<div><dt>{term}</dt><dd>{escape(text)}</dd></div>" for term, text in figures)
    return (
        f'<p class="verdict" data-good="{str(said.proven).lower()}">'
        f"<strong>{escape(said.answer)} {escape(said.heading)}</strong> {escape(said.text)}</p>"
        f'<dl class="figures">{listed}</dl>'
        '<p class="note">This is about the rows that the tree was fitted on, not about new ones. '
        f"{findings.tree.objective.loss_words}</p>"
    )


def sizes_html(findings: Findings) -> str:
    """Return the best loss of every size, as a placeholder for a chart and as a table."""
    if len(findings.sizes) < 2:
        return ""
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
    return (
        f"<section><h3>{heading}</h3>"
        f"<p>{text} On these rows the line always falls; what a size is worth for new rows, only "
        "held-out rows tell.</p>"
        '<div class="plot" id="sizes"></div>'
        + _details("as a table", _table(headings, rows, "numbers"))
        + "</section>"
    )


def _sizes_text(findings: Findings) -> tuple[str, str]:
    # A search that is out of time may have proven the largest tree, and not all smaller ones.
    open_sizes = [
        size for size in findings.sizes if size.loss - size.lower_bound > SAME_LOSS * size.loss
    ]
    if verdict(findings.certificate).proven and not open_sizes:
        return (
            "The best tree of every size",
            "The same search found the smallest loss for every number of splits.",
        )
    return (
        "The best trees found so far",
        "For every number of splits the best tree that is known; a smaller loss may be possible.",
    )


def costs_html(findings: Findings) -> str:
    """Return what each question of an audited tree costs, as a table."""
    if findings.audited is None or not findings.audited.costs:
        return ""
    least = SAME_LOSS * findings.tree.total_loss
    cuts = findings.tree.worded_cuts
    rows = (
        (findings.labels.rules(cuts[node])[1], f"{cost if cost > least else 0:.3g}")
        for node, cost in findings.audited.costs
    )
    return (
        "<section><h3>What each question costs</h3>"
        "<p>By how much the loss could be smaller with another question in its place, when "
        "everything below is the best there is. Together they are the distance to the optimum.</p>"
        + _table(("question", "cost"), rows, "numbers")
        + "</section>"
    )


def optimum_html(findings: Findings, level: float) -> str:
    """Return the best tree of the size of an audited one, to compare with."""
    audited = findings.audited
    if audited is None or audited.missed < ROUNDING:
        return ""
    tree = audited.optimum
    heading = "The best tree of its size" if audited.proven else "A better tree of its size"
    shown = tree_html(
        tree,
        read_leaves(tree, level=level),
        read_everyone(tree),
        level,
        findings.labels,
        heading,
    )
    return f'<h3>{heading}</h3><div class="surtree still">{shown}</div>'


def scores_html(findings: Findings) -> str:
    """Return the held-out scores of all sizes, as a placeholder for a chart and as a table."""
    scores = findings.scores
    if scores is None:
        return ""
    loss = scores.scoring == "loss"
    mean = -scores.mean if loss else scores.mean
    rule = {
        "best": "the size with the best mean was chosen",
        "1se": "the smallest size within one standard error of the best mean was chosen",
    }[scores.rule]
    rows = (
        (
            str(scores.max_splits[place]),
            str(scores.max_depth[place]),
            f"{mean[place]:.4f}",
            f"{scores.standard_error[place]:.4f}",
            f"{scores.training_loss[place].mean():.4f}",
            mark,
        )
        for place, mark in enumerate(scores.marks)
    )
    headings = ("splits", "depth", f"held-out {scores.scoring}", "std. error", "training loss", "")
    return (
        "<section><h3>Why this size?</h3>"
        f"<p>Trees of every size were scored on rows that they had not seen, in "
        f"{scores.held_out.shape[1]} folds; {rule}.{_shrinkage_text(scores)}</p>"
        '<div class="plot" id="scores"></div>'
        + _details("as a table", _table(headings, rows, "numbers"))
        + "</section>"
    )


def _shrinkage_text(scores: SizeScores) -> str:
    if scores.shrinkage == 0:
        return ""
    return f" All of them have a shrinkage of {scores.shrinkage:g} events."


def columns_html(findings: Findings) -> str:
    """Return the candidate cuts of each column, columns of the tree first.

    Nothing is returned for a page that does not know them, such as that of an audit.
    """
    if not findings.columns:
        return ""
    used = {cut.column for cut in findings.tree.cuts}
    order = sorted(
        enumerate(findings.columns),
        key=lambda item: (item[0] not in used, -item[1].importance, item[0]),
    )
    shown = order[: max(MOST_COLUMNS, len(used))]
    rows = "".join(_column_html(column, place in used, findings.labels) for place, column in shown)
    more = ""
    if len(shown) < len(order):
        more = f"<p>{len(order) - len(shown)} more columns, which the tree does not use.</p>"
    return (
        '<div class="scroll"><table class="columns"><thead><tr><th scope="col">column</th>'
        '<th scope="col">share of what the tree explains</th>'
        '<th scope="col">questions</th><th scope="col">where it could be cut</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>{more}{_column_costs_html(findings)}"
    )


def _column_costs_html(findings: Findings) -> str:
    """Return what the best trees without a column, and with it first, lose."""
    found = findings.column_costs
    if found is None:
        return ""
    rows = [(findings.labels.name(row[0]), *row[1:]) for row in found.cells()]
    return f"<p>{escape(found.note())}</p>{_table(HEADING, rows, 'numbers')}"


def _column_html(column: ColumnCuts, used: bool, labels: Labels) -> str:
    share = "not in the tree"
    if used:
        share = (
            f'<span class="bar" style="--share:{column.importance:.4f}"></span>'
            f"{100 * column.importance:.1f} %"
        )
    count, noun = plural(len(column.cuts), "question").split()
    return (
        f'<tr><th scope="row">{breakable(labels.name(column.name))}</th><td>{share}</td>'
        f'<td>{count}<span class="unit"> {noun}</span></td>'
        f"<td>{_cuts_text(column, labels.unit(column.name))}</td></tr>"
    )


def _cuts_text(column: ColumnCuts, unit: str) -> str:
    if not column.cuts:
        return "nowhere: all rows, or all but too few, are on one side"
    thresholds = sorted({cut.threshold for cut in column.cuts if cut.threshold is not None})
    if thresholds:
        texts = [repr(value).removesuffix(".0") for value in thresholds]
        seen = column.cuts[0].seen
        range_text = "" if seen is None else f" ({number(seen[0], 6)} to {number(seen[1], 6)})"
        said = f"above {_listed(texts)}{f'{NO_BREAK_SPACE}{unit}' if unit else ''}{range_text}"
    else:
        rules = (cut.rule.removeprefix(f"{cut.shown_name} ") for cut in column.cuts)
        said = _listed(dict.fromkeys(rules))
    missing = any(cut.missing is not None for cut in column.cuts)
    if missing and thresholds:
        said += "; missing values on either side"
    return breakable(said)


def _listed(texts: Iterable[str]) -> str:
    texts = list(texts)
    shown = [text if len(text) <= 80 else f"{text[:79]}…" for text in texts[:MOST_CUTS]]
    more = f" and {len(texts) - MOST_CUTS} more" if len(texts) > MOST_CUTS else ""
    mark = "; " if any("," in text for text in shown) else ", "
    return mark.join(shown) + more


def lead(findings: Findings) -> str:
    """Return the introduction of a page as HTML; instructions are hidden in print."""
    tree = findings.tree
    if tree.n_leaves == 1:
        return "This tree asks nothing: all rows are one group, with one survival curve."
    if tree.arms is not None:
        return (
            f"{_effects_lead(findings.heterogeneity)} Yes-or-no questions sort the rows into "
            f"{tree.n_leaves} groups, the leaves, in which arms differed most differently in these "
            "rows. The figures beside the tree are of all arms together; those of each arm follow."
        )
    return (
        f"Yes-or-no questions sort the rows into {tree.n_leaves} groups, the leaves, each with a "
        'survival curve of its own. <span class="screen pointer">Point at a group, or choose one '
        "with the arrow keys, to see how it is reached and how it fares.</span>"
        '<span class="screen touch">Tap a group to see how it is reached and how it fares.</span>'
    )


def _effects_lead(test: HeterogeneityTest | None) -> str:
    """Return first what is known about whether effects differ."""
    text = escape(UNTESTED if test is None else str(test).replace("\n", " "))
    return text if test is not None and test.is_evidence else f"<strong>{text}</strong>"


_CURVES: dict[LeafCurveKind, str] = {
    "baseline": "Thick curves and medians are what the tree predicts: the hazard of all rows, "
    "times the relative risk of the leaf.",
    "kaplan-meier": "Curves and medians are what the tree predicts: the Kaplan-Meier estimate of "
    "the rows of the leaf.",
    "shrunk": "Thick curves and medians are what the tree predicts: the hazard of the rows of the "
    "leaf, drawn towards that of all rows.",
    "breslow": "Thick curves and medians are what the tree predicts: those of a Cox model of the "
    "leaves, with its baseline.",
}


def explanation(findings: Findings, level: float) -> list[str]:
    """Return what the curves and figures of a page show, a few sentences at a time."""
    tree = findings.tree
    curve = _CURVES[tree.leaf_curve]
    curve += f" Shaded is their {100 * level:g}% {BANDS[tree.leaf_curve]}."
    if tree.risk and findings.predicts_otherwise:
        curve += (
            " The thin curve of a chosen leaf is what was observed, the Kaplan-Meier estimate of "
            "its rows."
        )
    if tree.risk:
        curve += " Ticks are censored rows; a curve ends with the follow-up of its leaf."
    ratios = ""
    if shows_ratios(tree):
        ratios = "; a hazard ratio compares a leaf with the reference, by a Cox model of the leaves"
    figures = (
        f"A relative risk of 2 is twice the events that all rows let expect{ratios}. Intervals are "
        f"{100 * level:g}% confidence intervals (CI) that take the groups as given; as these were "
        "chosen on the same rows, the truth lies outside more often. The grey curve is that of all "
        "rows."
    )
    said = [f"{curve} {figures}"]
    events = tree.n_events[tree.leaves]
    if ((events > 0) & (events < FEW_EVENTS)).any():
        said.append(f"few: fewer than {FEW_EVENTS} events, so the figures of the leaf are unsure.")
    if advice(tree):
        said.append(advice(tree))
    return said


def chosen_here(tree: Tree) -> str:
    """Return what no figure of the page can show of its curves; nothing for a single leaf."""
    if tree.n_leaves == 1:
        return ""
    return (
        "The groups were chosen on these rows: in new rows their curves will lie closer together."
    )


def _details(summary: str, inside: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>{inside}</details>"


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]], kind: str) -> str:
    head = "".join(f'<th scope="col">{escape(heading)}</th>' for heading in headings)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return (
        f'<div class="scroll"><table class="{kind}"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )

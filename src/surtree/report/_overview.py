"""What a reader sees first: the figures of the whole table, and how to read the tree."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

from surtree._support.parameters import LeafCurveKind
from surtree.outcomes.effect_results import UNTESTED
from surtree.outcomes.event import BANDS
from surtree.report._html import Markup, details, element, markup, note, terms
from surtree.report._shown import Shown
from surtree.summary.findings import Findings
from surtree.summary.wording import reversals_sentence
from surtree.tree.leaf_curve import FEW_EVENTS, advice
from surtree.tree.tree import Tree
from surtree.words.numbers import median_text, number, plural

_CURVES: dict[LeafCurveKind, str] = {
    "baseline": "Thick curves and medians are what the tree predicts: the hazard of all rows, "
    "times the {risk} of the leaf.",
    "kaplan-meier": "Curves and medians are what the tree predicts: the Kaplan-Meier estimate of "
    "the rows of the leaf.",
    "shrunk": "Thick curves and medians are what the tree predicts: the hazard of the rows of the "
    "leaf, drawn towards that of all rows.",
    "breslow": "Thick curves and medians are what the tree predicts: those of a Cox model of the "
    "leaves, with its baseline.",
}


def summary_html(shown: Shown) -> Markup:
    """Return the figures of the whole table, as a list of terms."""
    return terms(_summary(shown), "figures")


def _summary(shown: Shown) -> Iterator[tuple[str, str, str]]:
    findings, tree, median = shown.findings, shown.tree, shown.everyone.median
    rows, events = int(tree.n_samples[0]), int(tree.n_events[0])
    unit = "" if findings.time_unit is None else f" {findings.time_unit}"
    if tree.n_persons is not None:
        yield "persons", str(tree.n_persons[0]), "some with several rows"
    yield "rows", str(rows), ""
    yield "events", str(events), "" if tree.n_persons is not None else _censoring(rows, events)
    yield "median survival", median_text(median, 3) + (unit if isfinite(median) else ""), ""
    yield "last event", number(tree.last_event, 4) + unit, ""
    if findings.follow_up is not None and isfinite(findings.follow_up.median):
        text = number(findings.follow_up.median, 4) + unit
        yield "median follow-up", text, "by the reverse Kaplan-Meier estimate"
    if findings.columns:
        used = len({cut.column for cut in tree.cuts})
        yield "columns", str(len(findings.columns)), f"{used} of them in the tree"
    size = f"{plural(tree.n_splits, 'split')}, depth {tree.depth}"
    yield "tree", plural(tree.n_leaves, "leaf"), size
    if tree.weighted:
        remark = "rows are weighted; survival and risk count weight, not rows"
        yield "weight", number(float(tree.weight[0]), 4), remark
    if tree.enters_late:
        remark = "some rows came under observation late and are at risk only from then on"
        yield "left truncation", "yes", remark


def _censoring(rows: int, events: int) -> str:
    if rows == events:
        return "no row is censored"
    return f"{100 * events / rows:.0f} % of the rows, the others censored"


def lead_html(findings: Findings) -> Markup:
    """Return the introduction of a page; instructions are hidden in print."""
    tree, outcome = findings.tree, findings.outcome
    if tree.n_leaves == 1:
        return markup("This tree asks nothing: all rows are one group, with one survival curve.")
    return markup(
        _doubt_html(findings),
        _teacher_text(findings),
        f"Yes-or-no questions sort the rows into {tree.n_leaves} groups, the leaves, "
        f"{outcome.leaves_clause}. ",
        element(
            "span",
            "Point at a group, or choose one with the arrow keys, to see how it is reached and how "
            "it fares.",
            class_="screen pointer",
        ),
        element(
            "span", "Tap a group to see how it is reached and how it fares.", class_="screen touch"
        ),
    )


def _teacher_text(findings: Findings) -> str:
    """Return of a taught tree what it comes near to."""
    if findings.teaching is None:
        return ""
    return (
        f"A tree that follows a teacher: {findings.teaching.teacher}. It explains "
        f"{findings.explained[-1]:.0%} of what the teacher tells apart. "
    )


def _doubt_html(findings: Findings) -> Markup:
    """Return first what is known about whether effects differ, where the tree is about them."""
    if findings.outcome.judged_by != "effects":
        return Markup()
    test = findings.heterogeneity
    text = f"{UNTESTED if test is None else ' '.join(str(test).splitlines())} "
    if test is not None and test.is_evidence:
        return markup(text)
    return element("strong", text)


def explanation(shown: Shown) -> Markup:
    """Return what the curves and figures of a page show; warnings are in view."""
    texts, warnings = _explanation(shown), _warnings(shown)
    return markup(
        *map(note, warnings), details("How to read the curves and figures", *map(note, texts))
    )


def _explanation(shown: Shown) -> list[str]:
    tree, level = shown.tree, f"{100 * shown.level:g}%"
    curve = _CURVES[tree.leaf_curve].format(risk=shown.outcome.risk_name)
    curve += f" Shaded is their {level} {BANDS[tree.leaf_curve]}."
    if tree.risk and shown.findings.predicts_otherwise:
        curve += (
            " The thin curve of a chosen leaf is the observed one, the Kaplan-Meier estimate of "
            "its rows."
        )
    if tree.risk:
        curve += " Ticks are censored rows; a curve ends with the follow-up of its leaf."
    if shown.has_limits:
        curve += (
            f" Of a chosen leaf, shaded is the {shown.limits_name} instead: trees of samples, "
            "chosen anew, say this of its rows."
        )
    ratios = ""
    if any(column.name == "hazard_ratio" for column in shown.columns):
        ratios = "; a hazard ratio compares a leaf with the reference, by a Cox model of the leaves"
    figures = (
        f"{shown.outcome.risk_note}{ratios}. Intervals are {level} confidence intervals (CI) that "
        "take the groups as given; as these were chosen on the same rows, the truth lies outside "
        "more often. The grey curve is that of all rows."
    )
    return [f"{curve} {figures}", *filter(None, [tree.objective.theta_note])]


def _warnings(shown: Shown) -> list[str]:
    tree, texts = shown.tree, []
    if any(group.note == "few events" for group in shown.groups):
        texts.append(f"few: fewer than {FEW_EVENTS} events, so the figures of the leaf are unsure.")
    turned = reversals_sentence(tree, shown.findings.labels)
    return [*texts, *filter(None, [advice(tree), turned])]


def legend_html(shown: Shown) -> Markup:
    """Return the scale of colours of dots, and what stands for each cause or arm."""
    outcome = shown.outcome
    if shown.tree.n_leaves == 1:
        return Markup()
    low, high = outcome.scale_ends
    gradient = f"--scale:{','.join(outcome.scale)}"
    channels = outcome.channels if outcome.is_several else ()
    return element(
        "div",
        element("span", low),
        element("i", style=gradient),
        element("span", high),
        *(
            element("span", one.label, class_="channel", style=f"--risk:{one.colour}")
            for one in channels
        ),
        class_="legend",
        aria_hidden="true",
    )


def chosen_here(tree: Tree) -> str:
    """Return what no figure of the page can show of its curves; nothing for a single leaf."""
    if tree.n_leaves == 1:
        return ""
    return (
        "The groups were chosen on these rows: in new data their curves will lie closer together."
    )

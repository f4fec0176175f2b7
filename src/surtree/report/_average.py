"""The page of an average over all trees: which columns and questions it is made of."""

from __future__ import annotations

import numpy as np

from surtree.averages.bayes import SurTreeBayes
from surtree.averages.ridge_cox import COX_HEADING, RidgeCox
from surtree.data.names import column_names
from surtree.report._chart import Axis, Chart
from surtree.report._html import Markup, element, markup, note, table
from surtree.report._plain import Asked, Section, counted, expectation, plain_page
from surtree.report._resampled import bar
from surtree.report._tree import breakable

_MOST = 20
_QUESTIONS = 8


def average_page(model: SurTreeBayes, asked: Asked) -> str:
    """Return the page of an average over all trees."""
    sections = [
        expectation(model, asked),
        Section(
            "columns", "Columns", "Which columns do the trees ask about?", _columns(model, asked)
        ),
        Section(
            "questions", "First questions", "What do they ask first?", _questions(model, asked)
        ),
        Section("stages", "Stages", "Do the data speak for trees?", _stages(model)),
    ]
    if model.cox_ is not None:
        content = _cox(model.cox_)
        sections.insert(1, Section("cox", "Cox model", "The Cox model that comes first", content))
    fact = ("stages", str(model.n_stages_), f"each over all trees of depth {model.max_depth}")
    return plain_page(model, asked, sections, [fact])


def _cox(cox: RidgeCox) -> Markup:
    """Return the hazard ratios of the Cox model that the stages correct."""
    rows = ((breakable(name), *others) for name, *others in cox.rows())
    return markup(
        element(
            "p",
            "A Cox model with a ridge penalty, tuned by cross-validation. What follows on this "
            "page is about what it leaves to be asked: the stages correct it.",
        ),
        table(COX_HEADING, rows, "numbers", "Hazard ratios"),
        note("Penalised coefficients, without intervals, of the rows of the fit."),
    )


def _columns(model: SurTreeBayes, asked: Asked) -> Markup:
    probability, names = model.column_probability_, column_names(model)
    order = np.argsort(-probability, kind="stable").tolist()
    rows = (
        (
            breakable(asked.labels.name(str(names[k]))),
            bar(float(probability[k]), f"{probability[k]:.1%}"),
        )
        for k in order[:_MOST]
    )
    return markup(
        element(
            "p",
            "The exact posterior probability that a tree of the first stage asks about a column at "
            "all. No tree was drawn: all of them count, each by how well it fits these rows.",
        ),
        table(("column", "probability"), rows, "columns"),
        counted(len(order) - _MOST, "column"),
    )


def _questions(model: SurTreeBayes, asked: Asked) -> Markup:
    shown = list(model.first_questions_.items())[:_QUESTIONS]
    none = max(0.0, 1.0 - sum(model.first_questions_.values()))
    rows = [(breakable(rule), bar(share, f"{share:.1%}")) for rule, share in shown]
    rows.append((breakable("no question at all"), bar(none, f"{none:.1%}")))
    return markup(
        element("p", "The exact posterior probability of every first question of the first stage."),
        table(("first question", "probability"), rows, "columns"),
        counted(len(model.first_questions_) - len(shown), "question"),
    )


def _stages(model: SurTreeBayes) -> Markup:
    evidence = model.stage_evidence_
    stages = np.arange(1, evidence.size + 1)
    low, high = min(0.0, float(evidence.min())), max(1.0, float(evidence.max()))
    ticks = [value for value in (0.0, high / 2, high) if value == value]
    chart = Chart(
        Axis.until(float(max(stages[-1], 2)), "stage"),
        Axis(
            low, high, [float(f"{tick:.2g}") for tick in ticks], "log Bayes factor", percent=False
        ),
        "Evidence of each stage",
    )
    chart.line([0, stages[-1]], [0, 0], "ideal")
    chart.line(stages, evidence, "main")
    for stage, value in zip(stages.tolist(), evidence.tolist(), strict=True):
        chart.point(stage, value, np.nan, np.nan)
    first = float(evidence[0])
    without = "one hazard for everybody" if model.cox_ is None else "the Cox model alone"
    times = f"e^{first:.1f} times as" if first > 0 else "no more"
    text = (
        f"The rows are {times} likely under all trees together {'as' if first > 0 else 'than'} "
        f"under {without} (Bayes factor of the first stage)."
    )
    return markup(
        element("p", text),
        element("div", element("figure", chart.svg()), class_="charts"),
        note(
            "Above zero, the rows speak for trees beyond the stages before; below it, the stage "
            "hardly moves a prediction. This is about the rows of the fit."
        ),
    )

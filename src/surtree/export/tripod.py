"""The TRIPOD+AI checklist of a model: what it knows, and what is left to the authors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from surtree.export._methods import methods_by_topic
from surtree.export._written import PageFormat, written
from surtree.summary.findings import Findings, read_findings
from surtree.survival.confidence import LEVEL
from surtree.words.numbers import plural

_AUTHORS = "(authors)"
# The items of TRIPOD+AI (Collins and others, BMJ 2024; 385: e078378), in our words.
_ITEMS: tuple[tuple[str, str], ...] = (
    ("1", "Title: a model that is developed or evaluated, for whom, of which outcome"),
    ("2", "Abstract, by TRIPOD+AI for abstracts"),
    ("3a", "Context, and why the model is needed"),
    ("3b", "Target population, purpose and users"),
    ("3c", "Known inequalities between groups"),
    ("4", "Objectives: development, evaluation or both"),
    ("5a", "Sources of data, and how representative they are"),
    ("5b", "Dates of the data"),
    ("6a", "Setting: centres, care"),
    ("6b", "Who was eligible"),
    ("6c", "Treatments, and how they were handled"),
    ("7", "Data preparation and quality checks"),
    ("8a", "Outcome and time horizon"),
    ("8b", "Who assessed the outcome, where that takes judgement"),
    ("8c", "Blinding of the assessment of the outcome"),
    ("9a", "How the first set of predictors was chosen"),
    ("9b", "Predictors: definition, when and how measured"),
    ("9c", "Who assessed predictors, where that takes judgement"),
    ("10", "Sample size"),
    ("11", "Missing data"),
    ("12a", "How the data were used: development, evaluation, parts"),
    ("12b", "How predictors were handled"),
    ("12c", "Type of model, building, tuning, internal validation"),
    ("12d", "Heterogeneity between clusters"),
    ("12e", "Measures and plots of performance"),
    ("12f", "Updating, such as recalibration"),
    ("12g", "How predictions were calculated for an evaluation"),
    ("13", "Class imbalance"),
    ("14", "Fairness"),
    ("15", "Output of the model, and thresholds"),
    ("16", "Differences between development and evaluation data"),
    ("17", "Ethical approval"),
    ("18a", "Funding"),
    ("18b", "Conflicts of interest"),
    ("18c", "Protocol"),
    ("18d", "Registration"),
    ("18e", "Sharing of data"),
    ("18f", "Sharing of code"),
    ("19", "Patient and public involvement"),
    ("20a", "Flow of participants, with and without the outcome, and follow-up"),
    ("20b", "Characteristics of participants"),
    ("20c", "Comparison of evaluation with development data"),
    ("21", "Participants and events in each analysis"),
    ("22", "The model in full"),
    ("23a", "Performance, with intervals, also of subgroups"),
    ("23b", "Heterogeneity of performance between clusters"),
    ("24", "Results of updating"),
    ("25", "Interpretation, also of fairness"),
    ("26", "Limitations"),
    ("27a", "What happens to poor or missing input"),
    ("27b", "What users have to do and know"),
    ("27c", "Next steps"),
)


def export_tripod(
    model: Any, format: PageFormat = "markdown", *, time_unit: str | None = None
) -> str | bytes:
    """Return the TRIPOD+AI checklist, filled as far as a model knows; the rest is for the authors.

    Parameters
    ----------
    model : fitted estimator
        A model of this package; the more it knows (``validation_``, ``held_out_``), the more is
        filled.
    format : {"markdown", "latex", "docx"}, default="markdown"
        "docx" is a Word document, as bytes.
    time_unit : str, optional
        What time is counted in; by default the ``time_unit_`` of the model.

    References
    ----------
    Collins, Moons, Dhiman and others (2024). TRIPOD+AI statement: updated guidance for reporting
    clinical prediction models that use regression or machine learning methods. BMJ 385, e078378.

    Examples
    --------
    >>> from surtree import SurTree
    >>> from surtree.datasets import load_gbsg2
    >>> from surtree.export import export_tripod
    >>> model = SurTree(max_depth=2).fit(*load_gbsg2())
    >>> print(next(line for line in export_tripod(model).splitlines() if line[2:4] == "11"))
    | 11 | Missing data | No value was missing in a column that questions ask about. |
    """
    findings = read_findings(model)
    known = dict(_known(model, findings, time_unit))
    rows = [[number, item, known.get(number, _AUTHORS)] for number, item in _ITEMS]
    filled = sum(number in known for number, _ in _ITEMS)
    note = (
        f"TRIPOD+AI (Collins and others, BMJ 2024; 385: e078378), items in short: {filled} of "
        f"{len(_ITEMS)} from the model, in part or in full; check each, and complete those of "
        "the authors."
    )
    return written(format, ["item", "what to report", "where, or what the model knows"], rows, note)


def _known(model: Any, findings: Findings, time_unit: str | None) -> Iterator[tuple[str, str]]:
    """Yield numbers of items, and what is known of them."""
    topics, tree = methods_by_topic(model, time_unit), findings.tree
    n_rows, n_events = int(tree.n_samples[0]), int(tree.n_events[0])
    asked = tree.n_splits
    yield "4", "Development of a model; evaluation on other data: surtree.evaluate."
    counts = f"{plural(n_rows, 'row')}, {plural(n_events, 'event')}"
    each = (
        f", {n_events / asked:.1f} for each of {plural(asked, 'question')} asked" if asked else ""
    )
    candidates = sum(len(column.cuts) for column in findings.columns)
    of_candidates = (
        f"; {plural(candidates, 'candidate question')} in {plural(len(findings.columns), 'column')}"
        if candidates
        else ""
    )
    yield "10", f"{counts}{each}{of_candidates}. Riley's criteria: surtree.sample_size."
    for number, names in (
        ("11", ("missing",)),
        ("12b", ("questions",)),
        ("12c", ("objective", "tuning", "proof")),
        ("12e", ("measures",)),
        ("23a", ("validation",)),
    ):
        text = " ".join(filter(None, (topics[name] for name in names)))
        if text:
            yield number, text
    horizons = ", ".join(f"{time:g}" for time in getattr(model, "horizons_", None) or ())
    yield (
        "8a",
        f"{_AUTHORS} Risks are stated at {horizons}."
        if horizons
        else f"{_AUTHORS} Risks at every time up to {tree.last_event:g}.",
    )
    if findings.recalibration is not None:
        yield "12f", f"The model was {findings.recalibration}."
    yield "12a", "All rows were used for development; see 12c for resampling."
    yield "13", "None was applied: censored rows count with the time that they were seen."
    yield (
        "15",
        f"{findings.outcome.curve_name.capitalize()} over time and a relative risk, from "
        f"{plural(tree.n_leaves, 'leaf')}; no threshold is part of the model.",
    )
    yield "18f", f"surtree {findings.fitted_with or ''}".strip() + ", an open package."
    yield "20a", f"{topics['data']} {_AUTHORS} before that."
    yield "20b", "surtree.export.export_table_one, overall and by leaf."
    yield "21", f"{counts}."
    yield (
        "22",
        "The rules and figures of all leaves: surtree.export.export_leaves; as a program: "
        "export_python, export_sql, export_onnx.",
    )
    yield (
        "26",
        f"Leaves were found on the same rows: {LEVEL:.0%} intervals of leaves are too narrow. "
        f"{_AUTHORS}",
    )
    yield (
        "27a",
        "Missing values, and categories that were never seen, go to the side that each question "
        "names for them, with a warning.",
    )

"""The whole page: one file with everything in it."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date
from hashlib import sha256
from importlib.resources import files
from os import PathLike
from pathlib import Path
from string import Template
from typing import Any

from surtree._support.writing import PAGE_FILE, write_text
from surtree.questions.audit_result import Audit
from surtree.questions.columns import ColumnCosts
from surtree.questions.swaps import QuestionSwaps
from surtree.report._certificate import (
    certificate_html,
    costs_html,
    optimum_html,
    scores_html,
    sizes_html,
)
from surtree.report._channels import channels_html
from surtree.report._columns import columns_html
from surtree.report._comparison import comparison_html
from surtree.report._data import page_data
from surtree.report._evaluation import evaluation_page
from surtree.report._explore import Explore, explorer_html, require_explore
from surtree.report._groups import groups_html
from surtree.report._html import markup
from surtree.report._models import plain_model, plain_model_page
from surtree.report._overview import (
    chosen_here,
    explanation,
    lead_html,
    legend_html,
    summary_html,
)
from surtree.report._plain import Asked
from surtree.report._provenance import provenance_html
from surtree.report._questionnaire import form_html, read_fields
from surtree.report._resampled import by_group_html, curves_html, stability_html
from surtree.report._risk_groups import risk_groups_html
from surtree.report._shown import Shown
from surtree.report._strip import strip_html
from surtree.report._tree import tree_html
from surtree.report._validation import HEADINGS, validation_html
from surtree.summary.findings import Findings, read_findings
from surtree.summary.labels import read_labels
from surtree.survival.step_function import read_horizons, round_horizons
from surtree.tree.resolve import horizons_of, time_unit_of
from surtree.validation import Evaluation
from surtree.words.quoting import script_json


def write_report(
    model: Any,
    path: str | PathLike[str],
    *,
    title: str | None = None,
    time_unit: str | None = None,
    horizons: Iterable[float] | None = None,
    labels: Mapping[str, str] | None = None,
    units: Mapping[str, str] | None = None,
    level: float = 0.95,
    column_costs: ColumnCosts | None = None,
    swaps: QuestionSwaps | None = None,
    explore: Explore = "swaps",
) -> Path:
    """Write an HTML page about a model: a tree with its curves, a score card, an average.

    The page is one HTML file that needs no network. It shows the tree with the survival curve of
    every leaf; how well it predicts held-out rows, where that is known; a questionnaire that leads
    from the values of one person to a leaf; what is proven about the tree; the best tree of every
    size; how the columns could be cut; and how the page was made. Of a `PointsTable` it shows the
    card, to be used on a phone or printed; of a `SurTreeBayes` the columns and questions that its
    trees ask about, and the evidence of its stages: no tree is drawn.

    Parameters
    ----------
    model : fitted estimator, Audit, Evaluation or Tree
        A `SurTree`, a `SurTreeCV`, a `TaughtTree`, a `PointsTable`, a `SurTreeBayes`, one
        of `surtree.heuristics`, or a pipeline that ends in one, whose columns have the names after
        its transformers; what `audit_tree` found of a tree, to see what its questions cost; what
        `evaluate` found on other data; or a tree alone, which has no certificate.
    path : str or path
        Where to write the page, such as ``tree.html``.
    title : str, optional
        The heading of the page; by default "Survival tree", and of other models what they are.
    time_unit : str, optional
        What time is counted in, for example "days"; by default the ``time_unit_`` of the model.
    horizons : iterable of float, optional
        Times for which survival is stated; by default the ``horizons_`` of the model, else a few
        round times.
    labels : mapping of str to str, optional
        What to call columns wherever a person reads them, such as ``{"pnodes": "positive lymph
        nodes"}``. Columns that are not named keep their names; names that the table does not have
        are not used.
    units : mapping of str to str, optional
        What the numbers of columns are counted in, such as ``{"tsize": "mm"}``.
    level : float, default=0.95
        The level of confidence bands.
    column_costs : ColumnCosts, optional
        What each column is worth, as `column_costs` found it.
    swaps : QuestionSwaps, optional
        What `question_swaps` found: the page then lets its reader swap questions, and see what
        that costs, whom it moves and what near-optimal trees say of one person.
    explore : {"swaps", "cascades", "rows"}, default="swaps"
        How far the reader may go. "swaps": one swap. "cascades": another one in the tree of every
        swap that costs at most 15% of what the best tree explains; trees with a leaf of fewer than
        five rows are left out. Neither has a row of the table in the page. "rows": any number of
        swaps, by a search in the page, of trees of up to three levels. The page then holds the
        answers, the event and the expected events of **every row**: whoever has the page can read
        them, and a `UserWarning` says so.

    Returns
    -------
    pathlib.Path
        ``path``.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from surtree import SurTree, write_report
    >>> from surtree.datasets import load_gbsg2
    >>> model = SurTree(max_depth=2).fit(*load_gbsg2())
    >>> with TemporaryDirectory() as directory:
    ...     page = write_report(model, Path(directory) / "tree.html", time_unit="days")
    ...     "Proven optimal" in page.read_text(encoding="utf-8")
    True
    """
    written = Path(path)
    PAGE_FILE.check(written)
    require_explore(explore, swaps)
    plain = plain_model(model)
    if isinstance(model, Evaluation):
        unit = model.time_unit if time_unit is None else time_unit
        asked = Asked(title or "Evaluation on other data", (), unit, read_labels(labels, units))
        write_text(written, evaluation_page(model, asked))
        return written
    if plain is not None:
        if column_costs is not None:
            raise ValueError("column_costs are those of a tree: leave them out.")
        end = float(plain.unique_times_[-1])
        times = plain.horizons_ if horizons is None else horizons
        asked = Asked(
            title or "",
            round_horizons(end, 4) if times is None else read_horizons(times),
            plain.time_unit_ if time_unit is None else time_unit,
            read_labels(labels, units),
        )
        write_text(written, plain_model_page(plain, asked))
        return written
    if not isinstance(model, Audit):
        time_unit = time_unit_of(model) if time_unit is None else time_unit
        horizons = horizons_of(model) if horizons is None else horizons
    findings = replace(
        read_findings(model),
        time_unit=time_unit,
        labels=read_labels(labels, units),
        column_costs=column_costs,
        swaps=swaps,
        explore=explore,
    )
    title = "Survival tree" if title is None else title
    write_text(written, page_html(findings, title=title, horizons=horizons, level=level))
    return written


def page_html(
    findings: Findings,
    *,
    title: str,
    horizons: Iterable[float] | None,
    level: float,
    today: date | None = None,
) -> str:
    """Return the page that `write_report` writes."""
    tree, outcome = findings.tree, findings.outcome
    end = tree.last_event
    times = round_horizons(end) if horizons is None else read_horizons(horizons)
    shown, fields = Shown(findings, level, times), read_fields(tree, findings.labels)
    script = _asset("charts.js") + _asset("report.js")
    style = _asset("tree.css") + _asset("report.css")
    if findings.swaps is not None:
        solver = _asset("solver.js") if findings.explore == "rows" else ""
        script, style = script + solver + _asset("explore.js"), style + _asset("explore.css")
    parts = {
        "title": title,
        "strip": strip_html(findings),
        "summary": summary_html(shown),
        "tree": tree_html(shown),
        "lead": lead_html(findings),
        "explanation": explanation(shown),
        "legend": legend_html(shown),
        "chosen_here": chosen_here(tree),
        "validation_heading": HEADINGS[outcome.judged_by],
        "validation": validation_html(findings),
        "resampled": markup(
            comparison_html(findings.comparison),
            by_group_html(findings.validation),
            curves_html(findings.validation, findings.time_unit),
            stability_html(findings),
        ),
        "explorer": explorer_html(findings),
        "channels": channels_html(shown),
        "channels_name": f"{outcome.channel_noun}s".capitalize(),
        "groups": markup(risk_groups_html(findings.risk_groups, shown), groups_html(shown)),
        "provenance": provenance_html(findings, today or date.today()),
        "form": form_html(fields),
        "certificate_heading": "Is a nearer tree possible?"
        if findings.teaching
        else "Is a better tree possible?",
        "certificate": certificate_html(findings),
        "sizes": sizes_html(findings),
        "scores": scores_html(findings),
        "costs": costs_html(findings),
        "optimum": optimum_html(findings, level),
        "columns": columns_html(findings),
    }
    return Template(_asset("template.html")).substitute(
        {name: markup(part) for name, part in parts.items()},
        script_hash=b64encode(sha256(script.encode()).digest()).decode(),
        style=style,
        script=script,
        data=script_json(page_data(shown, fields)),
        no_explorer="" if findings.swaps is not None else "hidden",
        no_channels="" if outcome.is_several else "hidden",
        no_questions="" if fields else "hidden",
        no_columns="" if findings.columns else "hidden",
    )


def _asset(name: str) -> str:
    return (files("surtree.report") / name).read_text(encoding="utf-8")

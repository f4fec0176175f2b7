"""``surtree columns``: what was read of each column, and what it is worth to the best tree."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from surtree._support.writing import PAGE_FILE
from surtree.cli import _options as options
from surtree.cli._command import Given, Take, command, refuse
from surtree.cli._console import Result
from surtree.cli._models import save_report
from surtree.cli._outputs import require_outputs
from surtree.cli._search import estimator
from surtree.cli._target import TargetColumns
from surtree.cli._training import Asked, read_training
from surtree.questions.columns import ColumnCosts, column_costs
from surtree.reading.columns import require_columns
from surtree.reading.errors import failures
from surtree.reading.kinds import kind_of
from surtree.reading.survey import long_table, survey, survey_json
from surtree.reading.table import read_file
from surtree.words.numbers import plural

# The options that say how to read a table; all others are about the tree.
_OF_READING = {"data", "types", "separator", "decimal", "encoding", "sheet", "missing", "json"}
_OF_PAGE = ("title", "time_unit", "horizons", "labels")


@command
def columns(
    given: Given,
    data: options.Data,
    target: Annotated[
        TargetColumns,
        Take("time event cause treatment reference entry weight id drop_incomplete zero_times"),
    ],
    asked: Asked,
    form: options.FileOptions,
    tree: Annotated[
        options.TreeOptions,
        Take(
            "max_depth max_splits min_samples_leaf min_events_leaf n_thresholds thresholds "
            "category_cuts shrinkage"
        ),
    ],
    search: Annotated[options.SearchOptions, Take("time_limit jobs")],
    page: options.PageOptions,
    first: Annotated[
        bool,
        typer.Option(
            "--first/--no-first",
            help="Find the best tree that asks about each column first, too.",
            rich_help_panel="Tree",
        ),
    ] = True,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a report of the best tree with these costs."),
    ] = None,
    json: options.Json = False,
) -> Result:
    """Say what was read of each column; with --time and --event, also what it is worth.

    What a column is worth is the loss of the best tree without it, and of the best that asks it
    first. Nothing is tuned; a time limit is that of each tree.
    """
    if not target.time and target.event is None and target.cause is None:
        idle = [name for key, name in given.items() if key not in _OF_READING]
        refuse({f"without --time and --event, {name} would do nothing": True for name in idle})
        return _reading(data, form, asked)
    of_page = [given[name] for name in _OF_PAGE if name in given] if report is None else []
    refuse(
        {
            "give both --time and --event, or none of them": (
                not target.time or (target.event is None and target.cause is None)
            ),
            **target.wrong(tree, tuned=False),
            f"{''.join(of_page[:1])} is for a report: add --report": bool(of_page),
        }
    )
    require_outputs({"--report": (report, PAGE_FILE)}, data=data, labels=page.labels)
    words = page.read()
    training = read_training(data, target, asked, form, of_persons=(), quiet=json)
    survival = training.survival
    engine = {"time_limit": search.time_limit, "n_jobs": search.jobs}
    model = estimator(survival, tree.parameters(tuned=False) | engine, target.reference)
    rows = {"X": training.X, **survival.inputs}
    with failures(ValueError, TypeError):
        costs = column_costs(model, **rows, first=first)
        if report is not None:
            save_report(model.fit(**rows), report, words, column_costs=costs)
    content = _json(costs, {column.name: column.kind for column in training.columns})
    if report is None:
        return Result(str(costs), content)
    return Result(f"{costs}\nreport  {report}", content | {"report": str(report)})


def _reading(data: Path, form: options.FileOptions, asked: Asked) -> Result:
    """Return what was read, of every column, without a target."""
    table, types = read_file(data, form, as_texts=asked.as_texts), asked.types or {}
    require_columns(table.frame, types)
    kinds = {column.name: kind_of(column) for column in table.frame}
    kinds |= {name: reading.as_kind for name, reading in types.items()}
    left_out = {name: kind.left_out for name, kind in kinds.items() if kind.left_out}
    read = survey(table, kinds=kinds, left_out=left_out)
    text = f"{plural(len(table.frame), 'row')}\n{long_table(table, read)}"
    return Result(text, {"rows": len(table.frame), "columns": survey_json(table, read)})


def _json(costs: ColumnCosts, kinds: dict[str, str]) -> dict[str, Any]:
    return {
        "loss": costs.loss,
        "loss_of_a_single_leaf": costs.leaf_loss,
        "status": costs.status,
        "columns": [
            {
                "name": column.name,
                "kind": kinds[column.name],
                "loss_without": column.without,
                "loss_if_first": column.first,
            }
            for column in costs.columns
        ],
    }

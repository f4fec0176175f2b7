"""``surtree columns``: what was read of each column, and what it is worth to the best tree."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from surtree._support.endings import PAGE_FILE
from surtree.cli import _options as options
from surtree.cli._columns import require_columns
from surtree.cli._console import failures, guarded, show, show_json, warnings_said
from surtree.cli._files import Format, read_table, require_outputs
from surtree.cli._kinds import kind_of
from surtree.cli._page import read_page
from surtree.cli._survey import long_table, survey, survey_json
from surtree.cli._survival import TargetColumns
from surtree.cli._training import Asked, read_training
from surtree.estimators.tree import SurTree
from surtree.questions.columns import ColumnCosts, column_costs
from surtree.report._page import write_report
from surtree.words.numbers import plural

# What says how to read a table; all else is about the tree.
_OF_READING = frozenset(
    ("data", "types", "separator", "decimal", "encoding", "sheet", "missing", "json")
)

First = Annotated[
    bool,
    typer.Option(
        "--first/--no-first",
        metavar=options.FLAG,
        help="Find the best tree that asks about each column first, too.",
        rich_help_panel="Tree",
    ),
]
Report = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Write a report of the best tree with these costs.", show_default=False
    ),
]


def columns(
    context: typer.Context,
    data: options.Data,
    time: options.MaybeTime = None,
    event: options.FitEvent = None,
    entry: options.Entry = None,
    weight: options.Weight = None,
    report: Report = None,
    columns: options.Columns = None,
    exclude: options.Exclude = None,
    types: options.Types = None,
    separator: options.Separator = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    sheet: options.SheetName = None,
    missing: options.Missing = None,
    drop_incomplete: options.DropIncomplete = False,
    zero_times: options.ZeroTime = "keep",
    max_depth: options.MaxDepth = 3,
    max_splits: options.MaxSplits = None,
    min_samples_leaf: options.MinSamplesLeaf = 1,
    min_events_leaf: options.MinEventsLeaf = 0,
    n_thresholds: options.NThresholds = 10,
    thresholds: options.Thresholds = None,
    category_cuts: options.CategoryCut = "subsets",
    shrinkage: options.Shrinkage = None,
    first: First = True,
    time_limit: options.TimeLimit = None,
    jobs: options.Jobs = None,
    title: options.Title = None,
    time_unit: options.TimeUnit = None,
    horizons: options.PageHorizons = None,
    labels: options.Labels = None,
    json: options.Json = False,
) -> None:
    """Say what was read of each column; with --time and --event, also what it is worth.

    What a column is worth is the loss of the best tree without it, and of the best that asks it
    first. Nothing is tuned; a time limit is that of each tree.
    """
    form = Format(separator, decimal, encoding, sheet, missing or ())
    asked = Asked(columns, exclude, types)
    given = options.given_options(context)
    if time is None and event is None:
        idle = [option for name, option in given.items() if name not in _OF_READING]
        if idle:
            raise typer.BadParameter(f"without --time and --event, {idle[0]} would do nothing")
        with guarded():
            _show_reading(data, form, asked, json=json)
        return
    if time is None or event is None:
        raise typer.BadParameter("give both --time and --event, or none of them")
    if shrinkage is not None and len(shrinkage.values) > 1:
        raise typer.BadParameter("give one --shrinkage: nothing is tuned here")
    of_page = [
        given[name] for name in ("title", "time_unit", "horizons", "labels") if name in given
    ]
    if report is None and of_page:
        raise typer.BadParameter(f"{of_page[0]} is for a report: add --report")
    with guarded():
        if report is not None:
            require_outputs({"--report": (report, PAGE_FILE)}, data=data, labels=labels)
        page = read_page(title, time_unit, horizons, labels)
        target = TargetColumns(
            time,
            event,
            entry=entry,
            weight=weight,
            drop_incomplete=drop_incomplete,
            zero_times=zero_times,
        )
        training = read_training(data, target, asked, form, of_persons=(), quiet=json)
        model = SurTree(
            max_depth,
            max_splits,
            min_samples_leaf=min_samples_leaf,
            min_events_leaf=min_events_leaf,
            n_thresholds=n_thresholds or None,
            thresholds=options.by_column(thresholds),
            category_cuts=category_cuts,
            shrinkage=0.0 if shrinkage is None else shrinkage.values[0],
            time_limit=time_limit,
            n_jobs=jobs,
        )
        survival = training.survival
        rows = (training.X, survival.y, survival.weight, survival.entry)
        with failures(ValueError, TypeError), warnings_said():
            found = column_costs(model, *rows, first=first)
            if report is not None:
                write_report(model.fit(*rows), report, column_costs=found, **vars(page))
        if json:
            kinds = {column.name: column.kind for column in training.columns}
            show_json(_json(found, kinds) | ({} if report is None else {"report": str(report)}))
        else:
            show(str(found) if report is None else f"{found}\nreport  {report}")


def _show_reading(data: Path, form: Format, asked: Asked, *, json: bool) -> None:
    """Show what was read, of every column, without a target."""
    table = read_table(data, form, as_texts=asked.as_texts)
    require_columns(table.frame, [one.column for one in asked.types or ()])
    kinds = {column.name: kind_of(column) for column in table.frame}
    kinds |= {one.column: one.reading.as_kind for one in asked.types or ()}
    left_out = {name: kind.left_out for name, kind in kinds.items() if kind.left_out}
    found = survey(table, kinds=kinds, left_out=left_out)
    if json:
        show_json({"rows": len(table.frame), "columns": survey_json(table, found)})
    else:
        show(f"{plural(len(table.frame), 'row')}\n{long_table(table, found)}")


def _json(found: ColumnCosts, kinds: dict[str, str]) -> dict[str, Any]:
    return {
        "loss": found.loss,
        "loss_of_a_single_leaf": found.leaf_loss,
        "status": found.status,
        "columns": [
            {
                "name": column.name,
                "kind": kinds[column.name],
                "loss_without": column.without,
                "loss_if_first": column.first,
            }
            for column in found.columns
        ],
    }

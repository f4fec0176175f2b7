"""``surtree columns``: what each column is worth to the best tree."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from surtree.cli import _options as options
from surtree.cli._console import failures, guarded, show, show_json, warnings_said
from surtree.cli._files import require_outputs
from surtree.cli._training import read_training
from surtree.estimator import SurTree
from surtree.questions.columns import ColumnCosts, column_costs
from surtree.report._page import write_report

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
    data: options.Data,
    time: options.Time,
    event: options.Event,
    entry: options.Entry = None,
    weight: options.Weight = None,
    report: Report = None,
    columns: options.Columns = None,
    exclude: options.Exclude = None,
    types: options.Types = None,
    separator: options.Separator = None,
    missing: options.Missing = None,
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
    json: options.Json = False,
) -> None:
    """Say what each column is worth: the loss of the best tree without it, and asking it first.

    Nothing is tuned; a time limit is that of each tree.
    """
    if shrinkage is not None and len(shrinkage.values) > 1:
        raise typer.BadParameter("give one --shrinkage: nothing is tuned here")
    with guarded():
        if report is not None:
            require_outputs({"--report": report}, data=data)
        X, survival, _ = read_training(
            data,
            {"time": time, "event": event, "entry": entry, "weight": weight},
            columns=columns,
            exclude=exclude,
            types=types,
            separator=separator,
            missing=missing,
        )
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
        target = (survival.y, survival.weight, survival.entry)
        with failures(ValueError, TypeError), warnings_said():
            found = column_costs(model, X, *target, first=first)
            if report is not None:
                write_report(model.fit(X, *target), report, column_costs=found)
        if json:
            show_json(_json(found) | ({} if report is None else {"report": str(report)}))
        else:
            show(str(found) if report is None else f"{found}\nreport  {report}")


def _json(found: ColumnCosts) -> dict[str, Any]:
    return {
        "loss": found.loss,
        "loss_of_a_single_leaf": found.leaf_loss,
        "status": found.status,
        "columns": [
            {"name": column.name, "loss_without": column.without, "loss_if_first": column.first}
            for column in found.columns
        ],
    }

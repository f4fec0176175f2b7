"""``surtree questions`` and ``surtree near``: what other questions cost, and how many trees fit."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from surtree._support.writing import PAGE_FILE
from surtree.cli import _options as options
from surtree.cli._command import Given, Take, command, refuse
from surtree.cli._console import Result, shown_as_lines
from surtree.cli._models import read_model, read_outcomes, save_report
from surtree.cli._outputs import TABLE_FILE, WORKBOOK, require_outputs, require_writer, write_frame
from surtree.cli._target import TargetColumns
from surtree.estimators.tree import SurTree
from surtree.questions.costs import question_costs
from surtree.questions.near import NearOptimal, near_optimal
from surtree.questions.swaps import question_swaps
from surtree.reading.errors import UserError, failures
from surtree.report._explore import Explore

_OF_PAGE = ("title", "time_unit", "horizons", "labels")
_ROWS = Take("time! event cause treatment entry weight id drop_incomplete zero_times")
Seconds = Annotated[
    float | None,
    typer.Option(
        callback=options.read_seconds,
        metavar="SECONDS",
        help="How long it may take; what is known by then is shown. By default as the model.",
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FILE", help="Write a table, too: CSV, .xlsx or .parquet."
    ),
]


@command
def questions(
    given: Given,
    model: options.ModelFile,
    data: options.Data,
    target: Annotated[TargetColumns, _ROWS],
    form: options.FileOptions,
    page: options.PageOptions,
    path: Annotated[
        str | None,
        typer.Option(
            metavar="ANSWERS",
            help="Only the split that these answers lead to: yn is below a yes and a no, and '' "
            "the first split.",
        ),
    ] = None,
    time_limit: Seconds = None,
    output: Output = None,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write a report of the model, with a page to swap questions."
        ),
    ] = None,
    explore: Annotated[
        Explore,
        typer.Option(
            help="How far readers of the report may go: one swap, another after it, or any number "
            "by a search in the page, which then holds every row."
        ),
    ] = "swaps",
    json: options.Json = False,
) -> Result:
    """Price every question at every split of a model: what asking it there would cost.

    The table is that of the fit. Printed are the cheapest columns of each split; --output and
    --json have every question.
    """
    of_page = [given[name] for name in _OF_PAGE if name in given] if report is None else []
    of_page += ["--explore"] if report is None and explore != "swaps" else []
    refuse({f"{''.join(of_page[:1])} is for a report: add --report": bool(of_page)})
    _require_table(output, {"--report": (report, PAGE_FILE)}, model, data, page.labels)
    words = page.read()
    fitted, rows = _rows(model, data, target, form)
    with failures(ValueError, TypeError):
        if report is None:
            costs = question_costs(fitted, **rows, time_limit=time_limit)
        else:
            if "treatment" in rows:
                raise UserError("--report has no swaps of trees of treatment effects: leave it out")
            swaps = question_swaps(fitted, **rows, time_limit=time_limit)
            costs = swaps.costs
            with shown_as_lines(UserWarning):
                warnings.simplefilter("always", UserWarning)  # that the page holds rows
                save_report(fitted, report, words, swaps=swaps, explore=explore)
    if path is not None:
        try:
            costs = replace(costs, nodes=(costs[path],))
        except KeyError as error:
            raise UserError(f"--path {error.args[0]}") from None
    records = costs.records()
    if output is not None:
        write_frame(pl.DataFrame(records), output)
    written = {"output": output, "report": report}
    return Result(
        "\n".join([str(costs), *_lines(written)]),
        {
            "loss": costs.loss,
            "loss_of_a_single_leaf": costs.leaf_loss,
            "status": costs.status,
            "questions": records,
        }
        | {name: str(file) for name, file in written.items() if file is not None},
    )


def _share(text: str) -> float:
    """Read a share, such as 5% or 0.05."""
    number, percent, rest = text.partition("%")
    try:
        share = float(number) / (100 if percent else 1)
    except ValueError:
        share = -1.0
    if rest or not 0 <= share <= 1:
        raise typer.BadParameter(
            f"{text!r} is not a share of what the best tree explains, from 0% to 100%: such are "
            "5% and 0.05"
        )
    return share


@command
def near(
    model: options.ModelFile,
    data: options.Data,
    target: Annotated[TargetColumns, _ROWS],
    form: options.FileOptions,
    within: Annotated[
        str,
        typer.Option(
            callback=_share,
            metavar="SHARE",
            help="By how much of what the best tree explains a tree may be behind it: 5% or 0.05.",
        ),
    ] = "5%",
    max_trees: Annotated[int, typer.Option(min=1, help="How many are listed.")] = 100_000,
    time_limit: Seconds = None,
    output: Output = None,
    json: options.Json = False,
) -> Result:
    """Count the trees near the best one, and say which columns they ask about.

    The table is that of the fit. --output writes the columns.
    """
    _require_table(output, {}, model, data)
    fitted, rows = _rows(model, data, target, form)
    share: Any = within
    with failures(ValueError, TypeError):
        listed = near_optimal(
            fitted, **rows, within=share, max_trees=max_trees, time_limit=time_limit
        )
    columns = [vars(column) for column in listed.columns]
    if output is not None:
        write_frame(pl.DataFrame(columns), output)
    content = _near_json(listed) | {"columns": columns}
    return Result(
        "\n".join([str(listed), *_lines({"output": output})]),
        content if output is None else content | {"output": str(output)},
    )


def _near_json(near: NearOptimal) -> dict[str, Any]:
    return {
        "n_trees": near.n_trees,
        "end": near.end,
        "within": near.within,
        "max_splits": near.max_splits,
        "loss": near.loss,
        "loss_of_a_single_leaf": near.leaf_loss,
        "losses": near.losses,
    }


def _rows(
    model: Path, data: Path, target: TargetColumns, form: options.FileOptions
) -> tuple[SurTree, dict[str, Any]]:
    """Read a model and the rows that it was fitted on."""
    refuse({"give one of --event and --cause": (target.event is None) == (target.cause is None)})
    fitted = read_model(model)
    X, survival, *_ = read_outcomes(data, fitted, target, form, for_search=True)
    return fitted, {"X": X, **survival.inputs}


def _require_table(
    output: Path | None, others: dict[str, Any], model: Path, data: Path, labels: Path | None = None
) -> None:
    require_outputs(
        {"--output": (output, TABLE_FILE), **others}, model=model, data=data, labels=labels
    )
    if output is not None and output.suffix.lower() in WORKBOOK:
        require_writer(output, streamed=False)


def _lines(written: dict[str, Path | None]) -> list[str]:
    return [f"{name}  {file}" for name, file in written.items() if file is not None]

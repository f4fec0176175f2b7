"""``surtree predict``: risk, median survival, survival at chosen times, and leaf of each row."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import typer
from numpy.typing import NDArray

from surtree._support.types import Floats
from surtree.averages.points import PointsTable
from surtree.cli import _options as options
from surtree.cli._command import Given, command, option, refuse
from surtree.cli._console import Result, say
from surtree.cli._effects import effects_to_predict
from surtree.cli._models import conform, read_any_model, read_rows
from surtree.cli._outputs import TABLE_FILE, WORKBOOK, require_outputs, require_writer, write_frame
from surtree.cli._streaming import is_streamed, predict_streamed, refuse_options
from surtree.estimators.tree import SurTree
from surtree.reading.columns import require_columns, split_names
from surtree.reading.errors import UserError, failures
from surtree.survival.step_function import BeyondFollowUpWarning


class Quantity(StrEnum):
    """Predictions, beside survival at chosen times."""

    leaf = "leaf"
    risk = "risk"
    median = "median"


def _columns_to_keep(names: list[str] | None) -> list[str] | None:
    """Return the texts that follow --keep, unless one is the next option."""
    for name in names or ():
        if name.startswith("--"):
            raise typer.BadParameter(
                f"name the columns to repeat before {name}, as in --keep id {name} ..."
            )
    return names


@dataclass(frozen=True)
class PredictOptions:
    """What to predict, and where to write it."""

    only: list[Quantity] | None = option(
        "Predict this and not all of leaf, risk and median; can be repeated."
    )
    survival: tuple[float, ...] | None = option(
        "Add the probability of no event until each of these times.",
        reads=options.read_times,
        many=True,
        metavar="TIME,...",
    )
    survived: float | None = option(
        "Survival, and cumulative incidence, given no event until this time (conditional).",
        metavar="TIME",
        min=0,
    )
    keep: list[str] | None = option(
        "Repeat these columns of the table beside the predictions, as in --keep id.",
        callback=_columns_to_keep,  # before what follows is refused as an argument too many
        metavar="COLUMN,...",
    )
    uncorrected: bool = option(
        "Of a model of treatment effects, predict with the effects of leaves, also where nothing "
        "says that they differ.",
        "--uncorrected",
        default=False,
    )
    output: Path | None = option(
        "Write here instead of to standard output: CSV, or what its ending says: .xlsx or "
        ".parquet.",
        metavar="FILE",
    )


@command
def predict(
    given: Given,
    model: options.ModelFile,
    data: options.Data,
    asked: PredictOptions,
    form: options.FileOptions,
    json: options.Json = False,
) -> Result | None:
    """Predict for each row of a table its leaf, its risk and its median survival.

    What is not known is empty (null in JSON and Parquet): a median that is not reached, and
    survival after the last follow-up of the training rows. A model of competing risks has a
    risk of each cause, and beside survival the cumulative incidence of each. A model of treatment
    effects also has the risk, the median and the survival of each arm, and hazard ratios: those to
    expect in new data, so the same for everybody where its test found no evidence that effects
    differ.
    """
    output = asked.output
    since = asked.survived or 0.0
    refuse(
        {
            "--survived goes with --survival": bool(since) and not asked.survival,
            f"--survived {since:g} is not before all times of --survival": (
                bool(since) and min(asked.survival or (np.inf,)) <= since
            ),
        }
    )
    require_outputs({"--output": (output, TABLE_FILE)}, model=model, data=data)
    if output is not None and output.suffix.lower() in WORKBOOK:
        require_writer(output, streamed=is_streamed(data))
    fitted = read_any_model(model)
    if not isinstance(fitted, SurTree):
        refuse({"a table that is streamed needs a model of one tree": is_streamed(data)})
        return _write(data, fitted, asked, form, json=json)
    effects = effects_to_predict(fitted, uncorrected=asked.uncorrected)
    if is_streamed(data):
        refuse_options(given, "separator", "decimal", "encoding", "sheet", "missing")
        of_leaf = _of_leaves(fitted, fitted.tree_.leaves, asked, effects)
        return predict_streamed(fitted, data, of_leaf, asked.keep, output, json=json)
    return _write(data, fitted, asked, form, effects, json=json)


def _write(
    data: Path,
    fitted: Any,
    asked: PredictOptions,
    form: options.FileOptions,
    effects: Floats | None = None,
    *,
    json: bool,
) -> Result | None:
    """Predict the rows of a table in memory, and write what is asked for."""
    output = asked.output
    table = read_rows(data, fitted, form)
    rows = conform(table.frame, fitted)
    kept = split_names(asked.keep, table.frame)
    require_columns(table.frame, kept)
    named = hasattr(fitted, "feature_names_in_")
    with failures(ValueError, TypeError):
        X = rows if named else rows.to_numpy()
        if isinstance(fitted, SurTree):
            predictions = _of_leaves(fitted, fitted.apply(X), asked, effects)
        else:
            predictions = _of_rows(fitted, X, asked)
    for name in predictions.keys() & set(kept):
        raise UserError(f"column {name!r} cannot be kept: a prediction has the same name")
    frame = pl.DataFrame({name: table.as_written(name) for name in kept} | predictions)
    if output is not None or not json:
        write_frame(frame, output)
    if not json:
        return None
    content = {"predictions": frame.to_dicts()} if output is None else {"output": str(output)}
    return Result("", {"rows": len(frame), **content})


def _of_rows(model: Any, X: Any, asked: PredictOptions) -> dict[str, pl.Series]:
    """Return the predictions of a model that is no tree: its points, if any, risk and survival."""
    columns: dict[str, Any] = {}
    if isinstance(model, PointsTable):
        columns["points"] = model.points(X)
    wanted = asked.only or [Quantity.risk, Quantity.median]
    refuse({"--only leaf is of trees": Quantity.leaf in wanted})
    if Quantity.risk in wanted:
        columns["risk"] = model.predict(X)
    if Quantity.median in wanted:
        columns["median"] = model.predict_median(X)
    if asked.survival:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BeyondFollowUpWarning)
            values = model.predict_survival_function(
                X, times=sorted(asked.survival), survived=asked.survived or 0.0
            )
        for time, column in zip(sorted(asked.survival), values.T, strict=True):
            columns[f"survival_{time:.15g}"] = column
            if time > model.baseline_.last_time:
                _say_beyond(f"survival_{time:.15g}", time, model.baseline_.last_time)
    return {name: _known(pl.Series(values)) for name, values in columns.items()}


def _of_leaves(
    model: SurTree, leaf: NDArray[np.intp], asked: PredictOptions, effects: Floats | None
) -> dict[str, pl.Series]:
    """Return the predictions of rows, given their leaves; effects of arms may be given too."""
    tree, outcome = model.tree_, model.tree_.outcome
    columns = dict(outcome.predictions([*(asked.only or Quantity)], (), effects))
    last_time = tree.last_time
    for time in asked.survival or ():
        name = f"survival_{time:.15g}"
        if time <= last_time:
            at_time = dict(outcome.predictions((), (time,), effects))
            if asked.survived:
                before = outcome.predictions((), (asked.survived,), effects)
                at_time = _conditional(at_time, before, time, asked.survived)
            columns |= at_time
            continue
        _say_beyond(name, time, last_time)
        columns[name] = np.full(tree.n_leaves, np.nan)
    index = np.searchsorted(tree.leaves, leaf)
    return {name: _known(pl.Series(values[index])) for name, values in columns.items()}


def _conditional(
    at: dict[str, Floats], before: Mapping[str, Floats], time: float, survived: float
) -> dict[str, Floats]:
    """Return predictions at a time given no event until an earlier one."""
    given: dict[str, Floats] = {}
    with np.errstate(divide="ignore", invalid="ignore"):
        for name, values in at.items():
            earlier = before[name.replace(f"_{time:.15g}", f"_{survived:.15g}")]
            if name.startswith("incidence"):
                given[name] = (values - earlier) / before[f"survival_{survived:.15g}"]
            else:
                given[name] = values / earlier
    return given


def _say_beyond(name: str, time: float, last_time: float) -> None:
    say(
        f"{name} is empty: {time:.15g} is after the last follow-up of the training rows, "
        f"{last_time:.15g}"
    )


def _known(values: pl.Series) -> pl.Series:
    """Return numbers, and nothing where there is none: a median that is not reached, for one."""
    return values.set(~values.is_finite(), None) if values.dtype.is_float() else values

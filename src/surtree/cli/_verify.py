"""``surtree verify``: confirm a model by a second program."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from surtree.cli import _options as options
from surtree.cli._columns import Reading, conform, read_column, require_columns
from surtree.cli._console import DATA_ERROR, UserError, failures, guarded, say, show, show_json
from surtree.cli._files import Format
from surtree.cli._models import read_model, read_rows, write_model
from surtree.cli._progress import progress_bar
from surtree.cli._survival import TargetColumns, read_survival
from surtree.estimators.causes import CompetingRisksTree
from surtree.estimators.effects import EffectTree
from surtree.estimators.tree import SurTree
from surtree.verification import Verification
from surtree.verification import verify as verify_model

Treatment = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="The arm of each row, of a model of treatment effects."),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        callback=options._seconds,
        metavar="SECONDS",
        help="About how long it may take; what takes longer is confirmed in part.",
    ),
]
Export = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Write the program, the rows as whole numbers and the claim to this folder: python "
        "verify.py repeats the check there, with NumPy alone.",
        show_default=False,
    ),
]
KeepReceipt = Annotated[
    bool,
    typer.Option(
        "--receipt/--no-receipt",
        metavar=options.FLAG,
        help="Keep in the model file that it was confirmed, so that its reports say so.",
    ),
]


def verify(
    model: options.ModelFile,
    data: options.Data,
    time: options.Time,
    event: options.FitEvent = None,
    cause: options.Cause = None,
    entry: options.Entry = None,
    weight: options.Weight = None,
    treatment: Treatment = None,
    separator: options.Separator = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    sheet: options.SheetName = None,
    missing: options.Missing = None,
    drop_incomplete: options.DropIncomplete = False,
    zero_times: options.ZeroTime = "keep",
    time_limit: TimeLimit = 600.0,
    export: Export = None,
    receipt: KeepReceipt = True,
    json: options.Json = False,
) -> None:
    """Confirm a model by a second program that shares no code: rules, leaves, and the optimum.

    The table is that of the fit, in any order of its rows. The exit code is 0 if every part is
    confirmed, and else 1; what differs is one sentence each.
    """
    with guarded():
        fitted = read_model(model)
        _require_options(fitted, event, cause, treatment)
        target = TargetColumns(
            time,
            event,
            cause,
            entry=entry,
            weight=weight,
            treatment=treatment,
            drop_incomplete=drop_incomplete,
            zero_times=zero_times,
        )
        form = Format(separator, decimal, encoding, sheet, missing or ())
        frame = target.complete_rows(read_rows(data, fitted, form).frame)
        X, survival = conform(frame, fitted, for_search=True), read_survival(frame, target)
        arm = None
        if treatment is not None:
            require_columns(frame, [treatment])
            arm = read_column(frame[treatment], Reading("categorical")).to_numpy()
        with _said_at_once(), progress_bar() as bar, failures(ValueError, TypeError, OSError):
            found = verify_model(
                model,
                X,
                survival.y,
                survival.weight,
                survival.entry,
                treatment=arm,
                time_limit=time_limit,
                progress=bar.verifying(),
                export=export,
            )
        if found.receipt is not None and receipt:
            fitted.receipt_ = found.receipt
            try:
                write_model(fitted, model)
            except UserError as error:
                say(f"surtree: confirmed, but the receipt is not kept: {error}")
        if json:
            show_json(_json(found))
        else:
            show(str(found))
    if not found.confirmed:
        for text in found.differences if json else ():
            say(f"surtree: {text}")
        raise typer.Exit(DATA_ERROR)


@contextmanager
def _said_at_once() -> Iterator[None]:
    """Print warnings as a line when they are raised: what it would take, before it starts."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: say(f"surtree: {message}")
        yield


def _require_options(model: SurTree, event: Any, cause: Any, treatment: Any) -> None:
    """Raise an error unless the options are those of the kind of model."""
    of_causes, of_arms = isinstance(model, CompetingRisksTree), isinstance(model, EffectTree)
    if of_causes and (cause is None or event is not None):
        raise UserError("this is a model of competing risks: give --cause, and not --event")
    if not of_causes and (event is None or cause is not None):
        raise UserError("this is a model of one event: give --event, and not --cause")
    if of_arms and treatment is None:
        raise UserError("this is a model of treatment effects: give the arm, --treatment COLUMN")
    if treatment is not None and not of_arms:
        raise UserError("--treatment is for models of treatment effects: leave it out")


def _json(found: Verification) -> dict[str, Any]:
    return {
        "confirmed": found.confirmed,
        "share": found.share,
        "parts": [
            {"name": part.name, "outcome": part.outcome, "sentences": list(part.sentences)}
            for part in found.parts
        ],
        "receipt": None if found.receipt is None else vars(found.receipt),
    }

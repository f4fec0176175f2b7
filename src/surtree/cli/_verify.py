"""``surtree verify``: confirm a model by a second program."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from surtree.cli import _options as options
from surtree.cli._command import Take, command, option
from surtree.cli._console import DATA_ERROR, Result, say, shown_as_lines
from surtree.cli._models import read_model, read_outcomes, write_model
from surtree.cli._progress import progress_bar
from surtree.cli._target import TargetColumns
from surtree.reading.errors import UserError, failures
from surtree.verification import Verification
from surtree.verification import verify as verify_model


@dataclass(frozen=True)
class VerifyOptions:
    """How long a model is checked, and what is kept of it."""

    time_limit: float | None = option(
        "About how long it may take; what takes longer is confirmed in part.",
        default=600.0,
        callback=options.read_seconds,
        metavar="SECONDS",
    )
    export: Path | None = option(
        "Write the program, the rows as whole numbers and the claim to this folder: python "
        "verify.py repeats the check there, with NumPy alone.",
        metavar="DIR",
    )
    receipt: bool = option(
        "Keep in the model file that it was confirmed, so that its reports say so.",
        "--receipt/--no-receipt",
        default=True,
    )


@command
def verify(
    model: options.ModelFile,
    data: options.Data,
    target: Annotated[
        TargetColumns,
        Take("time! event cause entry weight treatment drop_incomplete zero_times"),
    ],
    form: options.FileOptions,
    how: VerifyOptions,
    json: options.Json = False,
) -> Result:
    """Confirm a model by a second program that shares no code: rules, leaves, and the optimum.

    The table is that of the fit, in any order of its rows. The exit code is 0 if every part is
    confirmed, and else 1; what differs is one sentence each.
    """
    fitted = read_model(model)
    X, survival = read_outcomes(data, fitted, target, form, for_search=True)
    # Warnings say what it would take, before it starts.
    with shown_as_lines(Warning), progress_bar() as bar, failures(ValueError, TypeError, OSError):
        result = verify_model(
            model,
            X,
            **survival.inputs,
            time_limit=how.time_limit,
            progress=bar.verifying(),
            export=how.export,
        )
    if result.receipt is not None and how.receipt:
        fitted.receipt_ = result.receipt
        try:
            write_model(fitted, model)
        except UserError as error:
            say(f"confirmed, but the receipt is not kept: {error}")
    if result.confirmed:
        return Result(str(result), _json(result))
    differences = tuple(result.differences) if json else ()
    return Result(str(result), _json(result), differences, DATA_ERROR)


def _json(result: Verification) -> dict[str, Any]:
    return {
        "confirmed": result.confirmed,
        "share": result.share,
        "parts": result.parts,
        "receipt": result.receipt,
    }

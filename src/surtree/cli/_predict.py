"""``surtree predict``: risk, median survival, survival at chosen times, and leaf of each row."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import polars as pl
import typer
from numpy.typing import NDArray
from polars import selectors

from surtree._support.types import Floats
from surtree.cli import _options as options
from surtree.cli._columns import conform, require_columns, split_names
from surtree.cli._console import UserError, failures, guarded, say, show_json, warnings_said
from surtree.cli._effects import effects_to_predict
from surtree.cli._excel import require_writer
from surtree.cli._files import TABLE_FILE, TABLE_WORKBOOK, Format, require_outputs, write_frame
from surtree.cli._models import read_model, read_rows
from surtree.cli._streaming import is_streamed, predict_streamed, refuse_options
from surtree.estimators.tree import SurTree
from surtree.outcomes.arm_curves import arm_risks, leaf_arm_curve
from surtree.outcomes.arm_effects import arms_of, hazard_ratios
from surtree.outcomes.cause_figures import cause_theta, causes_of
from surtree.outcomes.incidence import leaf_incidence
from surtree.outcomes.legacy import has_causes
from surtree.tree.curves import leaf_curves
from surtree.tree.tree import Tree


class Quantity(StrEnum):
    """Predictions, beside survival at chosen times."""

    leaf = "leaf"
    risk = "risk"
    median = "median"


Quantities = Annotated[
    list[Quantity] | None,
    typer.Option(
        "--only", help="Predict this and not all of leaf, risk and median; can be repeated."
    ),
]


def _columns_to_keep(names: list[str] | None) -> list[str] | None:
    """Return what follows --keep, unless it is the next option."""
    for name in names or ():
        if name.startswith("--"):
            raise typer.BadParameter(
                f"name the columns to repeat before {name}, as in --keep id {name} ..."
            )
    return names


Keep = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN,...",
        callback=_columns_to_keep,
        help="Repeat these columns of the table beside the predictions, as in --keep id.",
    ),
]
Uncorrected = Annotated[
    bool,
    typer.Option(
        "--uncorrected",
        metavar=options.FLAG,
        help="Of a model of treatment effects, predict with the effects of leaves, also where "
        "nothing says that they differ.",
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write here instead of to standard output: CSV, or what its ending says: .xlsx or "
        ".parquet.",
    ),
]


def predict(
    model: options.ModelFile,
    data: options.Data,
    only: Quantities = None,
    survival: options.Horizons = None,
    keep: Keep = None,
    uncorrected: Uncorrected = False,
    output: Output = None,
    separator: options.Separator = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    sheet: options.SheetName = None,
    missing: options.Missing = None,
    json: options.Json = False,
) -> None:
    """Predict for each row of a table its leaf, its risk and its median survival.

    What is not known is empty (null in JSON and Parquet): a median that is not reached, and
    survival after the last follow-up of the training rows. A model of competing risks has a
    risk of each cause, and beside survival the cumulative incidence of each. A model of treatment
    effects also has the risk, the median and the survival of each arm, and hazard ratios: those to
    expect in new data, so the same for everybody where its test found no evidence that effects
    differ.
    """
    with guarded():
        require_outputs({"--output": (output, TABLE_FILE)}, model=model, data=data)
        if output is not None and output.suffix.lower() in TABLE_WORKBOOK:
            require_writer(output, streamed=is_streamed(data))
        fitted = read_model(model)
        horizons = [time for listed in survival or [] for time in listed.times]
        effects = effects_to_predict(fitted, uncorrected=uncorrected)
        if is_streamed(data):
            refuse_options(
                {
                    "--separator": separator,
                    "--decimal": decimal,
                    "--encoding": encoding,
                    "--sheet": sheet,
                    "--missing": missing,
                }
            )
            of_leaf = _of_leaves(
                fitted, fitted.tree_.leaves, only or list(Quantity), horizons, effects
            )
            predict_streamed(fitted, data, of_leaf, keep, output, json=json)
            return
        table = read_rows(data, fitted, Format(separator, decimal, encoding, sheet, missing or ()))
        rows = conform(table.frame, fitted)
        kept = split_names(keep or [], table.frame)
        require_columns(table.frame, kept)
        predictions = _predictions(fitted, rows, only or list(Quantity), horizons, effects)
        for name in predictions.keys() & set(kept):
            raise UserError(f"column {name!r} cannot be kept: a prediction has the same name")
        found = pl.DataFrame({name: table.as_written(name) for name in kept} | predictions)
        if output is not None or not json:
            write_frame(found, output)
        if json:
            show_json({"rows": len(found), **_content(found, output)})


def _content(found: pl.DataFrame, output: Path | None) -> dict[str, Any]:
    if output is not None:
        return {"output": str(output)}
    # JSON has no infinity.
    numbers = selectors.float()
    finite = found.with_columns(pl.when(numbers.is_finite()).then(numbers).name.keep())
    return {"predictions": finite.to_dicts()}


def _predictions(
    model: SurTree,
    rows: pl.DataFrame,
    quantities: list[Quantity],
    horizons: list[float],
    effects: Floats | None,
) -> dict[str, pl.Series]:
    named = hasattr(model, "feature_names_in_")
    with failures(ValueError, TypeError), warnings_said():
        leaf = model.apply(rows if named else rows.to_numpy())
    return _of_leaves(model, leaf, quantities, horizons, effects)


def _of_leaves(
    model: SurTree,
    leaf: NDArray[np.intp],
    quantities: list[Quantity],
    horizons: list[float],
    effects: Floats | None,
) -> dict[str, pl.Series]:
    """Return the predictions of rows, given their leaves; effects of arms may be given too."""
    place = np.searchsorted(model.tree_.leaves, leaf)
    curves = leaf_curves(model.tree_)
    of_leaf = {
        Quantity.leaf: model.tree_.leaves,
        Quantity.risk: model.tree_.theta[model.tree_.leaves],
        Quantity.median: np.array([curve.median for curve in curves]),
    }
    columns = {str(quantity): of_leaf[quantity][place] for quantity in quantities}
    causes = causes_of(model.tree_).causes if has_causes(model.tree_) else ()
    if causes and columns.pop("risk", None) is not None:
        leaves = model.tree_.leaves
        columns |= {f"risk_{one}": cause_theta(model.tree_, one)[leaves][place] for one in causes}
    arms = () if model.tree_.arms is None else model.tree_.arms.labels
    if arms:
        names = [quantity.value for quantity in quantities]
        columns |= _arm_columns(model.tree_, place, names, effects)
    found = {name: pl.Series(values) for name, values in columns.items()}
    last_time = model.tree_.baseline.last_time
    for time in horizons:
        name = f"survival_{time:.15g}"
        if time > last_time:
            say(
                f"surtree: {name} is empty: {time:.15g} is after the last follow-up of the "
                f"training rows, {last_time:.15g}"
            )
            found[name] = pl.Series([None] * len(place), dtype=pl.Float64)
        else:
            at_time = np.array([curve.survival(time) for curve in curves])
            found[name] = pl.Series(at_time[place])
            for number, label in enumerate(arms):
                at_time = np.array(
                    [
                        leaf_arm_curve(model.tree_, leaf, number, effects).survival(time)
                        for leaf in model.tree_.leaves.tolist()
                    ]
                )
                found[f"{name}_{label}"] = pl.Series(at_time[place])
            for one in causes:
                incidence = leaf_incidence(model.tree_, one)
                values = np.array([curve(time) for curve in incidence])[place]
                found[f"incidence_{one}_{time:.15g}"] = pl.Series(values)
    return {name: _known(values) for name, values in found.items()}


def _known(values: pl.Series) -> pl.Series:
    """Return numbers, and nothing where there is none: a median that is not reached, for one."""
    return values.set(~values.is_finite(), None) if values.dtype.is_float() else values


def _arm_columns(
    tree: Tree, place: NDArray[np.intp], quantities: list[str], effects: Floats | None
) -> dict[str, NDArray[np.float64]]:
    """Return the risk and median of each arm, and its hazard ratio over the reference."""
    labels, leaves = arms_of(tree).labels, tree.leaves
    columns: dict[str, NDArray[np.float64]] = {}
    for arm, label in enumerate(labels):
        medians = [leaf_arm_curve(tree, leaf, arm, effects).median for leaf in leaves.tolist()]
        of_arm = {"risk": arm_risks(tree, effects)[arm, leaves], "median": np.array(medians)}
        columns |= {f"{name}_{label}": of_arm[name][place] for name in quantities if name in of_arm}
    own = hazard_ratios(tree) if effects is None else effects[1:]
    for label, ratios in zip(labels[1:], own, strict=True):
        columns[f"effect_{label}"] = ratios[leaves][place]
    return columns

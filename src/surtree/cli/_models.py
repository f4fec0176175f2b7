"""Models in and out of files, and tables with the columns of a model."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl

from surtree._support.status import VOID, WORDS
from surtree.averages.base import ProportionalEstimator
from surtree.cli._console import say
from surtree.cli._options import FileOptions, Page
from surtree.cli._survival import Survival, read_survival
from surtree.cli._target import TargetColumns
from surtree.cuts.cut import Cut
from surtree.estimators.tree import SurTree
from surtree.loading import load
from surtree.outcomes.event import OneEvent
from surtree.reading.columns import Reading, read_column, require_columns
from surtree.reading.errors import UserError, failures
from surtree.reading.table import DataFile, read_file, require_file
from surtree.report import write_report


def read_model(path: Path) -> SurTree:
    """Read a model of one tree, or say why it cannot be read."""
    model = read_any_model(path)
    if not isinstance(model, SurTree):
        raise UserError(
            f"{path} holds a {type(model).__name__}, and this command is about models of one tree"
        )
    return model


def read_any_model(path: Path) -> Any:
    """Read a model that predicts, a tree or not, or say why it cannot be read."""
    require_file(path)
    with failures(OSError, about=f"cannot read {path}: "), failures(ValueError):
        model = load(path)
    if not isinstance(model, SurTree | ProportionalEstimator):
        raise UserError(
            f"{path} holds a {type(model).__name__}, and the commands read fitted models: "
            "surtree.load reads it in Python"
        )
    status = getattr(model, "status_", "optimal")
    if status in VOID:
        say(f"{path}: {WORDS[status].clause}: its certificate is void")
    return model


def write_model(model: Any, path: Path) -> None:
    """Write a model, or say why it cannot be written."""
    with failures(OSError, about=f"cannot write {path}: "), failures(ValueError):
        model.save(path)


def save_report(model: Any, path: Path, page: Page, **more: Any) -> None:
    with failures(OSError, about=f"cannot write {path}: "), failures(ValueError):
        write_report(model, path, **vars(page), **more)


def read_rows(path: Path, model: Any, form: FileOptions) -> DataFile:
    """Read a table, with texts where a model was trained on texts."""
    names = _names(model)
    readings = _readings(model).items() if names else ()
    as_texts = [names[column] for column, reading in readings if reading.is_text]
    return read_file(path, form, as_texts=as_texts)


def read_outcomes(
    path: Path,
    model: Any,
    target: TargetColumns,
    form: FileOptions,
    *,
    for_search: bool = False,
) -> tuple[pl.DataFrame, Survival]:
    _require_outcome(model, target)
    frame = target.complete_rows(read_rows(path, model, form).frame)
    survival = read_survival(frame, target).named_as(getattr(model, "cause_names_", None))
    return conform(frame, model, for_search=for_search), survival


def _require_outcome(model: Any, target: TargetColumns) -> None:
    """Raise an error unless the options are those of the kind of model."""
    outcome = model.tree_.outcome if isinstance(model, SurTree) else OneEvent
    for name in ("event", "cause", "treatment"):
        is_given, is_needed = getattr(target, name) is not None, name in outcome.row_columns
        if is_given != is_needed:
            needed = " and ".join(f"--{column} COLUMN" for column in outcome.row_columns)
            others = "" if is_needed else f", and not --{name}"
            raise UserError(f"this is a model of {outcome.noun}: give {needed}{others}")


def conform(frame: pl.DataFrame, model: Any, *, for_search: bool = False) -> pl.DataFrame:
    """Return the columns of a model, in their order, each of the kind that it was trained on.

    Columns that the tree does not ask about may be absent; ``for_search``, those that the search
    could not ask about. Where the model knows no names, its columns are those of the table.
    """
    names = _names(model) or frame.columns
    if len(names) != model.n_features_in_:
        raise UserError(
            f"the table has {len(names)} columns, and the model, which knows no names, has "
            f"{model.n_features_in_}"
        )
    readings = _readings(model)
    cuts = _searched(model) if for_search else _asked(model)
    asked = {names[cut.column]: readings[cut.column] for cut in cuts}
    require_columns(frame, asked)
    absent = pl.Series([None] * len(frame))
    return pl.DataFrame(
        {
            name: read_column(frame[name], asked[name])
            if name in asked
            else frame.get_column(name, default=absent)
            for name in names
        }
    )


def _names(model: Any) -> list[str]:
    return list(getattr(model, "feature_names_in_", ()))


def _readings(model: Any) -> dict[int, Reading]:
    """Return the kind of each column that a model asks about, by position."""
    readings = {}
    for cut in (*_searched(model), *_asked(model)):
        if cut.threshold is not None:
            readings[cut.column] = Reading("numeric")
            continue
        first = next(iter(cut.categories or cut.known or ()), None)
        if first is None:
            # The tree asks only whether the value is missing.
            readings.setdefault(cut.column, Reading("categorical"))
        else:
            kind = "boolean" if first is True else "categorical"
            readings[cut.column] = Reading(kind if isinstance(first, str | bool) else "numeric")
    return readings


def _asked(model: Any) -> Iterable[Cut]:
    """Return the questions that predictions depend on."""
    return model.binning_.cuts if isinstance(model, ProportionalEstimator) else model.tree_.cuts


def _searched(model: Any) -> Iterable[Cut]:
    """Return the questions that a search could ask."""
    return model.binning_.cuts if isinstance(model, ProportionalEstimator) else model.encoder_.cuts_

"""``surtree validate`` and ``surtree evaluate``: what trees are worth in new data."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Annotated, Any

import numpy as np
import polars as pl
import typer

from surtree.cli import _options as options
from surtree.cli._columns import conform
from surtree.cli._console import (
    INTERRUPTED,
    end_now,
    failures,
    guarded,
    say,
    show,
    show_json,
    warnings_said,
)
from surtree.cli._files import Format
from surtree.cli._models import read_model, read_rows
from surtree.cli._progress import progress_bar
from surtree.cli._search import default_folds
from surtree.cli._survival import Survival, TargetColumns, read_survival
from surtree.cli._training import Asked, read_training
from surtree.model_selection.cv import SurTreeCV
from surtree.validation import Evaluation
from surtree.validation import evaluate as evaluate_rows
from surtree.validation import validate as resample
from surtree.validation.files import save_validation
from surtree.validation.results import Method, Validation
from surtree.validation.verdict import prediction_verdicts
from surtree.words.numbers import plural

Bootstraps = Annotated[
    int,
    typer.Option(
        min=1,
        help="Samples on which all of the tuning is repeated, or repetitions of --method folds.",
        rich_help_panel="Validation",
    ),
]
How = Annotated[
    Method,
    typer.Option(
        help="How to correct: .632+ or optimism, by bootstrap samples; or folds.",
        rich_help_panel="Validation",
    ),
]
Folds = Annotated[
    int | None,
    typer.Option(
        min=2, help="Folds of --method folds; by default 10.", rich_help_panel="Validation"
    ),
]
Times = Annotated[
    list[options.Times] | None,
    typer.Option(
        "--horizons",
        parser=options.read_times,
        metavar="TIME,...",
        help="Times for calibration; by default those that evaluate finds in the model, or the "
        "median time of the events.",
        rich_help_panel="Validation",
    ),
]


def validate(
    data: options.Data,
    time: options.Time,
    event: options.Event,
    entry: options.Entry = None,
    weight: options.Weight = None,
    id: options.Id = None,
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
    leaf_curve: options.LeafCurve = "baseline",
    bootstraps: Bootstraps = 200,
    method: How = "632+",
    folds: Folds = None,
    group: options.Group = None,
    horizons: Times = None,
    jobs: options.Jobs = None,
    json: options.Json = False,
) -> None:
    """Say what to expect of a tuned tree in new data, by resampling.

    Everything that `surtree fit` does is repeated on samples of the rows. Ctrl-C ends it with the
    samples that are done; the exit code is 130.
    """
    if folds is not None and method != "folds":
        raise typer.BadParameter("--folds goes with --method folds")
    with guarded():
        training = read_training(
            data,
            TargetColumns(
                time,
                event,
                entry=entry,
                weight=weight,
                id=id,
                group=group,
                drop_incomplete=drop_incomplete,
                zero_times=zero_times,
            ),
            Asked(columns, exclude, types),
            Format(separator, decimal, encoding, sheet, missing or ()),
            quiet=json,
        )
        X, survival = training.X, training.survival
        model = SurTreeCV(
            max_depth,
            max_splits,
            cv=default_folds(survival) or 2,
            min_samples_leaf=min_samples_leaf,
            min_events_leaf=min_events_leaf,
            n_thresholds=n_thresholds or None,
            thresholds=options.by_column(thresholds),
            category_cuts=category_cuts,
            leaf_curve=leaf_curve,
        )
        if shrinkage is not None:
            model.set_params(shrinkage=shrinkage.values)
        found = validated(
            model,
            X,
            survival,
            n_bootstraps=bootstraps,
            method=method,
            n_folds=10 if folds is None else folds,
            horizons=options.times_of(horizons),
            n_jobs=jobs,
        )
        if json:
            show_json(validation_json(found) or {})
        else:
            show(f"{found}\n\n{prediction_verdicts(found, None, 0)[0]}")
        if found.stopped_early:
            samples = plural(found.n_repetitions, "sample")
            say(f"surtree: Ctrl-C stopped the validation after {samples}")
            end_now(INTERRUPTED)


def validated(model: Any, X: pl.DataFrame, survival: Survival, **options: Any) -> Validation:
    """Validate a model with a progress bar."""
    with warnings_said(), progress_bar() as bar, failures(ValueError, TypeError):
        return resample(
            model,
            X,
            survival.y,
            survival.weight,
            survival.entry,
            id=survival.id,
            groups=survival.group,
            progress=bar.validating(),
            **options,
        )


def evaluate(
    model: options.ModelFile,
    data: options.Data,
    time: options.Time,
    event: options.Event,
    entry: options.Entry = None,
    weight: options.Weight = None,
    id: options.Id = None,
    horizons: Times = None,
    bootstraps: Annotated[
        int,
        typer.Option(
            min=1, help="Samples of the rows for intervals.", rich_help_panel="Validation"
        ),
    ] = 200,
    separator: options.Separator = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    sheet: options.SheetName = None,
    missing: options.Missing = None,
    drop_incomplete: options.DropIncomplete = False,
    zero_times: options.ZeroTime = "keep",
    json: options.Json = False,
) -> None:
    """Test a model on other data: discrimination and calibration.

    The rows should not be those that the model was fitted on; for these, use surtree validate.
    """
    with guarded():
        fitted = read_model(model)
        form = Format(separator, decimal, encoding, sheet, missing or ())
        target = TargetColumns(
            time,
            event,
            entry=entry,
            weight=weight,
            id=id,
            drop_incomplete=drop_incomplete,
            zero_times=zero_times,
        )
        frame = target.complete_rows(read_rows(data, fitted, form).frame)
        rows, survival = conform(frame, fitted), read_survival(frame, target)
        with warnings_said(), failures(ValueError, TypeError):
            found = evaluate_rows(
                fitted,
                rows,
                survival.y,
                survival.weight,
                survival.entry,
                id=survival.id,
                horizons=options.times_of(horizons),
                n_bootstraps=bootstraps,
            )
        if json:
            show_json(_evaluation_json(found))
        else:
            show(str(found))


def validation_json(found: Validation | None) -> dict[str, Any] | None:
    """Return a validation as plain values, its measures by their names."""
    saved = save_validation(found)
    if found is None or saved is None:
        return None
    optimism = {measure.name: measure.optimism for measure in found.measures}
    saved["measures"] = {
        measure["name"]: measure | {"optimism": _finite(optimism[measure["name"]])}
        for measure in saved["measures"]
    }
    return saved


def _evaluation_json(found: Evaluation) -> dict[str, Any]:
    plain = asdict(found)
    for name in ("calibration", "decision"):
        curve = getattr(found, name)
        plain[name] = None if curve is None else {k: getattr(curve, k) for k in curve._names()}
    finite: dict[str, Any] = _finite(plain)
    return finite


def _finite(value: Any) -> Any:
    """Return plain values that JSON can hold: null for what is not a number."""
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_finite(item) for item in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value

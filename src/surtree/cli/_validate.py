"""``surtree validate``: what a tuned tree is worth on rows to come."""

from __future__ import annotations

import math
from typing import Annotated, Any

import typer

from surtree.cli import _options as options
from surtree.cli._console import INTERRUPTED, end_now, failures, guarded, say, show, show_json
from surtree.cli._progress import progress_bar
from surtree.cli._search import default_folds
from surtree.cli._training import read_training
from surtree.model_selection.cv import SurTreeCV
from surtree.validation import Validation
from surtree.validation.bootstrap import validate as bootstrap

Bootstraps = Annotated[
    int,
    typer.Option(
        min=1, help="Samples on which all of the tuning is repeated.", rich_help_panel="Validation"
    ),
]
Group = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Rows with the same value, such as those of a patient, are drawn together.",
        rich_help_panel="Validation",
    ),
]
Times = Annotated[
    list[options.Times] | None,
    typer.Option(
        "--horizons",
        parser=options.read_times,
        metavar="TIME,...",
        help="Times for calibration; by default the median time of the events.",
        rich_help_panel="Validation",
    ),
]


def validate(
    data: options.Data,
    time: options.Time,
    event: options.Event,
    entry: options.Entry = None,
    weight: options.Weight = None,
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
    shrinkage: options.Shrinkage = None,
    leaf_curve: options.LeafCurve = "baseline",
    bootstraps: Bootstraps = 200,
    group: Group = None,
    horizons: Times = None,
    jobs: options.Jobs = None,
    json: options.Json = False,
) -> None:
    """Say what to expect of a tuned tree on rows to come, by the bootstrap.

    Everything that `surtree fit` does is repeated on samples of the rows. Ctrl-C ends it with the
    samples that are done; the exit code is 130.
    """
    with guarded():
        X, survival, frame = read_training(
            data,
            {"time": time, "event": event, "entry": entry, "weight": weight},
            columns=columns,
            exclude=exclude,
            types=types,
            separator=separator,
            missing=missing,
            others=() if group is None else (group,),
        )
        model = SurTreeCV(
            max_depth,
            max_splits,
            cv=default_folds(survival) or 2,
            min_samples_leaf=min_samples_leaf,
            min_events_leaf=min_events_leaf,
            n_thresholds=n_thresholds or None,
            leaf_curve=leaf_curve,
        )
        if shrinkage is not None:
            model.set_params(shrinkage=shrinkage.values)
        times = None if horizons is None else sorted(t for one in horizons for t in one.times)
        with progress_bar() as bar, failures(ValueError, TypeError):
            found = bootstrap(
                model,
                X,
                survival.y,
                survival.weight,
                survival.entry,
                n_bootstraps=bootstraps,
                groups=None if group is None else frame[group].cast(str).to_numpy(),
                horizons=times,
                n_jobs=jobs,
                progress=bar.validating(),
            )
        if json:
            show_json(_json(found))
        else:
            show(str(found))
        if found.n_repetitions + found.n_failed < bootstraps:
            say(f"surtree: Ctrl-C stopped the validation after {found.n_repetitions} samples")
            end_now(INTERRUPTED)


def _json(found: Validation) -> dict[str, Any]:
    lower, upper = found.interval
    values = zip(
        found.names, found.apparent, found.optimism, found.corrected, lower, upper, strict=True
    )
    names = ("apparent", "optimism", "corrected", "lower", "upper")
    return {
        "bootstraps": found.n_repetitions,
        "failed": found.n_failed,
        "level": found.level,
        "measures": {
            name: {what: _finite(float(value)) for what, value in zip(names, line, strict=True)}
            for name, *line in values
        },
        "columns": [vars(use) for use in found.columns],
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None

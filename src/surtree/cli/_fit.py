"""``surtree fit`` and ``surtree demo``: from a table to a model and its report."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import numpy as np
import polars as pl
import typer
from sklearn.base import clone

from surtree._support.endings import MODEL_FILE, PAGE_FILE
from surtree.cli import _options as options
from surtree.cli._console import (
    INTERRUPTED,
    UserError,
    end_now,
    failures,
    guarded,
    say,
    show,
    show_json,
)
from surtree.cli._effects import fit_effects
from surtree.cli._files import Format, require_outputs
from surtree.cli._models import save_report, write_model
from surtree.cli._page import Page, read_page
from surtree.cli._search import Found, Settings, default_folds, search
from surtree.cli._streaming import fit_streamed, is_streamed, refuse_options
from surtree.cli._summary import (
    certificate,
    data_text,
    model_json,
    tuning_json,
    tuning_text,
    verdict_text,
)
from surtree.cli._survival import Survival, TargetColumns
from surtree.cli._training import Asked, read_training
from surtree.cli._validate import validated, validation_json
from surtree.datasets import load_gbsg2
from surtree.estimators.causes import CompetingRisksTree
from surtree.validation.sizes import Rule

Model = Annotated[Path | None, typer.Option(metavar="FILE", help="Write the model here (JSON).")]
Report = Annotated[Path | None, typer.Option(metavar="FILE", help="Write the report here (HTML).")]
Tune = Annotated[
    bool,
    typer.Option(
        "--tune/--no-tune",
        metavar=options.FLAG,
        help="Choose size and shrinkage by cross-validation, or take the best tree within the "
        "limits as it is.",
        rich_help_panel="Search",
    ),
]
Folds = Annotated[
    int | None,
    typer.Option(
        min=2,
        help="Folds of the cross-validation; by default 10, or as many as there are events.",
        rich_help_panel="Search",
    ),
]
SizeRule = Annotated[
    Rule | None,
    typer.Option(
        help="The best size, which is the default, or the smallest within one standard error of "
        "it.",
        rich_help_panel="Search",
    ),
]
Validate = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Repeat everything on so many bootstrap samples, such as 200, and say what to expect "
        "in new data; the model and the report keep it.",
        rich_help_panel="Validation",
    ),
]


@dataclass(frozen=True)
class Outputs:
    """The files to write, how many bootstrap samples to validate with, and names of causes."""

    model: Path | None
    report: Path | None
    page: Page
    json: bool
    n_bootstraps: int | None = None
    cause_names: dict[int, str] | None = None


def fit(
    data: options.Data,
    time: options.Time,
    event: options.FitEvent = None,
    cause: options.Cause = None,
    cause_name: options.CauseName = None,
    treatment: options.Treatment = None,
    reference: options.Reference = None,
    entry: options.Entry = None,
    weight: options.Weight = None,
    id: options.Id = None,
    model: Model = None,
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
    group: options.Group = None,
    max_depth: options.MaxDepth = 3,
    max_splits: options.MaxSplits = None,
    min_samples_leaf: options.MinSamplesLeaf = 1,
    min_events_leaf: options.MinEventsLeaf = 0,
    n_thresholds: options.NThresholds = 10,
    thresholds: options.Thresholds = None,
    category_cuts: options.CategoryCut = "subsets",
    shrinkage: options.Shrinkage = None,
    leaf_curve: options.FitLeafCurve = None,
    tune: Tune = True,
    folds: Folds = None,
    rule: SizeRule = None,
    validate: Validate = None,
    time_limit: options.TimeLimit = None,
    jobs: options.Jobs = None,
    memory_limit: options.MemoryLimit = None,
    title: options.Title = None,
    time_unit: options.TimeUnit = None,
    horizons: options.PageHorizons = None,
    labels: options.Labels = None,
    json: options.Json = False,
) -> None:
    """Find the best survival tree of a table.

    Its size and shrinkage are chosen by cross-validation, unless --no-tune is given. With
    --treatment it is a tree of treatment effects, which is not tuned.

    Ctrl-C ends the search with the best tree so far: it is written, and the exit code is 130.
    """
    tune = tune and treatment is None
    _refuse_contradictions(
        {
            "--event": event,
            "--cause": cause,
            "--cause-name": cause_name,
            "--treatment": treatment,
            "--reference": reference,
            "--group": group,
            "--folds": folds,
            "--rule": rule,
            "--validate": validate,
            "--shrinkage": shrinkage if shrinkage is None else shrinkage.values,
            "--model": model,
            "--report": report,
            "--labels": labels,
            "--title": title,
            "--horizons": horizons,
            "--time-unit": time_unit,
        },
        tune=tune,
    )
    target = TargetColumns(
        time,
        event,
        cause,
        entry,
        weight,
        id,
        group,
        treatment,
        drop_incomplete=drop_incomplete,
        zero_times=zero_times,
    )
    with guarded():
        require_outputs(
            {"--model": (model, MODEL_FILE), "--report": (report, PAGE_FILE)},
            data=data,
            labels=labels,
        )
        page = read_page(title, time_unit, horizons, labels)
        limits: dict[str, Any] = {
            "max_depth": max_depth,
            "max_splits": max_splits,
            "min_samples_leaf": min_samples_leaf,
            "min_events_leaf": min_events_leaf,
            "n_thresholds": n_thresholds or None,
            "thresholds": options.by_column(thresholds),
            "category_cuts": category_cuts,
        }
        if is_streamed(data, memory_limit):
            refuse_options(
                {
                    "--cause": cause,
                    "--treatment": treatment,
                    "--id": id,
                    "--folds": folds,
                    "--rule": rule,
                    "--validate": validate,
                    "--type": types,
                    "--separator": separator,
                    "--decimal": decimal,
                    "--encoding": encoding,
                    "--sheet": sheet,
                    "--missing": missing,
                    "--drop-incomplete": drop_incomplete,
                    "--group": group,
                    "--zero-times": None if zero_times == "keep" else zero_times,
                }
            )
            if shrinkage is not None and len(shrinkage.values) > 1:
                raise typer.BadParameter("of a table that is streamed, give one --shrinkage")
            found, text, content = fit_streamed(
                data,
                {"time": time, "event": event, "entry": entry, "weight": weight},
                columns=columns,
                exclude=exclude,
                parameters=limits
                | {
                    "shrinkage": 0.0 if shrinkage is None else shrinkage.values[0],
                    "leaf_curve": leaf_curve or "baseline",
                    "time_limit": time_limit,
                    "n_jobs": jobs,
                    "memory_limit": memory_limit,
                },
            )
            _write_and_show(found, text, content, Outputs(model, report, page, json))
            return
        training = read_training(
            data,
            target,
            Asked(columns, exclude, types),
            Format(separator, decimal, encoding, sheet, missing or ()),
            of_persons=("--id", "--group") if tune or validate else ("--id",),
            quiet=json,
        )
        X, survival = training.X, training.survival
        names = _cause_names(cause_name, survival)
        if len(target.time_columns(training.frame)) > 1 and page.time_unit is None:
            page = replace(page, time_unit="days")
        if leaf_curve is not None:
            limits["leaf_curve"] = leaf_curve
        if shrinkage is not None:
            limits["shrinkage"] = shrinkage.values if tune else shrinkage.values[0]
        if treatment is not None:
            limits |= {"time_limit": time_limit, "n_jobs": jobs, "reference": reference}
            effects, text, content = fit_effects(X, survival, training.frame[treatment], limits)
            content |= {"left_out": training.left_out}
            _write_and_show(Found(effects), text, content, Outputs(model, report, page, json))
            return
        settings = Settings(
            limits,
            time_limit,
            jobs,
            folds=(folds or default_folds(survival)) if tune else None,
            rule=rule or "best",
        )
        outputs = Outputs(model, report, page, json, validate, names)
        _fit_and_write(X, survival, settings, outputs, training.left_out)


def _refuse_contradictions(values: dict[str, Any], *, tune: bool) -> None:
    """Refuse options that exclude each other, or would do nothing."""
    given = {name for name, value in values.items() if value is not None}
    wrong = ""
    if len(given & {"--event", "--cause"}) != 1:
        wrong = "give one of --event and --cause"
    elif "--treatment" in given and given & {
        "--cause",
        "--folds",
        "--rule",
        "--group",
        "--validate",
    }:
        wrong = "--treatment goes without --cause, --folds, --rule, --group and --validate"
    elif "--reference" in given and "--treatment" not in given:
        wrong = "--reference is an arm of --treatment"
    elif {"--cause", "--validate"} <= given:
        wrong = "--validate knows of one event only: leave it out with --cause"
    elif not tune and given & {"--folds", "--rule"}:
        wrong = "--folds and --rule say how to tune: leave --no-tune out"
    elif not tune and len(values["--shrinkage"] or ()) > 1:
        wrong = "to choose from several --shrinkage, leave --no-tune out"
    elif "--cause-name" in given and "--cause" not in given:
        wrong = "--cause-name names a cause of --cause: add it"
    elif "--horizons" in given and not given & {"--model", "--report", "--validate"}:
        wrong = "--horizons are for the model, a report or --validate: add one of them"
    elif "--group" in given and not tune and "--validate" not in given:
        wrong = "--group is for folds and samples: leave --no-tune out"
    if wrong:
        raise typer.BadParameter(wrong)
    of_page = {name: values[name] for name in ("--labels", "--title")}
    _refuse_idle(of_page, "a report", "--report", values["--report"])
    of_files = {name: values[name] for name in ("--time-unit", "--cause-name")}
    written = values["--model"] or values["--report"]
    _refuse_idle(of_files, "the model or the report", "--model", written)


def _refuse_idle(given: dict[str, Any], what: str, option: str, written: Path | None) -> None:
    """Refuse options that would do nothing, because what they are for is not written."""
    idle = [name for name, value in given.items() if value is not None]
    if idle and written is None:
        verb = "is" if len(idle) == 1 else "are"
        raise typer.BadParameter(f"{' and '.join(idle)} {verb} for {what}: add {option}")


def _cause_names(
    given: list[options.NamedCause] | None, survival: Survival
) -> dict[int, str] | None:
    """Return what causes are called, or raise an error that names those that there are."""
    if given is None:
        return None
    causes = np.unique(survival.y["cause"][survival.event]).tolist()
    names = {one.cause: one.name for one in given}
    for cause in names.keys() - set(causes):
        raise UserError(
            f"--cause-name: no row has the cause {cause}; the causes are "
            f"{', '.join(map(str, causes))}"
        )
    return names


def _write_and_show(found: Found, text: str, content: dict[str, Any], outputs: Outputs) -> None:
    written = _write(found, outputs)
    if outputs.json:
        show_json(content | written)
    else:
        show("\n\n".join(filter(None, [text, _files_text(written)])))
    _end_if_stopped(found, written)


def _files_text(written: dict[str, str]) -> str:
    return "\n".join(f"{name:7} {path}" for name, path in written.items())


def demo(
    directory: Annotated[
        Path, typer.Argument(metavar="DIRECTORY", help="Where to write the model and the report.")
    ] = Path("surtree-demo"),
    max_depth: options.MaxDepth = 3,
    json: options.Json = False,
) -> None:
    """Fit the tree of a breast cancer trial, and write its model and report."""
    with guarded():
        frame, y = load_gbsg2(backend="polars")
        survival = Survival(y, entry=None, weight=None, columns=frozenset())
        with failures(OSError, about=f"cannot write to {directory}: "):
            directory.mkdir(parents=True, exist_ok=True)
        outputs = Outputs(
            directory / "model.json",
            directory / "report.html",
            Page(title="Breast cancer: recurrence or death", time_unit="days"),
            json=json,
        )
        require_outputs(
            {"model": (outputs.model, MODEL_FILE), "report": (outputs.report, PAGE_FILE)}
        )
        settings = Settings({"max_depth": max_depth}, folds=default_folds(survival))
        _fit_and_write(frame, survival, settings, outputs)


def _fit_and_write(
    X: pl.DataFrame,
    survival: Survival,
    settings: Settings,
    outputs: Outputs,
    left_out: dict[str, str] | None = None,
) -> None:
    start = perf_counter()
    found = search(X, survival, settings)
    seconds = perf_counter() - start
    if outputs.n_bootstraps is not None and not found.stopped:
        template = found.model if found.tuning is None else found.tuning
        found.model.validation_ = validated(
            clone(template).set_params(progress=None, n_jobs=None, **_cv(settings)),
            X,
            survival,
            n_bootstraps=outputs.n_bootstraps,
            horizons=sorted(outputs.page.horizons) if outputs.page.horizons else None,
            n_jobs=settings.n_jobs,
        )
    written = _write(found, outputs)
    if outputs.json:
        show_json(_json(X, survival, found, seconds) | {"left_out": left_out or {}} | written)
    else:
        show(_text(X, survival, found, seconds, written))
    _end_if_stopped(found, written)


def _end_if_stopped(found: Found, written: dict[str, str]) -> None:
    if found.stopped:
        saved = f"; saved: {', '.join(written.values())}" if written else ""
        say(f"surtree: Ctrl-C stopped {found.stopped}{saved}")
        end_now(INTERRUPTED)


def _cv(settings: Settings) -> dict[str, Any]:
    """Return the number of folds, where folds of all rows were given: samples have other rows."""
    return {} if settings.folds is None else {"cv": settings.folds}


def _write(found: Found, outputs: Outputs) -> dict[str, str]:
    written = {}
    found.model.time_unit_ = outputs.page.time_unit
    found.model.horizons_ = outputs.page.horizons
    if isinstance(found.model, CompetingRisksTree):
        found.model.cause_names_ = outputs.cause_names
    if outputs.model is not None:
        write_model(found.model, outputs.model)
        written["model"] = str(outputs.model)
    if outputs.report is not None:
        save_report(
            found.model if found.tuning is None else found.tuning, outputs.report, outputs.page
        )
        written["report"] = str(outputs.report)
    return written


def _text(
    X: pl.DataFrame,
    survival: Survival,
    found: Found,
    seconds: float,
    written: dict[str, str],
) -> str:
    parts = [f"{data_text(survival, X.width)}, {seconds:.2f} s"]
    if found.tuning is not None:
        parts.append(tuning_text(found.tuning))
    parts += [str(found.model.tree_), certificate(found.model)]
    if found.model.validation_ is not None:
        parts.append(str(found.model.validation_))
    parts.append(verdict_text(found.model))
    if written:
        parts.append(_files_text(written))
    return "\n\n".join(parts)


def _json(X: pl.DataFrame, survival: Survival, found: Found, seconds: float) -> dict[str, Any]:
    return {
        "rows": len(survival.y),
        "events": survival.n_events,
        "columns": X.columns,
        "seconds": seconds,
        "stopped": bool(found.stopped),
        "tuning": tuning_json(found.tuning),
        "validation": validation_json(found.model.validation_),
        **model_json(found.model),
    }

"""``surtree fit`` and ``surtree demo``: from a table to a model and its report."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, cast

import numpy as np
import polars as pl
import typer
from sklearn.base import clone

from surtree._support.writing import MODEL_FILE, PAGE_FILE
from surtree.cli import _options as options
from surtree.cli._command import Given, Take, command, option, refuse
from surtree.cli._console import INTERRUPTED, Result
from surtree.cli._effects import fit_effects
from surtree.cli._kinds import KindOptions, fit_kind
from surtree.cli._models import save_report, write_model
from surtree.cli._outputs import require_outputs
from surtree.cli._search import Fitted, Settings, default_folds, search_tree
from surtree.cli._streaming import fit_streamed, is_streamed, refuse_options
from surtree.cli._summary import (
    certificate,
    model_json,
    told,
    tuning_json,
    tuning_text,
    verdict_text,
)
from surtree.cli._survival import Survival
from surtree.cli._target import TargetColumns
from surtree.cli._training import Asked, read_training
from surtree.cli._validate import validated, validation_json
from surtree.datasets import load_gbsg2
from surtree.estimators.causes import CompetingRisksTree
from surtree.reading.errors import UserError, failures
from surtree.validation.comparison import save_comparison

# The options that a table in memory has, and one that is streamed has not.
_IN_MEMORY = (
    "cause", "treatment", "id", "folds", "rule", "validate", "types", "separator", "decimal",
    "encoding", "sheet", "missing", "drop_incomplete", "group",
)  # fmt: skip


def _cause_names(texts: list[str]) -> dict[int, str]:
    names = {}
    for text in texts:
        cause, equals, name = text.partition("=")
        if not (cause.strip().isdecimal() and equals and name.strip()):
            raise ValueError(f"{text!r} is not a cause and its name, as 1=relapse")
        names[int(cause)] = name.strip()
    return names


@dataclass(frozen=True)
class Outputs:
    """The files to write, and words for them."""

    model: Path | None = option("Write the model here (JSON).", metavar="FILE")
    report: Path | None = option("Write the report here (HTML).", metavar="FILE")
    cause_name: dict[int, str] | None = option(
        "What a cause is called in reports and tables, as in 1=relapse; can be repeated. The model "
        "keeps it.",
        reads=_cause_names,
        many=True,
        metavar="CAUSE=NAME",
    )

    def require(self, **inputs: Path | None) -> None:
        """Raise an error before a long search if a file cannot or must not be written."""
        files = {"--model": (self.model, MODEL_FILE), "--report": (self.report, PAGE_FILE)}
        require_outputs(files, **inputs)

    def require_causes(self, survival: Survival) -> None:
        """Raise an error if a name is that of a cause that no row has."""
        if self.cause_name is None:
            return
        causes = np.unique(survival.y["cause"][survival.event]).tolist()
        for cause in self.cause_name.keys() - set(causes):
            raise UserError(
                f"--cause-name: no row has the cause {cause}; the causes are "
                f"{', '.join(map(str, causes))}"
            )

    def write(self, fitted: Fitted, page: options.Page) -> Result:
        model = fitted.model
        model.time_unit_, model.horizons_ = page.time_unit, page.horizons
        if self.cause_name is not None:
            cast(CompetingRisksTree, model).cause_names_ = self.cause_name
        written = {}
        if self.model is not None:
            write_model(model, self.model)
            written["model"] = str(self.model)
        if self.report is not None:
            save_report(fitted.tuning or model, self.report, page)
            written["report"] = str(self.report)
        files = "\n".join(f"{name:7} {path}" for name, path in written.items())
        text = "\n\n".join(filter(None, [fitted.text, files]))
        if not fitted.stopped:
            return Result(text, fitted.content | written)
        saved = f"; saved: {', '.join(written.values())}" if written else ""
        messages = (f"Ctrl-C stopped {fitted.stopped}{saved}",)
        return Result(text, fitted.content | written, messages, INTERRUPTED)


@command
def fit(
    given: Given,
    data: options.Data,
    target: Annotated[
        TargetColumns,
        Take(
            "time! event cause treatment reference entry weight id drop_incomplete zero_times group"
        ),
    ],
    outputs: Outputs,
    asked: Asked,
    form: options.FileOptions,
    tree: options.TreeOptions,
    search: options.SearchOptions,
    page: options.PageOptions,
    other: KindOptions,
    json: options.Json = False,
) -> Result:
    """Find the best survival tree of a table.

    Its size and shrinkage are chosen by cross-validation, unless --no-tune is given; --kind fits
    a tree that is taught, the average over all trees or a score card instead. With
    --treatment it is a tree of treatment effects, which is not tuned.

    Ctrl-C ends the search with the best tree so far: it is written, and the exit code is 130.
    """
    tune = search.tune and target.treatment is None
    other.require(given)
    _refuse_contradictions(given, tree, tune=tune)
    outputs.require(data=data, labels=page.labels)
    words = page.read()
    limits = tree.parameters(tuned=tune)
    engine = {"time_limit": search.time_limit, "n_jobs": search.jobs}
    if is_streamed(data, search.memory_limit):
        zeros = () if target.zero_times == "keep" else ("zero_times",)
        refuse_options(given, *_IN_MEMORY, *zeros)
        refuse({"of a table that is streamed, give one --shrinkage": tree.has_several_shrinkages})
        engine["memory_limit"] = search.memory_limit
        parameters = tree.parameters(tuned=False) | engine
        return outputs.write(fit_streamed(data, target, asked, parameters), words)
    of_persons = ("--id", "--group") if tune or search.validate else ("--id",)
    training = read_training(data, target, asked, form, of_persons=of_persons, quiet=json)
    X, survival = training.X, training.survival
    if survival.cause_names is not None and outputs.cause_name is None:
        outputs = replace(outputs, cause_name=survival.cause_names)
    outputs.require_causes(survival)
    compared = other.compared(X, survival, tree.max_depth)
    if len(target.time_columns(training.frame)) > 1 and words.time_unit is None:
        words = replace(words, time_unit="days")
    if other.kind != "tuned":
        model = other.model(given, tree, **engine)
        fitted = fit_kind(model, X, survival, search.validate, words.horizons)
    elif target.treatment is not None:
        parameters = limits | engine | {"reference": target.reference}
        fitted = fit_effects(X, survival, parameters)
    else:
        folds = (search.folds or default_folds(survival)) if tune else None
        settings = Settings(
            limits, search.time_limit, search.jobs, folds=folds, rule=search.rule or "best"
        )
        fitted = _fit(X, survival, settings, search.validate, words.horizons)
        if advice := "" if fitted.stopped else other.advice(given, survival):
            fitted = replace(fitted, text=f"{fitted.text}\n\n{advice}")
    fitted.content["left_out"] = training.left_out
    if compared is not None:
        fitted.model.comparison_ = compared
        fitted.content["comparison"] = save_comparison(compared)
        fitted = replace(fitted, text=f"{fitted.text}\n\n{compared}")
    return outputs.write(fitted, words)


def _refuse_contradictions(spelled: Given, tree: options.TreeOptions, *, tune: bool) -> None:
    """Refuse options that exclude each other, or would do nothing."""
    given = set(spelled)
    files = given & {"model", "report"}
    effects = "treatment" in given
    refuse(
        {
            "give one of --event and --cause": len(given & {"event", "cause"}) != 1,
            "--treatment goes without --cause, --folds, --rule, --group and --validate": (
                effects and bool(given & {"cause", "folds", "rule", "group", "validate"})
            ),
            "--reference is an arm of --treatment": "reference" in given and not effects,
            "--folds and --rule say how to tune: leave --no-tune out": (
                not tune and bool(given & {"folds", "rule"})
            ),
            "to choose from several --shrinkage, leave --no-tune out": (
                not tune and tree.has_several_shrinkages
            ),
            "--cause-name names a cause of --cause: add it": (
                "cause_name" in given and "cause" not in given
            ),
            "--horizons are for the model, a report or --validate: add one of them": (
                "horizons" in given and not files and "validate" not in given
            ),
            "--group is for folds and samples: leave --no-tune out": (
                "group" in given and not tune and "validate" not in given
            ),
        }
    )
    _refuse_idle(spelled, ("labels", "title"), "a report: add --report", "report" in given)
    words = "the model or the report: add --model"
    _refuse_idle(spelled, ("time_unit", "cause_name"), words, bool(files))


def _refuse_idle(given: Given, names: tuple[str, ...], purpose: str, is_written: bool) -> None:
    """Refuse options that would do nothing, because what they are for is not written."""
    idle = [given[name] for name in names if name in given]
    verb = "is" if len(idle) == 1 else "are"
    refuse({f"{' and '.join(idle)} {verb} for {purpose}": bool(idle) and not is_written})


@command
def demo(
    tree: Annotated[options.TreeOptions, Take("max_depth")],
    directory: Annotated[
        Path, typer.Argument(metavar="DIRECTORY", help="Where to write the model and the report.")
    ] = Path("surtree-demo"),
    json: options.Json = False,
) -> Result:
    """Fit the tree of a breast cancer trial, and write its model and report."""
    X, y = load_gbsg2(backend="polars")
    survival = Survival(y, entry=None, weight=None, columns=frozenset())
    with failures(OSError, about=f"cannot write to {directory}: "):
        directory.mkdir(parents=True, exist_ok=True)
    outputs = Outputs(directory / "model.json", directory / "report.html")
    outputs.require()
    settings = Settings({"max_depth": tree.max_depth}, folds=default_folds(survival))
    page = options.Page(title="Breast cancer: recurrence or death", time_unit="days")
    return outputs.write(_fit(X, survival, settings), page)


def _fit(
    X: pl.DataFrame,
    survival: Survival,
    settings: Settings,
    n_bootstraps: int | None = None,
    horizons: tuple[float, ...] | None = None,
) -> Fitted:
    """Search for a tree, and validate it if asked for."""
    start = perf_counter()
    fitted = search_tree(X, survival, settings)
    seconds = perf_counter() - start
    model, tuning = fitted.model, fitted.tuning
    if n_bootstraps is not None and not fitted.stopped:
        # Samples have rows of their own: folds of all rows would not fit them.
        cv = {} if settings.folds is None else {"cv": settings.folds}
        model.validation_ = validated(
            clone(tuning or model).set_params(progress=None, n_jobs=None, **cv),
            X,
            survival,
            n_bootstraps=n_bootstraps,
            horizons=sorted(horizons) if horizons else None,
            n_jobs=settings.n_jobs,
        )
    parts = (
        "" if tuning is None else tuning_text(tuning),
        str(model.tree_),
        certificate(model),
        "" if model.validation_ is None else str(model.validation_),
        verdict_text(model),
    )
    content: dict[str, Any] = {
        "seconds": seconds,
        "stopped": bool(fitted.stopped),
        "tuning": tuning_json(tuning),
        "validation": validation_json(model.validation_),
        **model_json(model),
    }
    return replace(fitted, **told(survival, X.columns, seconds, *parts, **content))

"""``surtree validate`` and ``surtree evaluate``: what trees are worth in new data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from typing import Annotated, Any

import polars as pl

from surtree.cli import _options as options
from surtree.cli._command import Take, command, option, refuse
from surtree.cli._console import INTERRUPTED, Result
from surtree.cli._models import read_any_model, read_outcomes
from surtree.cli._progress import progress_bar
from surtree.cli._search import default_folds, estimator
from surtree.cli._survival import Survival
from surtree.cli._target import TargetColumns
from surtree.cli._training import Asked, read_training
from surtree.reading.errors import failures
from surtree.validation import Evaluation
from surtree.validation import evaluate as evaluate_rows
from surtree.validation import validate as resample
from surtree.validation.files import save_validation
from surtree.validation.results import Method, Validation
from surtree.validation.verdict import prediction_verdicts
from surtree.words.numbers import plural

_of_validation = partial(option, panel="Validation")


@dataclass(frozen=True)
class ValidationOptions:
    """How a model is validated."""

    bootstraps: int = _of_validation(
        "Samples of the rows: all of the tuning is repeated on each (or so many repetitions of "
        "--method folds), and intervals come from them.",
        default=200,
        min=1,
    )
    method: Method = _of_validation(
        "How to correct: .632+ or optimism, by bootstrap samples; folds; or groups, which leaves "
        "out each --group (centre).",
        default="632+",
    )
    folds: int | None = _of_validation("Folds of --method folds; by default 10.", min=2)
    horizons: tuple[float, ...] | None = _of_validation(
        "Times for calibration; by default those that evaluate finds in the model, or the median "
        "time of the events.",
        reads=lambda texts: tuple(sorted(set(options.read_times(texts)))),
        many=True,
        metavar="TIME,...",
    )


@command
def validate(
    data: options.Data,
    target: Annotated[
        TargetColumns,
        Take(
            "time! event cause treatment reference entry weight id group drop_incomplete zero_times"
        ),
    ],
    asked: Asked,
    form: options.FileOptions,
    tree: options.TreeOptions,
    how: ValidationOptions,
    search: Annotated[options.SearchOptions, Take("jobs")],
    json: options.Json = False,
) -> Result:
    """Estimate how well a tuned tree will predict new data, by resampling.

    Everything that `surtree fit` does is repeated on samples of the rows. Ctrl-C ends it with the
    samples that are done; the exit code is 130.
    """
    refuse(
        {"--folds goes with --method folds": how.folds is not None and how.method != "folds"}
        | target.wrong(tree, tuned=target.treatment is None)
    )
    training = read_training(data, target, asked, form, quiet=json)
    survival = training.survival
    # Trees of treatment effects are not tuned.
    tuning = {} if target.treatment else {"cv": default_folds(survival) or 2}
    parameters = tree.parameters(tuned=bool(tuning))
    model = estimator(survival, parameters, target.reference, **tuning)
    result = validated(
        model,
        training.X,
        survival,
        n_bootstraps=how.bootstraps,
        method=how.method,
        n_folds=10 if how.folds is None else how.folds,
        horizons=how.horizons,
        n_jobs=search.jobs,
    )
    verdicts = "\n".join(map(str, prediction_verdicts(result, None, 0)))
    text = f"{result}\n\n{verdicts}"
    if not result.stopped_early:
        return Result(text, validation_json(result) or {})
    samples = plural(result.n_repetitions, "sample")
    messages = (f"Ctrl-C stopped the validation after {samples}",)
    return Result(text, validation_json(result) or {}, messages, INTERRUPTED)


def validated(model: Any, X: pl.DataFrame, survival: Survival, **how: Any) -> Validation:
    with progress_bar() as bar, failures(ValueError, TypeError):
        return resample(
            model,
            X,
            **survival.inputs,
            groups=survival.group,
            progress=bar.counting("Validating", "samples"),
            **how,
        )


@command
def evaluate(
    model: options.ModelFile,
    data: options.Data,
    target: Annotated[
        TargetColumns,
        Take("time! event cause treatment entry weight id drop_incomplete zero_times"),
    ],
    how: Annotated[ValidationOptions, Take("bootstraps horizons")],
    form: options.FileOptions,
    json: options.Json = False,
) -> Result:
    """Test a model on new data: discrimination and calibration.

    The rows should not be those that the model was fitted on; for these, use surtree validate.
    """
    fitted = read_any_model(model)
    X, survival = read_outcomes(data, fitted, target, form)
    with failures(ValueError, TypeError):
        evaluation = evaluate_rows(
            fitted,
            X,
            **survival.inputs,
            horizons=how.horizons,
            n_bootstraps=how.bootstraps,
        )
    return Result(str(evaluation), _evaluation_json(evaluation))


def validation_json(validation: Validation | None) -> dict[str, Any] | None:
    """Return a validation as plain values, its measures by their names."""
    saved = save_validation(validation)
    if validation is None or saved is None:
        return None
    optimism = {measure.name: measure.optimism for measure in validation.measures}
    saved["measures"] = {
        measure["name"]: measure | {"optimism": optimism[measure["name"]]}
        for measure in saved["measures"]
    }
    return saved


def _evaluation_json(evaluation: Evaluation) -> dict[str, Any]:
    content = asdict(evaluation)
    for name in ("calibration", "decision"):
        curve = getattr(evaluation, name)
        content[name] = curve and {field: getattr(curve, field) for field in curve._names()}
    return content

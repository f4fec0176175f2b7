"""The risks that a teacher gives to training rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import has_fit_parameter

from surtree._support.types import Floats
from surtree.data.named import RowInputs
from surtree.data.target import Target
from surtree.estimators.base import SurvivalEstimator
from surtree.fitting.training import TrainingData


def fit_teacher(teacher: Any, given: RowInputs) -> Any:
    """Return a copy of a teacher that is not fitted yet, fitted on the rows that it will teach.

    One that takes no weights gets each row as often as it counts.
    """
    name = type(teacher).__name__
    taken = given.fit_arguments
    if "sample_weight" in taken and not has_fit_parameter(teacher, "sample_weight"):
        weight = np.asarray(taken["sample_weight"])
        if (weight != np.rint(weight)).any():
            raise ValueError(
                f"The teacher, {name}, takes no sample_weight, and some are no whole numbers."
            )
        times = np.repeat(np.arange(weight.size), weight.astype(np.intp))
        given = replace(given.take(times), sample_weight=None)
        taken = given.fit_arguments
    for argument in taken:
        if not has_fit_parameter(teacher, argument):
            raise ValueError(f"The teacher, {name}, takes no {argument}.")
    return clone(teacher, safe=False).fit(given.X, given.y, **taken)


def teacher_text(teacher: Any, fitted: Any = None) -> str:
    """Return who a teacher is, in words, and how far it came where time ended it."""
    if teacher is None:
        text = "SurTreeBayes, the average over all trees"
        is_whole = fitted is None or fitted.status_ == "optimal"
        return text if is_whole else f"{text}, ended by the time limit"
    return type(teacher).__name__ if hasattr(teacher, "predict") else "an array of risks"


def teacher_risk(teacher: Any, X: Any, data: TrainingData) -> Floats:
    """Return the risk of each row that counts by a teacher, relative to the baseline.

    A model of surtree predicts it. Of any other model, it is the cumulative hazard that it predicts
    for a row over the time that the row was observed, or else what it predicts.
    """
    n_rows, present = data.table.n_rows, data.present
    if isinstance(teacher, type):
        raise ValueError(f"teacher is the class {teacher.__name__}: pass an object of it.")
    if not hasattr(teacher, "predict"):
        risk = _one_each(_numbers(teacher), n_rows, "teacher")
        return _require_risks(risk[present], "teacher")
    name = f"The teacher, {type(teacher).__name__},"
    try:
        if hasattr(teacher, "predict_cumulative_hazard_function") and not isinstance(
            teacher, SurvivalEstimator
        ):
            curves = np.asarray(teacher.predict_cumulative_hazard_function(X))
            curves = _one_each(curves, n_rows, name)[present]
            risk = _observed_hazard(curves, data.target) / data.baseline.row_hazard(data.target)
        else:
            risk = _one_each(_numbers(teacher.predict(X)), n_rows, name)[present]
    except NotFittedError:
        raise
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise ValueError(f"{name} cannot predict these rows: {error}") from error
    return _require_risks(risk, name)


def _observed_hazard(curves: Any, target: Target) -> Floats:
    """Return the hazard that predicted curves have for each row while it was observed."""
    entry = np.zeros(target.time.size) if target.entry is None else target.entry

    def at(curve: Any, time: float) -> float:
        low, high = getattr(curve, "domain", (0.0, np.inf))
        return float(curve(min(max(time, low), high))) if time > 0 else 0.0

    hazard = np.array(
        [
            at(curve, last) - at(curve, first)
            for curve, first, last in zip(curves, entry, target.time, strict=True)
        ]
    )
    # A row that left before the first event was exposed to next to none.
    least = hazard[hazard > 0].min(initial=np.inf)
    return np.where(hazard == 0, least, hazard)


def _numbers(values: Any) -> NDArray[Any]:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            "teacher must be a fitted survival model, or an array with the risk of each row; got "
            f"{type(values).__name__} without numbers."
        ) from None


def _one_each(values: NDArray[Any], n_rows: int, who: str) -> NDArray[Any]:
    if values.shape != (n_rows,):
        raise ValueError(
            f"{who} must give one risk for each row; the shape is {values.shape} for {n_rows} rows."
        )
    return values


def _require_risks(risk: Floats, who: str) -> Floats:
    """Return risks that are numbers above zero, or raise an error that says which are not."""
    for fault, wrong in (
        ("missing", np.isnan(risk)),
        ("infinite", np.isinf(risk)),
        ("negative", risk < 0),
        ("zero", risk == 0),
    ):
        if wrong.any():
            raise ValueError(
                f"{who} must give risks above zero; {wrong.sum()} of {risk.size} are {fault}, the "
                f"first in row {int(wrong.argmax())}. Logarithms of risks need np.exp."
            )
    return risk

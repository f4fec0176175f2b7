"""Predicted curves, as users pass them: an array over times, or step functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surtree._support.types import Floats
from surtree.data.target import Target
from surtree.metrics.input import read_times
from surtree.survival.step_function import StepFunction

# Predicted curves may leave the interval from zero to one by rounding, not by more.
_ROUNDING = 1e-9


class Curve(Protocol):
    """A step function of time: this package's or scikit-survival's."""

    @property
    def x(self) -> Floats:
        """Times of the steps."""

    def __call__(self, times: Floats, /) -> Any:
        """Return the value at each of the times."""


@dataclass(frozen=True)
class Curves:
    """Distinct curves, and which of them each row has: rows in one leaf share theirs."""

    distinct: tuple[Curve, ...]
    of_row: NDArray[np.intp]

    def in_use(self) -> Curves:
        """Return those that rows have, numbered as they come."""
        used, first, of_row = np.unique(self.of_row, return_index=True, return_inverse=True)
        order = np.argsort(first)
        distinct = tuple(self.distinct[number] for number in used[order].tolist())
        return Curves(distinct, np.argsort(order)[of_row])


def read_predicted_at(predicted: Any, times: Floats, n_rows: int) -> Floats:
    """Read the prediction for each row at each of the times."""
    functions = _functions(predicted)
    if functions is not None:
        curves = share_curves(functions)
        predicted = np.array([evaluate(curve, times) for curve in curves.distinct])[curves.of_row]
    values = np.asarray(predicted, dtype=np.float64)
    if values.ndim == 1 and len(times) == 1:
        values = values[:, np.newaxis]
    if values.shape != (n_rows, len(times)):
        raise ValueError(
            f"predicted must have a row for each of {n_rows} rows and a column for each of "
            f"{len(times)} times; got the shape {values.shape}."
        )
    return _require_probabilities(values)


def read_predicted_curves(
    predicted: Any, times: ArrayLike | None, n_rows: int, before: float = 1.0
) -> Curves:
    """Read the prediction for each row as step functions."""
    if isinstance(predicted, Curves):
        return predicted
    functions = _functions(predicted)
    if functions is None:
        if times is None:
            raise ValueError("predicted is an array: say at which times its columns step.")
        functions = _step_functions(predicted, read_times(times), n_rows, before)
    if len(functions) != n_rows:
        raise ValueError(f"predicted has {len(functions)} functions for {n_rows} rows.")
    if not all(hasattr(function, "x") for function in functions):
        raise ValueError(
            "The functions in predicted must be step functions that have their times in x; or pass "
            "an array, and times."
        )
    return share_curves(functions)


def evaluate(curve: Curve, times: Floats) -> Floats:
    """Return the value of a predicted curve at each of the times.

    Times after the last follow-up of the training rows, where a curve of this package has no
    value, are scored by the value that it has last.
    """
    if isinstance(curve, StepFunction):
        times = np.minimum(times, curve.domain[1])
    return _require_probabilities(np.asarray(curve(times), dtype=np.float64))


def value_at(curve: Curve, time: float) -> float:
    """Return the value of a predicted curve at one time."""
    if isinstance(curve, StepFunction):
        steps = int(curve.x.searchsorted(min(time, curve.domain[1]), side="right"))
        value = float(curve.y[steps - 1]) if steps else curve.before
        if 0 <= value <= 1:
            return value
    # A single time may give an array or, as scikit-survival does it, a number.
    return float(np.ravel(evaluate(curve, np.array([time])))[0])


def evaluate_all(curves: Sequence[Curve], times: Floats) -> Floats:
    """Return the values of curves that step at the same times, a line for each."""
    steps = [curve for curve in curves if isinstance(curve, StepFunction)]
    if len(steps) < len(curves) or len({curve.domain for curve in steps}) > 1:
        return np.stack([evaluate(curve, times) for curve in curves])
    index = np.searchsorted(steps[0].x, np.minimum(times, steps[0].domain[1]), side="right")
    values = np.column_stack(([one.before for one in steps], [one.y for one in steps]))
    return _require_probabilities(values[:, index])


def last_time(curve: Curve) -> float:
    """Return the last time at which a predicted curve has a value; infinity where it has no end."""
    end = getattr(curve, "domain", (0.0, np.inf))[1]
    return np.inf if end is None else float(end)


def read_horizon(horizon: float, target: Target, predicted: Any) -> Floats:
    """Read a single time at which rows were observed and predicted curves have a value."""
    times = read_times(horizon)
    if times[0] > target.time.max():
        raise ValueError(
            f"The horizon {times[0]:g} is past the last time, {target.time.max():g}: choose an "
            "earlier one."
        )
    end = min(map(last_time, _functions(predicted) or ()), default=np.inf)
    if times[0] > end:
        raise ValueError(
            f"The horizon {times[0]:g} is past {end:g}, the last follow-up that the predicted "
            "curves know: choose an earlier one."
        )
    return times


def _functions(predicted: Any) -> list[Curve] | None:
    functions = list(predicted)
    return functions if functions and callable(functions[0]) else None


def _step_functions(predicted: Any, times: Floats, n_rows: int, before: float) -> list[Curve]:
    """Turn rows of an array into functions, equal rows into the same function."""
    shared: dict[bytes, Curve] = {}
    functions = []
    for row in read_predicted_at(predicted, times, n_rows):
        key = row.tobytes()
        if key not in shared:
            shared[key] = StepFunction(times, row, before=before)
        functions.append(shared[key])
    return functions


def share_curves(functions: list[Curve]) -> Curves:
    """Return the distinct ones among curves, and which of them each row has."""
    # Numbered as they come: in another order, such as that of their addresses, sums over curves
    # would round differently from run to run.
    number: dict[int, int] = {}
    of_row = [number.setdefault(id(function), len(number)) for function in functions]
    distinct = {id(function): function for function in functions}
    return Curves(tuple(distinct.values()), np.array(of_row, dtype=np.intp))


def _require_probabilities(values: Floats) -> Floats:
    inside = (values >= -_ROUNDING) & (values <= 1 + _ROUNDING)
    if not inside.all():
        raise ValueError(
            "predicted must lie between 0 and 1; found "
            f"{values[~inside][0]:g}. Are these risks instead of probabilities?"
        )
    return values

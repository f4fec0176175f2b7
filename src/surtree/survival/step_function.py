"""A function of time that is constant between steps."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surtree._support.package import user_level
from surtree._support.types import ArrayValue, Floats


class BeyondFollowUpWarning(UserWarning):
    """A curve was asked for times after the last follow-up, at which nobody was observed.

    Examples
    --------
    >>> import warnings
    >>> from surtree import SurTree
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> (curve,) = SurTree(max_depth=0).fit(X, y).predict_survival_function(X[:1])
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     survival = curve(10_000)
    >>> survival, caught[0].category.__name__
    (nan, 'BeyondFollowUpWarning')
    """


@dataclass(frozen=True, eq=False)
class StepFunction(ArrayValue):
    """A function of time that is constant between steps, and after the last one.

    Parameters
    ----------
    x : array of float
        The times of the steps, ascending.
    y : array of float
        The value from each step on.
    before : float
        The value before the first step.
    domain : tuple of two floats, default=(0, inf)
        The first and the last time at which the function has a value. Later, it is not a number,
        with a `BeyondFollowUpWarning`: of a predicted curve, the last time is that of the last
        follow-up of all training rows.

    Examples
    --------
    >>> from surtree.survival.step_function import StepFunction
    >>> survival = StepFunction([2.0, 5.0], [0.8, 0.5], before=1.0)
    >>> survival(3)
    0.8
    >>> survival([0, 2, 5, 100]).tolist()
    [1.0, 0.8, 0.5, 0.5]
    """

    x: Floats
    y: Floats
    before: float
    domain: tuple[float, float] = (0.0, np.inf)

    def __post_init__(self) -> None:
        for name in ("x", "y"):
            values = np.asarray(getattr(self, name), dtype=np.float64)
            object.__setattr__(self, name, values)
        if self.x.ndim != 1 or self.x.shape != self.y.shape:
            raise ValueError(
                f"A step function needs as many values as times, each as one list; "
                f"got shapes {self.x.shape} for the times and {self.y.shape} for the values."
            )
        if not np.all(self.x[1:] > self.x[:-1]):
            raise ValueError("The times of a step function must ascend; sort them first.")
        super().__post_init__()

    def __repr__(self) -> str:
        # On one line, however many steps there are: predictions are arrays of such functions.
        if not self.x.size:
            return f"StepFunction({self.before:.4g} throughout)"
        steps = "1 step" if self.x.size == 1 else f"{self.x.size} steps"
        return (
            f"StepFunction({steps}: {self.before:.4g} before time {self.x[0]:.6g}, "
            f"{self.y[-1]:.4g} from {self.x[-1]:.6g} on)"
        )

    def __call__(self, times: ArrayLike) -> Floats | float:
        """Return the value at one time, as a number, or at each of many, as an array."""
        asked = _require_times(times)
        values = self._at(asked)
        beyond = beyond_follow_up(asked, self.domain[1])
        if beyond.any():
            values = np.where(beyond, np.nan, values)
        return values if values.ndim else float(values)

    def after(self, time: float) -> StepFunction:
        """Return the survival of those who are still without an event at a time.

        Parameters
        ----------
        time : float
            Until then survival is one, and later it is that of everybody over that at the time:
            not a number where nobody is left.

        Examples
        --------
        >>> from surtree import StepFunction
        >>> survival = StepFunction([1.0, 2.0, 3.0], [0.8, 0.5, 0.1], before=1.0)
        >>> survival.after(2)([1, 2, 3]).tolist()
        [1.0, 1.0, 0.2]
        """
        (left,) = self._at(_require_times([time]))
        if not time <= self.domain[1]:
            raise ValueError(
                f"survived={time:g} is after the last follow-up, {self.domain[1]:g}: nobody was "
                "observed then; give an earlier time"
            )
        later = self.y / left if left > 0 else np.full(self.y.size, np.nan)
        return replace(self, y=np.where(self.x > time, later, 1.0))

    def _at(self, asked: Floats) -> Floats:
        """Return the values at times, also at those after the last follow-up."""
        steps = np.searchsorted(self.x, asked, side="right")
        values: Floats = np.concatenate(([self.before], self.y))[steps]
        return values


def read_times(times: ArrayLike) -> Floats:
    """Return the times of predictions, one or a list of them, as a list."""
    asked = np.atleast_1d(_require_times(times))
    if asked.ndim > 1:
        raise ValueError(f"times must be one list of times; got an array of shape {asked.shape}.")
    return asked


def beyond_follow_up(asked: Floats, end: float) -> NDArray[np.bool_]:
    """Return which times are after the last follow-up, and warn if there are any."""
    beyond = np.asarray(asked > end)
    if beyond.any():
        warnings.warn(
            f"{beyond.sum()} of {asked.size} times are after the last follow-up, {end:g}: "
            "nobody was observed then, and the value is not a number (nan).",
            BeyondFollowUpWarning,
            stacklevel=user_level(),
        )
    return beyond


def curves_of_rows(
    curves: Sequence[StepFunction],
    index: NDArray[np.intp],
    return_array: bool,
    times: ArrayLike | None,
) -> NDArray[np.object_] | Floats:
    """Return the curve of each row, or its values: at given times, or at those of the steps."""
    if times is not None:
        asked = read_times(times)
        values = np.stack([curve._at(asked) for curve in curves])
        values[:, beyond_follow_up(asked, curves[0].domain[1])] = np.nan
        return np.asarray(values[index])
    if return_array:
        return np.asarray(np.stack([curve.y for curve in curves])[index])
    shared = np.empty(len(curves), dtype=object)
    shared[:] = curves
    return np.asarray(shared[index])


def conditional_curves(
    functions: NDArray[Any], survived: float, return_array: bool, times: ArrayLike | None
) -> NDArray[np.object_] | Floats:
    """Return the curve of each row given that it is without an event at a time, or its values."""
    distinct = {id(curve): curve for curve in functions}
    number = {key: position for position, key in enumerate(distinct)}
    index = np.array([number[id(curve)] for curve in functions], dtype=np.intp)
    curves = [curve.after(survived) for curve in distinct.values()]
    return curves_of_rows(curves, index, return_array, times)


def _require_times(times: ArrayLike) -> Floats:
    asked = np.asarray(times, dtype=np.float64)
    if not np.all(asked >= 0):
        wrong = asked[~(asked >= 0)]
        raise ValueError(
            f"Times must be zero or later; {wrong.size} of {asked.size} are not, "
            f"the first of them {wrong[0]:g}."
        )
    return asked


# The most intervals of a time axis.
MOST_TICKS = 8


def round_step(end: float) -> float:
    """Return a power of ten that divides the ticks of any time axis to an end.

    An axis has a tick at every multiple of one, two or five times a power of ten, and not more
    than `MOST_TICKS` of them.
    """
    return float(10.0 ** np.floor(np.log10(end / MOST_TICKS)))


def round_times(end: float) -> Floats:
    """Return zero and the multiples of `round_step`, as they are written, up to an end."""
    step = round_step(end)
    multiples = np.arange(np.floor(end / step) + 1)
    # 3 / 10 is the float 0.3, but 3 * 0.1 is a little more.
    return multiples * step if step >= 1 else multiples / np.rint(1 / step)


def round_horizons(end: float, most: int = 6) -> list[float]:
    """Return a few round times up to an end: multiples of 1, 2 or 5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(end / most))
    step = next(power * digit for digit in (1, 2, 5, 10) if power * digit >= end / most)
    return [float(f"{step * multiple:.12g}") for multiple in range(1, int(end / step + 1e-9) + 1)]


def read_horizons(horizons: Iterable[float]) -> list[float]:
    """Return times that a user passed, each once and in order."""
    times = [float(time) for time in horizons]
    wrong = [time for time in times if not (np.isfinite(time) and time >= 0)]
    if wrong:
        raise ValueError(f"horizons must be times, zero or later; got {wrong[0]!r}.")
    return sorted(set(times))

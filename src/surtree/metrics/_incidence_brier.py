"""Brier score of cumulative incidence: its squared error, each row weighed against censoring."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surtree._support.types import Floats
from surtree.data.causes import CauseTarget
from surtree.data.target import read_weights
from surtree.metrics._brier import Span, read_span
from surtree.metrics._cause_concordance import read_causes
from surtree.metrics._input import read_times, require_within
from surtree.metrics._kaplan_meier import inverse, uncensored_before
from surtree.metrics._survival import Curve, evaluate, read_survival_at, read_survival_curves
from surtree.survival.aalen_johansen import count_causes
from surtree.survival.follow_up import reverse_kaplan_meier
from surtree.survival.step_function import StepFunction


def incidence_brier_score(
    y_train: Any,
    y_test: Any,
    incidence: Any,
    times: ArrayLike,
    cause: int,
    *,
    sample_weight: ArrayLike | None = None,
    train_weight: ArrayLike | None = None,
) -> Floats:
    """Brier score of the cumulative incidence of a cause at given times: 0 is perfect.

    Parameters
    ----------
    y_train, y_test : structured array, data frame or pair of arrays
        Cause and time of the training rows, from which the censoring distribution is estimated,
        and of the rows to score.
    incidence : array-like, shape (n_rows, n_times), or n_rows functions
        Predicted cumulative incidence of the test rows: at the times, or as functions such as
        ``predict_cumulative_incidence`` returns.
    times : array-like, shape (n_times,)
        Ascending, before the last time of the test rows and within those of the training rows.
    cause : int
        The cause.
    sample_weight, train_weight : array-like, shape (n_rows,), optional
        Weights of the test and of the training rows.

    Examples
    --------
    >>> from surtree.metrics import incidence_brier_score
    >>> y = [1, 2, 1, 0], [1.0, 2.0, 3.0, 4.0]
    >>> incidence_brier_score(y, y, [[0.25], [0.25], [0.25], [0.25]], [1.5], cause=1).tolist()
    [0.1875]
    """
    train, test = read_causes(y_train, cause, "y_train"), read_causes(y_test, cause, "y_test")
    at = read_times(times)
    require_within(at, train, test)
    predicted = read_survival_at(incidence, at, test.time.size)
    weights = read_weights(sample_weight, test.time.size)
    uncensored = reverse_kaplan_meier(train, read_weights(train_weight, train.time.size))
    row_weight = np.where(test.event, inverse(uncensored_before(uncensored, test.time)), 0.0)
    time_weight = inverse(np.asarray(uncensored(at)))
    scores = np.empty(at.size)
    for j, time in enumerate(at):
        happened = test.time <= time
        weight = np.where(happened, row_weight, time_weight[j])
        error = np.where(happened & (test.cause == cause), 1.0, 0.0) - predicted[:, j]
        scores[j] = np.sum(weights * weight * error**2) / weights.sum()
    return scores


def integrated_incidence_brier_score(
    y_train: Any,
    y_test: Any,
    incidence: Any,
    cause: int,
    times: ArrayLike | None = None,
    *,
    interval: Span | None = None,
    sample_weight: ArrayLike | None = None,
    train_weight: ArrayLike | None = None,
) -> float:
    """Mean Brier score of the cumulative incidence of a cause over an interval of time.

    Predicted curves are step functions, and the integral over them is exact. Test rows later than
    the last training time are left out.

    Parameters
    ----------
    y_train, y_test : structured array, data frame or pair of arrays
        As in :func:`incidence_brier_score`.
    incidence : n_rows step functions, or array-like, shape (n_rows, n_times)
        Predicted cumulative incidence of the test rows.
    cause : int
        The cause.
    times : array-like, shape (n_times,), optional
        With an array: the times at which its columns step.
    interval : (float, float), optional
        Start and end; by default the 10% and 90% quantiles of the test times.
    sample_weight, train_weight
        As in :func:`incidence_brier_score`.

    Examples
    --------
    >>> from surtree.metrics import integrated_incidence_brier_score
    >>> y = [1, 2, 1, 0], [1.0, 2.0, 3.0, 4.0]
    >>> curves = [[0.25, 0.25, 0.5]] * 4
    >>> round(integrated_incidence_brier_score(y, y, curves, 1, times=[1.0, 2.0, 3.0]), 4)
    0.2057
    """
    train, test = read_causes(y_train, cause, "y_train"), read_causes(y_test, cause, "y_test")
    curves = read_survival_curves(incidence, times, test.time.size, before=0.0)
    known = test.time <= train.time.max()
    weight = read_weights(sample_weight, test.time.size)[known]
    test = test.take(known)
    span = read_span(interval, train, test)
    uncensored = reverse_kaplan_meier(train, read_weights(train_weight, train.time.size))
    of_row, had_cause = curves.of_row[known], test.cause == cause
    inverses = inverse(uncensored_before(uncensored, test.time))
    row_weight = np.where(test.event, weight * inverses, 0.0)
    total = 0.0
    for index, curve in enumerate(curves.distinct):
        rows = of_row == index
        total += _curve_cost(
            curve,
            uncensored,
            test.time[rows],
            weight[rows],
            row_weight[rows],
            had_cause[rows],
            span,
        )
    return total / (float(weight.sum()) * (span[1] - span[0]))


def normalized_integrated_incidence_brier_score(
    y_train: Any,
    y_test: Any,
    incidence: Any,
    cause: int,
    times: ArrayLike | None = None,
    *,
    interval: Span | None = None,
    sample_weight: ArrayLike | None = None,
    train_weight: ArrayLike | None = None,
) -> float:
    """Share of the integrated Brier score that predictions save: 1 is perfect, 0 no use.

    They are compared with the Aalen-Johansen curve of all training rows.

    Parameters
    ----------
    y_train, y_test, incidence, cause, times, interval, sample_weight, train_weight
        As in :func:`integrated_incidence_brier_score`.

    Examples
    --------
    >>> from surtree.metrics import normalized_integrated_incidence_brier_score
    >>> y = [1, 2, 1, 2], [1.0, 2.0, 3.0, 4.0]
    >>> curves = [[0.5, 0.5, 1.0], [0.0, 0.0, 0.0]] * 2
    >>> round(normalized_integrated_incidence_brier_score(y, y, curves, 1, [1.0, 2.0, 3.0]), 3)
    0.57
    """
    train, test = read_causes(y_train, cause, "y_train"), read_causes(y_test, cause, "y_test")
    scored = partial(
        integrated_incidence_brier_score,
        train,
        test,
        interval=interval,
        sample_weight=sample_weight,
        train_weight=train_weight,
    )
    score = scored(incidence, cause, times)
    root = [_of_all_rows(train, train_weight, cause)] * test.time.size
    root_score = scored(root, cause)
    if root_score == 0:
        raise ValueError(
            "The Aalen-Johansen curve of the training rows makes no error over the interval, so "
            "there is nothing to compare with: choose a longer interval."
        )
    return 1.0 - score / root_score


def _of_all_rows(target: CauseTarget, weight: ArrayLike | None, cause: int) -> StepFunction:
    times, counts = count_causes(target, read_weights(weight, target.time.size))
    return StepFunction(times, counts.incidence[target.causes.index(cause)], before=0.0)


def _curve_cost(
    curve: Curve,
    uncensored: StepFunction,
    time: Floats,
    row_weight: Floats,
    event_weight: Floats,
    had_cause: NDArray[np.bool_],
    span: Span,
) -> float:
    """Integrate the squared error of one curve for the rows that have it.

    Between two neighbouring knots all factors of the integrand are constant, so that its integral
    up to a time is linear there, and interpolation is exact.
    """
    knots = np.unique(np.concatenate([span, curve.x, uncensored.x]).clip(*span))
    from_knot, width = knots[:-1], np.diff(knots)
    incidence = evaluate(curve, from_knot)

    def integral(values: Floats) -> Floats:
        return np.concatenate([[0.0], np.cumsum(values * width)])

    def after(values: Floats) -> Floats:
        sums = integral(values)
        return np.asarray(sums[-1] - np.interp(time, knots, sums))

    weight = inverse(np.asarray(uncensored(from_knot)))
    until = np.interp(time, knots, integral(incidence**2 * weight))
    ended = np.where(had_cause, after((1.0 - incidence) ** 2), after(incidence**2))
    return float((row_weight * until).sum() + np.sum(event_weight * ended))

"""Brier score: squared error of predicted curves, each row weighed against censoring."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surtree._support.types import Floats
from surtree.data.target import Target
from surtree.metrics._kaplan_meier import (
    inverse,
    kaplan_meier,
    uncensored_before,
    under_observation,
)
from surtree.metrics.input import (
    ScoredRows,
    had_event,
    lives_on,
    read_scored,
    read_times,
    require_within,
)
from surtree.metrics.predicted import (
    Curve,
    Curves,
    evaluate_all,
    read_predicted_at,
    read_predicted_curves,
)
from surtree.survival.aalen_johansen import count_causes
from surtree.survival.step_function import StepFunction

Span = tuple[float, float]

_QUANTILES = (0.1, 0.9)
# Curves are integrated together, up to so many values.
_CELLS = 1_000_000


def brier_score(
    y_train: Any,
    y_test: Any,
    predicted: Any,
    times: ArrayLike,
    *,
    cause: int | None = None,
    sample_weight: ArrayLike | None = None,
    entry: ArrayLike | None = None,
    train_weight: ArrayLike | None = None,
    train_entry: ArrayLike | None = None,
) -> Floats:
    """Brier score at given times: 0 is perfect, 0.25 what survival of one half everywhere gets.

    Parameters
    ----------
    y_train : structured array, data frame or Target
        Training rows, from which the censoring distribution is estimated.
    y_test : structured array, data frame or Target
        Rows to score.
    predicted : array-like, shape (n_rows, n_times), or n_rows functions
        Predicted survival of the test rows: at the times, or as functions such as
        ``predict_survival_function`` returns. With ``cause``, its predicted cumulative incidence
        (``predict_cumulative_incidence``).
    times : array-like, shape (n_times,)
        Ascending, before the last time of the test rows and within those of the training rows.
        After the last follow-up of the rows that a model was fitted on, its curves count with
        their last value.
    cause : int, optional
        Of competing risks, the cause that is scored. Targets then have causes, and no entry times.
    sample_weight, train_weight : array-like, shape (n_rows,), optional
        Weights of the test and of the training rows; a weight of two is the row twice.
    entry, train_entry : array-like, shape (n_rows,), optional
        When the test and the training rows came under observation (left truncation).

    Returns
    -------
    array of float, shape (n_times,)

    Notes
    -----
    A row with an event counts as the inverse of the probability that it was not censored before,
    as in R's riskRegression. Where rows are censored at the time of an event, scikit-survival's
    score is another one, and too high. Censoring is taken to be independent of the event and of
    the columns.

    With entry times it is the score of everybody from time zero on, also of those who had their
    event before they could enter: a row counts as the inverse of the probability of being under
    observation at its event, or at the time, estimated by the rows at risk divided by the
    Kaplan-Meier survival. Entry must be independent of the event and of the columns, too
    (docs/results/censoring-weights.md).

    Examples
    --------
    The trapezoid over these scores is the integrated score of scikit-survival;
    :func:`integrated_brier_score` is exact instead.

    >>> import numpy as np
    >>> from scipy.integrate import trapezoid
    >>> from surtree.metrics import brier_score
    >>> y = np.array([(True, 1.0), (False, 2.0), (True, 3.0), (True, 4.0)], dtype="?,f8")
    >>> times = np.array([1.5, 2.0, 3.5])
    >>> scores = brier_score(y, y, np.full((4, 3), 0.5), times)
    >>> scores.round(3).tolist()
    [0.25, 0.25, 0.25]
    >>> round(float(trapezoid(scores, times) / (times[-1] - times[0])), 3)
    0.25

    Of competing risks, the cumulative incidence of a cause is scored:

    >>> y = [1, 2, 1, 0], [1.0, 2.0, 3.0, 4.0]
    >>> brier_score(y, y, [[0.25], [0.25], [0.25], [0.25]], [1.5], cause=1).tolist()
    [0.1875]
    """
    train = read_scored(y_train, train_weight, train_entry, cause)
    test, weight = read_scored(y_test, sample_weight, entry, cause)
    times = read_times(times)
    require_within(times, train.target, test)
    had_event(train.target, cause, "y_train")
    is_scored = had_event(test, cause, "y_test")
    curves = read_predicted_at(predicted, times, len(test.time))
    observed = under_observation(train)
    row_weight = weight * inverse(uncensored_before(observed, test.time))
    time_weight = inverse(np.asarray(observed(times)))
    scores = np.empty(len(times))
    for j, time in enumerate(times):
        ended, left = test.event & (test.time <= time), lives_on(test, time)
        before, after = _errors(curves[:, j], cause)
        # Dot products are avoided: their rounding may depend on the number of threads.
        cost_ended = np.sum(row_weight * np.where(ended, np.where(is_scored, after, before), 0.0))
        cost_left = time_weight[j] * np.sum(weight[left] * before[left])
        scores[j] = (cost_ended + cost_left) / weight.sum()
    return scores


def _errors(predicted: Floats, cause: int | None) -> tuple[Floats, Floats]:
    """Return the squared errors of predictions before the event that is scored, and after it.

    Survival falls from one to zero at the event, the incidence of a cause rises from zero to one.
    """
    start, end = (1.0, 0.0) if cause is None else (0.0, 1.0)
    return (start - predicted) ** 2, (end - predicted) ** 2


def integrated_brier_score(
    y_train: Any,
    y_test: Any,
    predicted: Any,
    times: ArrayLike | None = None,
    *,
    cause: int | None = None,
    interval: Span | None = None,
    sample_weight: ArrayLike | None = None,
    entry: ArrayLike | None = None,
    train_weight: ArrayLike | None = None,
    train_entry: ArrayLike | None = None,
) -> float:
    """Mean Brier score over an interval of time, as the paper defines it: 0 is perfect.

    Predicted curves are step functions, and the integral over them is exact. Test rows later than
    the last training time are left out.

    Parameters
    ----------
    y_train : structured array, data frame or Target
        Training rows, from which the censoring distribution is estimated.
    y_test : structured array, data frame or Target
        Rows to score.
    predicted : n_rows step functions, or array-like, shape (n_rows, n_times)
        Predicted survival of the test rows: what ``predict_survival_function`` returns. With
        ``cause``, its predicted cumulative incidence.
    times : array-like, shape (n_times,), optional
        With an array: the times at which its columns step.
    cause : int, optional
        Of competing risks, the cause that is scored.
    interval : (float, float), optional
        Start and end; by default the 10% and 90% quantiles of the test times.
    sample_weight, entry, train_weight, train_entry
        As in :func:`brier_score`.

    Examples
    --------
    >>> import numpy as np
    >>> from surtree.metrics import integrated_brier_score
    >>> y = np.array([(True, 1.0), (False, 2.0), (True, 3.0), (True, 4.0)], dtype="?,f8")
    >>> survival = [[0.6, 0.4, 0.1]] * 4
    >>> round(integrated_brier_score(y, y, survival, times=[1.0, 2.0, 3.0]), 4)
    0.2808
    >>> y = [1, 2, 1, 0], [1.0, 2.0, 3.0, 4.0]
    >>> incidence = [[0.25, 0.25, 0.5]] * 4
    >>> round(integrated_brier_score(y, y, incidence, times=[1.0, 2.0, 3.0], cause=1), 4)
    0.2057
    """
    train = read_scored(y_train, train_weight, train_entry, cause)
    rows = read_scored(y_test, sample_weight, entry, cause)
    curves = read_predicted_curves(predicted, times, len(rows.weight), _before(cause))
    return _integrated(train, rows, [curves], interval, cause)[0]


def _before(cause: int | None) -> float:
    """Return what curves are before any event."""
    return 1.0 if cause is None else 0.0


def _integrated(
    train: ScoredRows,
    rows: ScoredRows,
    predictions: Sequence[Curves],
    interval: Span | None,
    cause: int | None,
) -> list[float]:
    """Return the score of each of some predictions."""
    had_event(train.target, cause, "y_train")
    is_scored = had_event(rows.target, cause, "y_test")
    known = rows.target.time <= train.target.time.max()
    test, weight = rows.take(known)
    span = read_span(interval, train.target, test)
    observed = under_observation(train)
    _require_no_gap(observed, span)
    row_weight = np.where(test.event, weight * inverse(uncensored_before(observed, test.time)), 0.0)
    is_scored, scores = is_scored[known], []
    for curves in predictions:
        of_row, total = curves.of_row[known], 0.0
        integrals = _error_integrals(curves.distinct, observed, span, cause)
        for index, (knots, until, after_other, after) in enumerate(integrals):
            here = of_row == index
            time = test.time[here]
            cost = np.interp(time, knots, until)
            if test.entry is not None:
                cost = cost - np.interp(test.entry[here], knots, until)
            ended = np.where(
                is_scored[here],
                after[-1] - np.interp(time, knots, after),
                after_other[-1] - np.interp(time, knots, after_other),
            )
            total += float((weight[here] * cost).sum() + (row_weight[here] * ended).sum())
        scores.append(total / (float(weight.sum()) * (span[1] - span[0])))
    return scores


def _require_no_gap(observed: StepFunction, span: Span) -> None:
    """Raise an error where no training row is under observation, before others enter."""
    ends = np.append(observed.x[1:], np.inf)
    gap = (observed.y == 0) & (observed.x < span[1]) & (ends > span[0]) & (ends < np.inf)
    if observed.before == 0 and span[0] < observed.x[0]:
        raise ValueError(
            f"The interval starts at {span[0]:g}, before the first training row enters, at "
            f"{observed.x[0]:g}: start it later."
        )
    if gap.any():
        first = int(np.argmax(gap))
        raise ValueError(
            f"No training row is at risk between {observed.x[first]:g} and {ends[first]:g}: choose "
            "an interval without this gap."
        )


def normalized_integrated_brier_score(
    y_train: Any,
    y_test: Any,
    predicted: Any,
    times: ArrayLike | None = None,
    *,
    cause: int | None = None,
    interval: Span | None = None,
    sample_weight: ArrayLike | None = None,
    entry: ArrayLike | None = None,
    train_weight: ArrayLike | None = None,
    train_entry: ArrayLike | None = None,
) -> float:
    """Share of the integrated Brier score that predictions save: 1 is perfect, 0 no use.

    This is the paper's ``1 - IB / IB_0``, with ``IB_0`` the score of the Kaplan-Meier curve of all
    training rows; with ``cause``, of their Aalen-Johansen curve.

    Parameters
    ----------
    y_train, y_test, predicted, times, cause, interval
        As in :func:`integrated_brier_score`.
    sample_weight, entry, train_weight, train_entry
        As in :func:`integrated_brier_score`.

    Examples
    --------
    >>> import numpy as np
    >>> from surtree.metrics import normalized_integrated_brier_score
    >>> y = np.array([(True, 1.0), (True, 2.0), (True, 3.0), (True, 4.0)], dtype="?,f8")
    >>> early, late = [0.5, 0.0, 0.0, 0.0], [1.0, 1.0, 0.5, 0.0]
    >>> survival = [early, early, late, late]
    >>> round(normalized_integrated_brier_score(y, y, survival, times=[1.0, 2.0, 3.0, 4.0]), 4)
    0.6585
    """
    train = read_scored(y_train, train_weight, train_entry, cause)
    rows = read_scored(y_test, sample_weight, entry, cause)
    n_rows = len(rows.weight)
    curves = read_predicted_curves(predicted, times, n_rows, _before(cause))
    of_all = Curves((_curve_of_all(train, cause),), np.zeros(n_rows, dtype=np.intp))
    score, score_of_all = _integrated(train, rows, [curves, of_all], interval, cause)
    if score_of_all == 0:
        raise ValueError(
            "One curve for all training rows makes no error over the interval, so there is nothing "
            "to compare with: choose a longer interval."
        )
    return 1.0 - score / score_of_all


def _curve_of_all(train: ScoredRows, cause: int | None) -> StepFunction:
    """Return the Kaplan-Meier curve of all rows, or the Aalen-Johansen curve of a cause."""
    if cause is None:
        return kaplan_meier(*train)
    times, counts = count_causes(train.target, train.weight)
    return StepFunction(times, counts.incidence[train.target.causes.index(cause)], before=0.0)


def _error_integrals(
    curves: Sequence[Curve], observed: StepFunction, span: Span, cause: int | None
) -> Iterator[tuple[Floats, Floats, Floats, Floats]]:
    """Yield, for each curve, times and the integrals of its squared error up to each of them.

    They are those of the error before the end of a row, weighed against censoring, and those after
    another event and after the one that is scored. Between two neighbouring times all factors of
    the integrand are constant, so that its integral is linear there, and interpolation is exact.
    """
    # Curves of one model as a rule step at the same times.
    for _, group in groupby(curves, key=lambda curve: np.asarray(curve.x).tobytes()):
        alike = list(group)
        knots = np.unique(np.concatenate([span, alike[0].x, observed.x]).clip(*span))
        from_knot, width = knots[:-1], np.diff(knots)
        share = inverse(np.asarray(observed(from_knot)))
        at_once = max(_CELLS // knots.size, 1)
        for start in range(0, len(alike), at_once):
            before, after = _errors(evaluate_all(alike[start : start + at_once], from_knot), cause)
            sums = map(_sums, (before * share * width, before * width, after * width))
            for until, after_other, after_event in zip(*sums, strict=True):
                yield knots, until, after_other, after_event


def _sums(values: Floats) -> Floats:
    sums = np.zeros((len(values), values.shape[1] + 1))
    np.cumsum(values, axis=1, out=sums[:, 1:])
    return sums


def read_span(interval: Span | None, train: Target, test: Target) -> Span:
    """Return the start and the end of the interval to integrate over."""
    if len(test.time) == 0:
        raise ValueError("All test rows are later than the last training time: nothing to score.")
    ends = np.quantile(test.time, _QUANTILES) if interval is None else read_times(interval)
    start, end = float(ends[0]), float(ends[-1])
    if not start < end:
        raise ValueError(
            f"The interval starts and ends at {start:g}: give one that has a length. (By default "
            "it lies between the 10% and 90% quantiles of the test times.)"
        )
    if end > train.time.max():
        raise ValueError(
            f"The interval ends at {end:g}, past the last time of the training rows, "
            f"{train.time.max():g}, where their censoring distribution ends: end it earlier."
        )
    return start, end

"""Time-dependent area under the ROC curve."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surtree._support.types import Floats
from surtree.metrics._kaplan_meier import inverse, uncensored_before, under_observation
from surtree.metrics.calibration_groups import observed_at
from surtree.metrics.input import had_event, lives_on, read_scored, read_times, require_within


def cumulative_dynamic_auc(
    y_train: Any,
    y_test: Any,
    risk: ArrayLike,
    times: ArrayLike,
    *,
    cause: int | None = None,
    sample_weight: ArrayLike | None = None,
    entry: ArrayLike | None = None,
    train_weight: ArrayLike | None = None,
    train_entry: ArrayLike | None = None,
) -> tuple[Floats, float]:
    """Probability that a row with an event by a time has a higher risk than one that lives on.

    Parameters
    ----------
    y_train : structured array, data frame or Target
        Training rows, from which the censoring distribution is estimated.
    y_test : structured array, data frame or Target
        Rows to score.
    risk : array-like, shape (n_rows,) or (n_rows, n_times)
        Risk of the test rows, one for all times or one for each; higher is riskier.
    times : array-like, shape (n_times,)
        Ascending, before the last time of the test rows and within those of the training rows.
    cause : int, optional
        Of competing risks, the cause whose events count, as in :func:`concordance_index_ipcw`.
        Rows that another cause has ended by a time live on without an event of this cause.
    sample_weight, entry, train_weight, train_entry
        As in :func:`brier_score`.

    Returns
    -------
    auc : array of float, shape (n_times,)
        0.5 for a risk that says nothing.
    mean : float
        Over the times, each weighed by the share of test rows that have their event since the
        time before, as Kaplan-Meier or Aalen-Johansen estimate it.

    Examples
    --------
    >>> import numpy as np
    >>> from surtree.metrics import cumulative_dynamic_auc
    >>> y = np.array([(True, 1.0), (False, 2.0), (True, 3.0), (True, 4.0)], dtype="?,f8")
    >>> auc, mean = cumulative_dynamic_auc(y, y, risk=[0.9, 0.5, 0.1, 0.1], times=[1.0, 3.0])
    >>> auc.tolist()
    [1.0, 0.7]
    """
    train = read_scored(y_train, train_weight, train_entry, cause)
    rows, times = read_scored(y_test, sample_weight, entry, cause), read_times(times)
    require_within(times, train.target, rows.target)
    test, weight = rows
    risks = _read_risks(risk, len(test.time), len(times))
    observed = under_observation(train)
    case_weight = weight * inverse(uncensored_before(observed, test.time))
    counted = had_event(test, cause, "y_test")
    auc = np.empty(len(times))
    for j, time in enumerate(times):
        case = counted & (test.time <= time)
        if not case_weight[case].any():
            raise ValueError(f"No test row has its event by the time {time:g}: choose later times.")
        left = lives_on(test, time)
        # Of the rows that live on, the share that was not censored stands for all.
        alive = weight / float(observed(time))
        ended = test.event & ~counted & (test.time <= time)
        control = left | ended
        control_weight = np.where(left, alive, case_weight)[control]
        auc[j] = _auc(risks[case, j], case_weight[case], risks[control, j], control_weight)
    shares = [observed_at(time, test, weight, cause).survival for time in times.tolist()]
    events = np.abs(np.diff(shares, prepend=1.0 if cause is None else 0.0))
    return auc, float(auc @ events / events.sum())


def _auc(case: Floats, case_weight: Floats, control: Floats, control_weight: Floats) -> float:
    order = np.argsort(control)
    control, below = control[order], np.append(0.0, np.cumsum(control_weight[order]))
    lower, not_higher = (
        below[np.searchsorted(control, case, side=side)] for side in ("left", "right")
    )
    return float(case_weight @ (lower + not_higher) / (2 * below[-1] * case_weight.sum()))


def _read_risks(risk: ArrayLike, n_rows: int, n_times: int) -> Floats:
    risks = np.asarray(risk, dtype=np.float64)
    if risks.ndim == 1:
        risks = np.broadcast_to(risks[:, np.newaxis], (len(risks), n_times))
    if risks.shape != (n_rows, n_times):
        raise ValueError(
            f"risk must have one value for each of {n_rows} rows, or one for each of them and each "
            f"of {n_times} times; got the shape {np.shape(risk)}."
        )
    if np.isnan(risks).any():
        raise ValueError(f"risk is missing (NaN) in {np.isnan(risks).any(axis=1).sum()} rows.")
    return risks

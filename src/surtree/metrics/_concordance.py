"""Concordance: whether the row with the earlier event has the higher risk."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surtree._types import Floats
from surtree.data.target import read_weights
from surtree.metrics._input import read_numbers, read_y
from surtree.metrics._kaplan_meier import censoring_distribution, inverse

Ranks = NDArray[np.intp]


def concordance_index(
    event: ArrayLike, time: ArrayLike, risk: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Harrell's C: the share of comparable pairs in which the earlier event has the higher risk.

    A pair is comparable where one row has an event strictly before the time of the other, as the
    paper defines it. Equal risks count one half. (scikit-survival also compares an event with a
    row that is censored at the very same time.)

    Parameters
    ----------
    event : array-like of bool, shape (n_rows,)
        True for an event, False for a censored row.
    time : array-like, shape (n_rows,)
        Time of the event or of censoring.
    risk : array-like, shape (n_rows,)
        Higher is riskier; only the order matters.
    sample_weight : array-like, shape (n_rows,), optional
        A pair counts as the product of its two weights.

    Returns
    -------
    float
        Between 0 and 1; 0.5 for a risk that says nothing.

    Examples
    --------
    >>> concordance_index([True, True, False], [1.0, 2.0, 3.0], [0.9, 0.1, 0.1])
    0.8333333333333334
    """
    times = read_numbers(time, "time")
    events = read_numbers(event, "event", len(times))
    unclear = ~np.isin(events, (0, 1))
    if unclear.any():
        raise ValueError(
            "event must be True (an event) or False (censored) in each row; found "
            f"{events[unclear][0]:g}."
        )
    risks = read_numbers(risk, "risk", len(times))
    weight = read_weights(sample_weight, len(times))
    return _concordant_share(_ranks(times), risks, weight * events, weight)


def concordance_index_ipcw(
    y_train: Any, y_test: Any, risk: ArrayLike, *, tau: float | None = None
) -> float:
    """Uno's C: Harrell's C with each pair weighed against censoring.

    An earlier event counts as the inverse of the squared probability that its row was not
    censored before. Unlike in :func:`concordance_index`, and as in scikit-survival, an event is
    also compared with a row that is censored at the very same time.

    Parameters
    ----------
    y_train : structured array, data frame or Target
        Training rows, from which the censoring distribution is estimated.
    y_test : structured array, data frame or Target
        Rows to score.
    risk : array-like, shape (n_rows,)
        Risk of the test rows; higher is riskier.
    tau : float, optional
        Only events before this time count. Needed where test rows have events later than the
        censoring distribution of the training rows is known.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from surtree.metrics import concordance_index_ipcw
    >>> y = np.array([(True, 1.0), (False, 2.0), (True, 3.0), (True, 4.0)], dtype="?,f8")
    >>> round(concordance_index_ipcw(y, y, [0.1, 0.4, 0.9, 0.2]), 4)
    0.4286
    """
    train, test = read_y(y_train), read_y(y_test)
    risks = read_numbers(risk, "risk", len(test.time))
    counted = test.event if tau is None else test.event & (test.time < tau)
    uncensored = np.asarray(censoring_distribution(train)(test.time))
    unknown = counted & ((test.time > train.time.max()) | (uncensored == 0))
    if unknown.any():
        raise ValueError(
            f"{unknown.sum()} test rows have their event where the censoring distribution of the "
            f"training rows has ended, at {train.time.max():g}: set tau to this time or less."
        )
    weight = np.where(counted, inverse(uncensored) ** 2, 0.0)
    # Events come before censorings of the same time.
    time_rank = 2 * _ranks(test.time) + ~test.event
    return _concordant_share(time_rank, risks, weight, np.ones(len(risks)))


def _concordant_share(
    time_rank: Ranks, risk: Floats, first_weight: Floats, second_weight: Floats
) -> float:
    concordant, tied, comparable = _pair_weights(time_rank, risk, first_weight, second_weight)
    if comparable == 0:
        raise ValueError(
            f"No comparable pair among {len(risk)} rows, of which {np.count_nonzero(first_weight)} "
            "have an event that counts: concordance needs an event before the time of another row."
        )
    # The three sums are rounded apart; a perfect order must not exceed one.
    return min(1.0, (concordant + 0.5 * tied) / comparable)


def _pair_weights(
    time_rank: Ranks, risk: Floats, first_weight: Floats, second_weight: Floats
) -> tuple[float, float, float]:
    """Sum ``first_weight[i] * second_weight[j]`` over the pairs where ``i`` comes before ``j``.

    Parameters
    ----------
    time_rank : array of int, shape (n_rows,)
        ``i`` comes before ``j`` where its rank is lower.
    risk : array of float, shape (n_rows,)
        Risk of each row.
    first_weight, second_weight : array of float, shape (n_rows,)
        Weight of each row as the earlier and as the later one of a pair.

    Returns
    -------
    concordant, tied, comparable : float
        Over the pairs where the earlier row has the higher risk, where both risks are equal, and
        over all pairs.
    """
    risk_rank = _ranks(risk)
    by_time = np.bincount(time_rank, second_weight)
    # Summed from the last time backwards, so that nothing comes after it, exactly.
    from_time = np.append(np.cumsum(by_time[::-1])[::-1], 0.0)
    comparable = np.sum(first_weight * from_time[time_rank + 1])

    by_risk_and_time = risk_rank * (time_rank.max() + 1) + time_rank
    order = np.argsort(by_risk_and_time)
    before = _sums_before(second_weight[order])
    stops = [
        np.searchsorted(keys[order], keys[order], side="right")
        for keys in (risk_rank, by_risk_and_time)
    ]
    tied = np.sum(first_weight[order] * (before[stops[0]] - before[stops[1]]))

    # With the lower risk first among equal times, no pair of equal times looks concordant.
    order = np.argsort(time_rank * (risk_rank.max() + 1) + risk_rank)
    concordant = _descents(risk_rank[order], first_weight[order], second_weight[order])
    return concordant, float(tied), float(comparable)


def _descents(rank: Ranks, first_weight: Floats, second_weight: Floats) -> float:
    """Sum ``first_weight[i] * second_weight[j]`` over all ``i < j`` with ``rank[i] > rank[j]``.

    Two ranks differ first at one binary digit. Digit by digit from the highest, rows that agree on
    all higher digits stand together in a block, still in their first order, so that a running sum
    over the rows with digit 0 gives for each row with digit 1 all the lower ones behind it.
    """
    total = 0.0
    for digit in reversed(range(int(rank.max()).bit_length())):
        low = (rank >> digit) & 1 == 0
        block = rank >> (digit + 1)
        block_stop = np.flatnonzero(np.append(block[1:] != block[:-1], True)) + 1
        before = _sums_before(np.where(low, second_weight, 0.0))
        behind = np.repeat(before[block_stop], np.diff(block_stop, prepend=0)) - before[:-1]
        total += float(np.sum(np.where(low, 0.0, first_weight) * behind))

        order = np.concatenate([np.flatnonzero(low), np.flatnonzero(~low)])
        rank, first_weight, second_weight = rank[order], first_weight[order], second_weight[order]
    return total


def _sums_before(values: Floats) -> Floats:
    sums = np.zeros(len(values) + 1)
    np.cumsum(values, out=sums[1:])
    return sums


def _ranks(values: NDArray[Any]) -> Ranks:
    return np.unique(values, return_inverse=True)[1].astype(np.intp, copy=False)

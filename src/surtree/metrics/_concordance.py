"""Concordance: whether the row with the earlier event has the higher risk."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surtree._support.compiled import pair_weights
from surtree._support.types import Floats
from surtree.data.target import Target, check_target, read_weights
from surtree.metrics._kaplan_meier import inverse, uncensored_before, under_observation
from surtree.metrics.input import ScoredRows, had_event, read_numbers, read_scored

Ranks = NDArray[np.intp]


class Concordance(NamedTuple):
    """A concordance index and the pairs behind it, in the order of scikit-survival's tuple.

    Parameters
    ----------
    cindex : float
        Between 0 and 1; 0.5 for a risk that says nothing.
    concordant, discordant, tied_risk : float
        The comparable pairs in which the earlier event has the higher, the lower and the same
        risk: their number, or the sum of their weights where rows have weights.
    tied_time : float
        The comparable pairs of an event and a row that is censored at the same time.

    Examples
    --------
    >>> from surtree.metrics import concordance_index_censored
    >>> index = concordance_index_censored([True, True, False], [1.0, 2.0, 3.0], [0.9, 0.4, 0.4])
    >>> index.cindex, index.concordant, index.tied_risk
    (0.8333333333333334, 2.0, 1.0)
    """

    cindex: float
    concordant: float
    discordant: float
    tied_risk: float
    tied_time: float


def concordance_index_censored(
    event_indicator: ArrayLike,
    event_time: ArrayLike,
    estimate: ArrayLike,
    *,
    cause: int | None = None,
    sample_weight: ArrayLike | None = None,
    entry: ArrayLike | None = None,
) -> Concordance:
    """Harrell's C: the share of comparable pairs in which the earlier event has the higher risk.

    A pair is comparable where one row has an event before the other row has its event or is
    censored; an event comes before a censoring at the same time. With entry times, the other row
    must have entered before the event, as in R's ``concordance(Surv(start, stop, event) ~ risk)``.
    Equal risks count one half.
    Arguments and result are those of scikit-survival's function of this name, which also counts
    risks that differ by less than 1e-8 as equal; here only equal risks are.

    Parameters
    ----------
    event_indicator : array-like of bool, shape (n_rows,)
        True for an event, False for a censored row; with ``cause``, the cause of each event as a
        whole number, 0 for a censored row.
    event_time : array-like, shape (n_rows,)
        Time of the event or of censoring.
    estimate : array-like, shape (n_rows,)
        The predicted risk; with ``cause``, that of the cause. Higher is riskier; only the order
        matters.
    cause : int, optional
        Of competing risks, the cause whose events count. A row that an event of another cause has
        ended by then is comparable too: it can have none of this cause, however long it is
        followed (Wolbers' C without censoring weights).
    sample_weight : array-like, shape (n_rows,), optional
        A pair counts as the product of its two weights.
    entry : array-like, shape (n_rows,), optional
        When each row came under observation: late entries, or start-stop rows, of which each is
        compared with the rows of others that are at risk when it ends with an event.

    Returns
    -------
    Concordance
        A tuple: the index, then concordant, discordant, tied-risk and tied-time pairs.

    Examples
    --------
    >>> from surtree.metrics import concordance_index_censored
    >>> y, risk = ([True, True, False], [1.0, 2.0, 3.0]), [0.9, 0.1, 0.1]
    >>> concordance_index_censored(*y, risk).cindex
    0.8333333333333334
    >>> concordance_index_censored(*y, risk, entry=[0.0, 1.5, 0.0]).cindex
    0.75

    Of competing risks, the third row has its event after another cause has ended the second:

    >>> causes, times, risk = [1, 2, 1, 0], [1.0, 2.0, 3.0, 4.0], [0.9, 0.5, 0.4, 0.1]
    >>> concordance_index_censored(causes, times, risk, cause=1).cindex
    0.8
    """
    times = read_numbers(event_time, "event_time")
    if cause is None:
        events = _read_events(event_indicator, len(times))
        target = check_target(events, times, None, entry)
        rows = ScoredRows(target, read_weights(sample_weight, len(times)))
    else:
        rows = read_scored((event_indicator, event_time), sample_weight, entry, cause)
    risks = read_numbers(estimate, "estimate", len(times))
    return _concordance(rows, risks, had_event(rows.target, cause), cause)


def _read_events(event_indicator: ArrayLike, n_rows: int) -> NDArray[np.bool_]:
    events = read_numbers(event_indicator, "event_indicator", n_rows)
    unclear = ~np.isin(events, (0, 1))
    if unclear.any():
        raise ValueError(
            "event_indicator must be True (an event) or False (censored) in each row; found "
            f"{events[unclear][0]:g}."
        )
    return events > 0


def concordance_index_ipcw(
    y_train: Any,
    y_test: Any,
    estimate: ArrayLike,
    *,
    cause: int | None = None,
    tau: float | None = None,
    sample_weight: ArrayLike | None = None,
    entry: ArrayLike | None = None,
    train_weight: ArrayLike | None = None,
    train_entry: ArrayLike | None = None,
) -> Concordance:
    """Uno's C: Harrell's C with each pair weighed against censoring.

    An earlier event counts as the inverse of the squared probability that its row was not
    censored before, as in R's ``concordance(timewt="n/G2")``. Pairs are those of
    :func:`concordance_index_censored`. Where rows are censored at the time of an event,
    scikit-survival's index is another one.

    Parameters
    ----------
    y_train : structured array, data frame or Target
        Training rows, from which the censoring distribution is estimated.
    y_test : structured array, data frame or Target
        Rows to score.
    estimate : array-like, shape (n_rows,)
        The predicted risk of the test rows; with ``cause``, that of the cause, such as its
        cumulative incidence at some time. Higher is riskier.
    cause : int, optional
        Of competing risks, the cause whose events count: Wolbers' C. Targets then have causes, and
        no entry times. A row that another cause has ended counts as the inverse of the probability
        that it was not censored before its own time.
    tau : float, optional
        Only events before this time count. Needed where test rows have events later than the
        censoring distribution of the training rows is known.
    sample_weight, entry, train_weight, train_entry
        As in :func:`brier_score`; a pair counts as the product of its two weights.

    Returns
    -------
    Concordance
        A tuple: the index, then the concordant, discordant, tied-risk and tied-time pairs, not
        weighed against censoring, of events before ``tau``.

    References
    ----------
    Wolbers, Blanche, Koller, Witteman, Gerds (2014). Concordance for prognostic models with
    competing risks. Biostatistics 15, 526-539.

    Examples
    --------
    >>> import numpy as np
    >>> from surtree.metrics import concordance_index_ipcw
    >>> y = np.array([(True, 1.0), (False, 2.0), (True, 3.0), (True, 4.0)], dtype="?,f8")
    >>> round(concordance_index_ipcw(y, y, [0.1, 0.4, 0.9, 0.2]).cindex, 4)
    0.4286
    >>> causes = [1, 2, 1, 0], [1.0, 2.0, 3.0, 4.0]
    >>> concordance_index_ipcw(causes, causes, [0.9, 0.5, 0.4, 0.1], cause=1).cindex
    0.8
    """
    train = read_scored(y_train, train_weight, train_entry, cause)
    rows = read_scored(y_test, sample_weight, entry, cause)
    test = rows.target
    risks = read_numbers(estimate, "estimate", len(test.time))
    counted = had_event(test, cause, "y_test")
    if tau is not None:
        counted = counted & (test.time < tau)
    observed = uncensored_before(under_observation(train), test.time)
    unknown = counted & ((test.time > train.target.time.max()) | (observed == 0))
    if unknown.any():
        raise ValueError(
            f"{unknown.sum()} test rows have their event where the censoring distribution of the "
            f"training rows has ended, at {train.target.time.max():g}: set tau to this time or "
            "less."
        )
    return _concordance(rows, risks, counted, cause, inverse(observed))


def _concordance(
    rows: ScoredRows,
    risk: Floats,
    counted: NDArray[np.bool_],
    cause: int | None,
    row_weight: Floats | None = None,
) -> Concordance:
    """Compare the events that count with later rows, and with those that other causes ended.

    With weights of rows, the index is of pairs that are weighed, and the pairs are not.
    """
    target, weight = rows
    first = np.where(counted, weight, 0.0)
    ones = np.ones(len(risk))
    row_weights = np.array([ones] if row_weight is None else [ones, row_weight])
    # Nobody was censored before the event, neither its row nor the later one.
    first_weight = first * row_weights**2
    time_rank, risk_rank = ranks(target.time), ranks(risk)
    # Events come before censorings of the same time.
    order = 2 * time_rank + ~target.event
    sums = pair_weights(order, risk_rank, first_weight, weight)
    is_comparable = _is_any_comparable(target, order, first > 0, weight > 0)
    if target.entry is not None:
        # Rows that end later and enter later too are not at risk at the event.
        n_rows, both = len(risk), ranks(np.concatenate([target.time, target.entry]))
        none = np.zeros(n_rows)
        not_yet = pair_weights(
            2 * both + np.repeat([0, 1], n_rows),
            np.concatenate([risk_rank, risk_rank]),
            np.concatenate([first_weight, np.zeros_like(first_weight)], axis=1),
            np.concatenate([none, weight]),
        )
        sums = np.maximum(sums - not_yet, 0.0)
    if cause is not None:
        # An event of another cause at the same time counts as earlier; one of this cause does not.
        ended = target.event & ~had_event(target, cause)
        backward = 2 * (time_rank.max() - time_rank) + ended
        behind = [
            pair_weights(
                backward, risk_rank, first[None] * each, np.where(ended, weight * each, 0.0)
            )
            for each in row_weights
        ]
        sums = sums + np.concatenate(behind, axis=1)
        is_comparable = is_comparable or bool(behind[0][2, 0] > 0)
    concordant, tied, comparable = sums[:, 0].tolist()
    weighed, tied_weighed, comparable_weighed = sums[:, -1].tolist()
    if not is_comparable:
        raise ValueError(
            f"No comparable pair among {len(risk)} rows, of which {np.count_nonzero(first)} "
            "have an event that counts: concordance needs an event before the time of another row."
        )
    censored = np.bincount(time_rank, np.where(target.event, 0.0, weight))
    return Concordance(
        # The three sums are rounded apart; a perfect order must not exceed one.
        cindex=min(1.0, (weighed + 0.5 * tied_weighed) / comparable_weighed),
        concordant=concordant,
        discordant=max(0.0, comparable - concordant - tied),
        tied_risk=tied,
        tied_time=float(first @ censored[time_rank]),
    )


def _is_any_comparable(
    target: Target, order: Ranks, first: NDArray[np.bool_], second: NDArray[np.bool_]
) -> bool:
    """Count, without rounding, whether another row is at risk at any event."""
    ends = np.append(np.cumsum(np.bincount(order, second)[::-1])[::-1], 0)
    n_later = ends[order[first] + 1]
    if target.entry is not None:
        entries = np.sort(target.entry[second])
        n_later = n_later - (entries.size - np.searchsorted(entries, target.time[first]))
    return bool((n_later > 0).any())


def ranks(values: NDArray[Any]) -> Ranks:
    """Return the rank of each value, from 0; equal values have the same."""
    return np.unique(values, return_inverse=True)[1].astype(np.intp, copy=False)

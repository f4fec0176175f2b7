"""Concordance for one of several causes, after Wolbers and others (2014)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surtree._support.types import Floats
from surtree.data.causes import CauseTarget, read_cause_target
from surtree.data.target import read_weights
from surtree.metrics._concordance import Concordance, pair_weights, ranks
from surtree.metrics._input import read_numbers
from surtree.metrics._kaplan_meier import inverse, uncensored_before
from surtree.survival.follow_up import reverse_kaplan_meier


def read_causes(y: Any, cause: int, name: str = "y") -> CauseTarget:
    """Read a target of competing risks without entry times, which has events of a cause."""
    target = without_entry(read_cause_target(y))
    if not (target.cause == cause).any():
        raise ValueError(f"{name} has no event of cause {cause!r}: its causes are {target.causes}.")
    return target


def without_entry(target: CauseTarget) -> CauseTarget:
    """Return a target, or raise an error if it has entry times."""
    if target.entry is not None:
        raise ValueError(
            "Scores of one of several causes are not defined for rows with entry times: a row that "
            "another cause ended before it could enter is never seen."
        )
    return target


def concordance_index_cause(
    y_train: Any,
    y_test: Any,
    estimate: ArrayLike,
    cause: int,
    *,
    tau: float | None = None,
    sample_weight: ArrayLike | None = None,
    train_weight: ArrayLike | None = None,
) -> Concordance:
    """Concordance for one of several causes: of two rows, the riskier has such an event first.

    A pair is comparable where one row has an event of the cause while the other is still under
    observation, or has had an event of another cause by then: after that it can have none of this
    cause, however long it is followed. Equal risks count one half. With a single cause it is Uno's
    C, and without ``y_train`` Harrell's C.

    Parameters
    ----------
    y_train : structured array, data frame, pair of arrays or None
        Training rows, from which the censoring distribution is estimated: each row of a pair
        counts as the inverse of the probability that it was not censored before. None: all pairs
        count the same, which flatters or punishes a model where censoring is heavy.
    y_test : structured array, data frame or pair of arrays
        Cause and time of the rows to score.
    estimate : array-like, shape (n_rows,)
        The predicted risk of the cause, such as its cumulative incidence at some time.
    cause : int
        The cause.
    tau : float, optional
        Only events before this time count.
    sample_weight : array-like, shape (n_rows,), optional
        A pair counts as the product of its two weights.
    train_weight : array-like, shape (n_train,), optional
        Weights of the training rows.

    References
    ----------
    Wolbers, Blanche, Koller, Witteman, Gerds (2014). Concordance for prognostic models with
    competing risks. Biostatistics 15, 526-539.

    Examples
    --------
    >>> from surtree.metrics import concordance_index_cause
    >>> y = [1, 2, 1, 0], [1.0, 2.0, 3.0, 4.0]
    >>> found = concordance_index_cause(None, y, [0.9, 0.5, 0.4, 0.1], cause=1)
    >>> found.cindex, found.discordant  # the third row has its event after the second had another
    (0.8, 1.0)
    """
    test = read_causes(y_test, cause, "y_test")
    risk = read_numbers(estimate, "estimate", test.time.size)
    weight = read_weights(sample_weight, test.time.size)
    counted = test.cause == cause
    if tau is not None:
        counted = counted & (test.time < tau)
    uncensored = np.ones(test.time.size)
    if y_train is not None:
        uncensored = _uncensored(y_train, train_weight, test, counted)
    other = test.event & (test.cause != cause)
    first = np.where(counted, weight * uncensored, 0.0)
    weighted = _pairs(test, risk, other, (first * uncensored, weight), (first, weight * uncensored))
    once = np.where(counted, weight, 0.0)
    pairs = _pairs(test, risk, other, (once, weight), (once, weight))
    concordant, tied, comparable = weighted
    if comparable == 0:
        raise ValueError(
            f"No comparable pair among {risk.size} rows, of which {int(counted.sum())} have an "
            f"event of cause {cause} that counts."
        )
    same_time = _tied_times(test, once, weight)
    return Concordance(
        min(1.0, (concordant + 0.5 * tied) / comparable),
        pairs[0],
        max(0.0, pairs[2] - pairs[0] - pairs[1]),
        pairs[1],
        same_time,
    )


def _uncensored(
    y_train: Any, train_weight: ArrayLike | None, test: CauseTarget, counted: NDArray[np.bool_]
) -> Floats:
    """Return the inverse of the probability that each row was not censored before its event."""
    train = without_entry(read_cause_target(y_train))
    weights = read_weights(train_weight, train.time.size)
    probability = uncensored_before(reverse_kaplan_meier(train, weights), test.time)
    unknown = counted & ((test.time > train.time.max()) | (probability == 0))
    if unknown.any():
        raise ValueError(
            f"{unknown.sum()} test rows have their event where the censoring distribution of the "
            f"training rows has ended, at {train.time.max():g}: set tau to this time or less."
        )
    return inverse(probability)


def _pairs(
    test: CauseTarget,
    risk: Floats,
    other: NDArray[np.bool_],
    later: tuple[Floats, Floats],
    ended: tuple[Floats, Floats],
) -> tuple[float, float, float]:
    """Sum over pairs of a row and a later one, or one that another cause had ended."""
    rank = ranks(test.time)
    # Events come before censorings of the same time; of two events at a time none comes first,
    # unless the other one is of another cause.
    forward = pair_weights(2 * rank + ~test.event, risk, *later)
    backward = 2 * (rank.max() - rank) + other
    first, second = ended
    behind = pair_weights(backward, risk, first, np.where(other, second, 0.0))
    concordant, tied, comparable = (a + b for a, b in zip(forward, behind, strict=True))
    return concordant, tied, comparable


def _tied_times(test: CauseTarget, first: Floats, second: Floats) -> float:
    rank = ranks(test.time)
    censored = np.bincount(rank, np.where(test.event, 0.0, second))
    return float(np.sum(first * censored[rank]))

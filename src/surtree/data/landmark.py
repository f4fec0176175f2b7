"""Landmarking: who is still at risk at a time, with what is known of them then."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surtree._support.types import Floats
from surtree.data.causes import are_causes, read_cause_target
from surtree.data.named import RowInputs, take
from surtree.data.target import Target, read_target
from surtree.data.target_columns import as_rows, is_indicator, read_columns

# More codes than these are times.
_MOST_CODES = 20


class LandmarkRows(NamedTuple):
    """The rows at a landmark, one a person, as `landmark_rows` returns them.

    Parameters
    ----------
    X : data frame or array
        The columns as they were at the landmark.
    y : structured array
        The event (or the cause, 0 for none) and the time since the landmark.
    rows : array of int
        The positions of these rows in the table.

    Examples
    --------
    >>> from surtree import landmark_rows
    >>> landmark_rows([[0.0], [1.0]], ([True, True], [1.0, 3.0]), at=2).rows.tolist()
    [1]
    """

    X: Any
    y: NDArray[np.void]
    rows: NDArray[np.intp]


def landmark_rows(
    X: Any,
    y: Any,
    entry: ArrayLike | None = None,
    id: ArrayLike | None = None,
    *,
    at: float,
    horizon: float | None = None,
) -> LandmarkRows:
    """Return those who are at risk at a time, with their columns and their time from then on.

    A model of these rows answers "given all that is known two years after surgery, how long from
    here?". Persons with an event, or censored, by the landmark are left out. Of start-stop rows the
    one that holds the landmark says what is known; the rows after it, up to the first event or the
    first gap, say what happened.

    Parameters
    ----------
    X, y, entry, id
        Rows as in `SurTree.fit`, or with causes as in `CompetingRisksTree.fit`.
    at : float
        The landmark, a time.
    horizon : float, optional
        So long after the landmark rows are censored: predictions are for this window alone.

    Examples
    --------
    Ann has a relapse at 400; at 100 her marker was 0.4:

    >>> from surtree import landmark_rows
    >>> y = [False, True, True], [90, 400, 310]
    >>> ann_ann_ben = [[1.2], [0.4], [2.9]]
    >>> at_100 = landmark_rows(ann_ann_ben, y, entry=[0, 90, 0], id=["ann", "ann", "ben"], at=100)
    >>> at_100.X, at_100.y.tolist()
    ([[0.4], [2.9]], [(True, 300.0), (True, 210.0)])
    """
    given = RowInputs(X, y, entry=entry, id=id).in_memory("landmark_rows")
    if not np.isfinite(at) or at < 0:
        raise ValueError(f"at must be a time, zero or later; got {at!r}.")
    if horizon is not None and not horizon > 0:
        raise ValueError(f"horizon must be a length of time above zero; got {horizon!r}.")
    target = read_event_or_cause(given)
    event = target.cause if target.causes else target.event
    time, start = target.time, np.zeros(target.time.size) if target.entry is None else target.entry
    person = np.arange(time.size) if target.person is None else target.person
    order = np.lexsort((start, person))
    now = np.flatnonzero((start <= at) & (time > at))
    if now.size == 0:
        raise ValueError(
            f"No row is at risk at {at:g}: times are from {time.min():g} to {time.max():g}."
        )
    if (np.bincount(person[now]) > 1).any():
        raise ValueError(
            f"Rows of one person overlap at {at:g}: with several rows a person, pass entry and id."
        )
    place = np.argsort(order)
    last = np.array([_last_row(order, place[row], person, event, start, time) for row in now])
    outcome, until = event[last], time[last] - at
    if horizon is not None:
        outcome = np.where(until > horizon, np.zeros_like(outcome), outcome)
        until = np.minimum(until, horizon)
    name = "cause" if target.causes else "event"
    kept = np.empty(now.size, dtype=[(name, outcome.dtype), ("time", np.float64)])
    kept[name], kept["time"] = outcome, until
    return LandmarkRows(take(given.X, now), kept, now)


def _last_row(
    order: NDArray[np.intp],
    place: int,
    person: NDArray[np.intp],
    event: NDArray[Any],
    start: Floats,
    time: Floats,
) -> int:
    """Return the row in which a person has the next event, or is last seen without a gap."""
    row = int(order[place])
    for following in order[place + 1 :].tolist():
        if event[row] or person[following] != person[row] or start[following] > time[row]:
            break
        row = following
    return row


def read_event_or_cause(given: RowInputs) -> Target:
    """Read rows of one event, or of causes where the first column has their codes."""
    first, *others = read_columns(as_rows(given.y))
    codes = np.unique(first.values) if first.kind == "numeric" else np.empty(0)
    is_cause = (
        2 < codes.size <= _MOST_CODES
        and are_causes(codes).all()
        and not any(map(is_indicator, others))
    )
    read = read_cause_target if is_cause and others else read_target
    return read(given.y, None, given.entry, given.id)

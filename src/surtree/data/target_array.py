"""Events and times as one structured array, from whatever people have them in."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any, Literal, get_args

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from surtree._support.types import Floats
from surtree.data.target_columns import Duration, as_differences, read_event, read_one
from surtree.words.numbers import plural

TARGET_TYPE = np.dtype([("event", np.bool_), ("time", np.float64)])

TimeUnit = Literal["years", "months", "weeks", "days", "hours", "minutes", "seconds"]
_DAYS: dict[str, float] = {
    "years": 365.25,
    "months": 365.25 / 12,
    "weeks": 7.0,
    "days": 1.0,
    "hours": 1 / 24,
    "minutes": 1 / (24 * 60),
    "seconds": 1 / (24 * 60 * 60),
}


def make_target(event: NDArray[np.bool_], time: Floats) -> NDArray[np.void]:
    """Put events and times into one structured array, as scikit-survival has it."""
    target = np.empty(len(time), dtype=TARGET_TYPE)
    target["event"] = event
    target["time"] = time
    return target


def cause_target(codes: Any, causes: Sequence[Any], time: Floats) -> NDArray[np.void]:
    """Return the number of each row's cause in the given order, 0 for others, with times."""
    texts = [None if code is None or code != code else str(code) for code in _cells(codes)]
    names = [str(cause) for cause in causes]
    if len(set(names)) < len(names):
        raise ValueError(f"causes has a name twice: {', '.join(names)}")
    if len(texts) != len(time):
        raise ValueError(f"cause has {len(texts)} rows, and there are {len(time)} times")
    absent = [name for name in names if name not in texts]
    if absent:
        held = ", ".join(sorted({text for text in texts if text is not None})[:8])
        raise ValueError(f"no row has the cause {absent[0]!r}; the column holds {held}")
    if None in texts:
        raise ValueError(
            f"cause has no value in {texts.count(None)} of {len(texts)} rows (the first is row "
            f"{texts.index(None)}, counted from 0): drop them, or write that they are censored"
        )
    number = {name: position for position, name in enumerate(names, start=1)}
    rows = np.empty(len(time), dtype=[("cause", np.int64), ("time", np.float64)])
    rows["cause"], rows["time"] = [number.get(str(text), 0) for text in texts], time
    return rows


def _cells(values: Any) -> list[Any]:
    if nw.dependencies.is_into_series(values):
        return list(nw.from_native(values, series_only=True).to_list())
    return list(np.asarray(values, dtype=object).tolist())


def target(
    *,
    event: ArrayLike | None = None,
    cause: Any = None,
    causes: Sequence[Any] | None = None,
    time: ArrayLike | None = None,
    start: Any = None,
    end: Any = None,
    unit: TimeUnit | None = None,
) -> NDArray[np.void]:
    """Make the ``y`` of estimators from events and times, or from events and dates.

    Parameters
    ----------
    event : array-like of shape (n_rows,), or True
        Whether the event happened, else the row is censored: booleans, or 0 and 1. For other
        codes compare: ``event=status == "dead"``. True: every row has an event.
    cause, causes : array-like of shape (n_rows,), and a list, optional
        In place of ``event``, for `CompetingRisksTree`: what ended the time of each row, such as a
        text, and which of its values are causes. They are numbered in this order, from 1; rows of
        any other value are censored.
    time : array-like of shape (n_rows,), optional
        When it happened, or when the row was last seen: numbers or time differences.
    start, end : date, or array-like of shape (n_rows,), optional
        Instead of a time, dates: since when a row was under observation, and until when. NumPy's,
        those of data frames, Python's, or texts such as "2024-03-31"; one date stands for all rows.
    unit : {"years", "months", "weeks", "days", "hours", "minutes", "seconds"}, optional
        What dates and time differences are counted in; days by default. A year has 365.25 days, a
        month a twelfth of that. Numbers are taken as they are, and have no unit.

    Returns
    -------
    structured array of shape (n_rows,)
        The fields ``event`` (boolean) and ``time``, as scikit-survival has them; of causes the
        fields ``cause`` (0 where censored) and ``time``.

    Examples
    --------
    >>> from surtree import target
    >>> status = ["dead", "alive", "dead"]
    >>> y = target(event=[one == "dead" for one in status], time=[3.5, 7.0, 1.0])
    >>> y["event"], y["time"]
    (array([ True, False,  True]), array([3.5, 7. , 1. ]))

    Of causes as texts:

    >>> y = target(cause=["pcm", "censor", "death"], causes=["pcm", "death"], time=[5, 9, 7])
    >>> y["cause"]
    array([1, 0, 2])

    Of dates:

    >>> y = target(event=[True, False], start=["2024-01-01", "2024-02-01"], end="2024-03-01")
    >>> y["time"]
    array([60., 29.])
    """
    if unit is not None and unit not in _DAYS:
        raise ValueError(f"unit must be one of {', '.join(get_args(TimeUnit))}; got {unit!r}")
    if time is not None:
        if start is not None or end is not None:
            raise ValueError("give either time, or start and end")
        times = _times(time, unit)
    elif start is None or end is None:
        raise ValueError("give time, or both start and end")
    else:
        times = _between(start, end) / _DAYS[unit or "days"]
    if (event is None) == (cause is None) or (cause is None) != (causes is None):
        raise ValueError("give either event, or cause and causes")
    if cause is not None and causes is not None:
        return cause_target(cause, causes, times)
    events = np.full(len(times), True) if event is True else read_event(read_one("event", event))
    if len(events) != len(times):
        raise ValueError(f"event has {len(events)} rows, and there are {len(times)} times")
    return make_target(events, times)


def _times(time: ArrayLike, unit: TimeUnit | None) -> Floats:
    column = read_one("time", time)
    if column.kind != "numeric":
        held = "booleans" if column.kind == "boolean" else "texts"
        raise ValueError(f"time holds {held}, not numbers or time differences")
    if isinstance(column, Duration):
        return column.values / _DAYS[unit or "days"]
    if unit is not None:
        raise ValueError(f"unit={unit!r} is for dates and time differences; time holds numbers")
    return column.values


def _between(start: Any, end: Any) -> Floats:
    """Return the days from one date to another, row by row."""
    first, last = _dates("start", start), _dates("end", end)
    if first.ndim == last.ndim == 0:
        raise ValueError("start and end are single dates: at least one must have a date a row")
    if first.ndim == last.ndim and first.size != last.size:
        raise ValueError(f"start has {first.size} rows, and end has {last.size}")
    days: Floats = np.asarray((last - first) / np.timedelta64(1, "D"))
    if (days < 0).any():
        row = int(np.argmax(days < 0))
        raise ValueError(
            f"end is before start in {plural(int((days < 0).sum()), 'row')} (the first is row "
            f"{row}, counted from 0): correct the dates, or drop such rows"
        )
    return days


def _dates(name: str, values: Any) -> NDArray[np.datetime64]:
    if nw.dependencies.is_into_series(values):
        array = nw.from_native(values, series_only=True).to_numpy()
    else:
        array = np.asarray(values)
    if array.dtype.kind in "OUT":
        array = as_differences(np.atleast_1d(array)).reshape(array.shape)
    if array.dtype.kind in "OUT":
        array = _parsed(name, array)
    if array.dtype.kind != "M":
        raise ValueError(
            f"{name} holds no dates: of numbers, pass time=end - start, and entry=start to fit "
            "where rows come under observation late"
        )
    missing = np.isnat(array)
    if missing.any():
        raise ValueError(
            f"{name} has no date in {int(missing.sum())} of {array.size} rows: put in the day on "
            "which the row was last seen, or drop such rows"
        )
    dates: NDArray[np.datetime64] = array.astype("datetime64[us]")
    return dates


def _parsed(name: str, array: NDArray[Any]) -> NDArray[Any]:
    cells = [_without_zone(cell) for cell in array.ravel()]
    try:
        return np.array(cells, dtype="datetime64[us]").reshape(array.shape)
    except (ValueError, TypeError):
        raise ValueError(
            f"{name} holds {str(array.ravel()[0])!r}: a date as a text is written 2024-03-31; "
            "others are read by pandas.to_datetime or polars' str.to_date"
        ) from None


def _without_zone(cell: Any) -> Any:
    if cell is None or type(cell).__name__ == "NaTType" or cell != cell or cell == "":
        return np.datetime64("NaT")
    if isinstance(cell, datetime.datetime) and cell.tzinfo is not None:
        return cell.astimezone(datetime.UTC).replace(tzinfo=None)
    return cell

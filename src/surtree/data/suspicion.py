"""A warning of columns that no tree should ask about, with the line to type next."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Sequence

from surtree._support.stack import user_level
from surtree._support.types import Floats
from surtree.data.suspicious_columns import Suspicion, find_suspicions
from surtree.data.table import Table
from surtree.data.target import Target
from surtree.words.numbers import plural

# The most columns that a warning names.
_MOST_NAMED = 8


class SuspiciousColumnWarning(UserWarning):
    """Columns of the table look as if no tree should ask about them.

    An id, the label of a person with several rows, the start of a row, a second outcome, the target
    itself, or numbers that are texts. The warning says what to type next. Where all is as it should
    be, ignore it.

    Examples
    --------
    >>> import warnings
    >>> from surtree import SurTree, SuspiciousColumnWarning
    >>> from surtree.datasets import load_lung
    >>> X, y = load_lung()
    >>> X.insert(0, "pid", range(1001, 1001 + len(X)))
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", SuspiciousColumnWarning)
    ...     model = SurTree(max_depth=1).fit(X, y)
    >>> print(caught[0].message)
    1 column of X is suspicious:
      'pid' has another whole number in every row, as an id has
    Next: X = X.drop(columns=["pid"])
    """


def warn_of_suspicious(table: Table, target: Target, weight: Floats) -> None:
    """Warn once of all columns that look as if no tree should ask about them."""
    suspicions = find_suspicions(table, target, weight)
    if suspicions:
        library = table.library
        if not (table.named and table.texts):  # columns are told by their position
            library = "unnamed" if library == "pandas" else "numpy"
        text = suspicion_text(suspicions, library, late_entry=target.entry is not None)
        warnings.warn(text, SuspiciousColumnWarning, stacklevel=user_level())


def suspicion_text(suspicions: Sequence[Suspicion], library: str, *, late_entry: bool) -> str:
    """Return what is suspicious, a line for each column, and what to type next in Python."""
    verb = "is" if len(suspicions) == 1 else "are"
    reasons = [f"  {one.column!r} {one.reason}" for one in suspicions[:_MOST_NAMED]]
    if len(suspicions) > _MOST_NAMED:
        reasons.append(f"  and {len(suspicions) - _MOST_NAMED} more")
    return "\n".join(
        [
            f"{plural(len(suspicions), 'column')} of X {verb} suspicious:",
            *reasons,
            *(f"Next: {line}" for line in _next_lines(suspicions, library, late_entry)),
        ]
    )


def _next_lines(suspicions: Sequence[Suspicion], library: str, late_entry: bool) -> Iterator[str]:
    numbers = [one for one in suspicions if one.kind == "numbers"]
    if numbers:
        yield _as_numbers(numbers, library)
    others = [one for one in suspicions if one.kind != "numbers"]
    if not others:
        return
    first = {one.kind: _access(one, library) for one in reversed(others)}
    given = [f"entry={first['start']}"] if "start" in first else []
    if "person" in first and (given or late_entry):
        given.append(f"id={first['person']}")
    without = _without(others, library)
    if given:
        yield f"fit({without}, y, {', '.join(given)})"
    elif "person" in first:
        yield (
            f"fit({without}, y, groups={first['person']}), where folds or samples are drawn "
            "(SurTreeCV, validate)"
        )
    else:
        yield f"X = {without}"


def _without(suspicions: Sequence[Suspicion], library: str) -> str:
    positions = _listed([str(one.index) for one in suspicions])
    if library == "numpy":
        return f"np.delete(X, {positions}, axis=1)"
    if library == "unnamed":
        return f"X.drop(columns=X.columns[{positions}])"
    columns = _listed([_quoted(one.column) for one in suspicions])
    how = {"polars": "drop({})", "pyarrow": "drop_columns({})"}.get(library, "drop(columns={})")
    return f"X.{how.format(columns)}"


def _access(suspicion: Suspicion, library: str) -> str:
    if library in ("numpy", "unnamed"):
        return f"X{'.iloc' if library == 'unnamed' else ''}[:, {suspicion.index}]"
    return f"X[{_quoted(suspicion.column)}]"


def _as_numbers(suspicions: Sequence[Suspicion], library: str) -> str:
    types = ", ".join(f"{_quoted(one.column)}: float" for one in suspicions[:_MOST_NAMED])
    more = ", ..." if len(suspicions) > _MOST_NAMED else ""
    how = {"pandas": "astype", "polars": "cast"}.get(library)
    return f"X = X.{how}({{{types}{more}}})" if how else "make these columns numbers"


def _quoted(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)


def _listed(items: Sequence[str]) -> str:
    more = ", ..." if len(items) > _MOST_NAMED else ""
    return f"[{', '.join(items[:_MOST_NAMED])}{more}]"

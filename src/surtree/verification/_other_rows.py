"""Which rows are not those of a fit, by the sketch of rows that a model file keeps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree.fitting.row_digest import Hashes, cells_of, digest_of, hash_rows
from surtree.verification._claim import Claim, ClaimedRows
from surtree.verification._columns import claim_name, edges
from surtree.words.numbers import plural

_OUTCOME = ("cause", "arm", "time", "entry", "weight")
_SUMS = 5  # numbers before the cells
_WORD = 2**64


def other_rows_text(claim: Claim, rows: ClaimedRows) -> str:
    """Return in a sentence how rows differ from those of the fit, as far as the sketch tells."""
    kept, n_rows = claim["rows"], len(rows["time"])
    hashes = hash_rows(_parts(rows))
    only_fit, only_here = _peel(kept, hashes)
    fewer = "" if kept[0] == n_rows else f", which had {kept[0]}"
    if not only_here:
        if only_fit:
            absent = plural(len(only_fit), "row")
            return f"the table has {n_rows} rows, and lacks {absent} of the fit{fewer}"
        return f"the {n_rows} rows of the table are not those of the fit{fewer}"
    first = int(np.flatnonzero(np.isin(hashes, np.array(only_here, dtype=np.uint64)))[0])
    text = f"{len(only_here)} of {n_rows} rows are not those of the fit{fewer}"
    change = next(_changes(claim, rows, first, only_fit), "")
    where = f"the first is row {int(rows['index'][first])}, counted from 0"
    return f"{text}; {where}{change and f': {change}'}"


def _parts(rows: ClaimedRows) -> list[NDArray[Any]]:
    return [*rows["codes"].values(), *(rows[name] for name in _OUTCOME)]


def _peel(kept: list[int], hashes: Hashes) -> tuple[list[int], list[int]]:
    """Return the hashes of rows of the fit alone, and of these rows alone; none if too many."""
    here = digest_of(hashes)
    if len(kept) != len(here):
        return [], []
    differences = [one - other for one, other in zip(kept[_SUMS:], here[_SUMS:], strict=True)]
    half = len(differences) // 2
    counts, totals = differences[:half], [total % _WORD for total in differences[half:]]
    alone: dict[int, list[int]] = {1: [], -1: []}
    pending = [cell for cell in range(half) if abs(counts[cell]) == 1]
    # A sketch tells fewer rows than it has cells: more of them are chance, and might never end.
    while pending and sum(map(len, alone.values())) <= half:
        cell = pending.pop()
        sign = counts[cell]
        if abs(sign) != 1:
            continue
        name = sign * totals[cell] % _WORD
        cells = cells_of(np.array([name], dtype=np.uint64))[:, 0].tolist()
        if cell not in cells:  # several rows are in the cell
            continue
        alone[sign].append(name)
        for each in cells:
            counts[each] -= sign
            totals[each] = (totals[each] - sign * name) % _WORD
        pending += cells
    return ([], []) if any(counts) or any(totals) else (alone[1], alone[-1])


def _changes(claim: Claim, rows: ClaimedRows, row: int, absent: list[int]) -> Iterator[str]:
    """Yield how a row becomes one of the fit if one of its values is another."""
    parts = _parts(rows)
    columns = list(rows["codes"])
    for number, values in enumerate(parts):
        others = np.unique(np.append(values, [-1.0, 0.0, 1.0, *claim["baseline"]["times"]]))
        if number < len(columns):
            others = np.arange(-1.0, np.max(values) + 2 + len(edges(claim, columns[number])))
        tried = [np.full(others.size, part[row]) for part in parts]
        tried[number] = others
        for other in others[np.isin(hash_rows(tried), np.array(absent, dtype=np.uint64))]:
            if number >= len(columns):
                yield f"{_OUTCOME[number - len(columns)]} {values[row]:g}, not {other:g}"
            else:
                column = columns[number]
                value, was = rows["raw"][column][row], _code_text(claim, column, int(other))
                yield f"{claim_name(claim, column)} {_value_text(value)}, not {was}"


def _value_text(value: Any) -> str:
    if isinstance(value, float):
        return "missing" if value != value else f"{value:g}"
    return "missing" if value is None else str(value)


def _code_text(claim: Claim, column: int, code: int) -> str:
    """Return in words what a whole number stands for."""
    if code < 0:
        return "missing"
    known, above = claim["known"].get(str(column)), edges(claim, column)
    if known is not None:
        return str(known[code])
    lower = f"above {above[code - 1]:g}" if code > 0 else ""
    upper = f"up to {above[code]:g}" if code < len(above) else ""
    return " and ".join(text for text in (lower, upper) if text) or "a value"

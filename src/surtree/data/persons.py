"""Start-stop rows: which rows belong to one person, and how much of the person each of them is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from surtree._support.parameters import is_whole
from surtree._support.types import Floats

Persons = NDArray[np.intp]

# Shares of a person are whole numbers of this unit, so that sums of them are exact.
_UNIT = 2.0**-20


def read_persons(id: ArrayLike, time: Floats, entry: Floats | None) -> Persons:
    """Return the number of each row's person, counted from zero in the order of the labels."""
    labels = read_labels("id", id, time.size)
    try:
        names, person = np.unique(labels, return_inverse=True)
    except TypeError:
        raise ValueError(
            "id holds labels of several types, such as numbers and texts: make them one type"
        ) from None
    person = np.asarray(person, dtype=np.intp)
    if entry is not None:
        _refuse_overlap(names, person, time, entry)
    return person


def read_labels(name: str, given: ArrayLike, n_rows: int) -> NDArray[Any]:
    labels = np.asarray(given)
    if labels.ndim != 1:
        raise ValueError(f"{name} should be a 1d array, got an array of shape {labels.shape}")
    require_length(name, labels.size, n_rows)
    absent = np.zeros(n_rows, dtype=bool)
    if labels.dtype.kind in "fO":
        absent = np.array([label is None or label != label for label in labels.tolist()])
    if absent.any():
        raise ValueError(
            f"{name} has no label in {absent.sum()} of {n_rows} rows (the first is row "
            f"{int(np.argmax(absent))}, counted from 0): say whose rows they are, or drop them"
        )
    return labels


def require_length(name: str, length: int, n_rows: int) -> None:
    """Raise an error unless something has as many rows as the table."""
    if length != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: [{n_rows}, {length}]; "
            f"X has {n_rows} rows and {name} has {length}"
        )


def _refuse_overlap(names: NDArray[Any], person: Persons, time: Floats, entry: Floats) -> None:
    order = np.lexsort((time, entry, person))
    same = person[order][1:] == person[order][:-1]
    # A row that is censored at zero has no length, and is left out later.
    overlaps = same & (entry[order][1:] < time[order][:-1])
    if overlaps.any():
        first = order[1:][np.argmax(overlaps)]
        raise ValueError(
            f"{overlaps.sum()} of {time.size} rows overlap in time with another row of the same "
            f"id (the first is row {first}, counted from 0, of id {names[person[first]]!r}): a "
            "person is in one state at a time, so let each row begin where the one before ends"
        )


def person_shares(person: Persons, time: Floats, entry: Floats | None) -> Floats:
    """Return the share of its person's time at risk that each row has.

    The shares of a person add up to one, exactly; and the parts of a row that is cut in two have
    together the share of the row.
    """
    start = np.zeros(time.size) if entry is None else entry
    order = np.lexsort((time, start, person))
    of, length = person[order], (time - start)[order]
    first = np.flatnonzero(np.diff(of, prepend=-1))
    n_rows = np.diff(first, append=of.size)
    passed = np.cumsum(length) - length
    # Per person: what has passed before each of its rows, and in all of them.
    before = passed - np.repeat(passed[first], n_rows)
    total = np.repeat(np.add.reduceat(length, first), n_rows)
    # Where a person has no time at all, its rows count alike.
    number = np.arange(of.size) - np.repeat(first, n_rows)
    timeless = total == 0
    alike = number / np.repeat(n_rows, n_rows)
    begin = np.where(timeless, alike, before / np.where(timeless, 1.0, total))
    begin = np.round(begin / _UNIT) * _UNIT
    end = np.append(begin[1:], 1.0)
    end[first[1:] - 1] = 1.0
    share = np.empty(of.size)
    share[order] = end - begin
    return share


def find_spells(
    person: Persons, time: Floats, entry: Floats | None, columns: Iterable[NDArray[Any]]
) -> Persons:
    """Return the spell of each row: rows of one person, one after the other, with equal covariates.

    No tree can tell the rows of a spell apart, so a row that is cut in two is one spell as before.
    """
    start = np.zeros(time.size) if entry is None else entry
    order = np.lexsort((time, start, person))
    changes = np.diff(person[order]) != 0
    for values in columns:
        before, after = values[order][:-1], values[order][1:]
        # Only a missing value differs from itself.
        changes |= (before != after) & ((before == before) | (after == after))
    spell = np.empty(time.size, dtype=np.intp)
    spell[order] = np.concatenate(([0], np.cumsum(changes)))
    return spell


def going_on(person: Persons, time: Floats, entry: Floats) -> NDArray[np.bool_]:
    """Return which rows end where another row of the same person begins."""
    ends, begins = (np.stack((person, when), axis=1) for when in (time, entry))
    # A person and a time are one complex number: NumPy has no sets of pairs.
    return np.isin(_pairs(ends), _pairs(begins))


def _pairs(values: NDArray[Any]) -> NDArray[np.complex128]:
    return values[:, 0] + 1j * values[:, 1]


def tell_copies_apart(person: Persons, rows: NDArray[Any]) -> Persons:
    """Return the persons of some rows, a new person for each further copy of a row."""
    taken: Persons = person[rows]
    if rows.dtype.kind == "b" or np.unique(rows).size == rows.size:
        return taken
    order = np.argsort(rows, kind="stable")
    first = np.flatnonzero(np.diff(rows[order], prepend=-1))
    copy = np.empty(rows.size, dtype=np.intp)
    copy[order] = np.arange(rows.size) - np.repeat(first, np.diff(first, append=rows.size))
    return np.asarray(copy * (int(person.max()) + 1) + taken)


Counts = NDArray[np.intp]


def read_groups(groups: ArrayLike, n_rows: int) -> NDArray[np.intp]:
    """Return the number of each row's group, counted from zero."""
    labels = read_labels("groups", groups, n_rows)
    return np.asarray(np.unique(labels, return_inverse=True)[1], dtype=np.intp)


def spawn_generators(random_state: Any, n_samples: int) -> list[np.random.Generator]:
    """Return a generator for each sample; the first ones do not depend on how many there are."""
    if not is_whole(random_state):
        random_state = check_random_state(random_state).randint(2**32, dtype=np.uint32)
    seeds = np.random.SeedSequence(int(random_state)).spawn(n_samples)
    return [np.random.default_rng(seed) for seed in seeds]


def draw_counts(random: np.random.Generator, group: NDArray[np.intp]) -> Counts:
    """Draw groups of rows with replacement, as many as there are, and count each row."""
    n_groups = int(group.max()) + 1
    drawn = random.integers(0, n_groups, n_groups)
    return np.bincount(drawn, minlength=n_groups)[group]

"""Lazy sequences of cuts, as a column may have tens of thousands; and cuts in files."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from surtree._support.json_file import read_each
from surtree.cuts.cut import Cut
from surtree.cuts.validate import is_known


class Cuts(Sequence[Cut]):
    """A sequence of cuts, each made at its first access and cached."""

    def __init__(self, parts: Iterable[tuple[Callable[[int], Cut], NDArray[np.intp]]]) -> None:
        self._parts = tuple(parts)
        self._ends = tuple(accumulate(len(positions) for _, positions in self._parts))
        self._made: dict[int, Cut] = {}

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, index: int) -> Cut: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Cut, ...]: ...

    def __getitem__(self, index: int | slice) -> Cut | tuple[Cut, ...]:
        if isinstance(index, slice):
            return tuple(self[k] for k in range(*index.indices(len(self))))
        index = range(len(self))[index]
        if index not in self._made:
            number = bisect_right(self._ends, index)
            make, positions = self._parts[number]  # counted from the end of the part
            self._made[index] = make(int(positions[index - self._ends[number]]))
        return self._made[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cuts | tuple) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Cuts({len(self)})"

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickle the cuts, not their factories, which hold the training data.
        return tuple, (tuple(self),)


def save_cuts(cuts: Iterable[Cut]) -> dict[str, Any]:
    """Return cuts as JSON can hold them, with the known categories of each column only once."""
    listed = list(cuts)
    saved = [replace(cut, known=None).to_dict() for cut in listed]
    for cut in saved:
        del cut["known"]
    if not all(map(is_known, listed)):  # read from an early file, which does not say
        return {"cuts": saved}
    known = {str(cut.column): cut.known for cut in listed if cut.known is not None}
    return {"cuts": saved, "known": {column: list(names) for column, names in known.items()}}


def load_cuts(saved: Mapping[str, Any]) -> tuple[Cut, ...]:
    known = {column: tuple(names) for column, names in saved.get("known", {}).items()}

    def read(cut: Any) -> Cut:
        column = cut.get("column") if isinstance(cut, dict) else None
        return Cut.from_dict(cut | {"known": known[str(column)]} if str(column) in known else cut)

    return read_each(read, saved["cuts"], "cuts")

"""Cuts that are made when somebody looks: a column may have tens of thousands."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from surtree.cut import Cut


class Cuts(Sequence[Cut]):
    """A sequence of cuts, each made when it is looked at for the first time.

    Parameters
    ----------
    parts : iterable of pairs
        What makes the cut at a position, and the positions.

    Examples
    --------
    >>> import numpy as np
    >>> from surtree.cut import Cut
    >>> from surtree.cuts import Cuts
    >>> cuts = Cuts([(lambda position: Cut(0, "age", float(position)), np.array([40, 50]))])
    >>> cuts[1].rule, len(cuts)
    ('age > 50', 2)
    """

    def __init__(self, parts: Iterable[tuple[Callable[[int], Cut], NDArray[np.intp]]]) -> None:
        self._parts = tuple(parts)
        self._ends = tuple(accumulate(len(positions) for _, positions in self._parts))
        self._made: dict[int, Cut] = {}

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, place: int) -> Cut: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Cut, ...]: ...

    def __getitem__(self, place: int | slice) -> Cut | tuple[Cut, ...]:
        if isinstance(place, slice):
            return tuple(self[k] for k in range(*place.indices(len(self))))
        place = range(len(self))[place]
        if place not in self._made:
            number = bisect_right(self._ends, place)
            make, positions = self._parts[number]  # counted from the end of the part
            self._made[place] = make(int(positions[place - self._ends[number]]))
        return self._made[place]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cuts | tuple) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Cuts({len(self)})"

    def __reduce__(self) -> tuple[Any, ...]:
        # What makes cuts stays behind: it knows the training rows.
        return tuple, (tuple(self),)

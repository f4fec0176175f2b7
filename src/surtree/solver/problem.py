"""Inputs and outputs of the compiled core: binned rows, limits, trees and solutions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.status import Status
from surtree._support.types import Floats


@dataclass(frozen=True, eq=False)
class BinnedRows:
    """The training rows as the solver sees them."""

    # The bins, of shape (n_columns, n_rows): columns that have cuts, in their order. Rows of weight
    # zero are left out.
    bins: NDArray[np.uint16]
    # How many bins each column has. No two of them are on the same side of every cut, except that
    # missing values, where there are any, always have a bin of their own: the last; and that sets
    # of categories may leave such bins.
    n_bins: NDArray[np.int32]
    missing_bin: NDArray[np.int32]  # the bin of the missing values, -1 where the column has none
    cut_column: NDArray[np.int32]  # the column that each cut asks about, of these; ascending
    # The cut holds for the bins from the first to the last of these, both included ...
    cut_first: NDArray[np.int32]
    cut_last: NDArray[np.int32]
    # ... and, where this is True, for the missing bin. The cut "is missing" has the missing bin as
    # its first and its last.
    cut_missing: NDArray[np.bool_]
    # A bit for each bin between the first and the last for which the cut does not hold: zero, but
    # for sets of categories. Such a column has at most 64 bins.
    cut_gaps: NDArray[np.uint64]

    def take(self, rows: slice | NDArray[Any]) -> BinnedRows:
        """Return some of the rows, given by their positions or by a mask; cuts stay the same."""
        return replace(self, bins=np.ascontiguousarray(self.bins[:, rows]))


@dataclass(frozen=True)
class Rounding:
    """How the core rounds what rows add to sums, so that all sums of it are exact."""

    unit: float  # a power of two: the total of each sum is less than 2**51 of it
    # Whether hazards are rounded down, as they are where weights are uneven; the nearest is taken
    # otherwise.
    down: bool = False
    wide: bool = False  # whether sums have a second part, of a finer unit (`surtree.solver._wide`)


@dataclass(frozen=True, eq=False)
class Conditions:
    """What whole trees must satisfy, beside limits."""

    max_columns: int | None = None  # about how many columns they may ask
    # For each column of bins, 1 where the risk may only rise with its bins, -1 where it may only
    # fall, else 0. None where no column has a sign.
    signs: NDArray[np.int32] | None = None


# No table has more rows: larger limits mean the same, and the core counts up to here.
_MOST_ROWS = 2**31 - 1


@dataclass(frozen=True)
class Limits:
    """How large a tree may be, and how small its leaves (counted in rows, or in persons)."""

    max_depth: int
    max_splits: int | None = None
    min_samples_leaf: int = 1
    min_events_leaf: int = 0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is not None:
                object.__setattr__(self, name, min(value, _MOST_ROWS))

    @property
    def least(self) -> dict[str, float]:
        """The least value in a leaf of each count of `RowSums`, by its name."""
        # No leaf is empty, so one is no limit. Of start-stop rows it must be none: a part of a
        # person is less than one sample, and the default would forbid such leaves.
        least_samples = self.min_samples_leaf if self.min_samples_leaf > 1 else 0
        return {"samples": least_samples, "events": self.min_events_leaf}


@dataclass(frozen=True)
class Switches:
    """What makes the search fast, to be left out one at a time: answers stay the same.

    ``screen`` says whether depth three looks at all trees in single precision first: 0 is never, 1
    where it pays, 2 wherever it can.
    ``stop_after`` ends a search as "interrupted" after so many tasks of the root (sides or columns
    that are swept, cuts that are bisected), for tests of unfinished searches; -1 is never.
    """

    kernel_depth: int = 3
    memo: bool = True
    merge: bool = True
    regroup: bool = True
    bounds: bool = True
    sweep: bool = True
    share: bool = True
    fill: bool = True
    screen: int = 1
    bisect: int = 100
    stop_after: int = -1


@dataclass(frozen=True)
class TreeTopology:
    """One tree as flat arrays in preorder; a leaf has -1. Rows for which a cut holds go right."""

    cut: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]

    @cached_property
    def whole(self) -> TreeTopology:
        """The tree itself, or a larger one that it is a part of."""
        return self

    @cached_property
    def key(self) -> Hashable:
        """What tells it from other trees over the same rows: in preorder, the cuts are enough."""
        return self.cut.tobytes()


@dataclass(frozen=True)
class Forest:
    """The nodes of some trees, one after the other; those of tree k begin at ``begin[k]``."""

    begin: NDArray[np.int32]
    cut: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]

    @classmethod
    def of(cls, topologies: Sequence[TreeTopology]) -> Forest:
        """Put trees one after the other."""
        sizes = [0, *(topology.cut.size for topology in topologies)]
        return cls(
            np.cumsum(sizes, dtype=np.int32),
            *(
                np.concatenate([getattr(topology, name) for topology in topologies])
                for name in ("cut", "left", "right")
            ),
        )


@dataclass(frozen=True)
class Solution:
    """For each k: the best tree of at most k splits, its gain, and a proven bound of that gain.

    ``proven_depth`` is the largest depth, up to the limit, whose optimum is known.
    """

    status: Status
    gains: Floats
    gain_bounds: Floats
    topologies: tuple[TreeTopology, ...]
    n_cuts: int = 0
    n_evaluated: int = 0
    proven_depth: int = 0
    free_gains: Floats | None = None  # those of the best trees that need not satisfy conditions


@dataclass(frozen=True)
class LocalOptimum:
    """The best tree of all restarts, and for each restart its gain less the price of its splits."""

    topology: TreeTopology
    worth: Floats


@dataclass(frozen=True)
class Progress:
    """How far a search is: done from 0 to 1, and loss and bound of the largest size asked for.

    While a table that is not in memory is read, before the search, ``reading`` says what is read,
    and the loss is infinite.

    Examples
    --------
    >>> from surtree import Progress
    >>> now = Progress(fraction=0.25, loss=410.0, lower_bound=369.0)
    >>> f"{now.fraction:.0%} done, gap {1 - now.lower_bound / now.loss:.0%}"
    '25% done, gap 10%'
    """

    fraction: float
    loss: float
    lower_bound: float
    reading: str = ""


ProgressHook = Callable[[Progress], object]

"""What near-optimal trees say of columns and of people, and the best tree of a condition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from surtree._support.types import Floats
from surtree.questions._near_search import End
from surtree.tree.tree import Tree

ENDS: dict[End, str] = {
    "complete": "all of them",
    "max_trees": "as many as were asked for",
    "time_limit": "the time limit ended the list",
    "memory_limit": "the memory limit ended the list",
    "interrupted": "the list was interrupted",
}


@dataclass(frozen=True)
class NearColumn:
    """What near-optimal trees say of a column.

    Parameters
    ----------
    name : str
        The column.
    share : float
        The share of the listed trees that ask about it.
    best_with, best_without : float or None
        The least loss of a listed tree that asks about it, and of one that does not; None if no
        listed tree does so.

    Examples
    --------
    >>> from surtree import SurTree, near_optimal
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> near = near_optimal(SurTree(max_depth=2).fit(X, y), X, y, within=0.1)
    >>> near.columns[0].name, near.columns[0].share, near.columns[0].best_without
    ('positive_nodes', 1.0, None)
    """

    name: str
    share: float
    best_with: float | None
    best_without: float | None


@dataclass(frozen=True, eq=False)
class PersonRanges:
    """What near-optimal trees predict for each row.

    Parameters
    ----------
    time : float
        The time of the prediction.
    best : array of shape (n_rows,)
        The survival at that time by the best tree, for each training row that counts.
    lower, upper : array of shape (n_rows,)
        The least and the greatest one by the listed trees.

    Examples
    --------
    >>> from surtree import SurTree, near_optimal
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> near = near_optimal(SurTree(max_depth=2).fit(X, y), X, y, within=0.05)
    >>> ranges = near.ranges(time=1095)
    >>> bool((ranges.lower <= ranges.best).all()), int(ranges.moves(0.1).sum()) > 0
    (True, True)
    """

    time: float
    best: Floats
    lower: Floats
    upper: Floats

    def moves(self, points: float = 0.1) -> NDArray[np.bool_]:
        """Return which rows a listed tree moves by more than so much from the best tree.

        Parameters
        ----------
        points : float, default=0.1
            A difference of survival: 0.1 is ten percentage points.
        """
        away = np.maximum(self.best - self.lower, self.upper - self.best)
        return np.asarray(away > points)

    def __repr__(self) -> str:
        return (
            f"PersonRanges({self.best.size} rows, time={self.time:g}, "
            f"mean width {float((self.upper - self.lower).mean()):.3f})"
        )


@dataclass(frozen=True)
class FirstTree:
    """The best tree that satisfies a condition, or that there is none.

    Parameters
    ----------
    tree : Tree or None
        The tree; None where none was found.
    loss : float or None
        Its loss.
    cost : float or None
        By how much that is more than the loss of the best tree.
    share : float or None
        The cost as a share of what the best tree explains.
    within : float
        The share up to which trees were looked at.
    n_seen : int
        How many trees were looked at, best first.
    end : {"complete", "max_trees", "time_limit", "memory_limit", "interrupted"}
        "complete" where the answer is proven: no better tree satisfies the condition, or none
        within the share does.

    Examples
    --------
    >>> from surtree import SurTree, near_optimal
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> near = near_optimal(SurTree(max_depth=2).fit(X, y), X, y)
    >>> print(near.first(lambda tree: False, within=0.02))  # doctest: +ELLIPSIS
    none within 2 % of the best tree: ... looked at
    """

    tree: Tree | None
    loss: float | None
    cost: float | None
    share: float | None
    within: float
    n_seen: int
    end: End
    # What the tree is the best of, in words.
    condition: ClassVar[str] = "satisfies a condition of its user"

    @property
    def is_proven(self) -> bool:
        """Whether it is proven that no tree of this kind is better."""
        return self.end == "complete"

    def __repr__(self) -> str:
        if self.share is None:
            return f"FirstTree(None, within={self.within:g}, end={self.end!r})"
        return f"FirstTree(loss={self.loss:.6g}, share={self.share:.3g}, end={self.end!r})"

    def __str__(self) -> str:
        trees = "1 tree" if self.n_seen == 1 else f"{self.n_seen:,} trees"
        if self.tree is None or self.share is None:
            if self.end == "complete":
                return f"none within {100 * self.within:g} % of the best tree: {trees} looked at"
            return f"none among the best {trees}: {ENDS[self.end]}"
        return (
            f"loss {self.loss:.6g}, {100 * self.share:.1f} % behind the best tree: the best that "
            f"satisfies the condition, tree {self.n_seen:,} in the order of loss\n\n{self.tree}"
        )

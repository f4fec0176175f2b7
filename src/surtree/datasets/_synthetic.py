"""The paper's synthetic data: rows whose times are drawn in the leaves of a random tree."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from surtree._support.parameters import is_whole, require_share, require_whole
from surtree._support.types import Floats
from surtree.cuts.cut import Cut
from surtree.data.table import Table, read_table
from surtree.data.target_array import make_target
from surtree.datasets._distributions import DISTRIBUTIONS, Distribution
from surtree.datasets._load import Backend, make_frame

RandomState = int | np.random.Generator | None


class Interval(NamedTuple):
    """The range of a continuous column: above ``low``, at most ``high``."""

    low: float
    high: float


Values = tuple[int, ...] | tuple[str, ...]

# Three continuous columns, one binary and two of categories; ``factor`` repeats the block.
_BLOCK: tuple[Interval | Values, ...] = (
    *[Interval(0.0, 1.0)] * 3,
    (0, 1),
    tuple("XYZ"),
    tuple("ABCDE"),
)

_MOST_DEPTH = 10
_MOST_ROWS = 100_000_000
_MOST_FACTOR = 10_000
_LEAST_TIME = 1e-9


@dataclass(frozen=True)
class Leaf:
    """A leaf of a :class:`GroundTruthTree`; leaves are numbered from left to right.

    Examples
    --------
    >>> from surtree.datasets import make_survival_tree_data
    >>> X, y, truth = make_survival_tree_data(100, depth=1, random_state=0)
    >>> [leaf.number for leaf in truth.leaves]
    [0, 1]
    """

    number: int
    distribution: Distribution


@dataclass(frozen=True)
class Split:
    """A split of a :class:`GroundTruthTree`: rows go right where the cut holds.

    Examples
    --------
    >>> from surtree.datasets import make_survival_tree_data
    >>> X, y, truth = make_survival_tree_data(100, depth=1, random_state=0)
    >>> truth.root.cut.rule, truth.root.left.number
    ('F5 is D', 0)
    """

    cut: Cut
    left: Split | Leaf
    right: Split | Leaf


@dataclass(frozen=True)
class GroundTruthTree:
    """The tree that synthetic rows come from; ``print`` shows it.

    Attributes
    ----------
    root : Split or Leaf
    factor : int
        How often the block of six columns is repeated.
    censoring_constant : float
        A row with the event at ``t`` is censored at ``k * (1 - u**2)`` where that is earlier, with
        ``k`` this constant and ``u`` uniform between 0 and 1.

    Examples
    --------
    >>> from surtree.datasets import make_survival_tree_data
    >>> X, y, truth = make_survival_tree_data(100, depth=1, random_state=0)
    >>> len(truth.leaves), truth.apply(X)[:5].tolist()
    (2, [0, 0, 0, 0, 0])
    """

    root: Split | Leaf
    factor: int
    censoring_constant: float

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """Leaves from left to right, so that ``leaves[number]`` is the leaf of that number."""
        return tuple(_leaves(self.root))

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Find the leaf of each row.

        Parameters
        ----------
        X : data frame or array-like, shape (n_rows, 6 * factor)
            Columns as drawn, in that order.

        Returns
        -------
        array of int, shape (n_rows,)
            Numbers of leaves.
        """
        table = read_table(BaseEstimator(), X, reset=True)
        if table.n_columns != len(_BLOCK) * self.factor:
            raise ValueError(
                f"The true tree has {len(_BLOCK) * self.factor} columns, but X has "
                f"{table.n_columns}."
            )
        numbers = np.empty(table.n_rows, dtype=np.int64)
        _number_rows(self.root, table, np.ones(table.n_rows, dtype=np.bool_), numbers)
        return numbers

    def survival_function(self, X: Any, times: ArrayLike) -> Floats:
        """Probability that each row has no event until each of the times.

        Parameters
        ----------
        X : data frame or array-like, shape (n_rows, 6 * factor)
            Columns as drawn, in that order.
        times : array-like, shape (n_times,)

        Returns
        -------
        array of float, shape (n_rows, n_times)
        """
        by_leaf = np.array([leaf.distribution.survival(times) for leaf in self.leaves])
        return np.asarray(by_leaf[self.apply(X)])

    def sample(
        self, n: int, random_state: RandomState = None, *, backend: Backend | None = None
    ) -> tuple[Any, NDArray[np.void]]:
        """Draw more rows, censored with the same constant.

        Parameters
        ----------
        n : int
            Number of rows.
        random_state : int or numpy.random.Generator, optional
            Seed.
        backend : {"pandas", "polars", "pyarrow"}, optional
            Library of the data frame; by default the first of these that is installed.

        Returns
        -------
        X : data frame, shape (n, 6 * factor)
        y : structured array, shape (n,)
        """
        require_whole("n", n, 1, _MOST_ROWS)
        generator = _generator(random_state)
        X = _draw_columns(n, self.factor, generator, backend)
        time, unit = self._draw_times(X, generator)
        return X, _censor(time, unit, self.censoring_constant)

    def _draw_times(self, X: Any, generator: np.random.Generator) -> tuple[Floats, Floats]:
        """Draw the time of each row's event, and of its censoring where the constant is one."""
        numbers = self.apply(X)
        time = np.empty(len(numbers))
        for leaf in self.leaves:
            rows = np.flatnonzero(numbers == leaf.number)
            time[rows] = leaf.distribution.sample(len(rows), generator)
        return np.maximum(time, _LEAST_TIME), 1.0 - generator.random(len(numbers)) ** 2

    def __str__(self) -> str:
        return "\n".join(_lines(self.root, ""))


def make_survival_tree_data(
    n: int,
    censoring: float = 0.5,
    factor: int = 1,
    random_state: RandomState = None,
    *,
    depth: int = 4,
    backend: Backend | None = None,
) -> tuple[Any, NDArray[np.void], GroundTruthTree]:
    """Draw the paper's synthetic data from a random survival tree.

    Each leaf has one of 32 distributions of the time to the event. The tree depends on the seed,
    the factor and the depth alone, so that tables of several sizes can come from one tree.

    Parameters
    ----------
    n : int
        Number of rows, up to 100 million.
    censoring : float, default=0.5
        Share of censored rows, from 0 to below 1: ``floor(censoring * n)`` rows are.
    factor : int, default=1
        How often to repeat the block of three continuous columns (uniform from 0 to 1), one of 0
        and 1, one of the categories X to Z and one of A to E; up to 10,000.
    random_state : int or numpy.random.Generator, optional
        Seed.
    depth : int, default=4
        Depth of the tree, which is full, from 0 to 10. (Four in the authors' program, five in the
        paper's text.)
    backend : {"pandas", "polars", "pyarrow"}, optional
        Library of the data frame; by default the first of these that is installed.

    Returns
    -------
    X : data frame, shape (n, 6 * factor)
        Columns F0, F1, ...
    y : structured array, shape (n,)
        With the fields ``event`` and ``time``.
    tree : GroundTruthTree
        The true tree; ``tree.sample(50_000)`` draws test rows from it.

    Examples
    --------
    >>> from surtree.datasets import make_survival_tree_data
    >>> X, y, tree = make_survival_tree_data(200, censoring=0.1, random_state=0, depth=1)
    >>> X.shape, int(y["event"].sum())
    ((200, 6), 180)
    >>> print(tree)
    F5 is not D
    |   leaf 0: lognormal(0.1, 1)
    F5 is D
    |   leaf 1: weibull(0.8, 0.4)
    """
    require_whole("n", n, 1, _MOST_ROWS)
    require_whole("factor", factor, 1, _MOST_FACTOR)
    require_whole("depth", depth, 0, _MOST_DEPTH)
    require_share("censoring", censoring, below=1)
    generator = _generator(random_state)
    root = _grow(dict(enumerate(_BLOCK * factor)), depth, 0, generator)
    tree = GroundTruthTree(root, factor, censoring_constant=math.inf)
    X = _draw_columns(n, factor, generator, backend)
    time, unit = tree._draw_times(X, generator)
    constant = _censoring_constant(time, unit, censoring)
    return X, _censor(time, unit, constant), replace(tree, censoring_constant=constant)


def _grow(
    box: Mapping[int, Interval | Values], depth: int, number: int, generator: np.random.Generator
) -> Split | Leaf:
    """Grow a full tree over a box: what each column can still be.

    A split leaves something of the box to either side, so that no leaf is impossible.
    """
    if depth == 0:
        return Leaf(number, DISTRIBUTIONS[generator.integers(len(DISTRIBUTIONS))])
    candidates = [column for column, possible in box.items() if len(possible) > 1]
    column = int(generator.choice(candidates))
    cut, outside, inside = _random_cut(column, box[column], generator)
    return Split(
        cut,
        _grow({**box, column: outside}, depth - 1, 2 * number, generator),
        _grow({**box, column: inside}, depth - 1, 2 * number + 1, generator),
    )


def _random_cut(
    column: int, possible: Interval | Values, generator: np.random.Generator
) -> tuple[Cut, Interval | Values, Interval | Values]:
    """Cut what a column can be in two; return also what is left where the cut fails and holds."""
    name = f"F{column}"
    if isinstance(possible, Interval):
        threshold = generator.uniform(possible.low, possible.high)
        sides = Interval(possible.low, threshold), Interval(threshold, possible.high)
        return Cut(column, name, threshold=threshold), *sides
    if possible == (0, 1):
        return Cut(column, name, threshold=0.5), (0,), (1,)
    category = str(generator.choice(possible))
    others = tuple(str(other) for other in possible if other != category)
    return Cut(column, name, categories=(category,)), others, (category,)


def _draw_columns(
    n: int, factor: int, generator: np.random.Generator, backend: Backend | None
) -> Any:
    columns = {}
    for column, possible in enumerate(_BLOCK * factor):
        if isinstance(possible, Interval):
            drawn = generator.uniform(possible.low, possible.high, n)
        else:
            drawn = generator.choice(possible, n)
        columns[f"F{column}"] = drawn.tolist()
    return make_frame(columns, backend)


def _censoring_constant(time: Floats, unit: Floats, censoring: float) -> float:
    """Lowest constant that censors no more than this share of the rows; infinity for none."""
    # The tolerance keeps a share like 0.29 of 100 rows, a little below 29 in binary, at 29.
    n_censored = math.floor(censoring * len(time) + 1e-9)
    if n_censored == 0:
        return math.inf
    return float(np.sort(time / unit)[len(time) - n_censored - 1])


def _censor(time: Floats, unit: Floats, constant: float) -> NDArray[np.void]:
    # With ``constant * unit < time``, rounding would censor the row that the constant comes from.
    event = time / unit <= constant
    return make_target(event, np.where(event, time, constant * unit))


def _number_rows(
    node: Split | Leaf, table: Table, rows: NDArray[np.bool_], numbers: NDArray[np.int64]
) -> None:
    if isinstance(node, Leaf):
        numbers[rows] = node.number
        return
    holds = node.cut.holds(table.column(node.cut.column))
    _number_rows(node.left, table, rows & ~holds, numbers)
    _number_rows(node.right, table, rows & holds, numbers)


def _leaves(node: Split | Leaf) -> Iterator[Leaf]:
    if isinstance(node, Leaf):
        yield node
    else:
        yield from _leaves(node.left)
        yield from _leaves(node.right)


def _lines(node: Split | Leaf, indent: str) -> Iterator[str]:
    if isinstance(node, Leaf):
        yield f"{indent}leaf {node.number}: {node.distribution}"
        return
    for rule, child in ((node.cut.negated_rule, node.left), (node.cut.rule, node.right)):
        yield f"{indent}{rule}"
        yield from _lines(child, indent + "|   ")


def _generator(random_state: RandomState) -> np.random.Generator:
    seeded = is_whole(random_state) and int(random_state) >= 0  # type: ignore[arg-type]
    if not (seeded or random_state is None or isinstance(random_state, np.random.Generator)):
        raise ValueError(
            "random_state must be a whole number, zero or more, a numpy.random.Generator or None; "
            f"got {random_state!r}."
        )
    return np.random.default_rng(random_state)

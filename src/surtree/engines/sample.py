"""A sample of a lazy table by a hash of its rows: the same rows, whatever their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from surtree._support.parameters import require_random_state, require_whole
from surtree.data.named import is_lazy, require_columns
from surtree.data.table import Column
from surtree.engines._batches import Batch
from surtree.engines._checksums import Hashes, hash_text, hash_words
from surtree.engines.engines import source_of


def sample_rows(
    X: Any,
    n_rows: int = 200_000,
    *,
    by: str | Sequence[str] | None = None,
    random_state: int = 0,
) -> Any:
    """Return a random sample of a lazy table as a data frame, in one pass over it.

    The rows with the smallest hashes are taken, so the sample does not depend on the order of rows,
    on batches, partitions or the engine's threads. Some hundred thousand rows are enough to choose
    depth, splits and shrinkage, and to validate; the tree of the chosen size is then fitted on all.

    Parameters
    ----------
    X : lazy table
        As in `SurTree.fit`: a path to Parquet files, a lazy frame, a relation, ...
    n_rows : int, default=200_000
        How many rows, or all if there are fewer.
    by : str or sequence of str, optional
        Columns that are hashed, such as the person: all rows with equal values are in the sample
        together or not at all, so that it may have fewer rows. By default all columns: then rows
        that are equal are taken by themselves.
    random_state : int, default=0
        Another number gives another sample.

    Returns
    -------
    data frame
        Of the library that the engine hands its batches over in, in the order of the hashes.

    Examples
    --------
    >>> import polars as pl
    >>> from surtree import sample_rows
    >>> rows = pl.LazyFrame({"x": range(1000)})
    >>> sample_rows(rows, 3).height, sample_rows(rows.reverse(), 3).equals(sample_rows(rows, 3))
    (3, True)
    """
    require_whole("n_rows", n_rows, 1)
    require_random_state(random_state)
    if not is_lazy(X):
        raise TypeError(f"{type(X).__name__} is in memory already: sample it there")
    source = source_of(X)
    keys = source.names if by is None else ((by,) if isinstance(by, str) else tuple(by))
    require_columns(keys, source.names)
    whole = by is not None
    step = _SamplePass(source.names, keys, int(n_rows), int(random_state), whole=whole)
    kept: _Kept = source.run(step).partial
    if kept.frame is None:
        raise ValueError(f"{source.label} has no rows")
    frame = kept.smallest(int(n_rows), whole=whole, complete=True).frame
    if not len(frame):
        raise ValueError(f"The first group of {', '.join(keys)} has more than {n_rows} rows.")
    return frame.to_native()


@dataclass(eq=False)
class _Kept:
    frame: Any  # of narwhals
    hashes: Hashes

    def smallest(self, n_rows: int, *, whole: bool, complete: bool = False) -> _Kept:
        """Return the rows with the smallest hashes, in their order; of a group all, or none."""
        if self.frame is None:
            return self
        order = np.argsort(self.hashes, kind="stable")
        if order.size > n_rows:
            end = n_rows
            if whole and complete:
                end = int((self.hashes < self.hashes[order[n_rows]]).sum())
            elif whole:
                end = int((self.hashes <= self.hashes[order[n_rows - 1]]).sum())
            order = order[:end]
        return _Kept(self.frame[order], self.hashes[order])

    def joined(self, other: _Kept) -> _Kept:
        if self.frame is None or other.frame is None:
            return other if self.frame is None else self
        frame = nw.concat([self.frame, other.frame])
        return _Kept(frame, np.concatenate([self.hashes, other.hashes]))


@dataclass(frozen=True, eq=False)
class _SamplePass:
    columns: tuple[str, ...]
    keys: tuple[str, ...]
    n_rows: int
    seed: int
    whole: bool
    title = "sample"
    is_ordered = False

    def start(self) -> _Kept:
        return _Kept(None, np.empty(0, dtype=np.uint64))

    def add(self, partial: _Kept, batch: Batch) -> _Kept:
        words = [_words(batch.column(name)) for name in self.keys]
        hashes = hash_words(words, batch.n_rows, self.seed + 1)
        more = _Kept(batch.frame, hashes).smallest(self.n_rows, whole=self.whole)
        return self.merge(partial, more)

    def merge(self, one: _Kept, other: _Kept) -> _Kept:
        return one.joined(other).smallest(self.n_rows, whole=self.whole)


def _words(column: Column) -> Hashes:
    """Return a number for each value, the same for equal ones in any batch."""
    if column.kind == "categorical":
        texts = [*(hash_text(str(one)) for one in column.categories), 0]
        return np.asarray(np.array(texts, dtype=np.uint64)[column.values])
    values = np.where(column.missing, np.nan, column.values.astype(np.float64) + 0.0)
    return np.ascontiguousarray(values).view(np.uint64)

"""PySpark data frames: sums of each partition by `mapInArrow`, merged by Spark's own reduction."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from functools import partial, reduce
from typing import Any

from surtree.engines._batches import Batch, arrow_tables
from surtree.engines.source import Outcome, Pass, RowsHook, Source, add_batches, merge_outcomes


class SparkSource(Source):
    """A PySpark data frame."""

    def __init__(self, frame: Any) -> None:
        super().__init__("the Spark data frame", tuple(frame.columns))
        self._frame = frame

    def _run(self, step: Pass[Any], n_threads: int, hook: RowsHook | None) -> Outcome[Any]:
        if step.is_ordered:
            # Spark may order rows otherwise as soon as other columns are selected.
            raise ValueError(
                "the rows of a Spark data frame have no order that predictions could be in: "
                "predict where they are, with X.mapInPandas or the CASE expression of export_sql"
            )
        chosen = self._frame.select(*("`" + name.replace("`", "``") + "`" for name in step.columns))
        sums = chosen.mapInArrow(partial(_add_partition, step), "outcome binary")
        try:
            outcome = _reduce(sums, step)
        except Exception as error:
            raise self.failure(error) from error
        if hook is not None:
            hook(outcome.n_rows)
        return outcome


def _reduce(sums: Any, step: Pass[Any]) -> Outcome[Any]:
    merge = partial(_merge_pickled, step)
    # Spark Connect has no reduction: then partitions come here, one after the other.
    if not hasattr(sums, "_jdf"):
        content = reduce(merge, (bytes(row[0]) for row in sums.toLocalIterator()))
    else:
        content = sums.rdd.map(_content).treeReduce(merge)
    outcome: Outcome[Any] = pickle.loads(content)
    return outcome


def _content(row: Any) -> bytes:
    return bytes(row[0])


def _add_partition(step: Pass[Any], batches: Iterator[Any]) -> Iterator[Any]:
    import pyarrow as pa

    outcome = add_batches(step, map(Batch, arrow_tables(batches)))
    yield pa.record_batch({"outcome": pa.array([pickle.dumps(outcome)], pa.binary())})


def _merge_pickled(step: Pass[Any], one: bytes, other: bytes) -> bytes:
    return pickle.dumps(merge_outcomes(step, [pickle.loads(one), pickle.loads(other)]))


# How many sums are merged at a time: a tree of merges, so that no worker gets them all.
_MERGED_AT_ONCE = 8


class DaskSource(Source):
    """A Dask data frame."""

    def __init__(self, frame: Any) -> None:
        if not all(isinstance(name, str) for name in frame.columns):
            raise ValueError(
                "the Dask data frame has columns whose names are no texts: rename them"
            )
        super().__init__("the Dask data frame", tuple(frame.columns))
        self._frame = frame

    def _run(self, step: Pass[Any], n_threads: int, hook: RowsHook | None) -> Outcome[Any]:
        from dask.delayed import delayed

        shared = delayed(step)
        add, merge = delayed(_add_frame, pure=False), delayed(_merge, pure=False)
        outcomes = [add(shared, part) for part in self._frame[list(step.columns)].to_delayed()]
        while len(outcomes) > 1:
            outcomes = [
                merge(shared, outcomes[first : first + _MERGED_AT_ONCE])
                for first in range(0, len(outcomes), _MERGED_AT_ONCE)
            ]
        try:
            outcome: Outcome[Any] = outcomes[0].compute()
        except Exception as error:
            raise self.failure(error) from error
        if hook is not None:
            hook(outcome.n_rows)
        return outcome


def _add_frame(step: Pass[Any], frame: Any) -> Outcome[Any]:
    return add_batches(step, [Batch(frame)] if len(frame) else [])


def _merge(step: Pass[Any], outcomes: list[Outcome[Any]]) -> Outcome[Any]:
    return merge_outcomes(step, outcomes)

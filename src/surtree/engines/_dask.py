"""Dask data frames: sums of each partition where it is, and Dask's own scheduler for the rest."""

from __future__ import annotations

from typing import Any

from surtree.engines._batches import Batch
from surtree.engines._passes import Outcome, Pass, add_batches, merge_outcomes
from surtree.engines.source import RowsHook, Source

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

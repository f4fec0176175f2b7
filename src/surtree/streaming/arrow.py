"""Arrow record batches, joined until they have enough rows to be worked on."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Any

from surtree.streaming import limits


def arrow_tables(batches: Iterable[Any]) -> Generator[Any]:
    """Join Arrow record batches until they have enough rows, and yield them as tables.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch
        The rows; a reader of them is closed at the end, however it comes.
    """
    import pyarrow as pa

    waiting: list[Any] = []
    n_rows = 0
    try:
        for batch in batches:
            waiting.append(batch)
            n_rows += batch.num_rows
            if n_rows >= limits.BATCH_ROWS:
                yield pa.Table.from_batches(waiting)
                waiting, n_rows = [], 0
        if waiting:
            yield pa.Table.from_batches(waiting)
    finally:
        close = getattr(batches, "close", None)
        if close is not None:
            close()

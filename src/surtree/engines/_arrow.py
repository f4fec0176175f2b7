"""Arrow record batches, joined until they have enough rows to be worked on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from surtree.engines import _memory_caps as memory_caps


def arrow_tables(batches: Iterable[Any]) -> Iterator[Any]:
    """Join Arrow record batches until they have enough rows, and yield them as tables."""
    import pyarrow as pa

    waiting: list[Any] = []
    n_rows = 0
    for batch in batches:
        waiting.append(batch)
        n_rows += batch.num_rows
        if n_rows >= memory_caps.BATCH_ROWS:
            yield pa.Table.from_batches(waiting)
            waiting, n_rows = [], 0
    if waiting:
        yield pa.Table.from_batches(waiting)

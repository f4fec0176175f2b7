"""Some rows of a lazy table, as an engine hands them over: their columns read as in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from surtree.data.table import Column, read_codes, read_pandas_series, read_series
from surtree.engines import _memory_caps as memory_caps

# The ordered categories of columns whose batches do not say that they are ordered.
Enums = Mapping[str, tuple[str, ...]]


class Batch:
    """Some rows of a table, each column read at its first access."""

    def __init__(self, frame: Any, enums: Enums | None = None) -> None:
        self._frame = nw.from_native(frame, eager_only=True)
        self._enums = enums or {}
        self._columns: dict[str, Column] = {}
        # What is known of the rows that count, by the names of the target; no rows refer back to
        # the batch, so that its memory is free as soon as nobody needs it.
        self.counted: dict[Any, Any] = {}

    @property
    def frame(self) -> Any:
        """The rows as a frame of narwhals."""
        return self._frame

    @property
    def n_rows(self) -> int:
        return len(self._frame)

    def column(self, name: str) -> Column:
        """Return a column, as `read_table` reads it."""
        if name not in self._columns:
            self._columns[name] = self._read(name)
        return self._columns[name]

    def labels(self, name: str) -> tuple[NDArray[np.intp], tuple[Any, ...]]:
        """Return the labels that a column holds, and which of them each row has; -1 is none."""
        series = self._frame.get_column(name)
        if nw.dependencies.is_pandas_series(series.to_native()):
            codes, index = series.to_native().factorize()
            return codes.astype(np.intp), tuple(index.tolist())
        series = series.alias("value")
        if isinstance(series.dtype, nw.String | nw.Categorical | nw.Enum):
            codes, texts = _text_codes(series)
            return codes.astype(np.intp), tuple(texts)
        is_null = series.is_null().to_numpy()
        labels, inverse = np.unique(series.drop_nulls().to_numpy(), return_inverse=True)
        numbers = np.full(is_null.size, -1, dtype=np.intp)
        # Not a number is no label either.
        numbers[~is_null] = np.where((labels == labels)[inverse], inverse, -1)
        return numbers, tuple(label for label in labels.tolist() if label == label)

    def _read(self, name: str) -> Column:
        series = self._frame.get_column(name)
        if nw.dependencies.is_pandas_dataframe(self._frame.to_native()):
            return read_pandas_series(name, series.to_native())
        # To methods of polars, a name such as "^$" is a pattern.
        series = series.alias("value")
        if name in self._enums:
            position = {text: number for number, text in enumerate(self._enums[name])}
            codes, texts = _text_codes(series)
            moved = np.array([*(position[text] for text in texts), -1], dtype=np.int32)
            return read_codes(name, moved[codes], self._enums[name], ordered=True)
        if isinstance(series.dtype, nw.String) or _is_categorical(series):
            codes, texts = _text_codes(series)
            if texts and all(isinstance(text, str) for text in texts):
                return read_codes(name, codes, texts)
        return read_series(name, series)


def _is_categorical(series: nw.Series[Any]) -> bool:
    return isinstance(series.dtype, nw.Categorical) and not isinstance(series.dtype, nw.Enum)


def _text_codes(series: nw.Series[Any]) -> tuple[NDArray[np.int32], Sequence[Any]]:
    """Return the position of each cell among the distinct ones, -1 if missing, and these."""
    native = series.to_native()
    if nw.dependencies.is_pyarrow_chunked_array(native):
        is_encoded = isinstance(series.dtype, nw.Categorical)
        encoded = native.unify_dictionaries() if is_encoded else native.dictionary_encode()
        whole = encoded.combine_chunks()
        codes = whole.indices.cast("int32").fill_null(-1).to_numpy(zero_copy_only=False)
        return codes, whole.dictionary.to_pylist()
    # A join finds codes where polars has no public way to ask for them.
    series = series.cast(nw.String)
    distinct = series.drop_nulls().unique()
    position = nw.new_series(
        "position", np.arange(len(distinct), dtype=np.int32), nw.Int32, backend="polars"
    )
    pairs = distinct.to_frame().with_columns(position)
    cells = series.to_frame().to_native()
    joined = cells.join(pairs.to_native(), on="value", how="left", maintain_order="left")
    return joined["position"].fill_null(-1).to_numpy(), distinct.to_list()


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

"""A data set: a data frame of an installed library, and a target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, Literal, get_args

import narwhals as nw

Backend = Literal["pandas", "polars", "pyarrow"]
BACKENDS: tuple[Backend, ...] = get_args(Backend)

Values = Sequence[float | None] | Sequence[str | None]


def make_frame(
    columns: Mapping[str, Values],
    backend: Backend | None,
    ordered: Mapping[str, Sequence[str]] | None = None,
) -> Any:
    """Build a data frame: text becomes categories, None a missing value."""
    backend = _choose(backend)
    orders = ordered if ordered is not None and backend != "pyarrow" else {}
    schema = {name: _type(values, orders.get(name)) for name, values in columns.items()}
    return nw.from_dict(columns, schema, backend=backend).to_native()


def _type(values: Values, order: Sequence[str] | None) -> nw.dtypes.DType:
    if order is not None:
        return nw.Enum(order)
    present = [value for value in values if value is not None]
    if any(isinstance(value, str) for value in present):
        return nw.Categorical()
    # NumPy, and so pandas, has no missing whole number.
    whole = len(present) == len(values) and all(isinstance(value, int) for value in present)
    return nw.Int64() if whole else nw.Float64()


def _choose(backend: Backend | None) -> Backend:
    if backend is None:
        installed = [name for name in BACKENDS if find_spec(name) is not None]
        if not installed:
            raise ImportError(
                "A data set is a data frame, and none of pandas, polars and pyarrow is installed: "
                "install one of them."
            )
        return installed[0]
    if backend not in BACKENDS:
        raise ValueError(f"backend must be one of {', '.join(BACKENDS)}, or None; got {backend!r}.")
    return backend

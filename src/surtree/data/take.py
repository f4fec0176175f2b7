"""Rows of what a user passed, whatever it is: a data frame of any library, an array or a list."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing


def take(values: Any, rows: NDArray[np.intp]) -> Any:
    """Return some rows, given by their positions, as the same kind of object."""
    if nw.dependencies.is_into_dataframe(values):
        return nw.from_native(values, eager_only=True)[rows].to_native()
    return _safe_indexing(values, rows)

"""Types that every room uses: arrays of numbers, and values made of arrays."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class ArrayValue:
    """A frozen dataclass of arrays: read-only, equal by content, pickled through its constructor.

    Only views are made read-only, so a caller's own arrays stay as they were.
    """

    def __post_init__(self) -> None:
        for name in self._names():
            value = getattr(self, name)
            if isinstance(value, np.ndarray) and value.flags.writeable:
                view = value.view()
                view.setflags(write=False)
                object.__setattr__(self, name, view)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(_same(getattr(self, name), getattr(other, name)) for name in self._names())

    # Pickle does not keep arrays read-only; the constructor makes them so again.
    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        return type(self), tuple(getattr(self, name) for name in self._names())

    @classmethod
    @cache
    def _names(cls) -> tuple[str, ...]:
        return tuple(field.name for field in fields(cls))  # type: ignore[arg-type]


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        is_float = one.dtype.kind == "f"
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=is_float)
    return bool(one == other)

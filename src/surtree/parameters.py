"""Checks of hyperparameters, shared by all estimators."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np

from surtree.curves import KINDS

MAX_DEPTH = 20


def is_number(value: Any) -> bool:
    """Return whether a value is a number, which a boolean is not."""
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def is_whole(value: Any) -> bool:
    """Return whether a value is a whole number, which a boolean is not."""
    return isinstance(value, Integral) and is_number(value)


def require_whole(name: str, value: Any, least: int, most: float = math.inf) -> None:
    """Raise an error unless a parameter is a whole number in a range."""
    if not (is_whole(value) and least <= value <= most):
        span = f"{least} or more" if most == math.inf else f"from {least} to {most}"
        raise ValueError(f"{name} must be a whole number, {span}; got {value!r}.")


def require_not_negative(name: str, value: Any) -> None:
    """Raise an error unless a parameter is a finite number, zero or more."""
    if not (is_number(value) and 0 <= value < math.inf):
        raise ValueError(f"{name} must be a number, zero or more; got {value!r}.")


def require_flag(name: str, value: Any) -> None:
    """Raise an error unless a parameter is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False; got {value!r}.")


def require_jobs(n_jobs: Any) -> None:
    """Raise an error unless ``n_jobs`` says how many threads to use."""
    if n_jobs is not None and (not is_whole(n_jobs) or n_jobs == 0):
        raise ValueError(
            "n_jobs must be a number of threads, -1 for one for each processor, or None for "
            f"one; got {n_jobs!r}."
        )


def require_hook(progress: Any) -> None:
    """Raise an error unless ``progress`` is something to call, or None."""
    if progress is not None and not callable(progress):
        raise ValueError(f"progress must be a function or None; got {progress!r}.")


def require_leaf_curve(leaf_curve: Any) -> None:
    """Raise an error unless ``leaf_curve`` names a kind of curve."""
    if leaf_curve not in KINDS:
        raise ValueError(f"leaf_curve must be one of {KINDS}; got {leaf_curve!r}.")

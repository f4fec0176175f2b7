"""Checks of hyperparameters, shared by all estimators."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, Literal, get_args

import numpy as np

LeafCurveKind = Literal["baseline", "kaplan-meier", "shrunk", "breslow"]
LEAF_CURVES: tuple[LeafCurveKind, ...] = get_args(LeafCurveKind)

MAX_DEPTH = 20
# Events of a prior: enough to tell it from none, and little enough for exact sums.
MIN_SHRINKAGE, MAX_SHRINKAGE = 1e-6, 1000.0
# Seconds; a longer time limit, thirty years, is none.
_NO_END = 1e9
_MAX_SEED = 2**32 - 1


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
    if not (is_number(value) and value >= 0 and _fits_float(value)):
        raise ValueError(f"{name} must be a number, zero or more; got {value!r}.")


def _fits_float(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number that is too large
        return False


def require_share(name: str, value: Any, below: float) -> None:
    """Raise an error unless a parameter is a number from zero to below another one."""
    if not (is_number(value) and 0 <= value < below):
        raise ValueError(f"{name} must be a number from 0 to below {below:g}; got {value!r}.")


def read_time_limit(time_limit: Any) -> float | None:
    """Return a time limit in seconds, or None for no limit; raise an error for anything else."""
    if time_limit is None:
        return None
    if not (is_number(time_limit) and time_limit > 0):
        raise ValueError(
            "time_limit must be a number of seconds above zero, or None for no limit; "
            f"got {time_limit!r}."
        )
    return float(time_limit) if time_limit <= _NO_END else None


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


def require_random_state(random_state: Any) -> None:
    """Raise an error unless ``random_state`` is a seed, a generator of scikit-learn's, or None."""
    if random_state is None or isinstance(random_state, np.random.RandomState):
        return
    if not (is_whole(random_state) and 0 <= random_state <= _MAX_SEED):
        raise ValueError(
            f"random_state must be a whole number, from 0 to {_MAX_SEED}, a RandomState or None; "
            f"got {random_state!r}."
        )


def require_hook(progress: Any) -> None:
    if progress is not None and not callable(progress):
        raise ValueError(f"progress must be a function or None; got {progress!r}.")


def require_verbose(verbose: Any) -> None:
    """Raise an error unless ``verbose`` is a whole number, or True or False."""
    if not isinstance(verbose, bool | np.bool_):
        require_whole("verbose", verbose, 0)


def require_shrinkage(shrinkage: Any) -> None:
    """Raise an error unless ``shrinkage`` is a number of events that a prior may be worth."""
    if not (
        is_number(shrinkage) and (shrinkage == 0 or MIN_SHRINKAGE <= shrinkage <= MAX_SHRINKAGE)
    ):
        raise ValueError(
            f"shrinkage must be 0 or a number from {MIN_SHRINKAGE:g} to {MAX_SHRINKAGE:g}; "
            f"got {shrinkage!r}."
        )


def require_leaf_curve(leaf_curve: Any) -> None:
    """Raise an error unless ``leaf_curve`` names a kind of curve."""
    if leaf_curve not in LEAF_CURVES:
        raise ValueError(f"leaf_curve must be one of {LEAF_CURVES}; got {leaf_curve!r}.")

"""What parameters may be: a table of checks by name, which classes extend."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import KW_ONLY, dataclass, fields
from typing import Any, TypeVar

from surtree._support.parameters import (
    LEAF_CURVES,
    MAX_DEPTH,
    is_number,
    read_time_limit,
    require_hook,
    require_jobs,
    require_not_negative,
    require_random_state,
    require_shrinkage,
    require_verbose,
    require_whole,
)
from surtree.cuts.categories import CategoryCuts
from surtree.cuts.encoder import Encoder
from surtree.cuts.thresholds import GivenThresholds
from surtree.data.target import Target
from surtree.solver.problem import Limits

# A check gets the name and the value of a parameter, and raises an error that has both.
Check = Callable[[str, Any], object]
Checks = dict[str, Check]
Model = TypeVar("Model", bound=Any)


@dataclass(eq=False, repr=False)
class CutParameters:
    """Parameters of the questions that a tree may ask: those of `Encoder`, which checks them."""

    _: KW_ONLY
    n_thresholds: int | None = 10
    max_categories: int = 10
    min_support: float = 0.01
    category_cuts: CategoryCuts = "subsets"
    thresholds: GivenThresholds | None = None


def whole(least: int, most: float = math.inf) -> Check:
    return lambda name, value: require_whole(name, value, least, most)


def one_of(allowed: Collection[str]) -> Check:
    def check(name: str, value: Any) -> None:
        if value not in allowed:
            raise ValueError(f"{name} must be one of {allowed}; got {value!r}.")

    return check


def between(words: str, holds: Callable[[Any], bool]) -> Check:
    """Return the check of a number for which something holds."""

    def check(name: str, value: Any) -> None:
        if not (is_number(value) and holds(value)):
            raise ValueError(f"{name} must be a number {words}; got {value!r}.")

    return check


def or_none(check: Check) -> Check:
    return lambda name, value: None if value is None else check(name, value)


def of_value(check: Callable[[Any], object]) -> Check:
    """Return the check of a parameter that has one name only."""
    return lambda _, value: check(value)


def require_monotone(name: str, value: Any) -> None:
    """Raise an error unless a value is None, or maps names of columns to 1 and -1."""
    if value is None:
        return
    if not isinstance(value, Mapping):
        raise ValueError(
            f"{name} must map columns to 1 or -1, such as {{'age': 1}}; got {value!r}."
        )
    for column, sign in value.items():
        if isinstance(sign, bool) or sign not in (1, -1):
            raise ValueError(
                f"{name} says 1 (the risk may only rise) or -1 (only fall) of {column!r}; got "
                f"{sign!r}."
            )


def no_monotone(kind: str) -> Check:
    """Return the check of a class whose trees have no single risk."""

    def check(name: str, value: Any) -> None:
        if value is not None:
            raise ValueError(
                f"{name} is for trees of one event, which have one risk, and not for {kind}: leave "
                "it out, and look at Tree.reversals."
            )

    return check


SHARE = between("between 0 and 1", lambda value: 0 < value < 1)
# Those of the questions are checked by the encoder that finds them.
CHECKS: Checks = {
    "max_depth": whole(0, MAX_DEPTH),
    "max_splits": or_none(whole(0)),
    "max_columns": or_none(whole(0)),
    "monotone": require_monotone,
    "min_samples_leaf": whole(1),
    "min_events_leaf": whole(0),
    "ccp_alpha": require_not_negative,
    "shrinkage": of_value(require_shrinkage),
    "leaf_curve": one_of(LEAF_CURVES),
    "time_limit": of_value(read_time_limit),
    "n_jobs": of_value(require_jobs),
    "memory_limit": or_none(whole(0)),
    "random_state": of_value(require_random_state),
    "progress": of_value(require_hook),
    "verbose": of_value(require_verbose),
}


def require_parameters(estimator: Any) -> None:
    """Raise an error that names the parameter at fault, if there is one."""
    checks: Checks = estimator._checks
    given = estimator.__dataclass_fields__
    for name in given:
        if name in checks and given[name].init:
            checks[name](name, getattr(estimator, name))
    if "n_thresholds" in given:
        Encoder._check_parameters(estimator)


def make_like(model_type: type[Model], estimator: Any, apart: Collection[str]) -> Model:
    """Return an estimator with the parameters that another one has too, but for some."""
    names = {field.name for field in fields(estimator)} - set(apart)
    shared = [field.name for field in fields(model_type) if field.init and field.name in names]
    model: Model = model_type(**{name: getattr(estimator, name) for name in shared})
    return model


def check_parameters(estimator: Any) -> Limits:
    """Return the limits of the trees of an estimator whose parameters can be used."""
    require_parameters(estimator)
    return own_limits(estimator)


def own_limits(estimator: Any) -> Limits:
    """Return the limits that the parameters of an estimator, which were checked, ask for."""
    limits: Limits = estimator._limits_type(
        max_depth=estimator.max_depth,
        max_splits=getattr(estimator, "max_splits", None),
        min_samples_leaf=estimator.min_samples_leaf,
        min_events_leaf=estimator.min_events_leaf,
    )
    return limits


def limits_of(estimator: Any, target: Target) -> Limits:
    """Return the limits of the trees of an estimator for rows with such a target."""
    limits: Limits = estimator._limits(target)
    return limits

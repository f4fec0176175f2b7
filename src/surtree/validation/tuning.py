"""What a cross-validation tried, beside the scores of the sizes that it chose from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from surtree._support.schema import Number, flag, list_of, one_of, record
from surtree._support.status import STATUSES, Status


@dataclass(frozen=True)
class Tuning:
    """What a cross-validation tried, and how its searches ended; `SizeScores` has its scores.

    Parameters
    ----------
    shrinkages : tuple of float
        The values of shrinkage to choose from, ascending.
    stratified : bool
        Whether folds were stratified by events (`EventStratifiedKFold`), and not given.
    status : Status
        "optimal" where the searches of all folds were completed, else how one of them ended.

    Examples
    --------
    >>> from surtree import SurTreeCV
    >>> from surtree.datasets import load_gbsg2
    >>> search = SurTreeCV(max_depth=1, cv=3, shrinkage=[1, 3]).fit(*load_gbsg2())
    >>> search.best_estimator_.tuning_
    Tuning(shrinkages=(1.0, 3.0), stratified=True, status='optimal')
    """

    shrinkages: tuple[float, ...]
    stratified: bool
    status: Status


tuning_format = record(
    {
        "shrinkages": list_of(Number("a number, zero or more", 0.0)),
        "stratified": flag,
        "status": one_of(*STATUSES),
    }
)


def save_tuning(tuning: Tuning | None) -> dict[str, Any] | None:
    """Return what was tried as plain values that JSON can hold."""
    return None if tuning is None else vars(tuning) | {"shrinkages": list(tuning.shrinkages)}


def read_tuning(saved: dict[str, Any] | None, chosen: float | None) -> Tuning | None:
    """Return what `save_tuning` wrote; ``chosen`` is the shrinkage of the scores beside it."""
    if saved is None:
        return None
    shrinkages = tuple(map(float, saved["shrinkages"]))
    if chosen not in shrinkages or list(shrinkages) != sorted(set(shrinkages)):
        raise ValueError("the shrinkage of its scores is not one of those that were tried")
    return Tuning(shrinkages, saved["stratified"], saved["status"])

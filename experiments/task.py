"""What a method is given, what it is, and what becomes of a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from experiments.scores import Partition, Target

View = Literal["binary", "numeric"]


class Status(StrEnum):
    """How a run ended."""

    DONE = "done"
    TIME_LIMIT = "time limit"
    ERROR = "error"
    NOT_INSTALLED = "not installed"
    NOT_TRIED = "not tried"


@dataclass(frozen=True, eq=False)
class Task:
    """What a method is given.

    Parameters
    ----------
    X_train, y_train, X_test : table, structured array, table
        The rows.
    depth : int
        The largest depth.
    seed : int
        Of the folds that sizes are tuned on, and of random starts.
    min_support : float
        Cuts that hold for no larger share of the rows are left out; 0 for columns that are cut
        already.
    limit : float
        Processor seconds that a method of others may take.
    n_folds : int
        How many folds sizes are tuned on.
    """

    X_train: Any
    y_train: Target
    X_test: Any
    depth: int
    seed: int = 0
    min_support: float = 0.01
    limit: float = 60.0
    n_folds: int = 10


@dataclass(frozen=True)
class Method:
    """A way to a tree.

    Parameters
    ----------
    view : {"binary", "numeric"}
        What the paper's protocol feeds it: 0/1 columns, or numbers with indicator columns.
    fit : callable
        Grows a tree of the task's depth.
    tune : callable
        Chooses its size by cross-validation first.
    package : str or None
        The package of others that it needs, or a module of it.
    guards_itself : bool
        Whether it keeps the limit by itself; others' packages run in a process that is stopped.
    """

    view: View
    fit: Callable[[Task], Partition]
    tune: Callable[[Task], Partition]
    package: str | None = None
    guards_itself: bool = False


@dataclass(frozen=True, eq=False)
class Attempt:
    """What became of a run: a partition, or the reason why there is none."""

    status: Status
    seconds: float
    leaves: Partition | None = None
    message: str = ""

"""How far a cross-validation is, for whoever shows it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FoldProgress:
    """How many of the folds are done.

    Parameters
    ----------
    done, total : int
        The folds that are done, and all of them.
    seconds : float
        The time since the start.

    Examples
    --------
    >>> from surtree.progress import FoldProgress
    >>> print(FoldProgress(done=4, total=10, seconds=2.0))
    4 of 10 folds, 2.0 s, 3.0 s left
    """

    done: int
    total: int
    seconds: float

    @property
    def eta(self) -> float:
        """The seconds that are left if the other folds take as long; infinity before the first."""
        if not self.done:
            return float("inf")
        return self.seconds * (self.total - self.done) / self.done

    def __str__(self) -> str:
        return f"{self.done} of {self.total} folds, {self.seconds:.1f} s, {self.eta:.1f} s left"

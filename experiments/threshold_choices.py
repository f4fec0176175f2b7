"""Ways to choose among the thresholds of a numeric column, and a search with each of them."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

from experiments.clock import processor_seconds
from experiments.scores import Target
from surtree import SurTree

# What SurTree is told, by the name of the choice.
CHOICES: dict[str, dict[str, Any]] = {
    "ten quantiles": {"n_thresholds": 10, "category_cuts": "one"},
    "every threshold": {"n_thresholds": None, "category_cuts": "one"},
}


@dataclass(frozen=True, eq=False)
class Search:
    """A fitted tree, and what it took.

    Parameters
    ----------
    model : SurTree
        The tree.
    wall : float
        Seconds that passed.
    seconds : float
        Seconds of the processor, those of all threads together.
    """

    model: SurTree
    wall: float
    seconds: float

    @property
    def evaluated(self) -> float:
        """The share of cuts that were evaluated; missing where no column was bisected."""
        cuts = self.model.n_cuts_
        return self.model.n_evaluated_ / cuts if cuts else float("nan")


def search(X: Any, y: Target, depth: int, **options: Any) -> Search:
    """Fit a tree by the clock.

    Parameters
    ----------
    X, y : table and structured array
        The rows.
    depth : int
        The largest depth.
    **options : object
        Further parameters of `SurTree`.
    """
    start, busy = perf_counter(), processor_seconds()
    model = SurTree(depth, **options).fit(X, y)
    return Search(model, perf_counter() - start, processor_seconds() - busy)

"""How a search ended: the statuses and their words."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from sklearn.exceptions import ConvergenceWarning

from surtree._support.package import user_level

Status = Literal[
    "optimal",
    "rounded",
    "time_limit",
    "memory_limit",
    "interrupted",
    "edited",
    "kept",
    "recalibrated",
]
STATUSES: tuple[Status, ...] = get_args(Status)
# Of models whose proof was about another tree, or other predictions.
VOID: tuple[Status, ...] = ("edited", "recalibrated")
# Of searches that came to their end.
FINISHED: tuple[Status, ...] = ("optimal", "rounded")
# A gap by rounding of less is not worth a warning.
SMALL_GAP = 1e-6


@dataclass(frozen=True)
class Words:
    """The words for a status."""

    title: str  # the status in two words
    line: str  # what it means, beside the numbers of a certificate
    clause: str  # why the tree is or is not proven optimal, as a part of a sentence


WORDS: dict[Status, Words] = {
    "optimal": Words(
        "optimal",
        "optimal: no tree within these limits has a smaller loss",
        "every tree was considered",
    ),
    "rounded": Words(
        "rounded",
        "rounded: weights are so uneven that a tree within the gap may be better",
        "weights are so uneven that rounding hides which tree is the best",
    ),
    "time_limit": Words(
        "time limit",
        "time limit: the best tree so far, with a proven bound",
        "the time limit ended the search",
    ),
    "memory_limit": Words(
        "memory limit",
        "memory limit: the best tree so far, with a proven bound",
        "the memory limit ended the search",
    ),
    "interrupted": Words(
        "interrupted",
        "interrupted: the best tree so far, with a proven bound",
        "the search was interrupted",
    ),
    # The proof of the search was about another tree.
    "edited": Words(
        "edited",
        "edited: certificate void",
        "the file of the model was edited, or has no digest",
    ),
    "recalibrated": Words(
        "recalibrated",
        "recalibrated on other rows: certificate void",
        "the model was recalibrated on other rows",
    ),
    "kept": Words(
        "kept by choice",
        "kept by choice, with a bound for all trees",
        "the tree was chosen by hand",
    ),
}


def first_unproven(statuses: Iterable[Status]) -> Status:
    """Return how the first search ended that was not completed, "optimal" where all were.

    Where all were completed, but some of them were rounded, it is "rounded".
    """
    known = list(statuses)
    unfinished = (status for status in known if status not in FINISHED)
    return next(unfinished, "rounded" if "rounded" in known else "optimal")


def warn_of_limit(status: Status) -> None:
    """Warn once if one of several searches has not proven its tree: out of time, or rounded."""
    if status == "time_limit":
        warnings.warn(
            "The time limit ended at least one of the searches: its tree is the best so far. Allow "
            "more time, or fewer splits.",
            ConvergenceWarning,
            stacklevel=user_level(),
        )
    elif status == "rounded":
        warn_of_rounding("At least one tree is not proven")


def warn_of_rounding(proven: str) -> None:
    """Warn that weights are uneven, after the words for what is proven nevertheless."""
    warnings.warn(
        f"{proven}: {WORDS['rounded'].clause}. Bring the values of sample_weight closer together, "
        "or give rows that hardly count a weight of zero.",
        ConvergenceWarning,
        stacklevel=user_level(),
    )

"""How a search ended: the statuses and their words."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from sklearn.exceptions import ConvergenceWarning

from surtree._stack import user_level

Status = Literal["optimal", "time_limit", "interrupted", "edited"]
STATUSES: tuple[Status, ...] = get_args(Status)


@dataclass(frozen=True)
class Words:
    """The words for a status.

    Parameters
    ----------
    title : str
        The status in two words.
    line : str
        What it means, beside the numbers of a certificate.
    clause : str
        Why the tree is or is not proven optimal, as a part of a sentence.
    """

    title: str
    line: str
    clause: str


WORDS: dict[Status, Words] = {
    "optimal": Words(
        "optimal",
        "optimal: no tree within these limits has a smaller loss",
        "every tree was considered",
    ),
    "time_limit": Words(
        "time limit",
        "time limit: the best tree so far, with a proven bound",
        "the time limit ended the search",
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
}


def first_unproven(statuses: Iterable[Status]) -> Status:
    """Return how the first search ended that was not completed, "optimal" where all were.

    Parameters
    ----------
    statuses : iterable of Status
        How several searches ended.
    """
    return next((status for status in statuses if status != "optimal"), "optimal")


def warn_of_limit(status: Status) -> None:
    """Warn once if a time limit ended one of several searches, which `first_unproven` says."""
    if status == "time_limit":
        warnings.warn(
            "The time limit ended at least one of the searches: its tree is the best so far. Allow "
            "more time, or fewer splits.",
            ConvergenceWarning,
            stacklevel=user_level(),
        )

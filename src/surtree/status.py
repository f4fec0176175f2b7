"""How the search for a tree ended, and the words for it."""

from __future__ import annotations

from dataclasses import dataclass

# The file of the model was changed by hand: what the search proved was about another tree.
EDITED = "edited"


@dataclass(frozen=True)
class Words:
    """What is said of a status.

    Parameters
    ----------
    line : str
        All that there is to say, beside the numbers of a certificate.
    clause : str
        Why the tree is not proven optimal, as a part of a sentence.
    """

    line: str
    clause: str


STATUSES = {
    "optimal": Words(
        "optimal: no tree within these limits has a smaller loss", "every tree was considered"
    ),
    "time_limit": Words(
        "the time was over: the best tree so far, with a proven bound",
        "the time limit ended the search",
    ),
    "interrupted": Words(
        "stopped: the best tree so far, with a proven bound", "the search was interrupted"
    ),
    "refined": Words(
        "refined: better thresholds were looked for near good ones, nothing is proven",
        "better thresholds were looked for only near good ones",
    ),
    EDITED: Words("edited: certificate void", "the file of the model was edited, or has no digest"),
}

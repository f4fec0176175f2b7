"""What is known of a tree that somebody kept, though it need not be the best of all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from surtree._support.schema import Number, flag, record, text

kept_format = record(
    {
        "condition": text,
        "is_proven": flag,
        "missed": Number("a number, zero or more", 0.0),
        "best_is_proven": flag,
    }
)


@dataclass(frozen=True)
class Kept:
    """What is known of a tree that was kept (`surtree.keep`); ``print`` says it.

    Parameters
    ----------
    condition : str
        What the tree is the best of, as in 'asks "age > 50" first'; empty of a tree that is just
        one of many.
    is_proven : bool
        Whether it is proven that no tree of this kind is better.
    missed : float
        The share of what the best tree explains that this one does not, on the rows of the fit.
    best_is_proven : bool
        Whether that tree is proven to be the best.

    Examples
    --------
    >>> from surtree.tree.kept import Kept
    >>> print(Kept('asks "age > 50" first', True, 0.017, True))
    best tree that asks "age > 50" first; 1.7 % of what the best tree explains is lost
    """

    condition: str
    is_proven: bool
    missed: float
    best_is_proven: bool

    def __str__(self) -> str:
        of_best = "the best tree" if self.best_is_proven else "the best tree found"
        if not self.condition:
            what = "a tree that was chosen by hand"
        elif self.is_proven:
            what = f"best tree that {self.condition}"
        else:
            what = f"best tree found that {self.condition} (not proven)"
        lost = "nothing" if self.missed == 0 else f"{100 * self.missed:.1f} %"
        if 0 < self.missed < 0.0005:
            lost = "less than 0.1 %"
        return f"{what}; {lost} of what {of_best} explains is lost"


def save_kept(kept: Kept | None) -> dict[str, Any] | None:
    """Return it as plain values that JSON can hold."""
    return None if kept is None else asdict(kept)


def read_kept(saved: Mapping[str, Any] | None) -> Kept | None:
    """Return what `save_kept` wrote."""
    return None if saved is None else Kept(**saved)

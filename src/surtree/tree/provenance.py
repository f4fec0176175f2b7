"""Where a tree comes from: what confirmed it, what it was kept from, and who taught it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from surtree._support.json_file import Number, digest, flag, optional, record, text

# The fields of a model file that a verification is about, and the parameters among them.
_CLAIM = ("rows", "objective", "baseline", "cuts", "known", "trees", "path")
_CERTIFICATE = ("status", "loss", "lower_bound", "gap")
_LIMITS = ("max_depth", "max_splits", "min_samples_leaf", "min_events_leaf", "min_events_arm")


@dataclass(frozen=True)
class Receipt:
    """The receipt of a claim that `surtree.verify` has confirmed as a whole.

    Parameters
    ----------
    date : str
        When it was confirmed, as 2026-11-18.
    model, rows, program : str
        Digests of the claim, of the rows and of the program that confirmed it.
    versions : str
        The versions of surtree, NumPy and Python.

    Examples
    --------
    >>> import surtree
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> model = surtree.SurTree(max_depth=2).fit(X, y)
    >>> model.receipt_ = surtree.verify(model, X, y).receipt
    >>> len(model.receipt_.program)
    64
    """

    date: str
    model: str
    rows: str
    program: str
    versions: str


receipt_format = record(
    dict.fromkeys(("date", "model", "rows", "program", "versions"), text),
)


def claim_digest(saved: Mapping[str, Any]) -> str:
    """Return a name of the parts of a model file that a verification is about."""
    parameters = saved["parameters"]
    limits = {name: parameters.get(name) for name in (*_LIMITS, "ccp_alpha")}
    claim = {name: saved.get(name) for name in (*_CLAIM, *_CERTIFICATE)}
    return digest({"limits": limits, **claim})


def read_receipt(saved: Mapping[str, Any]) -> Receipt | None:
    """Return the receipt in a model file; None where there is none, or it is of another claim."""
    receipt = saved.get("receipt")
    return Receipt(**receipt) if receipt and receipt["model"] == claim_digest(saved) else None


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
    >>> from surtree.tree.provenance import Kept
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


_loss = optional(Number("a number, zero or more", 0.0))
teaching_format = record({"teacher": text, "training_loss": _loss, "plain_loss": _loss})


@dataclass(frozen=True)
class Teaching:
    """Who taught a tree, and how well it and the plain optimum fit the events of its rows."""

    teacher: str  # in words
    training_loss: float | None  # of the tree, on the events of its training rows
    # The same of the tree of at most as many splits that is best at it; None where it is unknown.
    plain_loss: float | None = None


def save_fields(value: Receipt | Kept | Teaching | None) -> dict[str, Any] | None:
    return None if value is None else asdict(value)


def read_fields(kind: type[Any], saved: Mapping[str, Any] | None) -> Any:
    """Return what `save_fields` wrote of a value."""
    return None if saved is None else kind(**saved)

"""Where a tree comes from: what confirmed it, what it was kept from, and who taught it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from surtree._support.json_file import (
    Number,
    digest,
    flag,
    list_of,
    one_of,
    optional,
    record,
    text,
)
from surtree.words.numbers import plural

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


RecalibrationMethod = Literal["intercept", "slope", "leaves"]
RECALIBRATIONS: tuple[RecalibrationMethod, ...] = get_args(RecalibrationMethod)
_above_zero = Number("a number above zero", 1e-300)
recalibration_format = record(
    {
        "method": one_of(*RECALIBRATIONS),
        "shrinkage": Number("a number, zero or more", 0.0),
        "n_rows": Number("a whole number above zero", 1, 2**31 - 1, whole=True),
        "n_events": Number("a whole number, zero or more", 0, 2**31 - 1, whole=True),
        "ratio": Number("a number, zero or more", 0.0),
        "slope": optional(Number("a finite number")),
        "factors": list_of(_above_zero),
    }
)


@dataclass(frozen=True)
class Recalibration:
    """How a model was recalibrated on other rows (`surtree.recalibrate`); ``print`` says it.

    Parameters
    ----------
    method : {"intercept", "slope", "leaves"}
        What was changed: the level of all hazards, that and their spread, or each leaf.
    shrinkage : float
        How many expected events the old value counted for.
    n_rows, n_events : int
        The rows, and those of them with an event while the model predicts.
    ratio : float
        Observed over expected events of the old model.
    slope : float or None
        What differences between leaves were multiplied by, on the scale of logarithms.
    factors : tuple of float
        What the hazard of each leaf was multiplied by, in the order of the tree's ``leaves``.

    Examples
    --------
    >>> from surtree import SurTree, recalibrate
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> model = SurTree(max_depth=1).fit(X[:400], y[:400])
    >>> print(recalibrate(model, X[400:], y[400:]).recalibration_)
    recalibrated on 286 rows with 110 events, observed / expected 0.919: hazards times 0.925
    """

    method: RecalibrationMethod
    shrinkage: float
    n_rows: int
    n_events: int
    ratio: float
    slope: float | None
    factors: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "factors", tuple(self.factors))  # of files, a list

    def __str__(self) -> str:
        low, high = min(self.factors), max(self.factors)
        times = f"{low:.3g}" if self.method == "intercept" else f"{low:.3g} to {high:.3g} by leaf"
        slope = "" if self.slope is None else f" (slope {self.slope:.3g})"
        return (
            f"recalibrated on {plural(self.n_rows, 'row')} with {plural(self.n_events, 'event')}, "
            f"observed / expected {self.ratio:.3g}: hazards times {times}{slope}"
        )


def save_fields(value: Receipt | Kept | Teaching | Recalibration | None) -> dict[str, Any] | None:
    return None if value is None else asdict(value)


def read_fields(kind: type[Any], saved: Mapping[str, Any] | None) -> Any:
    """Return what `save_fields` wrote of a value."""
    return None if saved is None else kind(**saved)

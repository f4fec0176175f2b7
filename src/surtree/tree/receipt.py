"""The receipt of a verification: what was confirmed, by which program, and when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from surtree._support.json_file import digest
from surtree._support.schema import record, text

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


def save_receipt(receipt: Receipt | None) -> dict[str, str] | None:
    """Return a receipt as plain values that JSON can hold."""
    return None if receipt is None else asdict(receipt)


def read_receipt(saved: Mapping[str, Any]) -> Receipt | None:
    """Return the receipt in a model file; None where there is none, or it is of another claim."""
    receipt = saved.get("receipt")
    return Receipt(**receipt) if receipt and receipt["model"] == claim_digest(saved) else None

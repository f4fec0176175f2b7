"""The result of a verification: what is confirmed, part by part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from surtree.tree.provenance import Receipt

Outcome = Literal["confirmed", "refuted", "not checked"]

# The sentence of each part of a claim, if it is confirmed.
PARTS = {
    "file": "The file is as it was written.",
    "rows": "The rows are those that the model was fitted on.",
    "rules": "The rules send each row to its leaf, and ask questions of the file alone.",
    "leaves": "Rows, events, sums, theta and loss of every node are those of its rows.",
    "curves": "The baseline and the curves of all leaves are those of the rows.",
    "path": "The loss of every size is that of its tree.",
    "optimum": "No tree of any size within the limits has a smaller loss.",
    "bounds": "No tree is below a lower bound, and the gap is theirs.",
}


@dataclass(frozen=True)
class VerifiedPart:
    """One part of a claim.

    Parameters
    ----------
    name : str
        Which part it is, such as "leaves".
    outcome : {"confirmed", "refuted", "not checked"}
        What became of it.
    sentences : tuple of str
        What holds, or what differs, or what is left to check.

    Examples
    --------
    >>> import surtree
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> part = surtree.verify(surtree.SurTree(max_depth=1).fit(X, y), X, y).parts[0]
    >>> part.name, part.outcome
    ('file', 'confirmed')
    """

    name: str
    outcome: Outcome
    sentences: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Verification:
    """The result of `verify`; ``print`` shows it.

    Parameters
    ----------
    parts : tuple of VerifiedPart
        What is confirmed, refuted or not checked: the file, the rows, the rules, the leaves, the
        curves, the losses of the path, the optimum of every size, and the lower bounds.
    share : float
        The share of every claimed lower bound that is confirmed: one if all of them are.
    receipt : Receipt or None
        What a model keeps of it (``receipt_``), if all parts are confirmed.

    Examples
    --------
    >>> import surtree
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> verification = surtree.verify(surtree.SurTree(max_depth=2).fit(X, y), X, y)
    >>> verification
    Verification(confirmed: 8 of 8 parts)
    >>> verification.confirmed
    True
    """

    parts: tuple[VerifiedPart, ...]
    share: float = 1.0
    receipt: Receipt | None = None

    @property
    def confirmed(self) -> bool:
        """Whether every part is confirmed."""
        return all(part.outcome == "confirmed" for part in self.parts)

    @property
    def outcome(self) -> Outcome:
        """The outcome of the whole: refuted if any part is, confirmed if all parts are."""
        outcomes = {part.outcome for part in self.parts}
        if "refuted" in outcomes:
            return "refuted"
        return "not checked" if "not checked" in outcomes else "confirmed"

    @property
    def differences(self) -> tuple[str, ...]:
        """A sentence for each difference between the claim and the rows."""
        refuted = (part for part in self.parts if part.outcome == "refuted")
        return tuple(f"{part.name}: {text}" for part in refuted for text in part.sentences)

    def __repr__(self) -> str:
        n_confirmed = sum(part.outcome == "confirmed" for part in self.parts)
        word = "partly confirmed" if self.outcome == "not checked" else self.outcome
        bounds = "" if self.share == 1 else f", {self.share:.1%} of the bounds"
        return f"Verification({word}: {n_confirmed} of {len(self.parts)} parts{bounds})"

    def __str__(self) -> str:
        width = max(len(part.name) for part in self.parts)
        lines = []
        for part in self.parts:
            first, *more = part.sentences
            lines.append(f"{part.name:{width}}  {part.outcome:11}  {first}")
            lines += [f"{'':{width}}  {'':11}  {text}" for text in more]
        return "\n".join(lines)

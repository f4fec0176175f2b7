"""Verification: a second program checks the claim of a model, part by part."""

from __future__ import annotations

import math
import os
import platform
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from threadpoolctl import threadpool_limits

from surtree._support.package import VERSION, user_level
from surtree._support.parameters import read_time_limit
from surtree.data.named import RowInputs
from surtree.tree.provenance import Receipt, claim_digest
from surtree.verification import program
from surtree.verification._bounds import EXACT, Effort, Proof, effort_of, prove
from surtree.verification._claim import (
    NOTHING,
    Claim,
    ClaimedRows,
    other_rows_text,
    program_text,
    read_claim,
    read_claimed_rows,
    write_claim,
)
from surtree.words.numbers import plural
from surtree.words.printed import Printed

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
class Verification(Printed):
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


# The parts that are not checked where the file or the rows are others.
_UNSEEN = {name: ["It was not looked at."] for name in PARTS if name != "file"}


def verify(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: ArrayLike | str | None = None,
    entry: ArrayLike | str | None = None,
    *,
    treatment: ArrayLike | str | None = None,
    time_limit: float | None = 600.0,
    progress: Callable[[float], object] | None = None,
    export: str | os.PathLike[str] | None = None,
) -> Verification:
    """Confirm a model by a second program: its leaves, its curves, and that no tree is better.

    The program (``surtree/verification/program.py``) is 250 lines of NumPy that share nothing with
    the search: it reads the questions off the model file, and computes the baseline, the sums, the
    losses and the optimum of every size anew.

    Parameters
    ----------
    model : SurTree, CompetingRisksTree, EffectTree, a search of them, or a path
        A fitted model, or its file.
    X, y, sample_weight, entry : object
        The rows that it was fitted on, in any order, as ``fit`` takes them.
    treatment : array of shape (n_samples,), or the name of a column, optional
        The arm of each row, of an `EffectTree`.
    time_limit : float or None, default=600
        About how many seconds it may take. Where all trees of the claim take longer, or more than
        1.5 GB, a warning says so before it starts: fewer sizes are confirmed then, and lower
        bounds of the others in part.
    progress : callable, optional
        It is told the share of a search that is done, from 0 to 1.
    export : path, optional
        A folder to write the program to, the rows as whole numbers, and the file of the model:
        ``python verify.py`` in it repeats the check anywhere, with NumPy alone.

    Returns
    -------
    Verification
        Its ``confirmed`` is true if every part is. ``model.receipt_ = verification.receipt`` keeps
        that in the model, and reports say so.

    Examples
    --------
    >>> import surtree
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> model = surtree.SurTree(max_depth=3).fit(X, y)
    >>> surtree.verify(model, X, y).confirmed
    True
    >>> surtree.verify(model, X[:-2], y[:-2]).differences[0]
    'rows: The table has 684 rows, and lacks 2 rows of the fit, which had 686.'
    """
    claim, estimator, is_edited = read_claim(model)
    name = claim_digest(claim)
    claim |= {"known": claim.get("known", {}), "cuts": claim["cuts"] or [NOTHING]}
    rows = read_claimed_rows(
        claim, estimator, RowInputs(X, y, sample_weight, entry, treatment=treatment)
    )
    if export is not None:
        write_claim(
            {**claim, "rows": claim.get("rows") or program.digest(rows)}, rows, Path(export)
        )
    limit = read_time_limit(time_limit)
    seconds = math.inf if limit is None else limit
    with threadpool_limits(1, "blas"):  # the products are small: threads would wait for each other
        parts, share = _check(claim, rows, seconds, progress)
    if is_edited:
        fault = VerifiedPart("file", "refuted", ("The file was edited since it was written.",))
        parts = [fault, *(part for part in parts if part.name != "file")]
    verification = Verification(tuple(parts), share)
    if not verification.confirmed:
        return verification
    return replace(verification, receipt=_receipt(name, program.digest(rows)))


def _check(
    claim: Claim, rows: ClaimedRows, seconds: float, progress: Callable[[float], object] | None
) -> tuple[list[VerifiedPart], float]:
    """Run the program; return its parts, and the share of the lower bounds that is confirmed."""
    digest = program.digest(rows)
    left: dict[str, list[str]] = {}
    if not claim.get("rows"):
        left["rows"] = ["The file keeps no digest of its rows: it is old, or of a lazy table."]
        claim["rows"] = digest
    if claim["rows"][: len(digest)] != digest:
        return _parts({"rows": [other_rows_text(claim, rows)]}, _UNSEEN), 0.0
    try:
        claim["below"] = program.below(claim)
        objective = program.Objective(claim, rows)
        _tell_effort(effort_of(claim, rows, objective), seconds)
        proof = prove(claim, rows, objective, seconds, progress or (lambda share: None))
        wrong = program.check(claim, rows, objective, proof.known)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        fault = f"the file cannot be read as a model: {error!r}"
        return _parts({"file": [fault]}, _UNSEEN), 0.0
    share = _compare_bounds(claim, proof, wrong, left)
    parts = _parts(wrong, left)
    n_open = sum(size["lower_bound"] < size["loss"] for size in claim["path"])
    if n_open:
        text = f"Sizes that the file calls optimal are; of {n_open} others it has a bound alone."
        parts = [
            replace(part, sentences=(text,))
            if (part.name, part.outcome) == ("optimum", "confirmed")
            else part
            for part in parts
        ]
    return parts, share


def _tell_effort(effort: Effort, seconds: float) -> None:
    """Warn, before the search begins, if not all trees can be tried."""
    if not effort.fits(EXACT * seconds):
        warnings.warn(
            f"All trees of this claim would take {effort}: a part of them is tried. Allow more "
            "time (time_limit), or verify a model of less depth or fewer thresholds.",
            UserWarning,
            stacklevel=user_level(),
        )


def _parts(wrong: dict[str, list[str]], left: dict[str, list[str]]) -> list[VerifiedPart]:
    parts = []
    for name, text in PARTS.items():
        if wrong.get(name):
            sentences = tuple(f"{each[0].upper()}{each[1:]}." for each in wrong[name])
            parts.append(VerifiedPart(name, "refuted", sentences))
        elif left.get(name):
            parts.append(VerifiedPart(name, "not checked", tuple(left[name])))
        else:
            parts.append(VerifiedPart(name, "confirmed", (text,)))
    return parts


def _compare_bounds(
    claim: Claim, proof: Proof, wrong: dict[str, list[str]], left: dict[str, list[str]]
) -> float:
    """Compare bounds of sizes whose optimum is not known with what is proven.

    What differs and what is left goes to the two dictionaries; the share of every bound that is
    confirmed is returned.
    """
    share, unproven = 1.0, []
    for size in claim["path"]:
        splits, bound = size["splits"], size["lower_bound"]
        room = program.TOLERANCE * (1 + bound)
        number = splits if size is not claim["path"][-1] else -1  # which stands for larger sizes
        if not math.isnan(proof.known[number]):
            continue
        if bound > proof.upper[number] + room:
            better = (
                f"a tree with {plural(splits, 'split')} has the loss {proof.upper[number]:.10g}"
            )
            wrong["bounds"].append(f"{better}, below the bound {bound:.10g}")
        elif bound > proof.lower[number] + room:
            unproven.append(splits)
            share = min(share, float(proof.lower[number]) / bound)
    if unproven:
        sizes = f"of {len(claim['path'])} sizes, those with {unproven[0]} to {unproven[-1]} splits"
        text = (
            f"All trees would take {proof.effort}: {sizes} are not confirmed; the bounds that are "
            f"proven are at least {share:.1%} of those of the file."
        )
        left["optimum"] = left["bounds"] = [text]
    return share


def _receipt(claim: str, rows: list[int]) -> Receipt:
    return Receipt(
        date=date.today().isoformat(),
        model=claim,
        rows="".join(f"{number:08x}" for number in rows),
        program=sha256(program_text().encode()).hexdigest(),
        versions=f"surtree {VERSION}, NumPy {np.__version__}, Python {platform.python_version()}",
    )

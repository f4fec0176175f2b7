"""What a family is, and how one of its cases is run and judged."""

from __future__ import annotations

import re
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Literal
from zlib import crc32

import numpy as np
from sklearn.exceptions import ConvergenceWarning

# Innermost frames that a failure shows, and characters of the note that says what the problem was.
_FRAMES, _NOTE = 5, 1500


class Wrong(AssertionError):  # noqa: N818
    """An answer that is not the right one."""


@dataclass(frozen=True)
class Family:
    """Random problems of one kind.

    Parameters
    ----------
    check : callable
        Draws a problem from a random generator, solves it and judges the answer.
    refusals : tuple of str, default=()
        Patterns of the messages with which a ``ValueError`` may refuse such a problem.
    share : float, default=1
        How much time it gets relative to other families.
    """

    check: Callable[[np.random.Generator], None]
    refusals: tuple[str, ...] = ()
    share: float = 1.0

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.check.__name__


Verdict = Literal["compared", "refused", "wrong", "crashed"]


@dataclass(frozen=True)
class Outcome:
    """How a case ended: the verdict, what there is to say about it, and its seconds."""

    verdict: Verdict
    text: str
    seconds: float


def run_case(family: Family, seed: int, number: int, *, in_full: bool = False) -> Outcome:
    """Run one case; in full, a failure shows all of its traceback and of its problem."""
    start = perf_counter()
    verdict, text = _judge(family, _generator(family, seed, number), in_full)
    return Outcome(verdict, text, perf_counter() - start)


def _generator(family: Family, seed: int, number: int) -> np.random.Generator:
    return np.random.default_rng([seed, crc32(family.name.encode()), number])


def _judge(family: Family, rng: np.random.Generator, in_full: bool) -> tuple[Verdict, str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            # A time limit that ends a search is no fault of it.
            warnings.simplefilter("ignore", ConvergenceWarning)
            # Few rows often have their events before others enter.
            warnings.filterwarnings("ignore", "All rows at risk at .* have their event then")
            family.check(rng)
    except (Exception, KeyboardInterrupt) as error:
        if is_refusal(error, family.refusals):
            return "refused", str(error)
        if not in_full:
            error.__notes__ = [note[:_NOTE] for note in getattr(error, "__notes__", [])]
        shown = traceback.format_exception(error, limit=None if in_full else -_FRAMES)
        return "wrong", "".join(shown).strip()
    return "compared", ""


def is_refusal(error: BaseException, refusals: Sequence[str]) -> bool:
    """Tell whether an error is of a kind that the family expects, told in one line."""
    return (
        isinstance(error, ValueError)
        and not isinstance(error, UnicodeError)  # a codec speaks, not surtree
        and len(str(error).splitlines()) == 1
        and any(re.search(pattern, str(error)) for pattern in refusals)
    )

"""A run: which case comes next, what failed, and the table at the end."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from fuzz.family import Family, Outcome
from fuzz.worker import Worker

PATIENCE = 120.0
MOST_FAILURES = 10
_KINDS = ("compared", "refused", "wrong", "crashed")


@dataclass
class Tally:
    """A family, which of its cases is next, and how those before have ended."""

    family: Family
    next_case: int
    last_case: float
    verdicts: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    @property
    def failed(self) -> int:
        """The number of cases that went wrong, in whatever way."""
        return self.verdicts["wrong"] + self.verdicts["crashed"]

    @property
    def passed(self) -> int:
        """The number of cases that were found right, or refused clearly."""
        return self.verdicts["compared"] + self.verdicts["refused"]


@dataclass(frozen=True)
class _Running:
    """A case at work."""

    tally: Tally
    number: int
    since: float


def run(
    families: Sequence[Family],
    *,
    seed: int,
    seconds: float = math.inf,
    jobs: int = 1,
    first_case: int = 0,
    n_cases: float = math.inf,
    in_full: bool = False,
    patience: float = PATIENCE,
    most_failures: int = MOST_FAILURES,
) -> bool:
    """Run cases of some families, and print failures and a table.

    Parameters
    ----------
    families : sequence of Family
        What to run. Each gets its share of the time.
    seed : int
        What all cases are drawn from.
    seconds : float, optional
        After so many no case is begun any more.
    jobs : int, default=1
        How many cases run at the same time.
    first_case : int, default=0
        The number of the first case of each family.
    n_cases : int, optional
        How many cases of each family to run at most.
    in_full : bool, default=False
        Whether failures show all of their traceback and of their problem.
    patience : float, default=120
        Seconds after which a case is taken to hang.
    most_failures : int, default=10
        A family that failed so often is left alone for the rest of the run.

    Returns
    -------
    bool
        Whether nothing failed.
    """
    tallies = [Tally(family, first_case, first_case + n_cases - 1) for family in families]
    end = perf_counter() + seconds
    with TemporaryDirectory() as directory, ExitStack() as workers:
        idle = [
            workers.enter_context(closing(Worker(Path(directory) / f"{job}.log", patience)))
            for job in range(jobs)
        ]
        busy: dict[Worker, _Running] = {}
        try:
            while True:
                while idle and (tally := _next(tallies, busy, end, most_failures)):
                    worker = idle.pop()
                    worker.send(tally.family, seed, tally.next_case, in_full=in_full)
                    busy[worker] = _Running(tally, tally.next_case, perf_counter())
                    tally.next_case += 1
                if not busy:
                    break
                for worker, outcome in _outcomes(busy):
                    case = busy.pop(worker)
                    idle.append(worker)
                    case.tally.verdicts[outcome.verdict] += 1
                    case.tally.seconds += outcome.seconds
                    _show_failure(case, seed, outcome)
        except KeyboardInterrupt:
            print("interrupted")
    return _summarize(tallies)


def _next(
    tallies: list[Tally], busy: dict[Worker, _Running], end: float, most_failures: int
) -> Tally | None:
    """Return the family that has had the least of its share of the time, if any may go on."""
    now = perf_counter()

    def spent(tally: Tally) -> float:
        running = sum(now - case.since for case in busy.values() if case.tally is tally)
        return (tally.seconds + running) / tally.family.share

    left = [
        tally
        for tally in tallies
        if now < end and tally.next_case <= tally.last_case and tally.failed < most_failures
    ]
    return min(left, key=spent, default=None)


def _outcomes(busy: dict[Worker, _Running]) -> list[tuple[Worker, Outcome]]:
    """Wait until something happens, and return the cases that have ended."""
    wait([worker.connection for worker in busy], min(worker.time_left() for worker in busy))
    received = [(worker, worker.receive()) for worker in busy]
    return [(worker, outcome) for worker, outcome in received if outcome is not None]


def _show_failure(case: _Running, seed: int, outcome: Outcome) -> None:
    """Print a case that went wrong, and how to see it again."""
    if outcome.verdict not in ("wrong", "crashed"):
        return
    name = case.tally.family.name
    print(f"--- {name}, case {case.number}: {outcome.verdict}")
    print(f"    again: python -m fuzz --seed {seed} --family {name} --case {case.number}")
    print("\n".join(f"    {line}" for line in outcome.text.splitlines()), flush=True)


def _summarize(tallies: list[Tally]) -> bool:
    width = max(len("family"), *(len(tally.family.name) for tally in tallies))
    print(f"{'family':{width}}", *(f"{word:>8}" for word in ("cases", *_KINDS, "seconds")))
    for tally in tallies:
        counts = tally.verdicts.total(), *(tally.verdicts[kind] for kind in _KINDS)
        cells = *(f"{count:8}" for count in counts), f"{tally.seconds:8.1f}"
        print(f"{tally.family.name:{width}}", *cells)
    passed = sum(tally.passed for tally in tallies)
    failed = sum(tally.failed for tally in tallies)
    print(f"{passed} passed, {failed} failed", flush=True)
    return failed == 0

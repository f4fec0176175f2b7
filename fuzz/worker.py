"""A process that runs cases one at a time, so that a case can end it and nothing else."""

from __future__ import annotations

import faulthandler
import multiprocessing
import resource
import signal
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter

from fuzz.family import Family, Outcome, run_case

_SPAWN = multiprocessing.get_context("spawn")
# Seconds that a process has to import what a family needs, and to write where it hangs.
_START, _LAST_WORDS = 60.0, 5.0
_MOST_WORDS = 2000


class Worker:
    """Runs one case at a time, and starts anew after one that ended the process.

    Parameters
    ----------
    log : Path
        Where the process writes what it was doing when it crashed.
    patience : float
        Seconds after which a case is taken to hang.
    """

    def __init__(self, log: Path, patience: float) -> None:
        self._log = log
        self._patience = patience
        self._begin()

    def _begin(self) -> None:
        self.connection, theirs = _SPAWN.Pipe()
        self._process = _SPAWN.Process(target=_serve, args=(theirs, str(self._log)), daemon=True)
        self._process.start()
        theirs.close()  # so that the end of the process is the end of the pipe
        self._end = perf_counter()

    def send(self, family: Family, seed: int, number: int, *, in_full: bool = False) -> None:
        """Start a case."""
        self._end = perf_counter() + _START + self._patience
        self.connection.send((family, seed, number, in_full))

    def time_left(self) -> float:
        """Return the seconds after which the case is taken to hang."""
        return max(self._end - perf_counter(), 0.0)

    def receive(self) -> Outcome | None:
        """Return how the case ended, or None while it runs."""
        try:
            while self.connection.poll():
                outcome = self.connection.recv()
                if outcome is not None:
                    return outcome
                self._end = perf_counter() + self._patience  # it has just begun
        except (EOFError, ConnectionError):
            return self._crash()
        return None if self.time_left() > 0 else self._crash(hangs=True)

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()
        self.connection.close()

    def _crash(self, *, hangs: bool = False) -> Outcome:
        if hangs:
            self._process.terminate()  # it writes where it is; see _serve
            self._process.join(_LAST_WORDS)
            self._process.kill()
        self._process.join()
        how = f"hangs: no answer after {self._patience:g} s" if hangs else self._death()
        said = self._log.read_text(encoding="utf-8", errors="replace") if self._log.exists() else ""
        self.connection.close()
        seconds = max(perf_counter() - self._end + self._patience, 0.0)
        self._begin()
        # The stack is enough; what follows are the names of a hundred compiled modules.
        stack = said.split("Extension modules:")[0][:_MOST_WORDS]
        return Outcome("crashed", f"{how}\n{stack}".strip(), seconds)

    def _death(self) -> str:
        code = self._process.exitcode or 0
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return f"the process died: {how}"


def _serve(connection: Connection, log: str) -> None:
    """Run cases until there are no more."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with open(log, "w", encoding="utf-8") as last_words:  # noqa: PTH123
        faulthandler.enable(last_words)
        faulthandler.register(signal.SIGTERM, last_words, chain=True)
        # Where the pipe ends, the run has ended.
        with suppress(EOFError, ConnectionError, KeyboardInterrupt):
            while True:
                family, seed, number, in_full = connection.recv()
                connection.send(None)
                connection.send(run_case(family, seed, number, in_full=in_full))

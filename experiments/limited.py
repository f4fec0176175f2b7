"""A function in a process of its own: it can be stopped in time, and it can crash alone."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parents[1]


class CrashError(Exception):
    """The process ended without an answer."""


def run_limited(seconds: float, function: Callable[..., Any], *arguments: object) -> Any:
    """Return what a function returns, or raise what it raises, TimeoutError or CrashError.

    Parameters
    ----------
    seconds : float
        How long it may keep a processor busy, once its process has imported what it needs.
    function : callable
        A function of a module.
    *arguments : object
        What to call it with.
    """
    if seconds <= 0:
        raise TimeoutError("no time left")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "experiments.limited", str(seconds)],
        input=pickle.dumps((function, arguments)),
        capture_output=True,
        cwd=_ROOT,
        check=False,
    )
    if done.returncode == -signal.SIGPROF:
        raise TimeoutError(f"no answer in {seconds:g} s")
    if done.returncode != 0:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise CrashError(" ".join(["the process ended without an answer:", *last]))
    answer, error = pickle.loads(done.stdout)
    if error is not None:
        raise error
    return answer


def _answer(seconds: float) -> None:
    """Read a function and its arguments, and write what it returns or raises."""
    # Peers print what they do; the answer has the true standard output for itself.
    output = os.dup(1)
    os.dup2(2, 1)
    function, arguments = pickle.load(sys.stdin.buffer)
    # Nobody handles the signal, so that it ends the process, wherever it is.
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        message: tuple[Any, Exception | None] = function(*arguments), None
    except Exception as error:
        message = None, error
    signal.setitimer(signal.ITIMER_PROF, 0)
    with os.fdopen(output, "wb") as file:
        pickle.dump(message, file)


if __name__ == "__main__":
    _answer(float(sys.argv[1]))

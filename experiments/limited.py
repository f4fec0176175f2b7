"""A function in a process of its own: it can be stopped in time, and it can crash alone."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

# Seconds for the new process to import what it needs.
_START = 120.0


class CrashError(Exception):
    """The process ended without an answer."""


def run_limited(seconds: float, function: Callable[..., Any], *arguments: object) -> Any:
    """Return what a function returns, or raise what it raises, TimeoutError or CrashError.

    Parameters
    ----------
    seconds : float
        How long it may take, once its process is ready.
    function : callable
        A function of a module.
    *arguments : object
        What to call it with.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(sender, function, arguments), daemon=True)
    process.start()
    sender.close()
    try:
        if _receive(receiver, _START) != "ready":
            raise CrashError("the process did not start")
        answer, error = _receive(receiver, seconds)
    finally:
        process.kill()
        process.join()
        receiver.close()
    if error is not None:
        raise error
    return answer


def _receive(receiver: Connection, seconds: float) -> Any:
    if not receiver.poll(seconds):
        raise TimeoutError(f"no answer in {seconds:g} s")
    try:
        return receiver.recv()
    except EOFError:
        raise CrashError("the process ended without an answer") from None


def _answer(sender: Connection, function: Callable[..., Any], arguments: tuple[object, ...]) -> None:
    # Peers print what they do.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sender.send("ready")
    try:
        message = function(*arguments), None
    except Exception as error:
        message = None, RuntimeError(f"{type(error).__name__}: {error}")
        if isinstance(error, TimeoutError):
            message = None, TimeoutError(str(error))
    sender.send(message)

"""Seconds of the processor, which other work on the machine does not change much."""

from __future__ import annotations

import os


def processor_seconds() -> float:
    """Return how long this process and its finished children have kept a processor busy.

    All methods run in one thread, so that on a machine without other work this is the time that
    passes.
    """
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system

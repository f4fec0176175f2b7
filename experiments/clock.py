"""Seconds of the processor, which other work on the machine does not change much."""

from __future__ import annotations

import resource
from time import process_time


def processor_seconds() -> float:
    """Return how long this process and its finished children have kept a processor busy.

    All methods run in one thread, so that on a machine without other work this is the time that
    passes.
    """
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return process_time() + children.ru_utime + children.ru_stime

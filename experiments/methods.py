"""All methods behind one face: training rows in, the leaf of each row out, tuned or not."""

from __future__ import annotations

import importlib.util
from importlib import import_module
from typing import Literal

import numpy as np

from experiments import our_methods, peer_methods
from experiments.clock import processor_seconds
from experiments.limited import CrashError, run_limited
from experiments.scores import Partition
from experiments.task import Attempt, Method, Status, Task

METHODS: dict[str, Method] = {
    "surtree": Method("binary", our_methods.fit_surtree, our_methods.tune_surtree),
    "ctree": Method("numeric", our_methods.fit_ctree, our_methods.tune_ctree),
    "local search": Method("numeric", our_methods.fit_local_search, our_methods.tune_local_search),
    "greedy": Method("numeric", our_methods.fit_greedy, our_methods.tune_greedy),
    "pystreed": Method("binary", peer_methods.fit_pystreed, peer_methods.tune_pystreed, "pystreed"),
    "osst": Method(
        "binary", peer_methods.fit_osst, peer_methods.tune_osst, "osst", guards_itself=True
    ),
    "scikit-survival": Method(
        "numeric", peer_methods.fit_sksurv, peer_methods.tune_sksurv, "sksurv.tree"
    ),
}
OURS = tuple(name for name, method in METHODS.items() if method.package is None)


def attempt(name: str, how: Literal["fit", "tune"], task: Task) -> Attempt:
    """Run a method; whatever goes wrong becomes a status.

    Parameters
    ----------
    name : str
        The name of the method.
    how : {"fit", "tune"}
        Without or with tuning.
    task : Task
        What it is given.
    """
    method = METHODS[name]
    package = method.package
    if package is not None and importlib.util.find_spec(package.partition(".")[0]) is None:
        return Attempt(Status.NOT_INSTALLED, np.nan, message=package)
    start = processor_seconds()
    try:
        if package is None or method.guards_itself:
            seconds, leaves = timed(name, how, task)
        else:
            seconds, leaves = run_limited(task.limit, timed, name, how, task)
    except TimeoutError:
        return Attempt(Status.TIME_LIMIT, task.limit, message=f"more than {task.limit:g} s")
    except CrashError as error:
        return Attempt(Status.ERROR, processor_seconds() - start, message=str(error))
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
        return Attempt(Status.ERROR, processor_seconds() - start, message=message)
    return Attempt(Status.DONE, seconds, leaves)


def timed(name: str, how: Literal["fit", "tune"], task: Task) -> tuple[float, Partition]:
    """Run a method, and return also the processor seconds that it took."""
    method = METHODS[name]
    if method.package is not None and not method.guards_itself:
        # In a process of its own that would be most of a small fit.
        import_module(method.package)
    start = processor_seconds()
    leaves = getattr(method, how)(task)
    return processor_seconds() - start, leaves

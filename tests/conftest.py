"""Settings that must be made before tests, and scipy, are imported."""

import os
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import settings

# With it scikit-learn's check_estimator runs its array API checks too, instead of skipping them.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# The same examples in every run, so that a change is judged by what it changed. To find new ones:
# HYPOTHESIS_PROFILE=search make test-python
settings.register_profile("same", derandomize=True)
settings.register_profile("search", derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))


# Tests that take longer than this, in seconds, by the name of their file and function.
SLOW = Path(__file__).with_name("slow.txt")
LEAST_SLOW = 0.02


def name_of(node_id):
    """Return the file and the function of a test, without folder and parameters."""
    return node_id.rpartition("/")[2].partition("[")[0]


def pytest_collection_modifyitems(items):
    slow = set(SLOW.read_text().splitlines())
    for item in items:
        if name_of(item.nodeid) not in slow:
            item.add_marker(pytest.mark.fast)


def pytest_addoption(parser):
    parser.addoption("--record-slow", metavar="FILE", help="write the names of slow tests")


seconds_of = defaultdict(float)  # the longest of a function's tests, with its fixtures


def pytest_runtest_logreport(report):
    name = name_of(report.nodeid)
    seconds_of[name] = max(seconds_of[name], report.duration)


def pytest_sessionfinish(session):
    if file := session.config.getoption("--record-slow"):
        slow = sorted(name for name, seconds in seconds_of.items() if seconds > LEAST_SLOW)
        Path(file).write_text("\n".join(slow) + "\n")


@pytest.fixture(scope="module")
def client():
    """A Dask cluster of two processes on this machine."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as workers,
        Client(workers) as client,
    ):
        yield client

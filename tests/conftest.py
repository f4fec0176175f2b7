"""Settings that must be made before tests, and scipy, are imported."""

import os

import pytest
from hypothesis import settings

# With it scikit-learn's check_estimator runs its array API checks too, instead of skipping them.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# The same examples in every run, so that a change is judged by what it changed. To find new ones:
# HYPOTHESIS_PROFILE=search make test-python
settings.register_profile("same", derandomize=True)
settings.register_profile("search", derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))


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

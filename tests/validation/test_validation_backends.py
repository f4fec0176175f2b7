"""Validation gives the same numbers wherever joblib runs it."""

from contextlib import ExitStack

import joblib
import numpy as np
import pytest

from surtree import SurTree, SurTreeBayes, validate
from surtree.datasets import load_gbsg2

X, Y = load_gbsg2(backend="pandas")


def on(backend, stack):
    """Start what a backend needs, and make joblib use it."""
    if backend == "dask":
        distributed = pytest.importorskip("distributed", reason="pip install dask[distributed]")
        cluster = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
        )
        stack.enter_context(distributed.Client(stack.enter_context(cluster)))
    stack.enter_context(joblib.parallel_config(backend=backend))


@pytest.mark.parametrize("backend", ["threading", "loky", "dask"])
@pytest.mark.parametrize("model", [SurTree(max_depth=2), SurTreeBayes(1, 2)])
def test_backends_give_the_same_numbers(model, backend):
    alone = validate(model, X, Y, n_bootstraps=4)
    with ExitStack() as stack:
        on(backend, stack)
        found = validate(model, X, Y, n_bootstraps=4, n_jobs=2)
    assert repr(found) == repr(alone)  # four samples have no intervals, and NaN is not NaN
    assert found.n_repetitions == 4
    assert np.isfinite(found.repetitions.resampled).all()
    for name in ("resampled", "original", "held_out", "predicted"):
        one, other = (getattr(result.repetitions, name) for result in (found, alone))
        np.testing.assert_array_equal(one, other)

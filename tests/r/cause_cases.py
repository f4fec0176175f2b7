"""Ten tables of competing risks, and the trees on them whose leaves R is asked about."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd

from surtree import CompetingRisksTree
from surtree.datasets import load_gbsg2, load_lung, load_melanoma, load_regimes, load_rossi


@dataclass(frozen=True)
class CauseCase:
    X: pd.DataFrame
    y: np.ndarray
    model: CompetingRisksTree
    weight: np.ndarray | None = None
    entry: np.ndarray | None = None


def _target(cause, time):
    y = np.empty(len(time), dtype=[("cause", int), ("time", float)])
    y["cause"], y["time"] = cause, time
    return y


def _fit(X, y, weight=None, entry=None, **parameters):
    parameters = {"max_depth": 2, "min_samples_leaf": 15} | parameters
    model = CompetingRisksTree(**parameters).fit(X, y, weight, entry)
    return CauseCase(X, y, model, weight, entry)


def _with_causes(load, seed, n_causes=2):
    """Take a table of one event, and draw a cause for each: the real tables have none."""
    X, y = load(backend="pandas")
    cause = np.random.default_rng(seed).integers(1, n_causes + 1, len(y))
    return X, _target(np.where(y["event"], cause, 0), y["time"])


def _simulated(seed, n=300, n_causes=2, ties=False, censored=0.4):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(size=n).round(2), "b": rng.integers(0, 4, n)})
    hazard = [np.exp(0.7 * (j - 1) * X["a"] + 0.4 * (X["b"] == j)) for j in range(n_causes)]
    times = np.stack([rng.exponential(1.0 / h) for h in hazard])
    time, cause = times.min(axis=0), times.argmin(axis=0) + 1
    end = rng.exponential(1.0 / max(censored, 1e-9), n)
    cause, time = np.where(end < time, 0, cause), np.minimum(time, end)
    time = np.ceil(4 * time) / 4 if ties else (time + 1e-3).round(4)
    return X, _target(cause, time), rng


@cache
def melanoma():
    return _fit(*load_melanoma(backend="pandas"), min_samples_leaf=10)


@cache
def melanoma_years():
    X, y = load_melanoma(backend="pandas")
    return _fit(X, _target(y["cause"], np.ceil(y["time"] / 365.25)), max_depth=3)


@cache
def gbsg2():
    return _fit(*_with_causes(load_gbsg2, 1, 3), max_depth=3)


@cache
def lung():
    return _fit(*_with_causes(load_lung, 2))


@cache
def regimes():
    return _fit(*_with_causes(load_regimes, 3, 5), causes=[1, 2, 4])


@cache
def rossi():
    return _fit(*_with_causes(load_rossi, 4), causes=1)


@cache
def simulated():
    return _fit(*_simulated(5)[:2], max_depth=3, min_samples_leaf=5)


@cache
def tied():
    return _fit(*_simulated(6, n_causes=4, ties=True)[:2], causes={1: 1.0, 2: 0.5, 3: 2.0})


@cache
def late_entry():
    X, y, rng = _simulated(7, n=400)
    entry = np.where(rng.random(len(y)) < 0.5, (0.6 * rng.random(len(y)) * y["time"]).round(5), 0.0)
    return _fit(X, y, None, entry, min_samples_leaf=40)


@cache
def weighted():
    X, y, rng = _simulated(8)
    return _fit(X, y, rng.choice([0.5, 1.0, 2.0, 3.3], len(y)))


CAUSE_CASES = {
    case.__name__: case
    for case in (
        melanoma,
        melanoma_years,
        gbsg2,
        lung,
        regimes,
        rossi,
        simulated,
        tied,
        late_entry,
        weighted,
    )
}

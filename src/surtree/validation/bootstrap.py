"""Bootstrap validation: everything that builds a model is repeated on bootstrap samples."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from surtree._types import Floats
from surtree.data.take import take
from surtree.data.target import Target, read_target, read_weights, require_events
from surtree.metrics._input import read_times
from surtree.model_selection.folds import FoldProgress
from surtree.parameters import require_hook, require_jobs, require_random_state, require_whole
from surtree.survival.confidence import LEVEL, require_level
from surtree.tree.tree import Tree
from surtree.validation.performance import measure, predict
from surtree.validation.result import ColumnUse, Validation

# Over which quantiles of the times the Brier score is integrated, as the paper does it.
_INTERVAL = (0.1, 0.9)

Positions = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class _Rows:
    """All rows, as the user passed them and as they are read."""

    X: Any
    y: Any
    target: Target
    weight: Floats | None
    entry: Floats | None
    horizons: Floats
    interval: tuple[float, float]

    @property
    def n(self) -> int:
        return self.target.time.size


@dataclass(frozen=True, eq=False)
class _Repetition:
    """What one bootstrap sample says: None where it has no model."""

    resampled: Floats
    original: Floats
    asked: tuple[str, ...] = ()
    first: str | None = None


def validate(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: ArrayLike | None = None,
    entry: ArrayLike | None = None,
    *,
    n_bootstraps: int = 200,
    groups: ArrayLike | None = None,
    horizons: ArrayLike | None = None,
    level: float = LEVEL,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Callable[[FoldProgress], object] | None = None,
) -> Validation:
    """Correct the apparent performance of a model for its optimism, by the bootstrap.

    The estimator is cloned and fitted on each bootstrap sample, so that everything it does,
    thresholds, tuning and shrinkage included, is repeated. What its models lose from their own
    sample to all rows is the optimism of the model of all rows (Harrell's correction, as R's
    ``rms::validate``). It is too small for models that fit their rows far too well, such as deep
    trees that are not tuned.

    Parameters
    ----------
    model : estimator
        Of this package, or any survival estimator in scikit-learn's way with ``predict`` (higher
        is riskier) and ``predict_survival_function``. It is cloned; whether it is fitted does not
        matter.
    X, y, sample_weight, entry
        As in `SurTree.fit`. An estimator that takes weights gets a sample as weights, so that
        copies of a row are never on both sides of a fold when it tunes.
    n_bootstraps : int, default=200
        The number of bootstrap samples.
    groups : array of shape (n_samples,), optional
        Rows with the same label, such as those of a patient or of a centre, are drawn together.
    horizons : array of float, optional
        Times for calibration; by default the median time of the events.
    level : float, default=0.95
        The level of intervals.
    random_state : int, default=0
        Where the samples come from.
    n_jobs : int or None, default=None
        How many samples are fitted at the same time, through joblib: in threads, unless
        ``joblib.parallel_config`` names another backend. The result does not depend on it.
    progress : callable, optional
        Called with a `FoldProgress` after each sample; where it returns something true, the
        validation ends with what it has. So does Ctrl-C.

    Returns
    -------
    Validation
        ``print`` shows a table.

    Examples
    --------
    >>> from surtree import SurTree, validate
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> result = validate(SurTree(max_depth=2), X, y, n_bootstraps=20)
    >>> result.n_repetitions
    20
    >>> bool(result["concordance"] < result.apparent[0])
    True
    """
    require_whole("n_bootstraps", n_bootstraps, 1)
    require_random_state(random_state)
    require_jobs(n_jobs)
    require_hook(progress)
    require_level(level)
    rows = _read(model, X, y, sample_weight, entry, horizons)
    whole = _repeat(model, rows, np.arange(rows.n))
    labels = None if groups is None else _read_groups(groups, rows.n)
    seeds = np.random.SeedSequence(random_state).spawn(int(n_bootstraps))
    samples = (_draw(np.random.default_rng(seed), rows.n, labels) for seed in seeds)
    found = _run(model, rows, samples, len(seeds), n_jobs, progress)
    done = [one for one in found if one is not None]
    if not done:
        raise ValueError(
            f"No bootstrap sample of {len(found)} has a model: there are too few rows with events."
        )
    return Validation(
        apparent=whole.original,
        resampled=np.stack([one.resampled for one in done]),
        original=np.stack([one.original for one in done]),
        horizons=rows.horizons,
        level=float(level),
        n_asked=int(n_bootstraps),
        n_failed=len(found) - len(done),
        columns=_column_uses(done),
    )


def _read(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: ArrayLike | None,
    entry: ArrayLike | None,
    horizons: ArrayLike | None,
) -> _Rows:
    n_rows = len(y)
    target = read_target(y, n_rows, entry)
    require_events(target)
    for name, given in (("sample_weight", sample_weight), ("entry", entry)):
        if given is not None and not has_fit_parameter(model, name):
            raise ValueError(f"{type(model).__name__} takes no {name}: leave it out.")
    times = np.median(target.time[target.event]) if horizons is None else horizons
    start, end = np.quantile(target.time, _INTERVAL)
    return _Rows(
        X,
        y,
        target,
        None if sample_weight is None else read_weights(sample_weight, n_rows),
        target.entry,
        read_times(times),
        (float(start), float(end)),
    )


def _read_groups(groups: ArrayLike, n_rows: int) -> Positions:
    labels = np.asarray(groups)
    if labels.shape != (n_rows,):
        raise ValueError(f"groups must have a label for each of {n_rows} rows.")
    return np.asarray(np.unique(labels, return_inverse=True)[1], dtype=np.intp)


def _draw(rng: np.random.Generator, n_rows: int, labels: Positions | None) -> Positions:
    """Draw rows with replacement, or groups of rows."""
    if labels is None:
        return rng.integers(0, n_rows, n_rows)
    n_groups = int(labels.max()) + 1
    order = np.argsort(labels, kind="stable")
    members = np.split(order, np.searchsorted(labels[order], np.arange(1, n_groups)))
    return np.concatenate([members[group] for group in rng.integers(0, n_groups, n_groups)])


def _run(
    model: Any,
    rows: _Rows,
    samples: Any,
    n_samples: int,
    n_jobs: int | None,
    progress: Callable[[FoldProgress], object] | None,
) -> list[_Repetition | None]:
    """Return what each sample says, in their order; those that are done when the user stops."""
    start = perf_counter()
    jobs = (delayed(_numbered)(model, rows, *numbered) for numbered in enumerate(samples))
    # Not every joblib backend can return results as they are done, so that is used only if needed.
    watched = progress is not None or n_jobs in (None, 1)
    parallel = Parallel(
        n_jobs=n_jobs,
        prefer="threads",
        return_as="generator_unordered" if watched else "list",
    )
    found: dict[int, _Repetition | None] = {}
    try:
        for number, repetition in parallel(jobs):
            found[number] = repetition
            if progress is not None and progress(
                FoldProgress(len(found), n_samples, perf_counter() - start)
            ):
                break
    except KeyboardInterrupt:
        if not found:
            raise
    return [found[number] for number in sorted(found)]


def _numbered(
    model: Any, rows: _Rows, number: int, sample: Positions
) -> tuple[int, _Repetition | None]:
    try:
        return number, _repeat(model, rows, sample)
    except ValueError:  # a sample may have too few events to fit or to tune
        return number, None


def _repeat(model: Any, rows: _Rows, sample: Positions) -> _Repetition:
    """Fit on a sample, and measure on the sample and on all rows."""
    with warnings.catch_warnings():
        # Of a sample, the other rows may have categories that it never had.
        warnings.simplefilter("ignore", UserWarning)
        fitted = _fit(clone(model), rows, sample)
        predicted = predict(fitted, rows.X)

    def measured(positions: Positions) -> Floats:
        weight = None if rows.weight is None else rows.weight[positions]
        return measure(
            predicted.take(positions),
            rows.target.take(positions),
            weight,
            rows.horizons,
            rows.interval,
        )

    tree = getattr(fitted, "tree_", None)
    if not isinstance(tree, Tree):
        return _Repetition(measured(sample), measured(np.arange(rows.n)))
    asked = tuple({cut.name for cut in tree.cuts})
    first = tree.question(0).name if tree.n_splits else None
    return _Repetition(measured(sample), measured(np.arange(rows.n)), asked, first)


def _fit(model: Any, rows: _Rows, sample: Positions) -> Any:
    """Fit on a sample: rows that count as often as they were drawn, or that many copies."""
    chosen, weight = sample, None
    if has_fit_parameter(model, "sample_weight"):
        chosen, count = np.unique(sample, return_counts=True)
        if rows.weight is not None:
            weight = count * rows.weight[chosen]
        elif (count > 1).any():
            weight = count.astype(np.float64)
    given = {"sample_weight": weight, "entry": None if rows.entry is None else rows.entry[chosen]}
    extra = {name: values for name, values in given.items() if values is not None}
    return model.fit(take(rows.X, chosen), take(rows.y, chosen), **extra)


def _column_uses(done: Sequence[_Repetition]) -> tuple[ColumnUse, ...]:
    names = {name for one in done for name in one.asked}
    uses = [
        ColumnUse(
            name,
            sum(name in one.asked for one in done) / len(done),
            sum(name == one.first for one in done) / len(done),
        )
        for name in names
    ]
    return tuple(sorted(uses, key=lambda use: (-use.anywhere, -use.first, use.name)))

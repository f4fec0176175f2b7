"""All rows of a validation, and how a model is fitted on a sample of them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_consistent_length, has_fit_parameter

from surtree._types import Floats
from surtree.competing_risks.prediction import refuse_causes
from surtree.data.take import take
from surtree.data.target import Target, read_target, read_weights, require_events
from surtree.data.target_columns import as_rows
from surtree.metrics._input import read_times
from surtree.model_selection.cv import SurTreeCV
from surtree.survival.step_function import BeyondFollowUpWarning
from surtree.validation.models import Predictions, predict
from surtree.validation.performance import Score, brier_interval, scores

Positions = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Rows:
    """All rows that count, as the user passed them and as they are read.

    Parameters
    ----------
    X, y : object
        As the user passed them, without rows of weight zero.
    target, weight : Target, array of float or None
        The rows.
    counted : array of int
        The positions of the rows among those that the user passed.
    horizons : array of float
        Times for calibration.
    interval : tuple of two floats
        Over which the Brier score is integrated.
    """

    X: Any
    y: Any
    target: Target
    weight: Floats | None
    counted: Positions
    horizons: Floats
    interval: tuple[float, float]

    @property
    def n(self) -> int:
        """How many there are."""
        return self.target.time.size

    @cached_property
    def uneven_weight(self) -> Floats | None:
        """The weights, unless all are equal: then measures are those of rows without weights."""
        if self.weight is None or np.ptp(self.weight) == 0:
            return None
        return self.weight

    def scores(self, predicted: Predictions, positions: Positions | None = None) -> list[Score]:
        """Return how well what a model says of all rows agrees with some of them, or with all."""
        if positions is None:
            positions = np.arange(self.n)
        weight = self.uneven_weight
        return scores(
            predicted.take(positions),
            self.target.take(positions),
            None if weight is None else weight[positions],
            self.horizons,
            self.interval,
        )

    def measure(self, predicted: Predictions, positions: Positions | None = None) -> Floats:
        """Return the values of `scores`."""
        return np.array([score.value for score in self.scores(predicted, positions)])

    def warn_of_horizons(self, last_time: float, stacklevel: int) -> None:
        """Warn of horizons after the last follow-up of these rows, or of a model's training rows.

        Parameters
        ----------
        last_time : float
            The last follow-up of the rows that the model was fitted on.
        stacklevel : int
            That of the caller.
        """
        for end, whose in (
            (last_time, "the training rows"),
            (float(self.target.time.max()), "these rows"),
        ):
            beyond = self.horizons[self.horizons > end]
            if beyond.size:
                warnings.warn(
                    f"The {'horizon' if beyond.size == 1 else 'horizons'} "
                    f"{', '.join(f'{horizon:g}' for horizon in beyond)} "
                    f"{'is' if beyond.size == 1 else 'are'} after the last follow-up of {whose}, "
                    f"{end:g}: nobody was observed then, so survival and calibration are not "
                    "numbers (nan). Choose earlier horizons.",
                    BeyondFollowUpWarning,
                    stacklevel=stacklevel + 1,
                )
                return


def read_rows(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: ArrayLike | None,
    entry: ArrayLike | None,
    horizons: ArrayLike | None,
    id: ArrayLike | None = None,
) -> Rows:
    """Read what a user passed to a validation of a model that is to be fitted."""
    refuse_causes(model, "validation")
    for name, given in (("sample_weight", sample_weight), ("entry", entry), ("id", id)):
        if given is not None and not has_fit_parameter(model, name):
            raise ValueError(f"{type(model).__name__} takes no {name}: leave it out.")
    return read_target_rows(X, y, sample_weight, entry, horizons, id)


def read_target_rows(
    X: Any,
    y: Any,
    sample_weight: ArrayLike | None,
    entry: ArrayLike | None,
    horizons: ArrayLike | None,
    id: ArrayLike | None = None,
) -> Rows:
    """Read rows and their target; those of weight zero do not count."""
    y = as_rows(y)
    check_consistent_length(X, y)
    n_rows = len(y)
    target = read_target(y, n_rows, entry, id)
    weight = None if sample_weight is None else read_weights(sample_weight, n_rows)
    counted = np.arange(n_rows)
    if weight is not None and not weight.all():
        counted = np.flatnonzero(weight)
        X, y, target, weight = (
            take(X, counted),
            take(y, counted),
            target.take(counted),
            weight[counted],
        )
    require_events(target)
    times = np.median(target.time[target.event]) if horizons is None else horizons
    return Rows(X, y, target, weight, counted, read_times(times), brier_interval(target))


def fit_on(model: Any, rows: Rows, sample: Positions) -> tuple[Any, Predictions]:
    """Fit a clone on a sample, and ask it about all rows.

    An estimator that takes weights gets rows that count as often as they were drawn, any other as
    many copies.
    """
    chosen, weight = sample, None
    if has_fit_parameter(model, "sample_weight"):
        chosen, count = np.unique(sample, return_counts=True)
        if rows.weight is not None:
            weight = count * rows.weight[chosen]
        elif (count > 1).any():
            weight = count.astype(np.float64)
    entry, person = rows.target.entry, rows.target.person
    given = {
        "sample_weight": weight,
        "entry": None if entry is None else entry[chosen],
        "id": None if person is None else person[chosen],
    }
    extra = {name: values for name, values in given.items() if values is not None}
    fitted = clone(model)
    # Whoever tunes also measures what it chose, which is not needed here.
    fit = fitted.fit_unmeasured if isinstance(fitted, SurTreeCV) else fitted.fit
    with warnings.catch_warnings():
        # Of a sample, the other rows may have categories that it never had.
        warnings.simplefilter("ignore", UserWarning)
        fit(take(rows.X, chosen), take(rows.y, chosen), **extra)
        return fitted, predict(fitted, rows.X)

"""All rows of a validation, and how a model is fitted on a sample of them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_consistent_length, has_fit_parameter

from surtree._support.stack import user_level
from surtree._support.types import Floats
from surtree.data.named import RowInputs
from surtree.data.rows import leave_out_censored_at_zero, read_target_and_weight
from surtree.data.take import take
from surtree.data.target import Target, require_events
from surtree.data.target_columns import as_rows
from surtree.metrics._input import read_times
from surtree.metrics._reason import Score
from surtree.outcomes.refusals import refuse_causes
from surtree.survival.step_function import BeyondFollowUpWarning
from surtree.validation.models import Predictions, predict
from surtree.validation.performance import brier_interval, scores

Positions = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Rows:
    """All rows that count, as the user passed them and as they are read."""

    X: Any  # as the user passed them, without rows of weight zero
    y: Any
    target: Target  # the rows
    weight: Floats | None
    counted: Positions  # the positions of the rows among those that the user passed
    horizons: Floats  # times for calibration
    interval: tuple[float, float]  # over which the Brier score is integrated

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

    def warn_of_horizons(self, last_time: float) -> None:
        """Warn of horizons after the last follow-up of these rows, or of the training rows."""
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
                    stacklevel=user_level(),
                )
                return


def require_fit_parameters(model: Any, given: RowInputs) -> None:
    """Raise an error for rows that an estimator cannot be fitted on."""
    refuse_causes(model, "validation")
    for name in ("sample_weight", "entry", "id"):
        if getattr(given, name) is not None and not has_fit_parameter(model, name):
            raise ValueError(f"{type(model).__name__} takes no {name}: leave it out.")


def read_judged_rows(given: RowInputs, horizons: ArrayLike | None) -> Rows:
    """Read the rows that predictions are compared with; those that do not count are left out.

    Their table may be of any kind that the model takes, so it is not read.
    """
    X, y = given.X, as_rows(given.y)
    check_consistent_length(X, y)
    n_rows = len(y)
    target, weights = read_target_and_weight(replace(given, y=y), n_rows)
    weights = leave_out_censored_at_zero(target, weights)
    counted = np.flatnonzero(weights)
    if counted.size < n_rows:
        X, y, target = take(X, counted), take(y, counted), target.take(counted)
    weight = None if given.sample_weight is None else weights[counted]
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
    # SurTreeCV also scores the chosen model (held_out_), which is not needed here.
    fit = getattr(fitted, "fit_unmeasured", fitted.fit)
    with warnings.catch_warnings():
        # Of a sample, the other rows may have categories that it never had.
        warnings.simplefilter("ignore", UserWarning)
        fit(take(rows.X, chosen), take(rows.y, chosen), **extra)
        return fitted, predict(fitted, rows.X)

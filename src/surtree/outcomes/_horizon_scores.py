"""How the risks that a model predicts at one time agree with rows: their order and their size."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from operator import is_not
from typing import TYPE_CHECKING, Any

import numpy as np

from surtree._support.types import Floats
from surtree.data.target import Target
from surtree.metrics import concordance_index_ipcw, cumulative_dynamic_auc, smooth_calibration
from surtree.metrics.calibration_smooth import SmoothCalibration
from surtree.metrics.reason import Score, after_training, score_or_reason

if TYPE_CHECKING:
    from surtree.outcomes.measures import Predictions

HORIZON_KINDS = ("auc", "c", "ici", "e50", "e90")


class HorizonScores:
    """The scores of a cause, or of one event, at a horizon; all of the same rows share a curve."""

    def __init__(self, cause: int | None, horizon: float) -> None:
        self.cause, self.horizon = cause, horizon
        self.rows: _JudgedRows | None = None

    def score(
        self, predicted: Predictions, target: Target, weight: Floats | None, kind: str
    ) -> Score:
        given = (predicted, target, weight)
        if self.rows is None or any(map(is_not, given, self.rows.given)):
            self.rows = _JudgedRows(self.cause, self.horizon, *given)
        compute: Callable[[], float] = getattr(self.rows, kind)
        return score_or_reason(compute)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the rows out of a pickle."""
        return {"cause": self.cause, "horizon": self.horizon, "rows": None}


class _JudgedRows:
    def __init__(
        self,
        cause: int | None,
        horizon: float,
        predicted: Predictions,
        target: Target,
        weight: Floats | None,
    ) -> None:
        self.given = (predicted, target, weight)
        self.cause, self.horizon = cause, horizon
        self.how: dict[str, Any] = {
            "cause": cause,
            "sample_weight": weight,
            "train_weight": weight,
        }

    @cached_property
    def values(self) -> Floats:
        """What is predicted of survival, or of the incidence of the cause."""
        predicted = self.given[0]
        reason = after_training(self.horizon, predicted.last_time)
        if reason:
            raise ValueError(reason)
        return predicted.of(self.cause).at(self.horizon)

    @property
    def risk(self) -> Floats:
        return 1.0 - self.values if self.cause is None else self.values

    @cached_property
    def smooth(self) -> SmoothCalibration:
        _, target, weight = self.given
        return smooth_calibration(
            target, self.values, self.horizon, cause=self.cause, sample_weight=weight
        )

    def auc(self) -> float:
        target = self.given[1]
        areas, _ = cumulative_dynamic_auc(target, target, self.risk, self.horizon, **self.how)
        return float(areas[0])

    def c(self) -> float:
        target, after = self.given[1], float(np.nextafter(self.horizon, np.inf))
        return concordance_index_ipcw(target, target, self.risk, tau=after, **self.how).cindex

    def ici(self) -> float:
        return self.smooth.ici

    def e50(self) -> float:
        return self.smooth.e50

    def e90(self) -> float:
        return self.smooth.e90

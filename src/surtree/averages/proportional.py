"""The base class of models whose risk multiplies one baseline hazard."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from surtree._support.json_file import damaged
from surtree._support.types import Floats
from surtree.averages.binning import Binning
from surtree.cuts.unseen import warn_of_unseen
from surtree.data.named import RowInputs
from surtree.data.table import Table, read_table
from surtree.estimators.base import SurvivalEstimator
from surtree.survival.baseline import Baseline
from surtree.survival.kaplan_meier import median_time
from surtree.survival.objective import RELATIVE_RISK
from surtree.survival.step_function import StepFunction, beyond_follow_up, read_times


class ProportionalEstimator(SurvivalEstimator):
    """A survival model that predicts a risk for each row, relative to a baseline.

    A subclass has ``baseline_`` once it is fitted, and reads and scores tables.
    """

    baseline_: Baseline
    binning_: Binning

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise an error that names the parameter at fault."""

    @abstractmethod
    def _risk(self, table: Table) -> Floats:
        """Return the risk of each row."""

    def predict(self, X: Any) -> Floats:
        """Return the risk of each row: its hazard relative to the baseline, higher is riskier.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            The same columns as in `fit`. Here and in all methods, a category that `fit` never had
            counts as a missing value, with an `UnseenCategoryWarning`.
        """
        return self._risk(self._read(X))

    def predict_survival_function(
        self, X: Any, *, return_array: bool = False, times: ArrayLike | None = None
    ) -> NDArray[np.object_] | Floats:
        """Return the survival function of each row: the baseline's, to the power of the risk.

        After the last follow-up of the training rows, the end of its ``domain``, it is not a
        number, with a `BeyondFollowUpWarning`.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            The same columns as in `fit`.
        return_array : bool, default=False
            Whether to return numbers at ``unique_times_``, an array of shape
            (n_samples, n_times), instead of an array of step functions.
        times : array of shape (n_times,), optional
            Times at which to return numbers, an array of shape (n_samples, n_times).
        """
        risk = self.predict(X)
        return self._curves(risk, lambda hazard: np.exp(-hazard), 1.0, return_array, times)

    def predict_cumulative_hazard_function(
        self, X: Any, *, return_array: bool = False, times: ArrayLike | None = None
    ) -> NDArray[np.object_] | Floats:
        """Return the cumulative hazard function of each row: the baseline's times the risk.

        Parameters
        ----------
        X, return_array, times
            As in `predict_survival_function`.
        """
        return self._curves(self.predict(X), lambda hazard: hazard, 0.0, return_array, times)

    def predict_median(self, X: Any) -> Floats:
        """Return the predicted median survival time of each row.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            The same columns as in `fit`.

        Returns
        -------
        array of shape (n_samples,)
            Infinity where survival never falls to one half, as far as rows were followed.
        """
        baseline, risk = self.baseline_, self.predict(X)
        return np.array([median_time(baseline.times, baseline.survival(one)) for one in risk])

    def loss(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        entry: ArrayLike | None = None,
        id: ArrayLike | None = None,
    ) -> float:
        """Return the loss of the predicted risks on rows, as that of `SurTree`.

        Parameters
        ----------
        X, y, sample_weight, entry, id
            As in `fit`. The baseline hazard is that of the training rows.
        """
        rows = self._read_rows(RowInputs(X, y, sample_weight, entry, id))
        counted = rows.present
        target = rows.target.take(counted)
        sums = RELATIVE_RISK.row_sums(target, rows.weight[counted], self.baseline_)
        return sums.loss(self._risk(rows.table)[counted])

    @property
    def unique_times_(self) -> Floats:
        """The distinct event times of the training rows."""
        check_is_fitted(self)
        return self.baseline_.times

    @classmethod
    def _loaded(cls, path: Path, parameters: dict[str, Any], attributes: dict[str, Any]) -> Self:
        """Return a model of what a file has."""
        try:
            model = cls(**parameters)
            model._check_parameters()
        except (TypeError, ValueError) as error:
            raise damaged(path, error) from None
        for name, value in attributes.items():
            setattr(model, name, value)
        return model

    def _read(self, X: Any) -> Table:
        check_is_fitted(self)
        table = read_table(self, X, reset=False)
        warn_of_unseen(self.binning_.cuts, table)
        return table

    def _curves(
        self, risk: Floats, of_hazard: Any, before: float, return_array: bool, times: Any
    ) -> NDArray[np.object_] | Floats:
        """Return the curve of each row, or its values at given times or at all steps."""
        baseline = self.baseline_
        if times is not None:
            asked = read_times(times)
            values: Floats = of_hazard(np.outer(risk, baseline.at(asked)))
            values[:, beyond_follow_up(asked, baseline.last_time)] = np.nan
            return values
        values = of_hazard(np.outer(risk, baseline.cumulative_hazard))
        if return_array:
            return values
        functions = np.empty(len(values), dtype=object)
        domain = (0.0, baseline.last_time)
        functions[:] = [StepFunction(baseline.times, one, before, domain) for one in values]
        return functions

"""The base class of averages over all trees: a risk that multiplies one baseline."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from surtree._support.types import Floats
from surtree.averages._binning import Binning
from surtree.averages._model_file import ModelFile
from surtree.averages._stages import MergedRows
from surtree.cuts.encoder import encoder_of
from surtree.cuts.unseen import warn_of_unseen
from surtree.data.named import RowInputs, is_lazy
from surtree.data.table import Table, read_table
from surtree.estimators.base import CurveKind
from surtree.estimators.fit import read_lazy
from surtree.estimators.saved import SavedEstimator
from surtree.fitting.training import FitProblem, make_problem, read_training_data
from surtree.survival.baseline import Baseline
from surtree.survival.follow_up import FollowUp
from surtree.survival.kaplan_meier import median_time
from surtree.survival.objective import RELATIVE_RISK
from surtree.survival.row_sums import Sums
from surtree.survival.step_function import StepFunction, beyond_follow_up, read_times
from surtree.validation import Comparison, Validation
from surtree.words.tables import table_html


class ProportionalEstimator(SavedEstimator):
    """A survival model that predicts a risk for each row, relative to the baseline of all rows."""

    _file: ClassVar[ModelFile]
    baseline_: Baseline
    binning_: Binning
    # What others set later, or only `fit` knows; files keep it.
    validation_: Validation | None = None
    comparison_: Comparison | None = None
    time_unit_: str | None = None
    horizons_: Sequence[float] | None = None
    follow_up_: FollowUp | None = None
    n_rows_: int | None = None
    n_events_: int | None = None

    def _html_repr(self) -> str:
        """Return what a notebook shows: a table, or before `fit` scikit-learn's picture."""
        try:
            check_is_fitted(self)
        except NotFittedError:
            return str(super()._html_repr())
        heading, rows = self._table()
        return table_html(heading, rows, caption=repr(self)) if rows else str(super()._html_repr())

    def _table(self) -> tuple[Sequence[str], list[tuple[str, ...]]]:
        """Return what there is to see of the model, as the heading and the rows of a table."""
        return (), []

    @property
    def unique_times_(self) -> Floats:
        """The distinct event times of the training rows."""
        check_is_fitted(self)
        return self.baseline_.times

    @abstractmethod
    def _risk_of_table(self, table: Table) -> Floats:
        """Return the risk of each row."""

    def _read(self, X: Any) -> Table:
        check_is_fitted(self)
        table = read_table(self, X, reset=False)
        warn_of_unseen(self.binning_.cuts, table)
        return table

    def _risk(self, X: Any) -> Floats:
        return self._risk_of_table(self._read(X))

    def _curves(
        self, X: Any, kind: CurveKind, return_array: bool, times: ArrayLike | None
    ) -> NDArray[np.object_] | Floats:
        values_at = partial(self._values, self._read(X), kind)
        if times is not None:
            return self._known_values(values_at, times)
        steps = self.unique_times_
        values = values_at(steps)
        if return_array:
            return values
        functions = np.empty(len(values), dtype=object)
        before, domain = float(kind == "survival"), (0.0, self.baseline_.last_time)
        functions[:] = [StepFunction(steps, one, before, domain) for one in values]
        return functions

    def _known_values(self, values_at: Callable[[Floats], Floats], times: ArrayLike) -> Floats:
        """Return values at times, not a number after the last follow-up."""
        asked = read_times(times)
        values = values_at(asked)
        values[:, beyond_follow_up(asked, self.baseline_.last_time)] = np.nan
        return values

    def _medians(self, X: Any) -> Floats:
        table, times = self._read(X), self.unique_times_
        survival = self._values(table, "survival", times)
        return np.array([median_time(times, values) for values in survival])

    def _loss(self, given: RowInputs) -> float:
        rows = self._read_rows(given)
        counted = rows.present
        target = rows.target.take(counted)
        sums = RELATIVE_RISK.row_sums(target, rows.weight[counted], self.baseline_)
        return sums.loss(self._risk_of_table(rows.table)[counted])

    def _merge(self, problem: FitProblem, offset: Floats | None = None) -> MergedRows:
        """Learn the baseline and the bins of rows, and return rows of equal bins as one.

        The offset is a risk that rows have to begin with.
        """
        self.baseline_ = problem.data.baseline
        self.validation_ = self.comparison_ = self.time_unit_ = self.horizons_ = None
        self.follow_up_ = problem.follow_up
        sums: Sums = problem.data.sums
        stack = sums.node_values
        self.n_rows_, self.n_events_ = (
            int(stack.lines[own].sum()) for _, own in stack.kinds[-3:-1]
        )
        self.binning_ = Binning.of(problem.encoder, problem.binned, sums.weight_terms)
        if offset is not None:
            events, expected = sums.values
            values = np.stack([events, expected * offset])
            sums = replace(problem.data.sums, values=values)
        return MergedRows.of(problem.binned, sums)

    def _read_problem(self, given: RowInputs) -> FitProblem:
        """Read the rows to fit, in memory or in passes."""
        if is_lazy(given.X):
            return read_lazy(self, given, None, "Averages over all trees")
        data = read_training_data(self, given)
        return make_problem(encoder_of(self), data)

    def _values(self, table: Table, kind: CurveKind, times: Floats) -> Floats:
        """Return the curve of each row at some times, of shape (n_rows, n_times)."""
        return self._values_of_risk(self._risk_of_table(table), kind, times)

    def _values_of_risk(self, risk: Floats, kind: CurveKind, times: Floats) -> Floats:
        """Return the curve of each risk at some times."""
        hazard = np.outer(risk, self.baseline_.at(times))
        return np.exp(-hazard) if kind == "survival" else hazard

    def _file_content(self) -> dict[str, Any]:
        return self._file.save(self)

    @classmethod
    def _read_file(cls, path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
        return cls._file.read(path)

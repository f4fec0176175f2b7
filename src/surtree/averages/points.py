"""PointsTable: a score card, the sum of a few points for each column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from itertools import groupby
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from surtree._support.parameters import require_not_negative
from surtree._support.types import Floats
from surtree.averages._binning import ColumnBins
from surtree.averages._model_file import ModelFile
from surtree.averages._points_file import POINTS_FILE
from surtree.averages._stages import MergedRows
from surtree.averages.base import ProportionalEstimator
from surtree.cuts.categories import CategoryCuts
from surtree.cuts.cut import Cut
from surtree.cuts.thresholds import GivenThresholds
from surtree.data.named import RowInputs
from surtree.data.table import Table
from surtree.estimators.parameters import require_parameters, whole
from surtree.solver.average import TreePrior
from surtree.solver.problem import Limits
from surtree.words.tables import table_html


@dataclass(frozen=True)
class PointsColumn:
    """The points of one column.

    Parameters
    ----------
    name : str
        What the user calls the column.
    labels : tuple of str
        What each row of the card says: a range of numbers, or categories.
    points : tuple of int
        The points of each row, zero or more.

    Examples
    --------
    >>> from surtree import PointsTable
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> PointsTable().fit(X[["hormone_therapy"]], y).card_[0]
    PointsColumn(name='hormone_therapy', labels=('yes', 'no'), points=(0, 5))
    """

    name: str
    labels: tuple[str, ...]
    points: tuple[int, ...]


CARD_HEADING = ("column", "value", "points")


class PointsCard(tuple[PointsColumn, ...]):
    """A score card: what to add up for a person, column by column.

    Examples
    --------
    >>> from surtree import PointsTable
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> card = PointsTable(n_thresholds=2).fit(X[["positive_nodes", "tumor_grade"]], y).card_
    >>> print(card)
    positive_nodes  <= 1           0
                    > 1 and <= 7   3
                    > 7           16
    tumor_grade     I              0
                    II            11
                    III           15
    """

    __slots__ = ()

    def __str__(self) -> str:
        rows = list(self._rows())
        widths = [max((len(row[k]) for row in rows), default=0) for k in range(3)]
        return "\n".join(
            f"{name:<{widths[0]}}  {label:<{widths[1]}}  {points:>{widths[2]}}"
            for name, label, points in rows
        )

    def __repr__(self) -> str:
        return f"PointsCard({len(self)} columns, up to {self.most} points)"

    def _repr_html_(self) -> str:
        return table_html(CARD_HEADING, list(self._rows()))

    @property
    def most(self) -> int:
        """The points of the person at the highest risk."""
        return sum(max(column.points) for column in self)

    def _rows(self) -> Iterator[tuple[str, str, str]]:
        for column in self:
            name = column.name
            for label, points in zip(column.labels, column.points, strict=True):
                yield name, label, str(points)
                name = ""


def _require_positive(name: str, value: Any) -> None:
    require_not_negative(name, value)
    if value == 0:
        raise ValueError(f"{name} must be above zero; got 0.")


@dataclass(eq=False, repr=False)
class PointsTable(ProportionalEstimator):
    """A score card: points for each column, whose sum says the risk.

    Ten points double the hazard. It is an additive model, as Cox's, without its straight lines: the
    points of a column follow the data in steps. They come from stages of the exact average over all
    trees of one question (see `SurTreeBayes`), whose logarithms add up, and are rounded to whole
    numbers: predictions are those of the card that is printed, to the last digit. For causes of an
    event see `CompetingRisksTree`, for arms of a trial `EffectTree`.

    Parameters
    ----------
    n_stages : int, default=24
        The number of stages.
    points_to_double : float, default=10
        The points that double the hazard. More of them are a finer scale.
    min_samples_leaf : int, default=5
        The least rows on each side of a question.
    n_thresholds, max_categories, min_support, category_cuts, thresholds, n_jobs : optional
        As in `SurTree`.

    Attributes
    ----------
    card_ : PointsCard
        The points of each column, to be printed. Columns that say nothing have none.
    baseline_ : Baseline
        The baseline hazard of all rows.
    validation_, time_unit_, horizons_, follow_up_, n_features_in_, feature_names_in_ : object
        As in `SurTree`.

    Examples
    --------
    >>> from surtree import PointsTable
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> model = PointsTable().fit(X, y)
    >>> model.points(X.head(3)).tolist()
    [12, 19, 22]
    >>> model.survival_of([0, 30, 60], times=[365, 1825]).round(2).tolist()
    [[0.98, 0.84], [0.84, 0.26], [0.26, 0.0]]
    """

    n_stages: int = 24
    _: KW_ONLY
    points_to_double: float = 10.0
    min_samples_leaf: int = 5
    n_thresholds: int | None = 10
    max_categories: int = 10
    min_support: float = 0.01
    category_cuts: CategoryCuts = "subsets"
    thresholds: GivenThresholds | None = None
    n_jobs: int | None = None

    points_: tuple[NDArray[np.intp], ...] = field(init=False)
    log_risk_at_zero_: float = field(init=False)

    _file: ClassVar[ModelFile] = POINTS_FILE
    _format: ClassVar[str] = POINTS_FILE.format
    _checks = ProportionalEstimator._checks | {
        "n_stages": whole(1),
        "points_to_double": _require_positive,
    }

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | str | None = None,
        entry: ArrayLike | str | None = None,
        id: ArrayLike | str | None = None,
    ) -> Self:
        """Find the points of each column.

        Parameters
        ----------
        X, y, sample_weight, entry, id
            As in `SurTree.fit`; a lazy table where its rows, merged by their bins, fit into memory.
        """
        require_parameters(self)
        rows = self._merge(self._read_problem(RowInputs(X, y, sample_weight, entry, id)))
        self.points_ = tuple(
            np.rint((log_risk - log_risk.min()) / self._log_risk_of_point).astype(np.intp)
            for log_risk in self._log_risks(rows)
        )
        # Rounded points expect as many events as there are.
        risk = np.exp(self._log_risk_of_point * self._sum(rows.binned.bins))
        self.log_risk_at_zero_ = float(np.log(rows.events.sum() / (risk * rows.expected).sum()))
        return self

    @property
    def card_(self) -> PointsCard:
        """The points of each column."""
        check_is_fitted(self)
        return PointsCard(
            _column_of(bins, points)
            for bins, points in zip(self.binning_.columns, self.points_, strict=True)
            if points.any()
        )

    def points(self, X: Any) -> NDArray[np.intp]:
        """Return the points of each row, as the card adds them up.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            The same columns as in `fit`.
        """
        return self._sum(self.binning_.find(self._read(X)))

    def survival_of(self, points: ArrayLike, times: ArrayLike) -> Floats:
        """Return the survival of persons with so many points, at some times.

        Parameters
        ----------
        points : array of int
            Sums of points.
        times : array of float
            When.

        Returns
        -------
        array of shape (n_points, n_times)
        """
        check_is_fitted(self)
        risk = self._risk_of(np.atleast_1d(np.asarray(points)))
        return self._known_values(partial(self._values_of_risk, risk, "survival"), times)

    def risk_of(self, points: ArrayLike) -> Floats:
        """Return the risk of persons with so many points, relative to the baseline.

        Parameters
        ----------
        points : array of int
            Sums of points.
        """
        check_is_fitted(self)
        return self._risk_of(np.atleast_1d(np.asarray(points)))

    @property
    def decisions_(self) -> list[tuple[list[tuple[Cut, int]], int]]:
        """The card for programs: questions of each column with their points, and those of the rest.

        The points of a column are those of the first question that is answered with yes.
        """
        check_is_fitted(self)
        return [
            bins.decisions(points)
            for bins, points in zip(self.binning_.columns, self.points_, strict=True)
            if points.any()
        ]

    def _table(self) -> tuple[Sequence[str], list[tuple[str, ...]]]:
        return CARD_HEADING, list(self.card_._rows())

    @property
    def _log_risk_of_point(self) -> float:
        return float(np.log(2.0) / self.points_to_double)

    def _log_risks(self, rows: MergedRows) -> list[Floats]:
        """Return what each bin of each column adds to the logarithm of the risk."""
        n_bins = rows.binned.n_bins
        ends = np.cumsum(n_bins)
        total = np.zeros(int(n_bins.sum()))
        prior = TreePrior(logarithm=True)
        limits = Limits(1, min_samples_leaf=int(self.min_samples_leaf))
        index = rows.binned.bins.astype(np.intp) + (ends - n_bins)[:, None]
        for _ in range(int(self.n_stages)):
            risk = np.exp(total[index].sum(axis=0)) * rows.expected
            average = rows.problem(risk * (rows.events.sum() / risk.sum())).average(
                limits, prior, n_jobs=self.n_jobs
            )
            total += average.mean.values[0, 1 : 1 + total.size]
        return [np.asarray(part) for part in np.split(total, ends[:-1])] if n_bins.size else []

    def _sum(self, bins: NDArray[np.uint16]) -> NDArray[np.intp]:
        total = np.zeros(bins.shape[1], dtype=np.intp)
        for bins_of_column, points in zip(bins, self.points_, strict=True):
            total += points[bins_of_column]
        return total

    def _risk_of(self, points: NDArray[Any]) -> Floats:
        return np.asarray(np.exp(self.log_risk_at_zero_ + self._log_risk_of_point * points))

    def _risk_of_table(self, table: Table) -> Floats:
        return self._risk_of(self._sum(self.binning_.find(table)))


def _column_of(bins: ColumnBins, points: NDArray[np.intp]) -> PointsColumn:
    """Return the rows of a column on the card; neighbouring bins of equal points are one."""
    ordered = bins.cuts[0].threshold is not None
    index: Sequence[int] = range(points.size)
    if not ordered:
        index = sorted(index, key=lambda k: int(points[k]))
    groups = [list(group) for _, group in groupby(index, key=lambda k: int(points[k]))]
    return PointsColumn(
        bins.cuts[0].shown_name,
        bins.labels(groups),
        tuple(int(points[group[0]]) for group in groups),
    )

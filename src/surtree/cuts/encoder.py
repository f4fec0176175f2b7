"""The encoder: bins the columns of a table and finds the cuts that a tree may use."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from surtree._support.exact import Terms, repeats
from surtree._support.parameters import require_share, require_whole
from surtree._support.types import Floats
from surtree.cuts._quantile_block import QuantileColumn, quantile_columns
from surtree.cuts.candidates import (
    AllRows,
    CandidateCuts,
    candidate_cuts,
    filter_cuts,
    keep_cuts,
    quantile_cuts,
)
from surtree.cuts.categories import CategoryCuts, require_category_cuts
from surtree.cuts.cut import Cut, Cuts
from surtree.cuts.thresholds import GivenThresholds, given_for, require_names, require_thresholds
from surtree.cuts.unseen import warn_of_unseen
from surtree.data.named import RowInputs
from surtree.data.names import remember_columns
from surtree.data.rows import read_rows
from surtree.data.table import Table, read_table
from surtree.data.target import read_weights, require_events
from surtree.solver.clock import Clock
from surtree.solver.problem import BinnedRows
from surtree.survival.baseline import nelson_aalen
from surtree.survival.objective import RELATIVE_RISK
from surtree.survival.row_sums import RowSums

Positions = NDArray[np.intp]

# Bins are 16-bit numbers.
MAX_BINS = 65_534
# Numeric columns are read together, up to this number of cells.
_CELLS_AT_ONCE = 1_000_000


@dataclass(eq=False, repr=False)
class Encoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn each column into yes-or-no cuts with readable rules.

    Numeric columns are cut at quantiles, ordered categories between neighbours, other categories
    one against the rest or in all ways. A column with missing values gets every cut twice, with the
    missing values on either side, and the cut "is missing". Cuts that hold for too few or too many
    rows are dropped, and so are those that split the rows as an earlier one does.

    Parameters
    ----------
    n_thresholds : int or None, default=10
        The most thresholds of a numeric or ordered column: quantiles of the midpoints between
        neighbouring rows, written with the fewest digits that split the training rows the same
        way. If all weights are whole numbers, a row of weight k counts as k rows; other weights
        do not move thresholds. Quantiles are exact, also those of lazy tables (`SurTree.fit`): no
        sketch stands for them. None: every midpoint between different values, up to 65,534 bins a
        column.
    max_categories : int, default=10
        The most categories of an unordered column. If there are more, the ``max_categories - 1``
        with the most weight are themselves, and all others count as one.
    category_cuts : {"one", "subsets"}, default="one"
        How an unordered column of four or more categories is cut. "one": each category against the
        rest. "subsets": every set of categories against the others, up to seven categories. Of
        more, there are too many sets: then each category against the rest, and every division in
        the order of the categories' risk in the training rows, which for a single split has the
        best of all. The risk needs a target; without it (``y`` in `fit`), there is the former
        only.
    min_support : float, default=0.01
        A cut is kept when it holds for more than this share of the weight, and does not hold for
        more than this share too. 0 keeps every cut that splits the rows.
    thresholds : mapping of str to sequences of float, optional
        Thresholds of your own for some numeric columns, by their names, instead of quantiles:
        ``{"age": [50, 65]}``. Each one that splits the rows is a cut, whatever ``min_support``.

    Attributes
    ----------
    cuts_ : sequence of Cut
        The cuts, in the order of the columns; each is made when it is looked at.
    heavier_side_ : array of bool
        Whether each cut holds for more than half of the weight. It decides for a missing value or
        an unseen category in a column that had no missing values in training.
    n_unread_ : int
        How many columns at the end were not read because time was over, and have no cuts.
    n_features_in_ : int
        How many columns the table has.
    feature_names_in_ : array of str
        What they are called, if they have names.

    Examples
    --------
    >>> import pandas as pd
    >>> from surtree.cuts.encoder import Encoder
    >>> table = pd.DataFrame({"age": [40, 51, 62, 73], "grade": ["I", "II", "II", "III"]})
    >>> encoder = Encoder(n_thresholds=2).fit(table)
    >>> [cut.rule for cut in encoder.cuts_]
    ['age > 46', 'age > 70', 'grade is II']
    >>> encoder.transform(table)
    array([[0, 0, 0],
           [1, 0, 1],
           [1, 0, 1],
           [1, 1, 0]], dtype=uint8)
    """

    n_thresholds: int | None = 10
    max_categories: int = 10
    min_support: float = 0.01
    category_cuts: CategoryCuts = "one"
    thresholds: GivenThresholds | None = None

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find the cuts of a table.

        Parameters
        ----------
        X : data frame or array-like of shape (n_rows, n_columns)
            The table.
        y : structured array, data frame or pair of arrays, optional
            Event and time, as in `SurTree.fit`, for the order of many categories.
        sample_weight : array-like of shape (n_rows,), optional
            How much each row counts; a row of weight zero counts as absent.
        """
        if y is None or self.category_cuts != "subsets":
            table = read_table(self, X, reset=True)
            self.fit_encode(table, read_weights(sample_weight, table.n_rows))
            return self
        rows = read_rows(self, RowInputs(X, y, sample_weight))
        target, counted = rows.target.take(rows.present), rows.weight[rows.present]
        require_events(target)
        sums = RELATIVE_RISK.row_sums(target, counted, nelson_aalen(target, counted))
        self.fit_encode(rows.table, rows.weight, sums)
        return self

    def transform(self, X: Any) -> NDArray[np.uint8]:
        """Answer every cut for every row; a category that the fit never had counts as missing.

        Parameters
        ----------
        X : data frame or array-like of shape (n_rows, n_columns)
            A table with the columns of the training table.

        Returns
        -------
        array of 0 and 1 of shape (n_rows, n_cuts)
        """
        check_is_fitted(self)
        table = read_table(self, X, reset=False)
        warn_of_unseen(self.cuts_, table)
        answers = np.empty((table.n_rows, len(self.cuts_)), dtype=np.uint8, order="F")
        for position, (cut, heavier) in enumerate(zip(self.cuts_, self.heavier_side_, strict=True)):
            asked = replace(cut, missing=bool(heavier)) if cut.missing is None else cut
            answers[:, position] = asked.holds(table.column(cut.column))
        return answers

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        """Return the rule of each cut.

        Parameters
        ----------
        input_features : array-like of str, optional
            The names of the columns, for a table that had none.
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        rules = [replace(cut, name=names[cut.column]).rule for cut in self.cuts_]
        return np.array(rules, dtype=object)

    def fit_encode(
        self,
        table: Table,
        weight: Floats,
        sums: RowSums | None = None,
        leave_out: Collection[int] = (),
        clock: Clock | None = None,
        share: Floats | None = None,
    ) -> BinnedRows:
        """Find the cuts of a table and bin its rows.

        Parameters
        ----------
        table : Table
            The training table.
        weight : array of float of shape (table.n_rows,)
            How much each row counts.
        sums : RowSums, optional
            What the rows of positive weight add to a leaf, for the order of many categories.
        leave_out : collection of int
            The positions of columns that have no cuts.
        clock : Clock, optional
            Columns that are not read when it is over have no cuts either; the first one has.
        share : array of float, optional
            How much of a person each row of positive weight is, where rows are parts of persons:
            quantiles and shares of rows are then those of persons.

        Returns
        -------
        BinnedRows
            The rows of positive weight, in their order.
        """
        self._check_parameters()
        require_names(self.thresholds, table.names)
        remember_columns(self, table.names, named=table.named, texts=table.texts)
        counted = weight > 0
        if not counted.all():
            table, weight = table.take(np.flatnonzero(counted)), weight[counted]
        counts = repeats(weight)
        if share is not None:
            counts = share if counts is None else counts * share
            weight = weight * share
        candidates, terms = [], Terms.of(weight)
        self.n_unread_ = 0
        for index, cuts in self._candidates(table, terms, counts, sums, leave_out):
            candidates.append(cuts)
            if clock is not None and clock.is_over:
                self.n_unread_ = table.n_columns - 1 - index
                break
        return self.encode(candidates, terms)

    def encode(self, candidates: list[CandidateCuts], weight: Terms) -> BinnedRows:
        """Keep the cuts that divide the rows, and bin the rows by them.

        Parameters
        ----------
        candidates : list of CandidateCuts
            Those of each column that has some, in the order of the columns.
        weight : Terms
            The weight of each row, above zero.
        """
        kept = filter_cuts(candidates, weight, float(self.min_support)) if candidates else None
        columns = self._keep(candidates, kept)
        return _join(columns, weight.n)

    def encode_unseen(
        self, candidates: list[CandidateCuts], rows: AllRows
    ) -> tuple[BinnedRows, list[tuple[int, NDArray[np.uint16]]]]:
        """Do the same where only the rows that each cut holds for are known.

        Parameters
        ----------
        candidates : list of CandidateCuts
            As in `encode`, with the rows that they hold for, and the bins of one row.
        rows : AllRows
            What all rows are together.

        Returns
        -------
        BinnedRows
            That one row.
        list of tuple
            For each column, which of the candidates it is, and the new number of each of its bins.
        """
        kept = keep_cuts(candidates, rows, float(self.min_support)) if candidates else None
        columns = self._keep(candidates, kept)
        return _join(columns, 1), [(column.candidate, column.new_bins) for column in columns]

    def _keep(
        self,
        candidates: list[CandidateCuts],
        filtered: tuple[NDArray[np.bool_], NDArray[np.bool_]] | None,
    ) -> list[_EncodedColumn]:
        kept, heavier = filtered or (np.empty(0, dtype=bool), np.empty(0, dtype=bool))
        columns = _encode_columns(candidates, kept)
        self.cuts_ = Cuts((column.cut, column.kept) for column in columns)
        self.heavier_side_ = heavier[kept]
        return columns

    def _candidates(
        self,
        table: Table,
        weight: Terms,
        counts: Floats | None,
        sums: RowSums | None,
        leave_out: Collection[int],
    ) -> Iterator[tuple[int, CandidateCuts]]:
        """Yield each column that has a value, and its candidates."""
        known = None
        if counts is None and self.n_thresholds is not None:
            given = (table.names.index(name) for name in self.thresholds or ())
            known = _Quantiles(table, int(self.n_thresholds), {*leave_out, *given}, weight)
        for index in range(table.n_columns):
            if index in leave_out:
                continue
            if known is not None:
                cuts = known.find(index)
                if cuts is not None:
                    yield index, cuts
                    continue
            column = table.column(index)
            if column.missing.all():
                continue
            n_thresholds = None if self.n_thresholds is None else int(self.n_thresholds)
            yield (
                index,
                candidate_cuts(
                    index,
                    column,
                    weight,
                    counts,
                    n_thresholds=n_thresholds,
                    max_categories=int(self.max_categories),
                    given=given_for(self.thresholds, column),
                    category_cuts=self.category_cuts,
                    risk=None if sums is None else sums.risk_of_groups,
                ),
            )

    def _check_parameters(self) -> None:
        if self.n_thresholds is not None:
            require_whole("n_thresholds", self.n_thresholds, 1)
        require_whole("max_categories", self.max_categories, 2)
        require_share("min_support", self.min_support, below=0.5)
        require_category_cuts(self.category_cuts)
        require_thresholds(self.thresholds)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = []
        return tags


_PARAMETERS = tuple(Encoder._get_param_names())


def encoder_of(estimator: Any) -> Encoder:
    """Return a new encoder with those of its parameters that an estimator has too."""
    return Encoder(**{name: getattr(estimator, name) for name in _PARAMETERS})


def bin_answers(answers: Sequence[NDArray[np.bool_]], n_rows: int) -> BinnedRows:
    """Bin rows by their answers to some cuts, each a column of its own."""
    n_lines = len(answers)
    ones = np.ones(n_lines, dtype=np.int32)
    return BinnedRows(
        bins=np.array(answers, dtype=np.uint16).reshape(n_lines, n_rows),
        n_bins=2 * ones,
        missing_bin=-ones,
        cut_column=np.arange(n_lines, dtype=np.int32),
        cut_first=ones,
        cut_last=ones,
        cut_missing=np.zeros(n_lines, dtype=bool),
        cut_gaps=np.zeros(n_lines, dtype=np.uint64),
    )


def join_binned(one: BinnedRows, other: BinnedRows) -> BinnedRows:
    """Return the same rows with the columns and the cuts of both, in this order."""
    joined = {
        field.name: np.concatenate((getattr(one, field.name), getattr(other, field.name)))
        for field in fields(BinnedRows)
    }
    joined["cut_column"] = np.concatenate((one.cut_column, other.cut_column + len(one.bins)))
    return BinnedRows(**joined)


class _Quantiles:
    """The quantile cuts of the numeric columns of a table, found for several of them at once."""

    def __init__(
        self, table: Table, n_thresholds: int, apart: Collection[int], weight: Terms
    ) -> None:
        self._table = table
        self._n_thresholds = n_thresholds
        self._apart = apart  # columns that are read on their own
        self._weight = weight
        self._at_once = max(1, _CELLS_AT_ONCE // max(table.n_rows, 1))
        self._end = 0  # columns before this one are known
        self._known: dict[int, tuple[Floats, QuantileColumn | None]] = {}

    def find(self, index: int) -> CandidateCuts | None:
        """Return the candidates of a column, or None if it must be read on its own.

        Columns are asked for in ascending order.
        """
        if index >= self._end:
            indices, values = self._read(index)
            columns = quantile_columns(values, self._n_thresholds, self._weight)
            self._known = dict(zip(indices, zip(values, columns, strict=True), strict=True))
        values_of_column, column = self._known.get(index, (None, None))
        if column is None or values_of_column is None or index in self._apart:
            return None
        return quantile_cuts(index, self._table.names[index], values_of_column, column)

    def _read(self, first: int) -> tuple[list[int], Floats]:
        """Return the next numeric columns, and their values, a line for each."""
        table = self._table
        line = table.line_of.get(first)
        if line is not None and table.numbers is not None:
            indices = [
                index for index, k in table.line_of.items() if line <= k < line + self._at_once
            ]
            self._end = indices[-1] + 1 if len(indices) == self._at_once else table.n_columns
            part = table.numbers[:, line : line + self._at_once]
            return indices, np.ascontiguousarray(part.T, dtype=np.float64)
        indices = []
        lines: list[Floats] = []
        for index in range(first, table.n_columns):
            if index in table.line_of or len(lines) == self._at_once:
                break
            self._end = index + 1
            if index not in self._apart and table.column(index).kind == "numeric":
                indices.append(index)
                lines.append(table.column(index).values)
        if len(lines) == 1:  # which may be long
            return indices, lines[0][None]
        return indices, np.array(lines).reshape(-1, table.n_rows)


@dataclass(frozen=True, eq=False)
class _EncodedColumn:
    """One column of the binned rows, and its cuts."""

    bins: NDArray[np.uint16]
    n_bins: int
    missing_bin: int
    first: Positions
    last: Positions
    missing: NDArray[np.bool_]
    gaps: NDArray[np.uint64]
    cut: Callable[[int], Cut]
    kept: Positions
    # Which of the candidates it is, and the new number of each of its bins.
    candidate: int
    new_bins: NDArray[np.uint16]


def _encode_columns(
    candidates: list[CandidateCuts], kept: NDArray[np.bool_]
) -> list[_EncodedColumn]:
    borders = np.cumsum([len(cuts.first) for cuts in candidates])[:-1]
    return [
        _encode_column(number, cuts, of_column)
        for number, (cuts, of_column) in enumerate(
            zip(candidates, map(np.flatnonzero, np.split(kept, borders)), strict=False)
        )
        if of_column.size
    ]


def _encode_column(number: int, candidates: CandidateCuts, kept: Positions) -> _EncodedColumn:
    first, last = candidates.first[kept], candidates.last[kept]
    # Every column with missing values has the cut "is missing".
    has_missing = bool(candidates.missing.any())
    is_missing = first > last
    bins, n_values = candidates.bins, candidates.n_bins
    new_bins = np.arange(n_values + 1)
    if kept.size < candidates.first.size or has_missing:
        merged = _merge(candidates, np.unique(first[~is_missing]))
        n_values = int(merged.max()) + 1
        new_bins = np.append(merged, n_values)
        bins, first = new_bins.astype(np.uint16)[bins], new_bins[first]
        last = np.where(is_missing, n_values, new_bins[last])
    n_bins = n_values + has_missing
    if n_bins > MAX_BINS:
        raise ValueError(
            f"Column {candidates.cut(0).name!r} has {n_bins:,} bins and at most {MAX_BINS:,} are "
            "possible: choose a lower n_thresholds or max_categories, or round the column"
        )
    return _EncodedColumn(
        bins=bins.astype(np.uint16, copy=False),
        n_bins=n_bins,
        missing_bin=n_values if has_missing else -1,
        first=first,
        last=last,
        missing=candidates.missing[kept],
        gaps=candidates.gaps[kept],
        cut=candidates.cut,
        kept=kept,
        candidate=number,
        new_bins=new_bins.astype(np.uint16),
    )


def _merge(candidates: CandidateCuts, kept_bins: Positions) -> Positions:
    """Return a new number for each bin, the same one where no kept cut separates them."""
    if candidates.kind == "set":
        return np.arange(candidates.n_bins)  # as a rule some cut separates any two of them
    if candidates.kind == "above":
        return np.searchsorted(kept_bins, np.arange(candidates.n_bins), side="right")
    merged = np.full(candidates.n_bins, len(kept_bins))
    merged[kept_bins] = np.arange(len(kept_bins))
    return merged


def _join(columns: list[_EncodedColumn], n_rows: int) -> BinnedRows:
    n_cuts = [len(column.kept) for column in columns]
    none: list[Positions] = [np.empty(0, dtype=np.intp)]
    return BinnedRows(
        bins=np.array([column.bins for column in columns], dtype=np.uint16).reshape(-1, n_rows),
        n_bins=np.array([column.n_bins for column in columns], dtype=np.int32),
        missing_bin=np.array([column.missing_bin for column in columns], dtype=np.int32),
        cut_column=np.repeat(np.arange(len(columns), dtype=np.int32), np.array(n_cuts, dtype=int)),
        cut_first=np.concatenate(none + [column.first for column in columns]).astype(np.int32),
        cut_last=np.concatenate(none + [column.last for column in columns]).astype(np.int32),
        cut_missing=np.concatenate(none + [column.missing for column in columns]).astype(bool),
        cut_gaps=np.concatenate([np.empty(0, np.uint64), *(column.gaps for column in columns)]),
    )

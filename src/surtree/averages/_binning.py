"""The bins of new data, as training rows were binned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.exact import Terms
from surtree._support.json_file import Check, Number, anything, list_of, record
from surtree._support.types import Floats
from surtree.cuts.cut import Cut, load_cuts, number_text, save_cuts
from surtree.cuts.encoder import Encoder
from surtree.data.table import Column, Table
from surtree.estimators.model_file import faults_of_columns
from surtree.fitting.warm_start import bins_held
from surtree.solver.problem import BinnedRows


@dataclass(frozen=True, eq=False)
class ColumnBins:
    """The bins of one column: what each of its cuts says of each of its bins."""

    cuts: tuple[Cut, ...]  # the cuts; each has an answer to a missing value
    answers: NDArray[np.bool_]  # whether each cut holds for each bin
    weight: Floats  # the weight of the training rows of each bin
    missing: int = -1  # the bin of missing values, -1 where training rows had none

    def find(self, column: Column) -> NDArray[np.uint16]:
        """Return the bin of each row: the one that all cuts answer alike, or else the nearest.

        No bin is alike where a value is missing, or a category is new, in a column that had no
        missing values: each cut then answers with its heavier side. Of bins that are as near, the
        heaviest counts.
        """
        asked = np.stack([cut.holds(column) for cut in self.cuts], axis=1)
        return self._nearest(asked)

    def _nearest(self, asked: NDArray[np.bool_]) -> NDArray[np.uint16]:
        """Return the bin of rows, given their answers."""
        known, index = np.unique(np.packbits(asked, axis=1), axis=0, return_inverse=True)
        first = np.zeros(len(known), dtype=np.intp)
        first[index.ravel()[::-1]] = np.arange(len(asked))[::-1]
        differing = (asked[first][:, None, :] != self.answers).sum(axis=2)
        share = self.weight / self.weight.sum()
        nearest = (differing - share / 2).argmin(axis=1)
        return np.asarray(nearest[index.ravel()], dtype=np.uint16)

    def decisions(self, points: NDArray[np.intp]) -> tuple[list[tuple[Cut, int]], int]:
        """Return questions, with the points where each is the first with the answer yes; the rest.

        Thresholds go down, after the question whether the value is missing; of categories, what is
        missing or new is the rest.
        """
        missing = [
            bool(cut.missing) or (cut.threshold is None and cut.categories is None)
            for cut in self.cuts
        ]
        of_missing = int(points[self._nearest(np.array([missing]))[0]])
        if self.cuts[0].threshold is None and any(cut.categories for cut in self.cuts):
            cut = next(cut for cut in self.cuts if cut.categories)
            groups: dict[int, list[Any]] = {}
            for name, index in zip(*self._bin_of_category(), strict=True):
                groups.setdefault(int(points[index]), []).append(name)
            asked = [
                (replace(cut, categories=tuple(names), negated=False, missing=False), total)
                for total, names in groups.items()
                if total != of_missing
            ]
            return asked, of_missing
        thresholds = np.nan_to_num(self._thresholds, nan=np.inf)
        edges = np.unique(thresholds[np.isfinite(thresholds)])
        below = np.concatenate([[-np.inf], edges])
        totals = points[self._nearest(thresholds[None, :] <= below[:, None])]
        first = next(cut for cut in self.cuts if cut.threshold is not None) if edges.size else None
        is_missing = replace(self.cuts[0], threshold=None, categories=None, missing=True)
        asked = [(is_missing, of_missing)] if of_missing != totals[0] or edges.size else []
        for edge, total, before in zip(edges[::-1], totals[:0:-1], totals[-2::-1], strict=True):
            if total != before and first is not None:
                asked.append((replace(first, threshold=float(edge), missing=False), int(total)))
        return asked, int(totals[0])

    def labels(self, groups: Sequence[Sequence[int]]) -> tuple[str, ...]:
        """Return what each of some groups of neighbouring bins holds, in words."""
        if np.isnan(self._thresholds).all():
            names = self._categories()
            return tuple(
                ", ".join(name for index in group for name in names[index]) or "other"
                for group in groups
            )
        return tuple(self._range(group) for group in groups)

    @property
    def _thresholds(self) -> Floats:
        """The threshold of each cut; not a number for a question about missing values."""
        thresholds = [np.nan if cut.threshold is None else cut.threshold for cut in self.cuts]
        return np.array(thresholds)

    def _range(self, bins: Sequence[int]) -> str:
        """Return the range of some neighbouring bins."""
        thresholds = self._thresholds
        words = ["missing"] if self.missing in bins else []
        numbers = self.answers[[index for index in bins if index != self.missing]]
        if len(numbers):
            low = np.nanmax(thresholds[numbers.all(axis=0)], initial=-np.inf)
            high = np.nanmin(thresholds[~numbers.any(axis=0)], initial=np.inf)
            limits = [f"> {number_text(low)}"] if low > -np.inf else []
            limits += [f"<= {number_text(high)}"] if high < np.inf else []
            words.insert(0, " and ".join(limits) or "any number")
        return " or ".join(words)

    def _bin_of_category(self) -> tuple[Sequence[Any], list[int]]:
        """Return the categories of training rows, and the bin of each."""
        known = next((cut.known for cut in self.cuts if cut.known is not None), (False, True))
        asked = np.array(
            [
                [(name in (cut.categories or ())) is not cut.negated for cut in self.cuts]
                for name in known
            ]
        )
        return known, self._nearest(asked).tolist()

    def _categories(self) -> list[list[str]]:
        """Return the categories of each bin."""
        words: list[list[str]] = [[] for _ in self.answers]
        for name, index in zip(*self._bin_of_category(), strict=True):
            words[index].append(str(name))
        if self.missing >= 0:
            words[self.missing] = ["missing"]
        return words


@dataclass(frozen=True, eq=False)
class Binning:
    """How rows are binned, a `ColumnBins` for each column that has cuts."""

    columns: tuple[ColumnBins, ...]

    @classmethod
    def of(cls, encoder: Encoder, binned: BinnedRows, weight: Terms) -> Binning:
        """Return the binning of training rows, given the weight of each."""
        columns = []
        for row, n_bins in enumerate(binned.n_bins.tolist()):
            asked = np.flatnonzero(binned.cut_column == row)
            answered = [
                replace(encoder.cuts_[k], missing=bool(encoder.heavier_side_[k]))
                if encoder.cuts_[k].missing is None
                else encoder.cuts_[k]
                for k in asked.tolist()
            ]
            of_bin = weight.total_by(binned.bins[row], n_bins)
            missing = int(binned.missing_bin[row])
            columns.append(ColumnBins(tuple(answered), bins_held(binned, asked), of_bin, missing))
        return cls(tuple(columns))

    @property
    def column_index(self) -> list[int]:
        """Which of the user's columns each of them is."""
        return [bins.cuts[0].column for bins in self.columns]

    @property
    def cuts(self) -> Sequence[Cut]:
        """The cuts of all columns, in their order."""
        return [cut for bins in self.columns for cut in bins.cuts]

    def find(self, table: Table) -> NDArray[np.uint16]:
        """Return the bins of rows, of shape (n_columns, n_rows)."""
        rows = np.empty((len(self.columns), table.n_rows), dtype=np.uint16)
        for row, bins in zip(rows, self.columns, strict=True):
            row[:] = bins.find(table.column(bins.cuts[0].column))
        return rows


_BINS = record(
    {
        "answers": list_of(list_of(Number("zero or one", 0, 1, whole=True))),
        "weight": list_of(Number("a number above zero", 0.0)),
        "missing": Number("a bin", -1, 2**16, whole=True),
    }
)
BINNING_FIELDS: dict[str, Check] = {
    "cuts": list_of(anything),
    "known": anything,
    "bins": list_of(_BINS),
}


def save_binning(binning: Binning) -> dict[str, Any]:
    """Return the fields of a file that say how rows are binned."""
    return {
        **save_cuts(binning.cuts),
        "bins": [
            {
                "answers": bins.answers.astype(int).tolist(),
                "weight": bins.weight.tolist(),
                "missing": bins.missing,
            }
            for bins in binning.columns
        ],
    }


def read_binning(saved: dict[str, Any]) -> Binning:
    """Return the binning of a file, or raise a ValueError that says what does not fit together."""
    for fault in _faults(saved):
        raise ValueError(fault)
    cuts, columns, first = load_cuts(saved), [], 0
    for bins in saved["bins"]:
        answers = np.array(bins["answers"], dtype=np.bool_)
        asked = cuts[first : first + answers.shape[1]]
        if len({cut.column for cut in asked}) != 1:
            raise ValueError("the questions of a column are about others too")
        weight = np.array(bins["weight"], dtype=np.float64)
        columns.append(ColumnBins(asked, answers, weight, int(bins["missing"])))
        first += answers.shape[1]
    return Binning(tuple(columns))


def _faults(saved: dict[str, Any]) -> Iterator[str]:
    cuts = load_cuts(saved)
    yield from faults_of_columns(saved, list(cuts))
    n_cuts = 0
    for bins in saved["bins"]:
        widths = {len(answers) for answers in bins["answers"]}
        if len(widths) != 1 or len(bins["answers"]) != len(bins["weight"]):
            yield "the bins of a column have different numbers of answers"
            return
        if bins["missing"] >= len(bins["weight"]):
            yield "missing values have a bin that is not there"
        n_cuts += widths.pop()
    if n_cuts != len(cuts):
        yield f"{len(cuts)} questions, and answers to {n_cuts}"

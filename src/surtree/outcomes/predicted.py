"""Predictions for rows: risk and curves, of one event or of each cause."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.types import Floats
from surtree.metrics.predicted import Curve, evaluate, last_time


@dataclass(frozen=True, eq=False)
class Predictions:
    """What a model says of each row.

    Of competing risks, risks and curves have a first axis of causes, and `of` returns those of one.
    """

    risk: Floats  # higher is riskier; the last axis is that of rows
    curves: NDArray[np.object_]  # the distinct curves, step functions, along the last axis
    # Which of them each row has. In a tree with arms, those of a leaf follow each other.
    of_row: NDArray[np.intp]
    causes: tuple[int, ...] = ()  # the main one first
    leaf: NDArray[np.intp] | None = None  # in a tree, the index of the leaf of each row

    def of(self, cause: int | None) -> Predictions:
        """Return the predictions of one cause; None is one event."""
        if cause is None:
            return self
        index = self.causes.index(cause)
        return Predictions(self.risk[index], self.curves[index], self.of_row, leaf=self.leaf)

    @property
    def cause(self) -> int | None:
        """The main cause, which curves and stability are shown for; None of one event."""
        return self.causes[0] if self.causes else None

    @property
    def main(self) -> Predictions:
        """The predictions of the main cause."""
        return self.of(self.cause)

    def in_arm(self, change: NDArray[np.intp]) -> Predictions:
        """Return what the same rows are predicted in arms whose number is so much larger."""
        return replace(self, of_row=self.of_row + change)

    @property
    def curve_of_row(self) -> list[Curve]:
        """The curve of each row."""
        return list(self.curves[self.of_row])

    @property
    def last_time(self) -> float:
        """The last time at which all curves have a value: that of the training rows."""
        return min(map(last_time, self.curves.ravel()))

    def at(self, time: float) -> Floats:
        """Return the value of each row's curve at a time, NaN after the last follow-up."""
        asked = np.array([time])
        # A single time may give an array or, as scikit-survival does it, a number.
        values = [
            float(np.ravel(evaluate(curve, asked))[0]) if time <= last_time(curve) else np.nan
            for curve in self.curves
        ]
        return np.array(values)[self.of_row]

    def take(self, rows: NDArray[np.intp]) -> Predictions:
        """Return those of some rows."""
        return replace(
            self,
            risk=self.risk[..., rows],
            of_row=self.of_row[rows],
            leaf=None if self.leaf is None else self.leaf[rows],
        )


def pool(parts: Sequence[Predictions], part_of_row: NDArray[np.intp]) -> Predictions:
    """Return predictions in which each row has those of one of the parts."""
    rows = np.arange(part_of_row.size)
    starts = np.cumsum([0, *(part.curves.shape[-1] for part in parts)])
    return Predictions(
        np.stack([part.risk for part in parts], axis=-1)[..., rows, part_of_row],
        np.concatenate([part.curves for part in parts], axis=-1),
        starts[part_of_row] + np.stack([part.of_row for part in parts])[part_of_row, rows],
        parts[0].causes,
    )


@dataclass(frozen=True, eq=False)
class LeafChannel:
    """What is compared in each leaf: a cause, an arm, or the event of all rows."""

    label: str  # for people; empty where there is nothing to tell apart
    rows: NDArray[np.bool_]  # which rows are about it, and which of them have the event
    event: NDArray[np.bool_]
    theta: Floats  # of each node
    hazard: Floats  # the events that the baseline expects of each row
    cause: int | None = None  # of competing risks


def objects(items: Sequence[Any]) -> NDArray[np.object_]:
    """Return an array of the items themselves, also of those that are sequences."""
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array

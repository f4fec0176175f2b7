"""The objective: the sums of events and hazard that each row adds to a leaf, gain, theta, loss."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surtree._types import Floats
from surtree.data.target import Target
from surtree.survival.baseline import Baseline

# Up to this ratio of the heaviest to the lightest row, rounding cannot hide a better tree.
EVEN_WEIGHTS = 1e5


@dataclass(frozen=True)
class RowSums:
    """What each row adds to the sums of the leaf that it falls in.

    Parameters
    ----------
    weight : array of float
        The weight of the row, above zero.
    events : array of float
        The weight where the row has an event, else zero.
    hazard : array of float
        The weight times the hazard that the row was exposed to.
    has_event : array of bool
        Whether the row has an event.
    negative_log_hazard : float
        The part of the loss that no tree can change, over all rows.
    """

    weight: Floats
    events: Floats
    hazard: Floats
    has_event: NDArray[np.bool_]
    negative_log_hazard: float

    @cached_property
    def is_uneven(self) -> bool:
        """Whether the lightest rows may vanish beside the heaviest in sums of double precision."""
        return bool(self.weight.max() > EVEN_WEIGHTS * self.weight.min())

    @cached_property
    def node_values(self) -> Floats:
        """What a tree adds up over the rows of each node, a line for each kind of sum.

        Hazard, the part of the loss that no tree changes, rows, rows with events; then, if not
        all weights are one, weight and events.
        """
        loss = -self.events * np.log(self.hazard / self.weight)
        lines = [self.hazard, loss, np.ones(self.weight.size), self.has_event]
        if not (self.weight == 1).all():
            lines += [self.weight, self.events]
        return np.stack(lines, dtype=np.float64)


def total_by(group: NDArray[Any], values: NDArray[Any], n_groups: int) -> Floats:
    """Return the sum of the values of each group."""
    return np.bincount(group, weights=values, minlength=n_groups).astype(np.float64, copy=False)


def row_sums(target: Target, weight: Floats, baseline: Baseline) -> RowSums:
    """Weigh the events and the hazard of each row.

    Parameters
    ----------
    target : Target
        Event, time and entry time of each row.
    weight : array of float
        The weight of each row, above zero.
    baseline : Baseline
        Where the hazard of a row is read off; it may come from other rows.
    """
    hazard = baseline.row_hazard(target)
    events = np.where(target.event, weight, 0.0)
    return RowSums(
        weight=weight,
        events=events,
        hazard=weight * hazard,
        has_event=target.event,
        # Not a dot product: that may start the threads of a linear algebra library.
        negative_log_hazard=-float(np.sum(events * np.log(hazard))),
    )


def gain(events: ArrayLike, hazard: ArrayLike) -> Floats:
    """Return by how much leaves reduce the loss: ``E * log(E / H)``, and zero without an event."""
    events = np.asarray(events, dtype=np.float64)
    ratio = np.where(events > 0, events, 1.0) / np.where(events > 0, hazard, 1.0)
    return events * np.log(ratio)


def leaf_theta(events: ArrayLike, hazard: ArrayLike) -> Floats:
    """Return the hazard ratio of leaves: ``E / H``, and ``0.5 / H`` without an event.

    The most likely ratio of a leaf without an event is zero, whose curve would say that nobody
    ever has an event; half an event is what LeBlanc and Crowley put in its place.
    """
    events = np.asarray(events, dtype=np.float64)
    return np.where(events > 0, events, 0.5) / np.asarray(hazard, dtype=np.float64)


def likelihood_loss(sums: RowSums, theta: Floats) -> float:
    """Return the loss of rows for which a tree predicts ``theta``, summed over the rows."""
    cost = theta * sums.hazard - sums.events * (np.log(theta) + 1.0)
    return sums.negative_log_hazard + float(cost.sum())

"""A leaf as plots and reports draw it: its curve with a confidence band, and its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surtree._types import Floats
from surtree.display.colour import risk_colours
from surtree.parameters import LeafCurveKind
from surtree.survival.kaplan_meier import median_time
from surtree.survival.time_axis import round_step
from surtree.tree.curves import confidence_band, leaf_curves
from surtree.tree.tree import Tree


@dataclass(frozen=True, eq=False)
class Leaf:
    """A leaf as it is drawn.

    Parameters
    ----------
    node : int
        The number of the leaf's node.
    n_samples, n_events : int
        The training rows of the leaf, and those of them with an event.
    theta, median : float
        The relative risk, and when survival falls to one half; infinity where it never does.
    times, survival : array of float
        The steps of the curve.
    band : tuple of two arrays, or None
        The lower and upper confidence limit at the same times.
    colour : str
        The colour of the relative risk.
    """

    node: int
    n_samples: int
    n_events: int
    theta: float
    median: float
    times: Floats
    survival: Floats
    band: tuple[Floats, Floats] | None
    colour: str

    @property
    def name(self) -> str:
        """The name of the leaf in pictures, with the number that ``apply`` returns."""
        return f"leaf {self.node}"

    @property
    def last_survival(self) -> float:
        """Survival after the last step."""
        return float(self.survival[-1]) if self.survival.size else 1.0


def read_leaves(
    tree: Tree, kind: LeafCurveKind, level: float, colours: Sequence[str] | None = None
) -> tuple[Leaf, ...]:
    """Return the leaves of a tree as they are drawn, in the order of ``tree.leaves``.

    Parameters
    ----------
    tree : Tree
        A fitted tree.
    kind : {"kaplan-meier", "baseline"}
        Which curve a leaf has. Only a Kaplan-Meier curve has a band.
    level : float
        The level of the band.
    colours : sequence of str, optional
        A colour for each leaf; those of `risk_colours` when None.
    """
    if colours is None:
        colours = risk_colours(tree.theta[tree.leaves])
    leaves = []
    for position, curve in enumerate(leaf_curves(tree, kind)):
        steps: Any = slice(None)
        band = None
        if kind == "kaplan-meier":
            # Steps of other leaves do not move this curve, and there may be thousands.
            steps = tree.risk[position].step
            lower, upper = confidence_band(tree, curve.leaf, level)
            band = lower.y[steps], upper.y[steps]
        leaves.append(
            Leaf(
                node=curve.leaf,
                n_samples=int(tree.n_samples[curve.leaf]),
                n_events=int(tree.n_events[curve.leaf]),
                theta=float(tree.theta[curve.leaf]),
                median=curve.median,
                times=curve.survival.x[steps],
                survival=curve.survival.y[steps],
                band=band,
                colour=colours[position],
            )
        )
    return tuple(leaves)


def time_label(time_unit: str | None) -> str:
    """Return the label of a time axis."""
    return "time" if time_unit is None else f"time ({time_unit})"


def caption(kind: LeafCurveKind, level: float) -> str:
    """Return in words how leaves are drawn, and what a relative risk is."""
    if kind == "baseline":
        curve = "Survival as the relative risk predicts it."
    else:
        curve = (
            f"Kaplan-Meier survival with {100 * level:g}% confidence band, "
            "dotted after the last event of a leaf."
        )
    return f"{curve} Relative risk: the hazard of a leaf over that of all rows."


def at_risk(tree: Tree, position: int, times: Floats) -> Floats:
    """Return the weight of a leaf that is at risk at some times.

    A tree knows this at the times that can be ticks of an axis; at others the answer is not a
    number.

    Parameters
    ----------
    tree : Tree
        A tree that keeps its at-risk counts.
    position : int
        The position of the leaf in ``tree.leaves``.
    times : array of float
        The times that are asked for, zero or later.
    """
    counts = tree.risk[position].round_at_risk.astype(np.float64)
    multiples = np.asarray(times) / round_step(float(tree.baseline.times[-1]))
    nearest = np.minimum(np.rint(multiples), counts.size - 1)
    known = np.abs(multiples - nearest) < 1e-6
    return np.where(known, counts[nearest.astype(np.intp)], np.nan)


def read_everyone(tree: Tree) -> Leaf:
    """Return all rows together as they are drawn: what the baseline hazard predicts, in grey.

    Parameters
    ----------
    tree : Tree
        A fitted tree.
    """
    times, survival = tree.baseline.times, tree.baseline.survival(1.0)
    return Leaf(
        node=0,
        n_samples=int(tree.n_samples[0]),
        n_events=int(tree.n_events[0]),
        theta=1.0,
        median=median_time(times, survival),
        times=times,
        survival=survival,
        band=None,
        colour=risk_colours([1.0])[0],
    )

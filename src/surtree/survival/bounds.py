"""What is known of the sums of a fit before what each row adds to them: bounds, units and grids."""

from __future__ import annotations

import math
from collections.abc import Sequence

from surtree.exact import Grid
from surtree.survival.baseline import Baseline

# More than the rounding of sums over the baseline's steps and the rows.
_ROUNDING = 2.0**-20
# The logarithm of no double but one is closer to zero.
_LEAST_LOG = 2.0**-54


def unit_of(most: float) -> float:
    """Return the unit of the core for sums whose totals are at most so much.

    Parameters
    ----------
    most : float
        Not negative.
    """
    # Less than 2**51 units: two spare bits, as each row has at least one unit of exposure.
    return math.ldexp(1.0, math.frexp(most if most > 0 else 1.0)[1] - 51)


def hazard_bound(events: float, weight: float, baseline: Baseline) -> float:
    """Return what the weighted hazard of all rows does not exceed, at most twice as much as it is.

    At each event time the baseline adds deaths over weight at risk to the hazard of the weight at
    risk: all rows together have as much hazard as events, and the floor where they left before the
    first event. Rows that did not have at least the floor each, as it is the smallest step.

    Parameters
    ----------
    events, weight : float
        The weight of all events and of all rows.
    baseline : Baseline
        That of the same rows.
    """
    return (events + baseline.floor * weight) * (1.0 + _ROUNDING)


def channel_grids(
    n_rows: int,
    weights: tuple[float, float],
    baselines: Sequence[Baseline],
    factors: Sequence[float],
) -> tuple[Grid, ...]:
    """Return grids for the sums of nodes that have a channel for each of some baselines.

    Parameters
    ----------
    n_rows : int
        The number of all rows.
    weights : tuple of float
        The weights of the lightest and of the heaviest row.
    baselines : sequence of Baseline
        The baseline of each channel.
    factors : sequence of float
        How much each channel counts in the constant.
    """
    lightest, heaviest = weights
    weight = Grid.covering(n_rows, heaviest, lightest)
    grids, most_logs = [], []
    for baseline in baselines:
        floor, most = baseline.floor, float(baseline.cumulative_hazard.max(initial=baseline.floor))
        grids += [weight, Grid.covering(n_rows, heaviest * most, lightest * floor)]
        most_logs.append(max(abs(math.log(floor)), abs(math.log(most))))
    most_factor, least_factor = max(factors), min(factor for factor in factors if factor > 0)
    most = max(most_factor * heaviest * max(most_logs), lightest)
    constant = Grid.covering(n_rows, most, least_factor * lightest * _LEAST_LOG)
    return (*grids, constant, Grid(), Grid(), weight)

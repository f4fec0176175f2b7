"""About how long a search takes, before it begins.

The core estimates each of its stages once it has the rows at hand (`cpp/search/plan.hpp`); these
are orders of magnitude that need nothing but the sizes of the table.
"""

from __future__ import annotations

import math

from surtree.solver.problem import BinnedRows

# Seconds for each gain, if a search evaluated every tree, and to add a row to a histogram.
_PER_GAIN, _PER_ROW = 2e-9, 5e-10
# The kernels solve so many levels at once, and add every row once for each set of so many columns.
_KERNEL_DEPTH = 3
# Each further level costs so many times as much as its gains: sets of rows are taken apart.
_PER_LEVEL = 5.0


# Seconds for each column and each cell of the table, before the search begins.
_PER_COLUMN, _PER_CELL = 5e-5, 1e-8


def seconds_before(binned: BinnedRows) -> float:
    """Return about how many seconds the core needs to prepare a search, deaf to the clock."""
    return len(binned.bins) * _PER_COLUMN + binned.bins.size * _PER_CELL


def seconds_at_least(binned: BinnedRows, depth: int) -> float:
    """Estimate the seconds that a search on one thread takes at least, to an order of magnitude."""
    n_lines, n_rows = map(int, binned.bins.shape)
    n_cuts = int(binned.cut_column.size)
    if n_cuts == 0 or depth == 0:
        return 0.0
    # The leaves of all trees with some cuts on a path, in any order.
    log_gains = depth * math.log(2 * n_cuts) - math.lgamma(depth + 1)
    levels = min(depth, _KERNEL_DEPTH)
    seconds = math.exp(min(log_gains, 600.0)) * _PER_GAIN * _PER_LEVEL ** (depth - levels)
    n_sides = math.exp(min((depth - levels) * math.log(2 * n_cuts), 600.0))
    return seconds + n_sides * n_rows * math.comb(n_lines, min(levels, n_lines)) * _PER_ROW

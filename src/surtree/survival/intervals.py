"""Sums over the intervals that cover a place, by a segment tree.

A difference of two running sums is shorter, but where heavy rows cancel it loses light ones. Here
nothing is subtracted, so every sum is as accurate as its terms.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surtree._types import Floats

Places = NDArray[np.intp]


def weight_over(first: Places, last: Places, weight: Floats, n_places: int) -> Floats:
    """Return, for each place, the weight of the intervals that cover it.

    Parameters
    ----------
    first, last : array of int
        Each interval covers the places from its first to before its last.
    weight : array of float
        The weight of each interval.
    n_places : int
        How many places there are.

    Returns
    -------
    array of float of shape (n_places,)

    Examples
    --------
    >>> import numpy as np
    >>> from surtree.survival.intervals import weight_over
    >>> weight_over(np.array([0, 1]), np.array([2, 3]), np.array([1.0, 10.0]), 3)
    array([ 1., 11., 10.])
    """
    size = 1 << max(n_places - 1, 0).bit_length()
    nodes = np.zeros(2 * size)  # the root is node 1, the places begin at node `size`
    left, right = first + size, last + size
    rows = np.flatnonzero(left < right)
    while rows.size:
        # A left end that is a right child, or a right end that follows a left one, is a node apart.
        for node, step in ((left, 0), (right, -1)):
            odd = rows[(node[rows] & 1).astype(bool)]
            nodes += np.bincount(node[odd] + step, weight[odd], minlength=2 * size)
        left[rows] = (left[rows] + 1) >> 1
        right[rows] >>= 1
        rows = rows[left[rows] < right[rows]]
    sums = np.zeros(n_places)
    place = np.arange(size, size + n_places)
    for _ in range(size.bit_length()):  # up to the root
        sums += nodes[place]
        place >>= 1
    return sums

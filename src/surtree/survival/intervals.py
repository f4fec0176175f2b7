"""Sums over the intervals that cover a place."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surtree._support.exact import Terms
from surtree._support.types import Floats

Places = NDArray[np.intp]


def weight_over(first: Places, last: Places, weight: Terms, n_places: int) -> Floats:
    """Return, for each place, the weight of the intervals that cover it.

    Parameters
    ----------
    first, last : array of int
        Each interval covers the places from its first to before its last, not before it.
    weight : Terms
        The weight of each interval.
    n_places : int
        How many places there are.

    Returns
    -------
    array of float of shape (n_places,)

    Examples
    --------
    >>> import numpy as np
    >>> from surtree._support.exact import Terms
    >>> from surtree.survival.intervals import weight_over
    >>> weight_over(np.array([0, 1]), np.array([2, 3]), Terms.of(np.array([1.0, 10.0])), 3)
    array([ 1., 11., 10.])
    """
    begins, ends = (weight.parts_by(place, n_places + 1) for place in (first, last))
    # Sums of parts are exact: where heavy rows cancel, nothing is lost of light ones.
    covering = np.cumsum(begins - ends, axis=1)[:, :n_places]
    return weight.grid.join(covering)

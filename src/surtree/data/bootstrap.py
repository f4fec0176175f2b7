"""Bootstrap samples: how often each row is drawn, alone or with its group."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from surtree._support.parameters import is_whole
from surtree.data.persons import read_labels

Counts = NDArray[np.intp]


def read_groups(groups: ArrayLike, n_rows: int) -> NDArray[np.intp]:
    """Return the number of each row's group, counted from zero.

    Parameters
    ----------
    groups : array of shape (n_rows,)
        A label for each row.
    n_rows : int
        How many rows there are.
    """
    labels = read_labels("groups", groups, n_rows)
    return np.asarray(np.unique(labels, return_inverse=True)[1], dtype=np.intp)


def spawn_generators(random_state: Any, n_samples: int) -> list[np.random.Generator]:
    """Return a generator for each sample; the first ones do not depend on how many there are.

    Parameters
    ----------
    random_state : int, RandomState or None
        Where they come from. None is different every time.
    n_samples : int
        How many samples there will be.
    """
    if not is_whole(random_state):
        random_state = check_random_state(random_state).randint(2**32, dtype=np.uint32)
    seeds = np.random.SeedSequence(int(random_state)).spawn(n_samples)
    return [np.random.default_rng(seed) for seed in seeds]


def draw_counts(random: np.random.Generator, group: NDArray[np.intp]) -> Counts:
    """Draw groups of rows with replacement, as many as there are, and count each row.

    Parameters
    ----------
    random : numpy.random.Generator
        Where the draw comes from.
    group : array of int of shape (n_rows,)
        The group of each row, counted from zero; ``arange(n_rows)`` draws rows one by one.

    Examples
    --------
    >>> import numpy as np
    >>> from surtree.data.bootstrap import draw_counts
    >>> int(draw_counts(np.random.default_rng(0), np.arange(5)).sum())
    5
    >>> counts = draw_counts(np.random.default_rng(0), np.array([0, 0, 1]))
    >>> bool(counts[0] == counts[1])
    True
    """
    n_groups = int(group.max()) + 1
    drawn = random.integers(0, n_groups, n_groups)
    return np.bincount(drawn, minlength=n_groups)[group]

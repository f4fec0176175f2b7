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
    """Return the number of each row's group, counted from zero."""
    labels = read_labels("groups", groups, n_rows)
    return np.asarray(np.unique(labels, return_inverse=True)[1], dtype=np.intp)


def spawn_generators(random_state: Any, n_samples: int) -> list[np.random.Generator]:
    """Return a generator for each sample; the first ones do not depend on how many there are."""
    if not is_whole(random_state):
        random_state = check_random_state(random_state).randint(2**32, dtype=np.uint32)
    seeds = np.random.SeedSequence(int(random_state)).spawn(n_samples)
    return [np.random.default_rng(seed) for seed in seeds]


def draw_counts(random: np.random.Generator, group: NDArray[np.intp]) -> Counts:
    """Draw groups of rows with replacement, as many as there are, and count each row."""
    n_groups = int(group.max()) + 1
    drawn = random.integers(0, n_groups, n_groups)
    return np.bincount(drawn, minlength=n_groups)[group]

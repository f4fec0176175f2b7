"""Folds in which events are as frequent as in all rows together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from surtree._support.parameters import require_flag, require_random_state, require_whole
from surtree.data.persons import read_groups
from surtree.data.target import read_target


class EventStratifiedKFold(BaseCrossValidator):  # type: ignore[misc]
    """Stratified folds: their numbers of events, and of rows, differ by at most one.

    With ``groups``, such as the persons of start-stop rows, groups stay together, and are dealt out
    by their numbers of events, those with the most first.

    It can be passed wherever scikit-learn takes ``cv``.

    Parameters
    ----------
    n_splits : int, default=5
        The number of folds, at least 2.
    shuffle : bool, default=True
        Whether rows are drawn into folds, as tables are often sorted by time. Else the rows, and
        among them those with an event, are dealt out in their order.
    random_state : int, RandomState instance or None, default=0
        The seed of the draw: the same folds every time, unless it is None.

    Examples
    --------
    >>> import numpy as np
    >>> from surtree import EventStratifiedKFold
    >>> y = np.array([(row < 4, 1.0 + row) for row in range(10)], dtype="?,f8")
    >>> for train, test in EventStratifiedKFold(n_splits=2).split(y, y):
    ...     print(len(train), len(test), y["f0"][test].sum())
    5 5 2
    5 5 2
    """

    n_splits: int
    shuffle: bool
    random_state: int | np.random.RandomState | None

    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = True,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        require_whole("n_splits", n_splits, 2)
        require_flag("shuffle", shuffle)
        require_random_state(random_state)
        self.n_splits = int(n_splits)
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds.

        Parameters
        ----------
        X, y, groups : object
            Not used; scikit-learn passes them.
        """
        return self.n_splits

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Yield the positions of the training rows and of the held-out rows, fold by fold.

        Parameters
        ----------
        X : array-like or data frame with n_samples rows
            Only its length counts.
        y : structured array or data frame of shape (n_samples,)
            A boolean event indicator and a time, or an array of the event indicator alone. A
            plain array of times means that every row has an event.
        groups : array of shape (n_samples,), optional
            Rows with the same label stay together.
        """
        return super().split(X, y, groups)  # type: ignore[no-any-return]

    def _iter_test_indices(
        self, X: Any = None, y: Any = None, groups: Any = None
    ) -> Iterator[NDArray[np.intp]]:
        event = _read_event(y, _num_samples(X))
        if groups is not None:
            yield from self._of_groups(event, read_groups(groups, event.size))
            return
        self._require_rows(event)
        order = np.arange(event.size)
        if self.shuffle:
            check_random_state(self.random_state).shuffle(order)
        # Round robin, events first: both counts differ by one at most.
        order = order[np.argsort(~event[order], kind="stable")]
        for fold in range(self.n_splits):
            yield np.sort(order[fold :: self.n_splits])

    def _of_groups(
        self, event: NDArray[np.bool_], group: NDArray[np.intp]
    ) -> Iterator[NDArray[np.intp]]:
        n_events = np.bincount(group, weights=event)
        self._require_rows(n_events > 0, "group")
        order = np.arange(n_events.size)
        if self.shuffle:
            check_random_state(self.random_state).shuffle(order)
        order = order[np.argsort(-n_events[order], kind="stable")]
        for fold in range(self.n_splits):
            yield np.flatnonzero(np.isin(group, order[fold :: self.n_splits]))

    def _require_rows(self, event: NDArray[np.bool_], noun: str = "row") -> None:
        if event.size < self.n_splits:
            what = "samples: n_samples" if noun == "row" else "groups: n_groups"
            raise ValueError(
                f"Cannot have number of splits n_splits={self.n_splits} greater than the number "
                f"of {what}={event.size}."
            )
        n_events = int(event.sum())
        verb = "has" if n_events == 1 else "have"
        if n_events < self.n_splits:
            remedy = (
                f"choose fewer folds, {n_events} at most"
                if n_events > 1
                else f"cross-validation takes at least two {noun}s with events"
            )
            raise ValueError(
                f"{n_events} of {event.size} {noun}s {verb} an event, "
                f"so {self.n_splits} folds cannot have one each: {remedy}."
            )


def _read_event(y: Any, n_rows: int) -> NDArray[np.bool_]:
    if isinstance(y, np.ndarray) and y.dtype == bool and y.shape == (n_rows,):
        return y
    return read_target(y, n_rows).event

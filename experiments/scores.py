"""How good a partition of rows into leaves is: every method is judged by these functions alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surtree.data.target import read_target
from surtree.metrics import concordance_index_censored, normalized_integrated_brier_score
from surtree.metrics._kaplan_meier import kaplan_meier
from surtree.survival.baseline import nelson_aalen
from surtree.survival.objective import RELATIVE_RISK, total_by
from surtree.survival.step_function import StepFunction

Labels = NDArray[np.intp]
Target = NDArray[np.void]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Partition:
    """The leaf of each training row and of each test row, as any labels."""

    train: Labels
    test: Labels

    @property
    def splits(self) -> int:
        """How many questions it takes: one less than there are leaves."""
        return np.unique(self.train).size - 1

    def positions(self) -> tuple[Labels, Labels, int]:
        """Return both with labels from zero on, and their number."""
        values, train = np.unique(self.train, return_inverse=True)
        test = np.searchsorted(values, self.test)
        if not np.array_equal(values[test.clip(max=values.size - 1)], self.test):
            raise ValueError("a test row fell into a leaf that no training row has")
        return train, test, values.size


def training_loss(y: Target, leaf: Labels) -> float:
    """Return the loss of a partition of the training rows."""
    sums = row_sums(y, y)
    _, part = np.unique(leaf, return_inverse=True)
    return sums.partition_loss(part)


def held_out_loss(y_train: Target, y_test: Target, leaves: Partition) -> float:
    """Return the loss per test row of a tree that was fitted on the training rows."""
    return risk_loss(y_train, y_test, theta_of_rows(y_train, leaves))


def risk_loss(y_train: Target, y_test: Target, theta: Floats) -> float:
    """Return the loss per test row of any relative risks; the baseline is the training rows'."""
    return row_sums(y_train, y_test).loss(theta) / len(y_test)


def negative_held_out_loss(y_train: Target, y_test: Target, leaves: Partition) -> float:
    """Return the held-out loss with its sign turned: higher is better."""
    return -held_out_loss(y_train, y_test, leaves)


def concordance(y_train: Target, y_test: Target, leaves: Partition) -> float:
    """Return Harrell's C of the test rows; the risk of a leaf is its theta.

    The paper does not compare an event with a row that is censored at the same time, so of equal
    times the censored one is moved before the event.
    """
    return risk_concordance(y_test, theta_of_rows(y_train, leaves))


def tuning_concordance(y_train: Target, y_test: Target, leaves: Partition) -> float:
    """Return Harrell's C; of rows without a comparable pair one half, whatever the leaves."""
    event, order = y_test["event"], _order(y_test)
    if order[event].min(initial=order.max()) == order.max():
        return 0.5
    return concordance(y_train, y_test, leaves)


def risk_concordance(y: Target, risk: Floats) -> float:
    """Return Harrell's C of any risks, by the paper's rule for equal times."""
    return concordance_index_censored(y["event"], _order(y), risk).cindex


def _order(y: Target) -> Labels:
    """Return numbers in the order of the times, a censored row before an event at its time."""
    return 2 * np.unique(y["time"], return_inverse=True)[1] + y["event"]


def brier(
    y_train: Target, y_test: Target, leaves: Partition, span: tuple[float, float] | None = None
) -> float:
    """Return 1 - IB / IB_0 of the test rows; the curve of a leaf is that of its training rows.

    Parameters
    ----------
    y_train, y_test : structured array
        Event and time.
    leaves : Partition
        Their leaves.
    span : (float, float), optional
        From when to when; by default between the 10% and 90% quantiles of the test times.
    """
    survival = curves_of_rows(y_train, leaves)
    return normalized_integrated_brier_score(y_train, y_test, survival, interval=span)


def curves_of_rows(y_train: Target, leaves: Partition) -> list[StepFunction]:
    """Return the curve of each test row: that of the training rows of its leaf."""
    train, test, n_leaves = leaves.positions()
    target = read_target(y_train, len(y_train))
    curves = [kaplan_meier(target.take(train == leaf)) for leaf in range(n_leaves)]
    return [curves[leaf] for leaf in test]


def paper_brier(y_train: Target, y_test: Target, leaves: Partition) -> float:
    """Return 1 - IB / IB_0 as the paper's numbers have it, which is not quite as its text says.

    The interval lies between quantiles of the *distinct* test times, however many rows have each
    of them, and test rows at or after the last training time are left out.

    Parameters
    ----------
    y_train, y_test : structured array
        Event and time.
    leaves : Partition
        Their leaves.
    """
    known = y_test["time"] < y_train["time"].max()
    times = np.unique(y_test["time"][known])
    span = float(times[times.size // 10]), float(times[9 * times.size // 10])
    return brier(y_train, y_test[known], Partition(leaves.train, leaves.test[known]), span)


def row_sums(y_train: Target, y: Target):
    """Return events and hazard of rows by the baseline of the training rows."""
    weight = np.ones(len(y_train))
    baseline = nelson_aalen(read_target(y_train, len(y_train)), weight)
    return RELATIVE_RISK.row_sums(read_target(y, len(y)), np.ones(len(y)), baseline)


def theta_of_rows(y_train: Target, leaves: Partition) -> Floats:
    """Return the relative risk of each test row: that of its leaf."""
    train, test, n_leaves = leaves.positions()
    sums = row_sums(y_train, y_train)
    totals = np.stack([total_by(train, values, n_leaves) for values in sums.values])
    return RELATIVE_RISK.predict(totals)[test]

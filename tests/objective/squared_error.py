"""Squared error of a number, the time of a row: the objective that a test adds to the package."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surtree.survival.exactness import Exactness
from surtree.survival.objective import Objective


@dataclass(frozen=True)
class SquaredError(Objective):
    """A leaf with the weighted sum S of numbers and the weight N gains S^2 / N."""

    name = kernel = "squared_error"
    sum_names = ("total", "weight")

    def row_values(self, target, weight, baseline):
        number = target.time
        return np.stack([weight * number, weight]), weight * number**2

    def gain(self, sums):
        total, weight = np.asarray(sums)
        return total**2 / np.where(weight > 0, weight, 1.0)

    def predict(self, sums):
        total, weight = np.asarray(sums)
        return total / weight

    def variable_loss(self, values, prediction):
        total, weight = values
        return weight * prediction**2 - 2 * total * prediction

    def exactness(self):
        return SquaredErrorExactness()


class SquaredErrorExactness(Exactness):
    """Sums are exact in the units of the core, whatever the weights."""

    def scale(self, sums):
        return np.asarray(sums)[1]

    def slope(self, sums):
        mean = np.abs(SQUARED_ERROR.predict(sums))
        return np.maximum(2 * mean, mean**2)


SQUARED_ERROR = SquaredError()

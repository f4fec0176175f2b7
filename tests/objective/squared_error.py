"""Squared error of a number, the time of a row: the objective that a test adds to the package."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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

    def scale(self, sums):
        return np.asarray(sums)[1]

    def slope(self, sums):
        mean = np.abs(self.predict(sums))
        return np.maximum(2 * mean, mean**2)

    def is_uneven(self, weight):
        return False


SQUARED_ERROR = SquaredError()

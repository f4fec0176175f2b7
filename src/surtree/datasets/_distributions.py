"""Distributions of the time to the event in the leaves of synthetic trees."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from surtree._support.types import Floats


@dataclass(frozen=True)
class Distribution:
    """Times to the event in one leaf of a :class:`GroundTruthTree`.

    Attributes
    ----------
    family : {"exponential", "weibull", "lognormal", "gamma"}
    parameters : tuple of float
        Exponential: the mean. Weibull and gamma: shape and scale. Lognormal: mean and standard
        deviation of the logarithm.

    Examples
    --------
    >>> from surtree.datasets import make_survival_tree_data
    >>> X, y, truth = make_survival_tree_data(100, depth=1, random_state=0)
    >>> leaf = truth.leaves[0]
    >>> leaf.distribution.family, leaf.distribution.survival([1.0]).round(2)
    ('lognormal', array([0.54]))
    """

    family: str
    parameters: tuple[float, ...]

    def survival(self, times: ArrayLike) -> Floats:
        """Probability that the event comes after each of the times."""
        return np.asarray(self._frozen.sf(times))

    def sample(self, n: int, generator: np.random.Generator) -> Floats:
        """Draw ``n`` times."""
        return np.asarray(self._frozen.rvs(size=n, random_state=generator))

    @property
    def _frozen(self) -> Any:
        match self.family, self.parameters:
            case "exponential", (mean,):
                return stats.expon(scale=mean)
            case "weibull", (shape, scale):
                return stats.weibull_min(shape, scale=scale)
            case "lognormal", (mu, sigma):
                return stats.lognorm(sigma, scale=math.exp(mu))
            case "gamma", (shape, scale):
                return stats.gamma(shape, scale=scale)
        raise ValueError(f"There is no distribution {self}.")

    def __str__(self) -> str:
        return f"{self.family}({', '.join(f'{value:g}' for value in self.parameters)})"


# Each family can have these parameters, (a, b) as one column of the table. The authors' program,
# not the paper's text, made the paper's data: it takes the exponential's parameter as the mean, the
# lognormal's second one as the standard deviation, and 1.4 where the text has the gamma shape 1.3.
_CHOICES: dict[str, tuple[tuple[float, ...], ...]] = {
    "exponential": ((0.3, 0.4, 0.6, 0.8, 0.9, 1.15, 1.5, 1.8),),
    "weibull": (
        (0.8, 0.9, 0.9, 0.9, 0.9, 1.0, 1.0, 1.3),
        (0.4, 0.5, 0.7, 1.1, 1.5, 1.1, 1.9, 0.5),
    ),
    "lognormal": (
        (0.1, 0.2, 0.3, 0.3, 0.3, 0.4, 0.5, 0.5),
        (1.0, 0.75, 0.3, 0.5, 0.8, 0.32, 0.3, 0.7),
    ),
    "gamma": (
        (0.2, 0.3, 0.3, 0.5, 0.8, 0.9, 1.4, 1.5),
        (0.75, 1.3, 2.0, 1.5, 1.0, 1.3, 0.9, 0.7),
    ),
}
DISTRIBUTIONS = tuple(
    Distribution(family, parameters)
    for family, choices in _CHOICES.items()
    for parameters in zip(*choices, strict=True)
)

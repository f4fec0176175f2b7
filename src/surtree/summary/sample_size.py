"""How many rows and events a prediction model needs: the criteria of Riley and others."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, exp, log

from surtree.words.numbers import plural

# What the criteria ask for: so little overfitting, and so small a margin of error.
_SHRINKAGE, _OPTIMISM, _MARGIN = 0.9, 0.05, 0.05
_NORMAL = 1.959963984540054


@dataclass(frozen=True)
class SampleSize:
    """The rows that each criterion asks for; ``n`` is the largest.

    Parameters
    ----------
    shrinkage : int
        For a shrinkage of predictor effects of at least 0.9.
    optimism : int
        For an optimism of Nagelkerke's R2 of at most 0.05.
    precision : int
        For a margin of error of the overall risk at the horizon of at most 0.05.
    n, events : int
        The rows that all criteria ask for, and the events that they are expected to have.
    events_per_parameter : float
        These events for each parameter; of a tree, for each question that it asks.

    Examples
    --------
    >>> from surtree import sample_size
    >>> size = sample_size(20, r2=0.1, rate=0.1, mean_follow_up=3, horizon=2)
    >>> size.n == max(size.shrinkage, size.optimism, size.precision)
    True
    """

    shrinkage: int
    optimism: int
    precision: int
    n: int
    events: int
    events_per_parameter: float

    def __str__(self) -> str:
        return (
            f"{plural(self.n, 'row')} with {plural(self.events, 'event')}, "
            f"{self.events_per_parameter:.1f} for each parameter: {self.shrinkage} for a shrinkage "
            f"of {_SHRINKAGE}, {self.optimism} for an optimism of {_OPTIMISM} in R2, "
            f"{self.precision} for a margin of {_MARGIN} of the overall risk"
        )


def sample_size(
    parameters: int, *, r2: float, rate: float, mean_follow_up: float, horizon: float
) -> SampleSize:
    """Return how many rows a study needs, by the criteria of Riley and others.

    They are about regression models with so many parameters. A tree chooses its questions among
    many candidates, so it needs more: count at least every question that it may ask, and better
    every column, as parameters, and take what the criteria say as the least.

    Parameters
    ----------
    parameters : int
        The parameters that are estimated: at least ``max_splits`` of a tree.
    r2 : float
        The R2 (Cox and Snell's) that the model is expected to have in new data; 0.15 of its
        greatest value is a cautious guess.
    rate : float
        The events for each unit of time that a row is followed.
    mean_follow_up : float
        The mean time that rows are followed.
    horizon : float
        The time at which risks are to be predicted.

    References
    ----------
    Riley, Snell, Ensor and others (2019). Minimum sample size for developing a multivariable
    prediction model: part II, binary and time-to-event outcomes. Statistics in Medicine 38.

    Examples
    --------
    Recurrence of venous thromboembolism, the example of R's ``pmsampsize``:

    >>> from surtree import sample_size
    >>> size = sample_size(30, r2=0.051, rate=0.065, mean_follow_up=2.07, horizon=2)
    >>> size.n, size.events, round(size.events_per_parameter, 2), size.optimism
    (5143, 692, 23.07, 1039)
    """
    for name, value in (("rate", rate), ("mean_follow_up", mean_follow_up), ("horizon", horizon)):
        if not value > 0:
            raise ValueError(f"{name} must be above zero; got {value!r}.")
    if parameters < 1:
        raise ValueError(f"parameters must be at least 1; got {parameters!r}.")
    # The greatest R2, with exponential times in units of the mean follow-up.
    events = rate * mean_follow_up
    greatest = 1 - exp(min(2 * (events * log(events) - events), 0.0))
    if not 0 < r2 < min(greatest, _SHRINKAGE):
        raise ValueError(
            f"r2 must be above zero and below {min(greatest, _SHRINKAGE):.3g}, the greatest that "
            f"such events allow; got {r2!r}."
        )

    def for_shrinkage(shrinkage: float) -> int:
        return ceil(parameters / ((shrinkage - 1) * log(1 - r2 / shrinkage)))

    optimism = for_shrinkage(r2 / (r2 + _OPTIMISM * greatest))
    # The upper limit of the risk is to be so much above it: solved for the standard error of rate.
    risk = 1 - exp(-rate * horizon)
    highest = min(risk + _MARGIN, 1 - 1e-9)
    error = (-log(1 - highest) / horizon - rate) / _NORMAL
    precision = ceil(rate / (error**2 * mean_follow_up))
    n = max(for_shrinkage(_SHRINKAGE), optimism, precision)
    n_events = n * events
    return SampleSize(
        for_shrinkage(_SHRINKAGE),
        optimism,
        precision,
        n,
        round(n_events),
        n_events / parameters,
    )

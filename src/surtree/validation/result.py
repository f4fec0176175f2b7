"""The result of a validation: apparent, optimism, corrected, and how often columns come back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surtree._types import ArrayValue, Floats
from surtree.validation.performance import MEASURES


@dataclass(frozen=True)
class ColumnUse:
    """How often the models of bootstrap samples ask about a column.

    Parameters
    ----------
    name : str
        The column.
    anywhere, first : float
        The share of models that ask about it at all, and that ask about it first.
    """

    name: str
    anywhere: float
    first: float


@dataclass(frozen=True, eq=False)
class Validation(ArrayValue):
    """How well a way of building models predicts rows to come, by the bootstrap.

    The optimism of a measure is its mean on the rows that a model was built on, less its mean on
    all rows, over models of bootstrap samples; the corrected value is the apparent one less that.
    All arrays have a column for each of Harrell's C, Uno's C, the share of the integrated Brier
    score that is saved, the calibration slope (1 is right), and then for each horizon the mean
    predicted survival less the observed one. NaN stands for a measure that such rows do not have.

    Parameters
    ----------
    apparent : array of float of shape (n_measures,)
        Of the model of all rows, on the rows that it was built on.
    resampled, original : array of float of shape (n_repetitions, n_measures)
        Of the model of each bootstrap sample: on the sample, and on all rows.
    horizons : array of float
        Times for calibration.
    level : float
        The level of intervals.
    n_asked : int
        How many repetitions were asked for.
    n_failed : int
        How many of them had no model, for example because a sample had no event.
    columns : tuple of ColumnUse
        For trees of this package: the columns, the most used first.
    """

    apparent: Floats
    resampled: Floats
    original: Floats
    horizons: Floats
    level: float
    n_asked: int
    n_failed: int
    columns: tuple[ColumnUse, ...] = ()

    @property
    def n_repetitions(self) -> int:
        """How many models of bootstrap samples there are."""
        return len(self.resampled)

    @property
    def names(self) -> tuple[str, ...]:
        """What each measure is called."""
        return (*MEASURES, *(f"calibration_at_{horizon:g}" for horizon in self.horizons))

    @property
    def optimism(self) -> Floats:
        """By how much each measure is better on the rows that a model was built on."""
        return _mean(self.resampled - self.original)

    @property
    def corrected(self) -> Floats:
        """What to expect of each measure on rows to come."""
        return self.apparent - self.optimism

    @property
    def interval(self) -> tuple[Floats, Floats]:
        """Limits of the corrected values: percentiles of the resampled ones, less the optimism."""
        tail = (1 - self.level) / 2
        lower, upper = (
            np.array([_quantile(values, share) for values in self.resampled.T]) - self.optimism
            for share in (tail, 1 - tail)
        )
        return lower, upper

    def __getitem__(self, name: str) -> float:
        """Return the corrected value of a measure."""
        return float(self.corrected[self.names.index(name)])

    def __str__(self) -> str:
        words = [
            *MEASURES.values(),
            *(f"predicted - observed at {time:g}" for time in self.horizons),
        ]
        lower, upper = self.interval
        head = f"{self.n_repetitions} bootstrap samples"
        width = max(map(len, [head, *words]))
        level = f"{100 * self.level:g}% interval"
        lines = [f"{head:{width}}  apparent  optimism  corrected  {level:>17}"]
        for word, *values in zip(
            words, self.apparent, self.optimism, self.corrected, lower, upper, strict=True
        ):
            apparent, optimism, corrected, low, high = values
            limits = f"{low:.3f} to {high:.3f}"
            lines.append(
                f"{word:{width}}  {apparent:8.3f}  {optimism:8.3f}  {corrected:9.3f}  {limits:>17}"
            )
        if self.n_repetitions < self.n_asked - self.n_failed:
            lines.append(f"stopped early: {self.n_asked} samples were asked for")
        if self.n_failed:
            lines.append(f"{self.n_failed} samples had no model")
        if self.columns:
            lines += ["", "column".ljust(width) + "  asked about  asked first"]
            lines += [
                f"{use.name:{width}}  {use.anywhere:11.0%}  {use.first:11.0%}"
                for use in self.columns
            ]
        return "\n".join(lines)


def _mean(values: Floats) -> Floats:
    """Return the mean of each column over the rows that have a value; NaN where none has."""
    known = np.isfinite(values)
    total = np.where(known, values, 0.0).sum(axis=0)
    count = known.sum(axis=0)
    return np.asarray(np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0))


def _quantile(values: Floats, share: float) -> float:
    known = values[np.isfinite(values)]
    return float(np.quantile(known, share)) if known.size else float("nan")

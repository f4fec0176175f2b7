"""The result of resampling: measures, calibration and stability of a way of building models."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Literal

import numpy as np

from surtree._support.types import ArrayValue, Floats
from surtree.metrics import Calibration, DecisionCurve
from surtree.metrics.input import read_times
from surtree.survival.confidence import require_level
from surtree.validation._by_group import GroupPerformance, group_lines
from surtree.validation._measures import Measure
from surtree.validation._stability import (
    FEWEST_SAMPLES,
    ColumnUse,
    LeafStability,
    column_lines,
    leaf_lines,
)
from surtree.words.numbers import figure, limits_text, missing_figures, plural
from surtree.words.printed import Printed

Method = Literal["632+", "optimism", "folds", "groups"]
METHODS: tuple[Method, ...] = ("632+", "optimism", "folds", "groups")
# Models that were fitted on most rows each: they say nothing of how much samples differ.
DIVISIONS: tuple[Method, ...] = ("folds", "groups")

# The noun of a repetition, and the rest of the name of the method.
_METHOD_WORDS = {
    "632+": ("bootstrap sample", ", .632+ rule"),
    "optimism": ("bootstrap sample", ", optimism"),
    "folds": ("repetition", " of folds"),
    "groups": ("division", " by group"),
}
_OUTSIDE = "intervals: spread over the rows outside the samples, and the Monte Carlo error"
# The ways in which values and intervals come about.
_METHOD_NOTES: dict[Method, tuple[str, ...]] = {
    "632+": (
        "corrected: .632+ rule; Brier score and calibration at times: .632 rule; slope: from the "
        "median over samples",
        _OUTSIDE,
    ),
    "optimism": ("corrected: less the mean loss from a sample to all rows", _OUTSIDE),
    "folds": (
        "corrected: mean over repetitions, of rows by the models of the other folds",
        "intervals: from draws of these rows",
    ),
    "groups": (
        "corrected: rows of each group by the model of the other groups (internal-external)",
        "intervals: from draws of persons",
    ),
}
# The share of samples that must have followed rows to a time, or nothing is claimed of it.
_LEAST_KNOWN = 0.5


@dataclass(frozen=True, eq=False)
class Repetitions(ArrayValue):
    """All numbers behind a validation; they are in memory only, not in the file of a model."""

    # The measures of the model of each sample: on the rows that it was built on, on all rows, and
    # on the rows that it has not seen. With folds, only the last.
    resampled: Floats
    original: Floats
    held_out: Floats
    predicted: Floats  # what each says of the survival of some rows at the last horizon
    unseen: Any  # whether it had not seen the row
    rows: Any  # the positions of these rows; all, unless there are very many
    whole: Floats  # what the model of all rows says of their survival
    # The model of all rows, as it predicts survival (`surtree.validation._predictions`).
    model: Any
    # The same for each sample; trees predict the Kaplan-Meier curves of their leaves.
    models: tuple[Any, ...]


@dataclass(frozen=True, repr=False)
class Validation(Printed):
    """How well a way of building models predicts new data.

    Parameters
    ----------
    method : {"632+", "optimism", "folds", "groups"}
        How values are corrected.
    measures : tuple of Measure
        Harrell's C, Uno's C, the reduction of the integrated Brier score, the
        calibration slope (1 is right), and then for each horizon the mean predicted survival less
        the observed one.
    horizons : tuple of float
        Times for calibration; the slope and all below are about the last.
    level : float
        The level of intervals.
    n_asked, n_repetitions, n_failed : int
        How many repetitions were asked for; how many there are; how many had no model, for
        example because a sample had no event.
    interval : tuple of two floats, or None
        Between which times the Brier score is integrated; Uno's C counts pairs whose first event
        is before the second. None where the file of a model does not have it.
    calibration : Calibration or None
        Predicted and observed survival at the last horizon, by models that had not seen the rows;
        of competing risks, the incidence of the main cause, which the next two are about as well.
    decision : DecisionCurve or None
        The net benefit of acting on such predictions.
    columns : tuple of ColumnUse
        For trees of this package: the columns, the most used first.
    leaves : tuple of LeafStability
        For trees of this package: the leaves of the tree of all rows.
    instability : float
        By how much the survival that the models of samples predict for a row at the last horizon
        is off what the model of all rows says; the mean of absolute differences.
    random_state : int or None
        Where the samples come from; None where it is not known.
    causes : tuple of int
        Of competing risks, the causes that are judged, the main one first.
    groups : tuple of GroupPerformance
        With ``method="groups"``, each group by the model of the others.
    repetitions : Repetitions or None
        All numbers behind these; None after it was read from a file.

    Examples
    --------
    >>> from surtree import SurTree, validate
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> result = validate(SurTree(max_depth=1), X, y, n_bootstraps=10)
    >>> result.names[0], round(result["concordance"].value, 2)
    ('concordance', 0.61)
    """

    method: Method
    measures: tuple[Measure, ...]
    horizons: tuple[float, ...]
    level: float
    n_asked: int
    n_repetitions: int
    n_failed: int
    interval: tuple[float, float] | None = None
    calibration: Calibration | None = None
    decision: DecisionCurve | None = None
    columns: tuple[ColumnUse, ...] = ()
    leaves: tuple[LeafStability, ...] = ()
    instability: float = np.nan
    random_state: int | None = None
    causes: tuple[int, ...] = ()
    groups: tuple[GroupPerformance, ...] = ()
    repetitions: Repetitions | None = field(default=None, repr=False, compare=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the measures."""
        return tuple(measure.name for measure in self.measures)

    @property
    def stopped_early(self) -> bool:
        """Whether it was ended before all repetitions were done."""
        return self.n_repetitions + self.n_failed < self.n_asked

    @property
    def notes(self) -> tuple[str, ...]:
        """How the figures were obtained, a line each."""
        notes = _METHOD_NOTES[self.method]
        if self.interval is not None:
            start, end = self.interval
            whose, curve = ("Uno's", "Kaplan-Meier")
            if self.causes:
                whose, curve = ("Wolbers'", "Aalen-Johansen")
            notes += (
                f"{whose} C: events before {end:.4g}; Brier score: integrated from {start:.4g} "
                f"to {end:.4g}, against one {curve} curve for all",
            )
        return notes

    @property
    def curve_name(self) -> str:
        """What calibration and stability are about: survival, or the incidence of a cause."""
        return f"incidence of cause {self.causes[0]}" if self.causes else "survival"

    def of_cause(self, kind: str, cause: int | None) -> Measure:
        """Return a measure of a cause; of one event the cause is None.

        Parameters
        ----------
        kind : str
            Such as "concordance".
        cause : int or None
            One of ``causes``.
        """
        return self[kind if cause is None else f"cause_{cause}_{kind}"]

    def __getitem__(self, name: str) -> Measure:
        """Return a measure by its name."""
        return self.measures[self.names.index(name)]

    def survival_interval(
        self, X: Any, times: Any, level: float | None = None
    ) -> tuple[Floats, Floats]:
        """Return limits of the survival of rows, from the models of all samples.

        Each of them was built anew, tuning included, so the limits hold what the choice of
        questions and of the size adds to the uncertainty. They are widened, where need be, to hold
        what the model of all rows predicts. The limits of a leaf, which `confidence_band` has,
        take the tree as given: they describe the leaf, and are too narrow for a person.

        A tree of few leaves averages people who differ, and the more rows there are, the narrower
        are limits around that average: they hold the survival of a person less often than the
        level says, above all of those with the highest risks (docs/results/validation.md).
        Of an `EffectTree` it is the survival of all arms together.

        Parameters
        ----------
        X : data frame or array
            Rows, with the columns that the models were fitted on.
        times : array of float
            Times.
        level : float, optional
            The level; by default that of the validation.

        Returns
        -------
        lower, upper : array of float of shape (n_rows, n_times)
            NaN at times after the last follow-up of half of the samples. There are none with
            ``method="folds"``.

        Examples
        --------
        >>> from surtree import SurTree, validate
        >>> from surtree.datasets import load_gbsg2
        >>> X, y = load_gbsg2()
        >>> result = validate(SurTree(max_depth=2), X, y, n_bootstraps=20)
        >>> lower, upper = result.survival_interval(X.head(1), [1000], level=0.9)
        >>> bool(0 < lower[0, 0] < upper[0, 0] < 1)
        True
        """
        if self.repetitions is None:
            raise ValueError(
                "The models of the samples are not in the file of a model: validate it again, or "
                "pickle what validate returns."
            )
        if self.method in DIVISIONS:
            raise ValueError(
                "The models of folds share most of their rows, so they differ too little for "
                "limits: validate with method='632+'."
            )
        level = self.level if level is None else level
        require_level(level)
        n_models = len(self.repetitions.models)
        if n_models < FEWEST_SAMPLES:
            raise ValueError(
                f"An interval needs the models of {FEWEST_SAMPLES} samples, and there "
                f"{'is' if n_models == 1 else 'are'} {n_models}: validate with more."
            )
        asked = read_times(times)
        survival = np.stack([model.survival_at(X, asked) for model in self.repetitions.models])
        known = np.isfinite(survival).mean(axis=0) >= _LEAST_KNOWN
        survival = np.where(known, survival, 0.0)
        limits = np.nanquantile(survival, [(1 - level) / 2, (1 + level) / 2], axis=0)
        predicted = self.repetitions.model.survival_at(X, asked)
        lower = np.where(known, np.fmin(limits[0], predicted), np.nan)
        upper = np.where(known, np.fmax(limits[1], predicted), np.nan)
        return lower, upper

    def __str__(self) -> str:
        noun, rest = _METHOD_WORDS[self.method]
        head = f"{plural(self.n_repetitions, noun)}{rest}"
        width = max(len(head), *(len(measure.words) for measure in self.measures))
        level = f"{100 * self.level:g}% interval"
        lines = [
            f"{head:{width}}  apparent  optimism  corrected  {level:>17}  Monte Carlo error",
            *(
                f"{one.words:{width}}  {figure(one.apparent):>8}  {figure(one.optimism):>8}  "
                f"{figure(one.value):>9}  {limits_text(one.lower, one.upper):>17}  "
                f"{figure(one.monte_carlo_error):>17}"
                for one in self.measures
            ),
            *missing_figures((one.words, one.reason, isfinite(one.value)) for one in self.measures),
            *self.notes,
        ]
        if self.stopped_early:
            lines.append(f"stopped early: {self.n_asked} repetitions were asked for")
        if self.n_failed:
            lines.append(f"{plural(self.n_failed, 'sample')} had no model")
        lines += group_lines(self.groups, self.level)
        lines += column_lines(self.columns)
        lines += leaf_lines(self.leaves, self.horizons[-1], self.level, self.curve_name)
        return "\n".join(lines)

"""What resampling says of a way of building models: measures, calibration, stability."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Literal

import numpy as np

from surtree._support.types import ArrayValue, Floats
from surtree.metrics import Calibration, DecisionCurve
from surtree.metrics._input import read_times
from surtree.survival.confidence import require_level
from surtree.words.numbers import figure, limits_text, missing_figures, plural
from surtree.words.quoting import printable

Method = Literal["632+", "optimism", "folds"]
METHODS: tuple[Method, ...] = ("632+", "optimism", "folds")

# What is repeated, and the rest of its name.
_METHOD_WORDS = {
    "632+": ("bootstrap sample", ", .632+ rule"),
    "optimism": ("bootstrap sample", ", optimism"),
    "folds": ("repetition", " of folds"),
}
_OUTSIDE = "intervals: spread over the rows outside the samples, and the Monte Carlo error"
# How values and intervals come about.
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
}
# With fewer samples there are no intervals. Even the smallest and the largest of 20 values hold
# the next one between them only 19 times in 21 (90%): the tails of fewer are guesses.
FEWEST_SAMPLES = 20
# Below this agreement the rows of a leaf are hardly ever together again (Hennig).
RARELY_REPRODUCED = 0.5
# The share of samples that must have followed rows to a time.
_LEAST_KNOWN = 0.5
# From this one on a leaf is found again in most samples.
REPRODUCED = 0.75


@dataclass(frozen=True)
class Measure:
    """One measure of how well models predict.

    Parameters
    ----------
    name, words : str
        What it is called in code, and by people.
    apparent : float
        Its value for the model of all rows, on the rows that it was built on.
    corrected : float
        What to expect of it in new data; NaN where such rows have no such measure.
    lower, upper : float
        Limits of the value in new data; NaN where fewer than 20 samples have a value, or all have
        the same.
    reason : str
        Why a value or its limits are NaN; empty where they are not.
    monte_carlo_error : float
        The standard error of the corrected value that comes from drawing so many samples and not
        more; the limits include it. NaN for a single sample.

    Examples
    --------
    >>> from surtree import SurTree, validate
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> found = validate(SurTree(max_depth=1), X, y, n_bootstraps=10)
    >>> concordance = found["concordance"]
    >>> concordance.words, round(concordance.apparent, 2), round(concordance.corrected, 2)
    ("Harrell's C", 0.63, 0.61)
    """

    name: str
    words: str
    apparent: float
    corrected: float
    lower: float
    upper: float
    reason: str = ""
    monte_carlo_error: float = np.nan

    @property
    def optimism(self) -> float:
        """By how much it is better on the rows that a model was built on."""
        return self.apparent - self.corrected


@dataclass(frozen=True)
class ColumnUse:
    """How often the trees of samples ask about a column.

    Parameters
    ----------
    name : str
        The column.
    anywhere, first : float
        The share of trees that ask about it at all, and that ask about it first.
    thresholds : tuple of float
        Where they cut it, if it is a number: all of them, ascending.

    Examples
    --------
    >>> from surtree import SurTree, validate
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> found = validate(SurTree(max_depth=1), X, y, n_bootstraps=10)
    >>> found.columns[0].name, found.columns[0].anywhere
    ('positive_nodes', 0.8)
    """

    name: str
    anywhere: float
    first: float
    thresholds: tuple[float, ...] = ()

    @property
    def middle(self) -> tuple[float, float] | None:
        """Where the middle 80% of the thresholds lie."""
        if not self.thresholds:
            return None
        low, high = np.quantile(self.thresholds, [0.1, 0.9], method="inverted_cdf")
        return float(low), float(high)


@dataclass(frozen=True)
class LeafStability:
    """How a leaf of the tree of all rows fares in the trees of samples.

    Parameters
    ----------
    leaf : int
        The number of its node.
    jaccard : float
        How much of the leaf is reproduced: of the rows in it or in the leaf most like it, the share
        that is in both; the mean over the trees of samples.
    survival : float
        What the leaf says of survival at the horizon.
    lower, upper : float
        Between which the trees of samples see the survival of a row of this leaf; the mean over
        its rows.

    Examples
    --------
    >>> from surtree import SurTree, validate
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> found = validate(SurTree(max_depth=1), X, y, n_bootstraps=10)
    >>> leaf = found.leaves[0]
    >>> leaf.leaf, round(leaf.jaccard, 2), leaf.words
    (1, 0.79, 'reproduced')
    """

    leaf: int
    jaccard: float
    survival: float
    lower: float
    upper: float

    @property
    def words(self) -> str:
        """Whether samples give it again."""
        if self.jaccard >= REPRODUCED:
            return "reproduced"
        return "partly reproduced" if self.jaccard >= RARELY_REPRODUCED else "rarely reproduced"


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
    # What predicts survival as the model of all rows does (`surtree.validation.models`).
    model: Any
    # The same for each sample; trees predict the Kaplan-Meier curves of their leaves.
    models: tuple[Any, ...]


@dataclass(frozen=True)
class Validation:
    """How well a way of building models predicts new data.

    Parameters
    ----------
    method : {"632+", "optimism", "folds"}
        How it was found.
    measures : tuple of Measure
        Harrell's C, Uno's C, the share of the integrated Brier score that is saved, the
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
        Predicted and observed survival at the last horizon, by models that had not seen the rows.
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
    repetitions : Repetitions or None
        All numbers behind these; None after it was read from a file.

    Examples
    --------
    >>> from surtree import SurTree, validate
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> found = validate(SurTree(max_depth=1), X, y, n_bootstraps=10)
    >>> found.names[0], round(found["concordance"].corrected, 2)
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
            notes += (
                f"Uno's C: events before {end:.4g}; Brier score: integrated from {start:.4g} to "
                f"{end:.4g}, against one Kaplan-Meier curve for all",
            )
        return notes

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
        if self.method == "folds":
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
        found = np.stack([model.survival_at(X, asked) for model in self.repetitions.models])
        # Of a time that few samples have followed rows to, nothing is claimed.
        known = np.isfinite(found).mean(axis=0) >= _LEAST_KNOWN
        found = np.where(known, found, 0.0)
        limits = np.nanquantile(found, [(1 - level) / 2, (1 + level) / 2], axis=0)
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
                f"{figure(one.corrected):>9}  {limits_text(one.lower, one.upper):>17}  "
                f"{figure(one.monte_carlo_error):>17}"
                for one in self.measures
            ),
            *missing_figures(
                (one.words, one.reason, isfinite(one.corrected)) for one in self.measures
            ),
            *self.notes,
        ]
        if self.stopped_early:
            lines.append(f"stopped early: {self.n_asked} repetitions were asked for")
        if self.n_failed:
            lines.append(f"{plural(self.n_failed, 'sample')} had no model")
        return "\n".join([*lines, *_columns_lines(self.columns), *_leaves_lines(self)])


def _columns_lines(columns: tuple[ColumnUse, ...]) -> list[str]:
    if not columns:
        return []
    names = [printable(use.name) for use in columns]
    width = max(6, *map(len, names))
    lines = ["", f"{'column':{width}}  asked about  asked first  cut, mostly"]
    for name, use in zip(names, columns, strict=True):
        cut = "" if use.middle is None else _range(*use.middle)
        line = f"{name:{width}}  {use.anywhere:11.0%}  {use.first:11.0%}  {cut}"
        lines.append(line.rstrip())
    return lines


def _range(low: float, high: float) -> str:
    return f"at {low:.4g}" if low == high else f"from {low:.4g} to {high:.4g}"


def _leaves_lines(found: Validation) -> list[str]:
    if not found.leaves:
        return []
    horizon, level = f"{found.horizons[-1]:g}", f"{100 * found.level:g}%"
    lines = ["", f"leaf  agreement  survival at {horizon}  {level} of samples say"]
    for leaf in found.leaves:
        limits = limits_text(leaf.lower, leaf.upper, 2)
        survival = figure(leaf.survival, 2).rjust(len("survival at ") + len(horizon))
        lines.append(f"{leaf.leaf:4}  {leaf.jaccard:9.2f}  {survival}  {limits}, {leaf.words}")
    rare = sum(leaf.jaccard < RARELY_REPRODUCED for leaf in found.leaves)
    if rare:
        lines.append(
            f"{rare} of {plural(len(found.leaves), 'leaf')} rarely reproduced: use the predictions "
            "of the tree, do not take these groups for kinds of patients"
        )
    if not all(isfinite(leaf.survival) for leaf in found.leaves):
        lines.append(f"-: {horizon} is after the last follow-up")
    elif not all(isfinite(leaf.lower) for leaf in found.leaves):
        lines.append(f"-: fewer than {FEWEST_SAMPLES} samples have a value")
    return lines

"""A measure of how well predictions agree with rows, and the curves beside the measures."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from surtree._support.types import Floats
from surtree.data.target import Target
from surtree.metrics import Calibration, DecisionCurve, calibration, decision_curve


@dataclass(frozen=True)
class Measure:
    """One measure of how well a model predicts.

    Parameters
    ----------
    name, words : str
        What it is called in code, and by people.
    value : float
        Of `evaluate`, its value on these rows; of `validate`, the corrected value, which is to be
        expected in new data. NaN where such rows have no such measure.
    lower, upper : float
        Limits of the value; NaN where fewer than 20 samples have a value, or all have the same.
    reason : str
        Why the value or its limits are NaN; empty where they are not.
    apparent : float
        Of `validate`: the value of the model of all rows, on the rows that it was built on.
    monte_carlo_error : float
        Of `validate`: the standard error of the value that comes from drawing so many samples and
        not more; the limits include it. NaN for a single sample.

    Examples
    --------
    >>> from surtree import SurTree, validate
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> result = validate(SurTree(max_depth=1), X, y, n_bootstraps=10)
    >>> concordance = result["concordance"]
    >>> concordance.words, round(concordance.apparent, 2), round(concordance.value, 2)
    ("Harrell's C", 0.63, 0.61)
    """

    name: str
    words: str
    value: float
    lower: float
    upper: float
    reason: str = ""
    apparent: float = np.nan
    monte_carlo_error: float = np.nan

    @property
    def kind(self) -> str:
        """What it measures, whichever cause, arm or time it is about: "concordance", "brier"."""
        return re.sub(r"^cause_\d+_|(_at|_of)_.*$", "", self.name)

    @property
    def cause(self) -> int | None:
        """The cause that it is about; None of one event."""
        named = re.match(r"cause_(\d+)_", self.name)
        return int(named[1]) if named else None

    @property
    def optimism(self) -> float:
        """By how much it is better on the rows that a model was built on."""
        return self.apparent - self.value


def observed_curves(
    target: Target,
    predicted: Floats,
    weight: Floats,
    horizon: float,
    level: float,
    cause: int | None,
) -> tuple[Calibration | None, DecisionCurve | None]:
    """Return calibration and net benefit of predictions at a horizon, where they are defined."""
    if not target.time.size or horizon > target.time.max():
        return None, None
    given: dict[str, Any] = {"sample_weight": weight, "cause": cause}
    curve = calibration(target, predicted, horizon, level=level, **given)
    if target.entry is not None:  # net benefit has no form for late entries
        return curve, None
    return curve, decision_curve(target, predicted, horizon, **given)

"""What a method says of rows that it has not seen, and how good that is, whatever the method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from experiments.scores import Floats, Target, risk_concordance, risk_loss
from surtree.metrics import normalized_integrated_brier_score
from surtree.survival.step_function import StepFunction

# Curves that this package does not have: with a prior of so many rows in each leaf.
PRIORS = {"10 rows": 10.0, "20 rows": 20.0}
# All kinds of curves of a leaf. A version of surtree that lacks one has no score of it.
CURVES = ("baseline", "kaplan-meier", "shrunk", *PRIORS)


@dataclass(frozen=True, eq=False)
class Forecast:
    """What a method says of test rows.

    Parameters
    ----------
    theta : array of float
        Their hazard relative to the baseline of the training rows, or any risk.
    survival : mapping of str to sequence of StepFunction
        Their curves, for each kind of curve that the method has.
    splits : int or None
        How many questions its tree asks, where it is a tree.
    shrinkage : float
        How many events its prior is worth.
    is_relative : bool
        Whether ``theta`` is relative to that baseline: else it has no loss.
    """

    theta: Floats
    survival: Mapping[str, Sequence[StepFunction]]
    splits: int | None = None
    shrinkage: float = 0.0
    is_relative: bool = True

    def scores(self, y_train: Target, y_test: Target) -> dict[str, float]:
        """Return Harrell's C, the held-out loss, and a Brier score for each kind of curve.

        The Brier score is the normalised integrated one, from the 10% to the 90% quantile of the
        test times; a kind that the method lacks has none.

        Parameters
        ----------
        y_train, y_test : structured array
            Event and time.
        """
        brier = dict.fromkeys(CURVES, np.nan)
        for kind, curves in self.survival.items():
            brier[kind] = normalized_integrated_brier_score(y_train, y_test, curves)
        return {
            "c": risk_concordance(y_test, self.theta),
            "loss": risk_loss(y_train, y_test, self.theta) if self.is_relative else np.nan,
            **{brier_column(kind): score for kind, score in brier.items()},
        }


def brier_column(kind: str) -> str:
    """Return what the Brier score of a kind of curve is called in rows."""
    return f"ib_{kind.replace('-', '_').replace(' ', '_')}"

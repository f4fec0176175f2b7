"""Whether arms were drawn by lot: then nothing in the table can tell them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from scipy.special import chdtrc

from surtree._support.package import user_level
from surtree.fitting.training import FitProblem
from surtree.solver.problem import Limits

# At most one of a thousand trials with a proper lot is warned of.
_RARE = 0.001


class NotRandomisedWarning(UserWarning):
    """The arm of a row can be told from its columns: arms were hardly drawn by lot.

    Examples
    --------
    >>> import warnings
    >>> from surtree import EffectTree
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> therapy = X.pop("hormone_therapy")
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = EffectTree(max_depth=1).fit(X, y, therapy)
    >>> caught[0].category.__name__
    'NotRandomisedWarning'
    """


@dataclass(frozen=True)
class ArmPrediction:
    """How well one question about the columns tells the arm of a row."""

    question: str  # the question that tells it best; empty where there is none
    statistic: float  # twice the gain in log likelihood of a multinomial model
    # The probability of as much if arms were drawn by lot, times the number of questions (and one
    # at most): the correction for having chosen the best of them.
    p_value: float


def predict_arms(problem: FitProblem) -> ArmPrediction:
    """Find the question that tells the arms of rows apart best."""
    target = problem.data.target
    n_arms, n_cuts = len(target.labels), problem.binned.cut_column.size
    solution = problem.tell_arms(n_arms) if n_cuts else None
    if solution is None or len(solution.gains) < 2:
        return ArmPrediction("", 0.0, 1.0)
    statistic = max(2.0 * float(solution.gains[1] - solution.gains[0]), 0.0)
    p_value = min(1.0, n_cuts * float(chdtrc(n_arms - 1, statistic)))
    cut = int(solution.topologies[1].cut[0])
    return ArmPrediction(problem.encoder.cuts_[cut].rule if cut >= 0 else "", statistic, p_value)


def warn_unless_randomised(problem: FitProblem) -> None:
    """Warn if a question tells the arms of rows apart better than chance allows."""
    prediction = predict_arms(problem)
    if prediction.p_value < _RARE:
        warnings.warn(
            f"Arms were hardly drawn by lot: {prediction.question!r} tells them apart (p = "
            f"{prediction.p_value:.2g}). What differs between arms may then be due to who is in "
            "them, and not to the treatment.",
            NotRandomisedWarning,
            stacklevel=user_level(),
        )


# This many limits on leaves can be active at once.
_MOST_ACTIVE = 4


@dataclass(frozen=True)
class ArmLimits(Limits):
    """How large a tree may be, and how small its leaves and the arms in them."""

    min_events_arm: int = 0  # the least number of rows with an event in each arm of a leaf
    n_arms: int = 2  # the number of arms

    def __post_init__(self) -> None:
        super().__post_init__()
        # Events of all arms that are enough in each arm need no limit of their own.
        if self.min_events_leaf <= self.n_arms * self.min_events_arm:
            object.__setattr__(self, "min_events_leaf", 0)
        if sum(least > 0 for least in self.least.values()) > _MOST_ACTIVE:
            raise ValueError(
                f"With {self.n_arms} arms, min_events_arm is {self.n_arms} limits on a leaf, and "
                f"{_MOST_ACTIVE} are possible at once: leave out min_samples_leaf or "
                "min_events_leaf."
            )

    @property
    def least(self) -> dict[str, float]:
        """The least value in a leaf of each count, by its name."""
        arms = {f"events_{arm}": float(self.min_events_arm) for arm in range(self.n_arms)}
        return super().least | arms

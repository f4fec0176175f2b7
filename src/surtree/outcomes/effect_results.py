"""What is known of the effects of leaves: whether they differ, and how much in new data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from surtree._support.json_file import LARGEST, POSITIVE, Number, list_of, optional, record
from surtree._support.types import ArrayValue, Floats
from surtree.data.target import Label
from surtree.words.numbers import leaf_names
from surtree.words.printed import Printed
from surtree.words.quoting import printable

# The level of the test.
_ALPHA = 0.05
UNTESTED = (
    "The model holds no test of whether the effect differs between rows: a tree always has leaves "
    "in which arms differ, also where the effect is the same for everybody."
)


class UntestedEffectsWarning(UserWarning):
    """Effects of leaves are predicted, and nothing says that effects differ between leaves.

    The model was not tested, or the test found no evidence.

    Examples
    --------
    >>> import warnings
    >>> from surtree import EffectTree
    >>> from surtree.datasets import load_rossi
    >>> X, y = load_rossi()
    >>> model = EffectTree(max_depth=1).fit(X, y, X.pop("financial_aid"))
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     effect = model.predict_effect(X)
    >>> caught[0].category.__name__
    'UntestedEffectsWarning'
    """


@dataclass(frozen=True, eq=False, repr=False)
class HeterogeneityTest(Printed, ArrayValue):
    """Whether the effect of a treatment differs between rows.

    Parameters
    ----------
    statistic : float
        What the splits of the best tree of effects gain, in log likelihood.
    p_value : float
        How often as much is gained if the effect is the same for everybody.
    overall : tuple of float
        The hazard ratio of each arm over the reference that all rows share: a Cox model of the
        arms, adjusted for the prognosis of rows.
    limits : tuple of pairs of float
        Its 95% confidence limits.
    arms : tuple
        The labels of the arms, the reference first.
    drawn : array of float
        The statistic of each trial that was drawn under the null hypothesis.

    Examples
    --------
    >>> from surtree import EffectTree, heterogeneity_test
    >>> from surtree.datasets import load_rossi
    >>> X, y = load_rossi()
    >>> aid = X.pop("financial_aid")
    >>> found = heterogeneity_test(EffectTree(max_depth=1), X, y, aid, n_draws=49)
    >>> found.is_evidence, round(found.overall[0], 3)
    (False, 0.72)
    """

    statistic: float
    p_value: float
    overall: tuple[float, ...]
    limits: tuple[tuple[float, float], ...]
    arms: tuple[Label, ...]
    drawn: Floats

    @property
    def is_evidence(self) -> bool:
        """Whether the p-value is at most 5%."""
        return self.p_value <= _ALPHA

    @property
    def verdict(self) -> str:
        """Whether there is evidence, with the p-value, as a sentence."""
        evidence = "Evidence" if self.is_evidence else "No evidence"
        return (
            f"{evidence} that the effect differs between rows (p = {self.p_value:.3g}, "
            f"{self.drawn.size} draws)."
        )

    @property
    def overall_text(self) -> str:
        """The effect that all rows share, as a sentence."""
        reference, *others = (printable(str(arm)) for arm in self.arms)
        ratios = ", ".join(
            f"{arm} over {reference} {ratio:.3g} (95% interval {lower:.3g} to {upper:.3g})"
            for arm, ratio, (lower, upper) in zip(others, self.overall, self.limits, strict=True)
        )
        return f"Adjusted hazard ratio of all rows: {ratios}."

    def __str__(self) -> str:
        parts = [self.verdict, self.overall_text]
        if not self.is_evidence:
            parts.append("Use this effect for everybody, not those of leaves.")
        return "\n".join(parts)


@dataclass(frozen=True)
class CorrectedEffect:
    """The effect of an arm in a leaf, as it was found and as it is to be expected in new data.

    Parameters
    ----------
    leaf : int
        The number of the leaf's node.
    arm : str, number or bool
        The label of the arm.
    ratio, corrected : float
        The hazard ratio of the tree, and that expected in new data.
    limits : tuple of two floats
        The 95% confidence limits of the ratio expected in new data. They know that the leaf was
        searched for.

    Examples
    --------
    >>> from surtree import EffectTree, correct_effects
    >>> from surtree.datasets import load_rossi
    >>> X, y = load_rossi()
    >>> aid = X.pop("financial_aid")
    >>> leaf = correct_effects(EffectTree(max_depth=1), X, y, aid, n_repeats=2).leaves[0]
    >>> leaf.arm, round(leaf.corrected, 2), [round(limit, 2) for limit in leaf.limits]
    ('yes', 0.72, [0.4, 1.28])
    """

    leaf: int
    arm: Label
    ratio: float
    corrected: float
    limits: tuple[float, float]


@dataclass(frozen=True, repr=False)
class EffectCorrection(Printed):
    """How much of the differences between the effects of leaves that is expected in new data.

    Parameters
    ----------
    slope : float
        The share of the differences between leaves that is expected in new data, from zero, none,
        to one, all. Not a number where no fold has a tree with a split.
    error : float
        The standard error of the slope.
    overall : tuple of float
        The hazard ratio of each arm over the reference that all rows share, adjusted for
        prognosis: that of `HeterogeneityTest`.
    leaves : tuple of CorrectedEffect
        The effect of each leaf and arm.
    n_repeats : int
        How often the rows were divided into folds.

    Examples
    --------
    >>> from surtree import EffectTree, correct_effects
    >>> from surtree.datasets import load_rossi
    >>> X, y = load_rossi()
    >>> aid = X.pop("financial_aid")
    >>> found = correct_effects(EffectTree(max_depth=1), X, y, aid, n_repeats=2)
    >>> round(found.slope, 2), round(found.overall[0], 2)
    (0.0, 0.72)
    """

    slope: float
    error: float
    overall: tuple[float, ...]
    leaves: tuple[CorrectedEffect, ...]
    n_repeats: int

    @property
    def share_text(self) -> str:
        """The share of the differences to expect, as a sentence."""
        share = f"{self.slope:.0%}" if np.isfinite(self.slope) else "none"
        return f"Expect {share} of the differences between leaves in new data."

    def __str__(self) -> str:
        names = leaf_names(one.leaf for one in self.leaves)
        return "\n".join(
            [
                self.share_text,
                *(
                    f"leaf {names[one.leaf]}: {printable(str(one.arm))}, hazard ratio "
                    f"{one.ratio:.3g}, {one.corrected:.3g} expected in new data (95% interval "
                    f"{one.limits[0]:.3g} to {one.limits[1]:.3g})"
                    for one in self.leaves
                ),
            ]
        )

    def ratios(self, leaves: list[int], n_nodes: int) -> Floats:
        """Return the ratio to expect in each node, (n_arms - 1, n_nodes): that of all in a branch.

        Parameters
        ----------
        leaves : list of int
            The leaves of the tree that is corrected.
        n_nodes : int
            How many nodes it has.
        """
        n_others = len(self.overall)
        if [one.leaf for one in self.leaves[::n_others]] != leaves:
            raise ValueError(
                "correction_ is of another tree: set model.correction_ = correct_effects(model, X, "
                "y, treatment)."
            )
        ratios = np.repeat(np.array(self.overall)[:, None], n_nodes, axis=1)
        corrected = np.array([one.corrected for one in self.leaves])
        ratios[:, leaves] = corrected.reshape(-1, n_others).T
        return ratios


def monte_carlo_p_value(observed: float, drawn: Floats) -> float:
    """Return the share of draws, the observed trial among them, that gain as much."""
    # Equal up to rounding counts as equal.
    as_large = int((drawn >= observed - 1e-9 * max(observed, 1.0)).sum())
    return (1 + as_large) / (1 + drawn.size)


def require_arms(test: HeterogeneityTest, arms: tuple[Label, ...]) -> None:
    """Raise an error if a test is of other arms than a model."""
    if test.arms != arms:
        raise ValueError(
            f"heterogeneity_ is a test of the arms {list(test.arms)}, and the model has the arms "
            f"{list(arms)}: test this model."
        )


def effects_warning(test: HeterogeneityTest | None) -> str:
    """Return why effects of leaves are not to be used; an empty text where they may be."""
    if test is None:
        return UNTESTED
    if test.is_evidence:
        return ""
    return f"{test.verdict} What differs between leaves may be chance."


_number = Number("a finite number")
_ratio = Number("a number above zero", POSITIVE, LARGEST)
# An upper limit is null where there is none.
_limits = record(
    {"lower": Number("a number, zero or more", 0.0, LARGEST), "upper": optional(_ratio)}
)

heterogeneity_format = record(
    {
        "statistic": _number,
        "p_value": Number("a probability", POSITIVE, 1.0),
        "overall": list_of(_ratio),
        "limits": list_of(_limits),
        "drawn": list_of(_number),
    }
)
# The slope is null where no fold has a tree with a split.
correction_format = record(
    {
        "slope": optional(Number("a number from 0 to 1", 0.0, 1.0)),
        "error": optional(Number("a number, zero or more", 0.0, LARGEST)),
        "overall": list_of(_ratio),
        "corrected": list_of(_ratio),
        "limits": list_of(_limits),
        "n_repeats": Number("a whole number above zero", 1, 2**31 - 1, whole=True),
    }
)


def save_heterogeneity(
    test: HeterogeneityTest | None, arms: tuple[Label, ...]
) -> dict[str, Any] | None:
    """Return a test as plain values that JSON can hold, or raise an error if it has other arms."""
    if test is None:
        return None
    require_arms(test, arms)
    return {
        "statistic": float(test.statistic),
        "p_value": float(test.p_value),
        "overall": list(map(float, test.overall)),
        "limits": _save_limits(test.limits),
        "drawn": test.drawn.tolist(),
    }


def read_heterogeneity(
    saved: dict[str, Any] | None, arms: tuple[Label, ...]
) -> HeterogeneityTest | None:
    """Return what `save_heterogeneity` wrote, of the right form."""
    if saved is None:
        return None
    if {len(saved[name]) for name in ("overall", "limits")} != {len(arms) - 1}:
        raise ValueError("its test of heterogeneity is of other arms")
    drawn = np.array(saved["drawn"], dtype=np.float64)
    statistic, p_value = float(saved["statistic"]), float(saved["p_value"])
    if not drawn.size or not math.isclose(p_value, monte_carlo_p_value(statistic, drawn)):
        raise ValueError("the p-value of its test is not that of its draws")
    overall = tuple(map(float, saved["overall"]))
    limits = _read_limits(saved["limits"])
    return HeterogeneityTest(statistic, p_value, overall, limits, arms, drawn)


def save_correction(correction: EffectCorrection | None) -> dict[str, Any] | None:
    """Return a correction as plain values; the tree beside it has the ratios of its leaves."""
    if correction is None:
        return None
    return {
        "slope": _finite(correction.slope),
        "error": _finite(correction.error),
        "overall": list(map(float, correction.overall)),
        "corrected": [float(one.corrected) for one in correction.leaves],
        "limits": _save_limits(tuple(one.limits for one in correction.leaves)),
        "n_repeats": int(correction.n_repeats),
    }


def read_correction(
    saved: dict[str, Any] | None, ratios: Floats, leaves: list[int], arms: tuple[Label, ...]
) -> EffectCorrection | None:
    if saved is None:
        return None
    cells = [(leaf, row) for leaf in leaves for row in range(len(arms) - 1)]
    corrected, limits = saved["corrected"], _read_limits(saved["limits"])
    if len(saved["overall"]) != len(arms) - 1 or not len(corrected) == len(limits) == len(cells):
        raise ValueError("its correction is of other leaves or arms")
    slope, error = (
        math.nan if saved[name] is None else float(saved[name]) for name in ("slope", "error")
    )
    return EffectCorrection(
        slope,
        error,
        tuple(map(float, saved["overall"])),
        tuple(
            CorrectedEffect(leaf, arms[row + 1], float(ratios[row, leaf]), float(ratio), limit)
            for (leaf, row), ratio, limit in zip(cells, corrected, limits, strict=True)
        ),
        saved["n_repeats"],
    )


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _save_limits(limits: tuple[tuple[float, float], ...]) -> list[dict[str, float | None]]:
    return [{"lower": float(lower), "upper": _finite(upper)} for lower, upper in limits]


def _read_limits(saved: list[dict[str, float | None]]) -> tuple[tuple[float, float], ...]:
    return tuple(
        (float(one["lower"] or 0.0), math.inf if one["upper"] is None else float(one["upper"]))
        for one in saved
    )

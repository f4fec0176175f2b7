"""What is known of the effects of leaves: whether they differ, and how much in new data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from surtree._quoting import printable
from surtree._types import ArrayValue, Floats
from surtree.data.arms import Label

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


@dataclass(frozen=True, eq=False)
class HeterogeneityTest(ArrayValue):
    """Whether the effect of a treatment differs between rows.

    Parameters
    ----------
    statistic : float
        What the splits of the best tree of effects gain, in log likelihood.
    p_value : float
        How often as much is gained if the effect is the same for everybody.
    overall : tuple of float
        The hazard ratio of each arm over the reference, the same for all rows and within strata of
        similar prognosis.
    arms : tuple
        The labels of the arms, the reference first.
    permuted : array of float
        The statistic of each exchange of arms.

    Examples
    --------
    >>> from surtree import EffectTree, heterogeneity_test
    >>> from surtree.datasets import load_rossi
    >>> X, y = load_rossi()
    >>> aid = X.pop("financial_aid")
    >>> found = heterogeneity_test(EffectTree(max_depth=1), X, y, aid, n_permutations=49)
    >>> found.is_evidence, round(found.overall[0], 3)
    (False, 0.725)
    """

    statistic: float
    p_value: float
    overall: tuple[float, ...]
    arms: tuple[Label, ...]
    permuted: Floats

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
            f"{self.permuted.size} permutations)."
        )

    @property
    def overall_text(self) -> str:
        """The effect of all rows, as a sentence."""
        reference, *others = (printable(str(arm)) for arm in self.arms)
        pairs = zip(others, self.overall, strict=True)
        ratios = ", ".join(f"{arm} over {reference} {ratio:.3g}" for arm, ratio in pairs)
        return f"Hazard ratio of all rows: {ratios}."

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
        The hazard ratio of the tree, and that to expect.

    Examples
    --------
    >>> from surtree import EffectTree, correct_effects
    >>> from surtree.datasets import load_rossi
    >>> X, y = load_rossi()
    >>> aid = X.pop("financial_aid")
    >>> leaf = correct_effects(EffectTree(max_depth=1), X, y, aid, n_bootstraps=20).leaves[0]
    >>> leaf.arm, round(leaf.ratio, 2), round(leaf.corrected, 2)
    ('yes', 0.86, 0.69)
    """

    leaf: int
    arm: Label
    ratio: float
    corrected: float


@dataclass(frozen=True)
class EffectCorrection:
    """How much of the differences between the effects of leaves to expect in new data.

    Parameters
    ----------
    slope : float
        The share of the differences between leaves to expect, from zero, none, to one, all.
        Not a number where no sample has a tree with a split.
    outside : float
        The slope in the rows outside of samples, before it is weighed; it may be below zero.
    overall : tuple of float
        The hazard ratio of each arm over the reference in all rows.
    leaves : tuple of CorrectedEffect
        The effect of each leaf and arm.
    n_samples : int
        The number of bootstrap samples.

    Examples
    --------
    >>> from surtree import EffectTree, correct_effects
    >>> from surtree.datasets import load_rossi
    >>> X, y = load_rossi()
    >>> aid = X.pop("financial_aid")
    >>> found = correct_effects(EffectTree(max_depth=1), X, y, aid, n_bootstraps=20)
    >>> round(found.slope, 2), round(found.overall[0], 2)
    (0.0, 0.69)
    """

    slope: float
    outside: float
    overall: tuple[float, ...]
    leaves: tuple[CorrectedEffect, ...]
    n_samples: int

    @property
    def share_text(self) -> str:
        """The share of the differences to expect, as a sentence."""
        share = f"{self.slope:.0%}" if np.isfinite(self.slope) else "none"
        return f"Expect {share} of the differences between leaves in new data."

    def __str__(self) -> str:
        return "\n".join(
            [
                self.share_text,
                *(
                    f"leaf {one.leaf}: {printable(str(one.arm))}, hazard ratio {one.ratio:.3g}, "
                    f"{one.corrected:.3g} expected in new data"
                    for one in self.leaves
                ),
            ]
        )


def permutation_p_value(observed: float, permuted: Floats) -> float:
    """Return the share of exchanges, the real arms among them, that gain as much."""
    # Equal up to rounding counts as equal.
    as_large = int((permuted >= observed - 1e-9 * max(observed, 1.0)).sum())
    return (1 + as_large) / (1 + permuted.size)


def correction_of(
    ratios: Floats, leaves: list[int], arms: tuple[Label, ...], **known: Any
) -> EffectCorrection:
    """Return the correction of the effects of a tree, given the slope.

    Parameters
    ----------
    ratios : array of float of shape (n_arms - 1, n_nodes)
        The hazard ratios of a tree; the first node is the root.
    leaves : list of int
        The numbers of its leaves.
    arms : tuple
        The labels of the arms, the reference first.
    **known
        ``slope``, ``outside`` and ``n_samples`` of the correction.
    """
    corrected = drawn_to_overall(ratios, known["slope"])
    return EffectCorrection(
        overall=tuple(ratios[:, 0].tolist()),
        leaves=tuple(
            CorrectedEffect(leaf, arm, float(ratios[row, leaf]), float(corrected[row, leaf]))
            for leaf in leaves
            for row, arm in enumerate(arms[1:])
        ),
        **known,
    )


def drawn_to_overall(ratios: Floats, slope: float) -> Floats:
    """Return hazard ratios of nodes drawn towards that of the root, on the logarithmic scale."""
    logs = np.log(ratios)
    kept = slope if np.isfinite(slope) else 0.0
    return np.asarray(np.exp(logs[:, :1] + kept * (logs - logs[:, :1])))


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

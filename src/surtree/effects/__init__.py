"""Treatment effects: `EffectTree`, and what is honest to say about it."""

from surtree.effects.correction import correct_effects
from surtree.effects.estimator import EffectTree
from surtree.effects.heterogeneity import heterogeneity_test
from surtree.effects.randomisation import NotRandomisedWarning
from surtree.scores.effects import (
    CorrectedEffect,
    EffectCorrection,
    HeterogeneityTest,
    UntestedEffectsWarning,
)

__all__ = [
    "CorrectedEffect",
    "EffectCorrection",
    "EffectTree",
    "HeterogeneityTest",
    "NotRandomisedWarning",
    "UntestedEffectsWarning",
    "correct_effects",
    "heterogeneity_test",
]

"""Treatment effects: `EffectTree`, and what is honest to say about it."""

from surtree.effects.correction import CorrectedEffect, EffectCorrection, correct_effects
from surtree.effects.estimator import EffectTree
from surtree.effects.heterogeneity import HeterogeneityTest, heterogeneity_test
from surtree.effects.randomisation import NotRandomisedWarning

__all__ = [
    "CorrectedEffect",
    "EffectCorrection",
    "EffectTree",
    "HeterogeneityTest",
    "NotRandomisedWarning",
    "correct_effects",
    "heterogeneity_test",
]

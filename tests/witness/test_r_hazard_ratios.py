"""Hazard ratios of leaves and of arms, their limits and Breslow curves are those of R's ``coxph``.

``tests/r/make_reference.py`` ran R, on the leaves of the same trees, and wrote what is read here.
"""

import gzip
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from surtree import confidence_band, leaf_curves, leaf_hazard_ratios

FOLDER = Path(__file__).parents[1] / "r"
sys.path.insert(0, str(FOLDER))
from curve_cases import CURVES  # noqa: E402
from effect_cases import EFFECTS  # noqa: E402

REFERENCE = json.loads(gzip.decompress((FOLDER / "hazard_ratios.json.gz").read_bytes()))
WITH_CURVES = [name for name, found in REFERENCE["ratios"].items() if "survival" in found]


@pytest.mark.parametrize("name", CURVES)
def test_leaves_have_the_hazard_ratios_of_a_cox_model(name):
    theirs, model = REFERENCE["ratios"][name], CURVES[name]().model
    ours = {str(one.leaf): one for one in leaf_hazard_ratios(model)}
    assert ours.keys() == set(theirs["leaf"])
    assert all(str(one.reference) == theirs["leaf"][0] for one in ours.values())
    for leaf, ratio, limits in zip(theirs["leaf"], theirs["ratio"], theirs["limits"], strict=True):
        assert ours[leaf].ratio == pytest.approx(ratio, rel=1e-7)
        assert ours[leaf].limits == pytest.approx(limits, rel=1e-6)


@pytest.mark.parametrize("name", WITH_CURVES)
def test_breslow_curves_and_bands_are_those_of_survfit(name):
    assert len(WITH_CURVES) == 6  # in the others, a leaf has no event
    theirs, tree = REFERENCE["ratios"][name], CURVES[name]().model.tree_
    times = np.array(theirs["time"])
    np.testing.assert_array_equal(times, tree.baseline.times)
    curves = {str(curve.leaf): curve for curve in leaf_curves(tree, "breslow")}
    for place, leaf in enumerate(theirs["leaf"]):
        lower, upper = confidence_band(tree, int(leaf), kind="breslow")
        for field, ours in (
            ("survival", curves[leaf].survival),
            ("lower", lower),
            ("upper", upper),
        ):
            np.testing.assert_allclose(ours.y, theirs[field][place], rtol=1e-6, atol=1e-8)
        hazard = curves[leaf].cumulative_hazard.y
        np.testing.assert_allclose(np.exp(-hazard), curves[leaf].survival.y, rtol=1e-12)


@pytest.mark.parametrize("name", EFFECTS)
def test_arms_of_a_leaf_have_the_hazard_ratio_of_a_cox_model_of_its_rows(name):
    theirs, model = REFERENCE["arms"][name], EFFECTS[name]()[0].model
    assert {str(effect.leaf) for effect in model.effects_} == theirs.keys()
    for effect in model.effects_:
        (ratio,), limits = theirs[str(effect.leaf)]["ratio"], theirs[str(effect.leaf)]["limits"]
        assert effect.ratio == pytest.approx(ratio, rel=1e-7)
        assert effect.limits == pytest.approx(limits, rel=1e-6)

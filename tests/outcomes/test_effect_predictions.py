"""Predictions of effects: those of leaves with a warning, or those to expect in new data."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from surtree import (
    EffectTree,
    UntestedEffectsWarning,
    correct_effects,
    heterogeneity_test,
)
from surtree.data.target_array import make_target


def trial(effect, n_arms=2, n=300):
    """Draw a trial whose treatment works where column a is above zero, and for nobody else."""
    rng = np.random.default_rng(28)
    X = pd.DataFrame({"a": np.round(rng.normal(size=n), 1), "b": rng.integers(0, 3, n)})
    arm = rng.permutation(np.arange(n) % n_arms)
    time = rng.exponential(1 / np.exp(0.5 * X["b"] + effect * (X["a"] > 0) * (arm > 0)))
    end = rng.uniform(0.5, 2, n)
    return X, make_target(time <= end, np.minimum(time, end)), arm


def fitted_trial(effect, n_arms=2, **parameters):
    X, y, arm = trial(effect, n_arms)
    model = EffectTree(max_depth=2, **parameters).fit(X, y, arm)
    model.heterogeneity_ = heterogeneity_test(model, X, y, arm, n_draws=49)
    model.correction_ = correct_effects(model, X, y, arm, n_repeats=1)
    assert model.heterogeneity_.is_evidence is (effect != 0)
    return model, X


@pytest.fixture(scope="module")
def null():
    return fitted_trial(0.0)


@pytest.fixture(scope="module")
def real():
    return fitted_trial(-2.5)


def every_prediction(model, X, **corrected):
    yield model.predict_effect(X, **corrected)
    for predict in (
        model.predict_risk,
        model.predict_median,
        model.predict_survival_function,
        model.predict_cumulative_hazard_function,
    ):
        yield predict(X, 1, **corrected)


def test_an_untested_model_warns_whatever_it_predicts():
    X, y, arm = trial(0.0)
    model = EffectTree(max_depth=1).fit(X, y, arm)
    predictions = [model.predict, model.predict_effect]
    predictions += [
        lambda X, name=name: getattr(model, f"predict_{name}")(X, 1)
        for name in ("risk", "median", "survival_function", "cumulative_hazard_function")
    ]
    for predict in predictions:
        with pytest.warns(UntestedEffectsWarning, match="holds no test") as caught:
            predict(X)
        assert [warning.filename for warning in caught] == [__file__]
    with pytest.raises(ValueError, match=r"set model\.heterogeneity_ = heterogeneity_test"):
        model.predict_effect(X, corrected=True)


def test_a_model_without_evidence_warns_and_predicts_one_effect_for_everybody(null):
    model, X = null
    with pytest.warns(UntestedEffectsWarning, match="No evidence that the effect differs"):
        effects = model.predict_effect(X)
    assert len(set(effects)) == model.tree_.n_leaves
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        corrected = model.predict_effect(X, corrected=True)
        for prediction in every_prediction(model, X, corrected=True):
            assert len(prediction) == len(X)
    np.testing.assert_array_equal(corrected, model.heterogeneity_.overall[0])


def test_a_model_with_evidence_does_not_warn_and_is_corrected(real):
    model, X = real
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for prediction in every_prediction(model, X):
            assert len(prediction) == len(X)
        found = dict(zip(model.apply(X), model.predict_effect(X, corrected=True), strict=True))
    for leaf in model.correction_.leaves:
        assert found[leaf.leaf] == pytest.approx(leaf.corrected, rel=1e-12)
        assert leaf.corrected != pytest.approx(leaf.ratio)


def test_evidence_without_a_correction_is_not_corrected_in_silence(real):
    model, X = real
    correction, model.correction_ = model.correction_, None
    try:
        with pytest.raises(ValueError, match=r"set model\.correction_ = correct_effects"):
            model.predict_effect(X, corrected=True)
    finally:
        model.correction_ = correction


@pytest.mark.parametrize("leaf_curve", ["kaplan-meier", "baseline", "shrunk", "breslow"])
@pytest.mark.parametrize("objective", ["effect", "both"])
@pytest.mark.parametrize("effect", [0.0, -2.5])
def test_corrected_risks_and_curves_agree_with_corrected_effects(leaf_curve, objective, effect):
    prior = {"shrinkage": 2.0} if leaf_curve == "shrunk" else {}
    model, X = fitted_trial(effect, 3, leaf_curve=leaf_curve, objective=objective, **prior)
    effects = model.predict_effect(X, corrected=True)
    risks = [model.predict_risk(X, arm, corrected=True) for arm in range(3)]
    hazards = [
        model.predict_cumulative_hazard_function(X, arm, return_array=True, corrected=True)
        for arm in range(3)
    ]
    for arm in (1, 2):
        np.testing.assert_allclose(risks[arm] / risks[0], effects[:, arm - 1], rtol=1e-12)
        np.testing.assert_allclose(hazards[arm], effects[:, [arm - 1]] * hazards[0], rtol=1e-12)
        survival = model.predict_survival_function(X, arm, return_array=True, corrected=True)
        np.testing.assert_allclose(survival, np.exp(-hazards[arm]), rtol=1e-12)
        medians = model.predict_median(X, arm, corrected=True)
        for row in (0, 1):
            reached = model.unique_times_[survival[row] <= 0.5]
            assert medians[row] == (reached[0] if reached.size else np.inf)
    # The events that arms of a leaf expect together are those of the tree.
    tree, expected = model.tree_, model.expected_effects()
    hazard = tree.sums[:, 1::2]
    for leaf, row in zip(*np.unique(model.apply(X), return_index=True), strict=True):
        together = sum(risks[arm][row] * hazard[leaf, arm] for arm in range(3))
        assert together == pytest.approx(tree.theta[leaf] * hazard[leaf].sum(), rel=1e-12)
        assert expected[:, leaf].tolist() == [1.0, *effects[row]]


def test_a_correction_of_another_tree_is_refused(real):
    model, X = real
    correction = model.correction_
    model.correction_ = replace(correction, leaves=correction.leaves[:1])
    try:
        with pytest.raises(ValueError, match="correction_ is of another tree"):
            model.predict_effect(X, corrected=True)
    finally:
        model.correction_ = correction


def test_a_single_leaf_has_one_effect_and_nothing_to_test():
    X, y, arm = trial(0.0)
    model = EffectTree(max_depth=0).fit(X, y, arm)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert set(model.predict_effect(X)) == set(model.predict_effect(X, corrected=True))


def test_a_refitted_model_is_not_tested(null):
    X, y, arm = trial(0.0)
    model = EffectTree(max_depth=1).fit(X, y, arm)
    model.heterogeneity_, model.correction_ = null[0].heterogeneity_, null[0].correction_
    model.fit(X, y, arm)
    assert (model.heterogeneity_, model.correction_) == (None, None)


@pytest.mark.parametrize("fixture", ["null", "real"])
def test_a_loaded_model_predicts_what_to_expect(request, tmp_path, fixture):
    model, X = request.getfixturevalue(fixture)
    model.save(tmp_path / "model.json")
    again = EffectTree.load(tmp_path / "model.json")
    for one, other in zip(
        every_prediction(model, X, corrected=True),
        every_prediction(again, X, corrected=True),
        strict=True,
    ):
        if one.dtype == object:
            one, other = (np.stack([curve.y for curve in curves]) for curves in (one, other))
        np.testing.assert_array_equal(one, other)


def test_the_corrected_curve_of_a_leaf_is_that_of_breslow(null):
    """At each event time: deaths, over those at risk, each counted by the effect of the arm."""
    model, X = null
    _, y, arm = trial(0.0)
    leaf = model.apply(X)
    inside = leaf == leaf[0]
    time, event = y["time"][inside], y["event"][inside]
    risk = np.where(arm[inside] == 1, model.heterogeneity_.overall[0], 1.0)
    until = np.quantile(time, 0.8)
    expected = sum(1 / risk[time >= one].sum() for one in time[event & (time <= until)])
    (reference,) = model.predict_cumulative_hazard_function(X[:1], 0, corrected=True)
    assert reference(until) == pytest.approx(expected, rel=1e-9)

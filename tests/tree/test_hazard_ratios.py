"""Hazard ratios of leaves and arms, and Breslow curves, wherever a user meets them."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import chi2

from surtree import (
    CompetingRisksTree,
    CompetingRisksTreeCV,
    EffectTree,
    LeafHazardRatio,
    SurTree,
    SurTreeCV,
    confidence_band,
    leaf_curves,
    leaf_hazard_ratios,
    leaf_incidence,
    load,
)
from surtree.data.target_array import make_target
from surtree.datasets import load_gbsg2
from surtree.export import export_methods, export_python, export_sql
from surtree.report import write_report
from surtree.survival.cox_groups import GroupCounts, fit_groups, hazard_ratios, ratio_limits


def two_leaves(first, second, **parameters):
    """Fit a tree whose two leaves have these (time, event) rows."""
    rows = np.array([*first, *second], dtype=float)
    X = np.repeat([0.0, 1.0], [len(first), len(second)])[:, None]
    y = make_target(rows[:, 1] > 0, rows[:, 0])
    return SurTree(max_depth=1, min_support=0, **parameters).fit(X, y)


def test_a_ratio_with_its_limits_is_said_in_words():
    early, late, none = [(1, 1), (2, 1)], [(3, 1), (4, 1)], [(5, 0), (6, 0)]
    first, second = leaf_hazard_ratios(two_leaves(early, none))
    assert (first.text, first.reference) == ("1 (reference)", 1)
    assert second.ratio == second.limits[0] == 0
    assert second.text == f"0 (at most {second.limits[1]:.3g})"
    assert str(second) == f"leaf B: hazard ratio {second.text}, 0 events in 2 rows"
    first, second = leaf_hazard_ratios(two_leaves(early, late), reference=2)
    assert (first.ratio, first.limits[1]) == (np.inf, np.inf)
    assert first.text == f"infinite (at least {first.limits[0]:.3g})"
    # Nobody of one is at risk when the other has events.
    counts = GroupCounts(np.array([[2.0, 0], [0, 2]]), np.array([[1.0, 0], [0, 1]]))
    never = LeafHazardRatio(2, 1, hazard_ratios(counts)[1], ratio_limits(counts, 1), 2, 1, "B")
    assert (never.text, never.limits) == ("unknown", (0, np.inf))


def test_the_reference_is_the_leaf_with_most_rows_that_has_ten_events():
    X, y = load_gbsg2()
    model = SurTree(max_depth=2).fit(X, y)
    found = leaf_hazard_ratios(model)
    assert {one.reference for one in found} == {3}
    assert max(found, key=lambda one: one.n_samples).leaf == 3
    many, few = [(2, 0)] * 30 + [(2, 1)] * 9, [(1, 1)] * 10 + [(3, 0)]
    assert leaf_hazard_ratios(two_leaves(many, few))[0].reference == 2
    assert leaf_hazard_ratios(two_leaves(many[:-2], few[1:]))[0].reference == 2
    assert leaf_hazard_ratios(two_leaves([*many, (2, 1)], few))[0].reference == 1
    other = leaf_hazard_ratios(model, reference=5, level=0.9)
    ratio = {one.leaf: one.ratio for one in found}
    for one in other:
        assert one.ratio == pytest.approx(ratio[one.leaf] / ratio[5], rel=1e-8)
    (wide,), (narrow,) = (
        [one.limits for one in leaf_hazard_ratios(model, 5, level) if one.leaf == 6]
        for level in (0.95, 0.9)
    )
    assert wide[0] < narrow[0] < narrow[1] < wide[1]
    # Ratios of thetas are nearer to one.
    assert 1 < model.tree_.theta[5] / model.tree_.theta[3] < ratio[5] / ratio[3]
    with pytest.raises(ValueError, match="Node 0 is not a leaf"):
        leaf_hazard_ratios(model, reference=0)
    with pytest.raises(ValueError, match="level must lie between"):
        leaf_hazard_ratios(model, level=95)
    with pytest.raises(ValueError, match="keeps no at-risk counts"):
        leaf_hazard_ratios(model.path_[1].tree)


def test_repeated_and_divided_rows_change_nothing():
    X, y = load_gbsg2(backend="pandas")
    X, y = X[:200], y[:200]
    cuts = {"n_thresholds": 4, "max_depth": 2}
    half = np.floor(y["time"] / 2)
    once = SurTree(**cuts).fit(X, y, np.repeat(2.0, len(y)))
    twice = SurTree(**cuts).fit(pd.concat([X, X]), np.concatenate([y, y]))
    divided = SurTree(**cuts).fit(
        pd.concat([X, X]),
        make_target(np.concatenate([0 * y["event"], y["event"]]) > 0, [*half, *y["time"]]),
        np.repeat(2.0, 2 * len(y)),
        entry=np.concatenate([0 * half, half]),
        id=np.tile(np.arange(len(y)), 2),
    )
    for other in (twice, divided):
        for one, same in zip(leaf_hazard_ratios(once), leaf_hazard_ratios(other), strict=True):
            assert one.ratio == pytest.approx(same.ratio, rel=1e-7)
            assert one.limits == pytest.approx(same.limits, rel=1e-6)


def test_the_hazards_of_leaves_and_the_baseline_maximise_the_likelihood_together():
    """With a prior of a events: theta is (E + a) / (H + a), H by Breslow's baseline."""
    rng = np.random.default_rng(0)
    at_risk = np.sort(rng.integers(1, 9, (3, 12)).astype(float), axis=1)[:, ::-1]
    deaths = np.zeros((3, 12))
    deaths[rng.integers(0, 3, 12), np.arange(12)] = 1.0
    for prior in (0.0, 0.5, 7.0):
        fit = fit_groups(GroupCounts(at_risk, deaths), prior)
        expected = at_risk @ fit.steps
        np.testing.assert_allclose(fit.hazard, (deaths.sum(axis=1) + prior) / (expected + prior))
        np.testing.assert_allclose(fit.steps, deaths.sum(axis=0) / (fit.hazard @ at_risk))
    much = fit_groups(GroupCounts(at_risk, deaths), 1e9).hazard
    np.testing.assert_allclose(much, 1.0, atol=1e-6)


def test_groups_of_two_classes_have_limits_from_either_side():
    # The second dies first, the third never; the first and the fourth are compared as always.
    at_risk = np.array([[3.0, 3, 2, 1], [1, 0, 0, 0], [4, 4, 4, 4], [2, 2, 2, 1]])
    deaths = np.array([[0.0, 1, 0, 1], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0]])
    counts = GroupCounts(at_risk, deaths)
    alone = GroupCounts(at_risk[[0, 3], 1:], deaths[[0, 3], 1:])
    ratios = hazard_ratios(counts)
    assert ratios[:3].tolist() == [1.0, np.inf, 0.0]
    assert ratios[3] == pytest.approx(hazard_ratios(alone)[1])
    assert ratio_limits(counts, 3) == pytest.approx(ratio_limits(alone, 1))
    lower, upper = ratio_limits(counts, 1)
    assert 0 < lower < upper == np.inf
    # At the limit, twice the likelihood is below its supremum by the quantile.
    lower, upper = ratio_limits(counts, 2)

    def largest(ratio):
        """Maximise over the fourth group; the second has left."""
        n = at_risk[:, 1:]
        found = minimize_scalar(
            lambda b: np.log(n[0] + ratio * n[2] + np.exp(b) * n[3]).sum() - b,
            bounds=(-9, 9),
            method="bounded",
            options={"xatol": 1e-10},
        )
        return -found.fun

    assert lower == 0
    assert 2 * (largest(0.0) - largest(upper)) == pytest.approx(chi2.ppf(0.95, 1), rel=1e-6)


@pytest.fixture(scope="module")
def breslow():
    X, y = load_gbsg2()
    return SurTree(max_depth=2, leaf_curve="breslow", shrinkage=1.0).fit(X, y), X, y


def test_breslow_curves_are_what_everything_predicts(breslow, tmp_path):
    model, X, _ = breslow
    curves = {curve.leaf: curve for curve in leaf_curves(model, "breslow")}
    leaf = model.apply(X)
    rows = model.predict_survival_function(X)
    assert rows[7].y.tolist() == curves[leaf[7]].survival.y.tolist()
    hazard = model.predict_cumulative_hazard_function(X, times=[900.0])[:, 0]
    assert hazard[7] == curves[leaf[7]].cumulative_hazard(900.0)
    assert model.predict_median(X)[7] == curves[leaf[7]].median
    assert "median (breslow)" in str(model.tree_)
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert leaf_curves(again) == leaf_curves(model)
    assert leaf_hazard_ratios(again) == leaf_hazard_ratios(model)
    assert confidence_band(again, 3) == confidence_band(model, 3)
    saved = json.loads((tmp_path / "model.json").read_text())
    assert saved["parameters"]["leaf_curve"] == "breslow"
    median = curves[5].median
    assert f"{median:g}" in export_sql(model, value="median")
    assert f"{median:g}" in export_python(model, value="median")
    assert "Cox model with a factor for the leaf" in export_methods(model)
    write_report(model, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "those of a Cox model of the leaves" in page
    assert "confidence band, if hazards are proportional" in page


def test_a_lazy_table_has_the_same_ratios_and_curves(breslow):
    model, X, y = breslow
    table = pl.from_pandas(X.to_pandas() if hasattr(X, "to_pandas") else X)
    table = table.with_columns(event=pl.Series(y["event"]), time=pl.Series(y["time"]))
    lazy = SurTree(max_depth=2, leaf_curve="breslow", shrinkage=1.0).fit(
        table.lazy(), ["event", "time"]
    )
    for one, other in zip(leaf_curves(lazy), leaf_curves(model), strict=True):
        np.testing.assert_allclose(one.survival.y, other.survival.y, rtol=1e-9)
    for one, other in zip(leaf_hazard_ratios(lazy), leaf_hazard_ratios(model), strict=True):
        assert one.ratio == pytest.approx(other.ratio, rel=1e-9)


def test_a_leaf_without_events_has_a_curve_that_is_not_flat():
    model = two_leaves([(1, 1), (2, 1), (3, 1)], [(2, 0), (6, 0)], leaf_curve="breslow")
    (curve,) = (curve for curve in leaf_curves(model) if curve.leaf == 2)
    assert 0.5 < curve.survival(3) < 1
    lower, upper = confidence_band(model, 2)
    assert lower(3) < curve.survival(3) < upper(3)


def test_shrinkage_draws_breslow_curves_together(breslow):
    X, y = breslow[1:]
    spread = []
    for shrinkage in (0.0, 3.0, 300.0):
        model = SurTree(max_depth=2, max_splits=3, shrinkage=shrinkage).fit(X, y)
        at_end = [curve.cumulative_hazard(1500) for curve in leaf_curves(model, "breslow")]
        spread.append(max(at_end) / min(at_end))
    assert spread[0] > spread[1] > spread[2] > 1


def test_other_models_take_breslow_curves_or_refuse_them(breslow):
    X, y = breslow[1:]
    tuned = SurTreeCV(1, cv=2, leaf_curve="breslow", scoring="integrated_brier").fit(X, y)
    assert leaf_curves(tuned) == leaf_curves(tuned.tree_, "breslow")
    causes = np.where(y["event"], 1 + np.arange(len(y)) % 2, 0), y["time"]
    for model in (CompetingRisksTree(1), CompetingRisksTreeCV(1)):
        with pytest.raises(ValueError, match='"breslow" is for one cause of events'):
            model.set_params(leaf_curve="breslow").fit(X, causes)
    with pytest.raises(ValueError, match="no curves of the kind 'breslow'"):
        leaf_incidence(CompetingRisksTree(1).fit(X, causes), 1, kind="breslow")


def test_competing_risks_have_a_ratio_for_each_cause():
    """It is that of a tree of one event, with the events of other causes as censored."""
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (200, 1)).astype(float)
    time = rng.exponential(size=200).round(2) + 0.01
    cause = rng.integers(0, 3, 200)
    tree = CompetingRisksTree(1).fit(X, (cause, time))
    for one in (1, 2):
        alone = SurTree(1).fit(X, make_target(cause == one, time))
        theirs = leaf_hazard_ratios(alone, reference=1)
        for ours, same in zip(leaf_hazard_ratios(tree, 1, cause=one), theirs, strict=True):
            assert ours.ratio == pytest.approx(same.ratio, rel=1e-9)
            assert ours.limits == pytest.approx(same.limits, rel=1e-7)
            assert ours.n_events == same.n_events


@pytest.mark.filterwarnings("ignore::surtree.UntestedEffectsWarning")
def test_arms_have_the_hazard_ratio_that_is_predicted():
    rng = np.random.default_rng(2)
    n = 240
    X = pd.DataFrame({"a": rng.integers(0, 2, n), "b": rng.normal(size=n)})
    arm = rng.integers(0, 2, n)
    y = make_target(
        rng.random(n) < 0.8, rng.exponential(1 / (1 + 2 * arm * X["a"])).round(3) + 0.01
    )
    for kind in ("kaplan-meier", "breslow", "baseline"):
        model = EffectTree(1, leaf_curve=kind).fit(X, y, arm)
        shown = {effect.leaf: effect for effect in model.effects_}
        leaf = model.apply(X)
        assert model.predict_effect(X)[5] == shown[leaf[5]].ratio
        risks = [model.predict_risk(X, one) for one in (0, 1)]
        assert risks[1][5] / risks[0][5] == pytest.approx(shown[leaf[5]].ratio)
        # It is that of a tree of the rows of the leaf with the arm as its question.
        own = leaf == leaf[5]
        alone = leaf_hazard_ratios(SurTree(1).fit(arm[own, None], y[own]), reference=1)[1]
        assert shown[leaf[5]].ratio == pytest.approx(alone.ratio)
        assert shown[leaf[5]].limits == pytest.approx(alone.limits)
        if kind != "kaplan-meier":
            hazards = [
                model.predict_cumulative_hazard_function(X, one, times=[0.4]) for one in (0, 1)
            ]
            assert hazards[1][5, 0] / hazards[0][5, 0] == pytest.approx(alone.ratio)
    with pytest.raises(ValueError, match="between arms: see its effects_"):
        leaf_hazard_ratios(model)


@pytest.mark.filterwarnings("ignore::surtree.UntestedEffectsWarning")
def test_an_arm_without_events_has_a_ratio_that_can_be_predicted_with():
    X = np.zeros((12, 1))
    arm = np.arange(12) % 2
    y = make_target(arm == 0, np.arange(1.0, 13))
    model = EffectTree(0, min_events_arm=0).fit(X, y, arm)
    (effect,) = model.effects_
    assert effect.limits[0] == 0 < effect.ratio < effect.limits[1] < 1
    assert model.predict(X)[0] == np.log(effect.ratio)

"""The Cox model with a ridge that stages of trees begin with."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone

import surtree
from surtree import SurTreeBayes, TaughtTree, UnseenCategoryWarning, evaluate, validate
from surtree.averages.ridge_cox import cross_fit
from surtree.data.table import read_table
from surtree.data.target import read_target
from surtree.datasets import load_gbsg2
from surtree.survival.cox import RiskSets, fit_cox


@pytest.fixture(scope="module")
def gbsg2():
    return load_gbsg2(backend="pandas")


def fit(X, y, weight=None, entry=None, id=None, **options):
    target = read_target(y, len(y), entry, id)
    weight = np.ones(len(y)) if weight is None else weight
    return cross_fit(read_table(BaseEstimator(), X, reset=True), target, weight, **options)


@pytest.mark.parametrize("penalty", [0.1, 30.0])
def test_coefficients_are_those_of_scikit_survival(gbsg2, penalty):
    linear_model = pytest.importorskip("sksurv.linear_model")
    X, y = gbsg2
    X = X.select_dtypes("number").to_numpy(dtype=float)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = y.copy()
    y["time"] = np.ceil(y["time"] / 100)  # ties
    target, nothing = read_target(y), np.zeros(len(y))
    sets = RiskSets.of(target, np.ones(len(y)), nothing.astype(int))
    mine = fit_cox(sets, target.event, X.T, nothing, penalty).coefficients
    theirs = linear_model.CoxPHSurvivalAnalysis(alpha=penalty, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(mine, theirs.coef_, atol=1e-8)
    hazard = np.cumsum(sets.deaths / sets.at_risk(np.exp(mine @ X.T)))
    np.testing.assert_allclose(hazard, theirs.cum_baseline_hazard_(sets.times), rtol=1e-7)


def test_rows_are_judged_by_models_that_have_not_seen_them(gbsg2):
    X, y = gbsg2
    fitted = fit(X, y)
    model = fitted.model
    assert np.corrcoef(fitted.log_risk, model.log_risk(read_table(BaseEstimator(), X, reset=True)))[
        0, 1
    ] == pytest.approx(1.0, abs=0.05)
    # Noise predicts the rows that it was fitted on, and no others.
    noise = pd.DataFrame(np.random.default_rng(0).normal(size=(len(y), 30)))
    target = read_target(y)
    signs = np.where(target.event, 1.0, -1.0)
    for seed in range(2):
        apart = fit(noise, y, seed=seed).log_risk
        assert abs(np.corrcoef(apart, signs)[0, 1]) < 0.1


def test_columns_of_every_kind_have_coefficients():
    random = np.random.default_rng(0)
    n = 400
    dose = random.normal(size=n)
    X = pd.DataFrame(
        {
            "dose": np.where(random.random(n) < 0.3, np.nan, dose),
            "group": random.choice(["a", "b", "c"], size=n),
            "old": random.random(n) < 0.5,
            "stage": pd.Categorical(
                random.choice(["I", "II", "III"], size=n), ["I", "II", "III"], ordered=True
            ),
            "nothing": 1.0,
            "hole": np.nan,
        }
    )
    y = np.ones(n, dtype=bool), random.exponential(np.exp(-np.where(X["group"] == "a", 2.0, 0.0)))
    model = fit(X, surtree.target(event=y[0], time=y[1])).model
    assert [term.name for term in model.terms] == [
        *("dose", "old", "dose is missing", "group is a", "group is b", "group is c"),
        *("stage is one of II, III", "stage is III"),
    ]
    ratios = {term.name: term.ratio for term in model.terms}
    # Three questions share what tells one group from both others.
    assert ratios["group is a"] / np.sqrt(ratios["group is b"] * ratios["group is c"]) > 4
    assert "group is a" in repr(model)
    assert "hazard ratio" in model._repr_html_()
    assert np.isfinite(SurTreeBayes(1, 2, cox="offset").fit(X, y).predict(X)).all()


def test_scale_and_shift_of_columns_change_nothing(gbsg2):
    X, y = gbsg2
    moved = X.assign(age=1000 * X["age"] - 7)
    np.testing.assert_allclose(fit(X, y).log_risk, fit(moved, y).log_risk, atol=1e-8)


def test_a_weight_of_two_is_the_row_twice_of_one_person(gbsg2):
    X, y = gbsg2
    X, y = X.head(150), y[:150]
    rows = np.repeat(np.arange(150), 2)
    once = fit(X, y, weight=np.full(150, 2.0), id=np.arange(150))
    twice = fit(X.iloc[rows], y[rows], id=[f"{row // 2:03d}" for row in range(300)])
    ours, theirs = (
        {term.name: term.coefficient for term in each.model.terms} for each in (once, twice)
    )
    assert ours == pytest.approx(theirs, abs=1e-8)


def test_a_row_that_is_cut_in_two_is_one_row(gbsg2):
    X, y = gbsg2
    X, y = X.head(200), y[:200]
    half = y["time"] / 2
    event = np.concatenate([np.zeros(200, dtype=bool), y["event"]])
    parts = surtree.target(event=event, time=np.concatenate([half, y["time"]]))
    person = np.arange(200)
    one = fit(X, y, id=person)
    two = fit(
        pd.concat([X, X]),
        parts,
        entry=np.concatenate([np.zeros(200), half]),
        id=np.concatenate([person, person]),
    )
    ours, theirs = ([term.coefficient for term in each.model.terms] for each in (one, two))
    np.testing.assert_allclose(ours, theirs, atol=1e-8)


def test_predictions_of_new_rows_do_not_go_beyond_those_of_training_rows(gbsg2):
    X, y = gbsg2
    model = SurTreeBayes(cox="offset").fit(X, y)
    table = read_table(model, X.assign(positive_nodes=10_000), reset=False)
    assert (model.cox_.log_risk(table) == model.cox_.highest).all()
    assert np.isinf(fit(X, y, clip=False).model.highest)


def test_the_model_is_the_cox_model_times_the_stages(gbsg2):
    X, y = gbsg2
    model = SurTreeBayes(cox="offset").fit(X, y)
    alone = SurTreeBayes().fit(X, y)
    assert (model.n_stages_, alone.n_stages_, alone.cox_) == (4, 16, None)
    table = read_table(model, X, reset=False)
    stages = model.predict(X) / np.exp(model.cox_.log_risk(table))
    bins = model.binning_.find(table)
    product = np.prod([stage.risk(bins) for stage in model.stages_], axis=0)
    np.testing.assert_allclose(stages, product, rtol=1e-12)
    # What the Cox model says well needs no question, what it says badly does.
    asked = dict(zip(X, model.column_probability_, strict=True))
    before = dict(zip(X, alone.column_probability_, strict=True))
    assert asked["positive_nodes"] < before["positive_nodes"]


def test_it_is_no_worse_than_a_cox_model_where_that_is_true_and_better_where_it_is_not():
    random = np.random.default_rng(1)
    losses = {"linear": [], "steps": []}
    for _ in range(3):
        X = random.normal(size=(1200, 4))
        for name, log_risk in (
            ("linear", X @ [1.0, -0.5, 0.3, 0.0]),
            ("steps", 1.5 * ((X[:, 0] > 0) ^ (X[:, 1] > 0))),
        ):
            time = random.exponential(np.exp(-log_risk))
            y = surtree.target(event=time < 1.5, time=np.minimum(time, 1.5))
            train, test = slice(0, 300), slice(300, None)
            model = SurTreeBayes(cox="offset").fit(X[train], y[train])
            stages, model_of_one = model.stages_, clone(model).set_params(n_stages=1)
            losses[name].append(model.loss(X[test], y[test]))
            # The Cox model alone: one stage without a question.
            model_of_one.set_params(max_depth=0).fit(X[train], y[train])
            losses[name][-1] -= model_of_one.loss(X[test], y[test])
            assert len(stages) == 4
    assert np.mean(losses["linear"]) / 900 < 0.003
    assert np.mean(losses["steps"]) / 900 < -0.03


def test_a_saved_model_predicts_to_the_last_bit(tmp_path, gbsg2):
    X, y = gbsg2
    X = X.assign(age=X["age"].where(X["age"] > 40))
    model = SurTreeBayes(1, cox="offset").fit(X, y)
    path = tmp_path / "model.json"
    model.save(path)
    again = surtree.load(path)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert repr(again.cox_) == repr(model.cox_)
    saved = json.loads(path.read_text())
    saved["cox"]["terms"][0]["column"] = 99
    path.write_text(json.dumps(saved))
    with pytest.raises(ValueError, match=r"damaged.*column that is not there"):
        surtree.load(path)


def test_new_categories_count_as_missing_and_texts_for_numbers_are_refused(gbsg2):
    X, y = gbsg2
    model = SurTreeBayes(1, 1, cox="offset").fit(X[["age", "menopause"]], y)
    new = pd.DataFrame({"age": [50.0, 50.0], "menopause": ["post", "unknown"]})
    with pytest.warns(UnseenCategoryWarning):
        assert np.isfinite(model.predict(new)).all()
    with pytest.raises(ValueError, match="'age' held numbers"):
        model.predict(new.assign(age=["fifty", "sixty"], menopause="post"))


def test_few_events_are_fitted_by_few_folds_and_one_event_by_none():
    X = np.arange(12.0)[:, None]
    event = np.zeros(12, dtype=bool)
    event[[2, 5, 8]] = True
    y = surtree.target(event=event, time=np.arange(1.0, 13.0))
    assert fit(X, y).model.terms
    event[[5, 8]] = False
    model = SurTreeBayes(cox="offset").fit(X, surtree.target(event=event, time=y["time"]))
    assert model.cox_.terms == ()
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.zeros((5, 2)), ([True] * 5, [1.0, 2, 3, 4, 5])),
        (np.zeros((1, 1)), ([True], [1.0])),
        (np.arange(6.0)[:, None], ([False] * 5 + [True], [1.0, 1, 1, 1, 1, 1])),
        (np.array([[0.0], [1.0], [2.0]]), ([True] * 3, [0.0, 0.0, 1.0])),
    ],
    ids=["constant columns", "one row", "one event", "events at zero"],
)
def test_small_tables_work(X, y):
    risk = SurTreeBayes(cox="offset").fit(X, y).predict(X)
    assert np.isfinite(risk).all()
    assert (risk > 0).all()


def test_another_kind_of_cox_is_refused(gbsg2):
    X, y = gbsg2
    with pytest.raises(ValueError, match='cox must be None or "offset"'):
        SurTreeBayes(cox=True).fit(X, y)


def test_it_is_validated_evaluated_and_teaches_as_the_others(gbsg2):
    X, y = gbsg2
    X, y = X.head(200), y[:200]
    model = SurTreeBayes(1, 2, cox="offset", n_thresholds=4)
    fitted = clone(model).fit(X, y)
    assert 0.5 < evaluate(fitted, X, y)["concordance"].value < 1
    taught = TaughtTree(2, teacher=model).fit(X, y)
    assert taught.teacher is model
    assert taught.teacher_.cox_.terms
    np.testing.assert_array_equal(taught.teacher_.predict(X), fitted.predict(X))
    # Each sample has a teacher of its own, also where the one given was fitted.
    result = validate(TaughtTree(1, teacher=fitted), X, y, n_bootstraps=1, method="optimism")
    assert np.isfinite(result["concordance"].value)


@pytest.mark.parametrize("seed", [1, 2, 4, 5])
def test_newton_steps_that_go_too_far_are_halved(seed):
    # Full steps end at a gradient of 10 to 60 here.
    random, n = np.random.default_rng(seed), 300
    z = np.stack([random.normal(size=n) * np.exp(random.normal(size=n)), random.random(n) < 0.04])
    z = (z - z.mean(axis=1, keepdims=True)) / z.std(axis=1, keepdims=True)
    time = random.exponential(size=n) / np.exp(2.5 * z[0] + z[1])
    event = random.random(n) < 0.8
    sets = RiskSets.of(read_target((event, time), n), np.ones(n), np.zeros(n, dtype=np.intp))
    beta = fit_cox(sets, event, z, np.zeros(n), 1.0).coefficients
    risk = np.exp(beta @ z)
    gradient = z @ event - (sets.at_risk(z * risk) / sets.at_risk(risk)) @ sets.deaths - beta
    assert abs(gradient).max() < 0.1

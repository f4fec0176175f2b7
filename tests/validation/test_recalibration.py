"""A fitted tree keeps its questions, and its hazards follow other rows."""

import json

import numpy as np
import pytest

import surtree
from surtree import CompetingRisksTree, SurTree, SurTreeCV, evaluate, recalibrate, write_report
from surtree.datasets import load_gbsg2, load_melanoma
from surtree.export import export_methods, export_sql

X, Y = load_gbsg2()
OLD, NEW = slice(0, 400), slice(400, 686)


@pytest.fixture(scope="module", params=["baseline", "kaplan-meier", "breslow"])
def model(request):
    tree = SurTree(max_depth=2, min_events_leaf=10, leaf_curve=request.param)
    return tree.fit(X[OLD], Y[OLD])


def expected(model):
    """Return the events that a model expects of each new row."""
    return model.predict(X[NEW]) * model.tree_.baseline.at(Y["time"][NEW])


@pytest.mark.parametrize("method", ["intercept", "slope", "leaves"])
def test_as_many_events_are_expected_as_there_are(model, method):
    new = recalibrate(model, X[NEW], Y[NEW], method=method, shrinkage=0)
    seen = Y["event"][NEW] & (Y["time"][NEW] <= model.tree_.last_time)
    assert expected(new).sum() == pytest.approx(seen.sum(), rel=1e-3)
    assert abs(expected(model).sum() - seen.sum()) > 1
    if method == "leaves":
        leaf = new.apply(X[NEW])
        for node in new.tree_.leaves:
            assert expected(new)[leaf == node].sum() == pytest.approx(
                seen[leaf == node].sum(), rel=1e-3
            )
    if method == "slope":  # the score of the slope is zero too
        risk = np.log(model.predict(X[NEW]))
        assert (risk * (seen - expected(new))).sum() == pytest.approx(0, abs=0.02)
    np.testing.assert_array_equal(new.apply(X), model.apply(X))


def test_risks_and_curves_are_changed_alike(model):
    new = recalibrate(model, X[NEW], Y[NEW], method="leaves")
    factor = dict(zip(model.tree_.leaves.tolist(), new.recalibration_.factors, strict=True))
    by_row = np.array([factor[leaf] for leaf in model.apply(X)])
    np.testing.assert_allclose(new.predict(X), model.predict(X) * by_row)
    before, after = (
        one.predict_survival_function(X, times=[500.0, 1500.0]) for one in (model, new)
    )
    np.testing.assert_allclose(after, before ** by_row[:, None])
    medians = [new.tree_.median(leaf) for leaf in new.tree_.leaves]
    assert set(new.predict_median(X)) == set(medians)


def test_shrinkage_keeps_the_old_value(model):
    for method in ("intercept", "leaves"):
        far = recalibrate(model, X[NEW], Y[NEW], method=method, shrinkage=1000)
        near = recalibrate(model, X[NEW], Y[NEW], method=method, shrinkage=0)
        far, near = (np.abs(np.log(one.recalibration_.factors)) for one in (far, near))
        assert (far < 0.3 * near + 1e-9).all()


def test_nothing_changes_on_the_rows_of_the_fit():
    model = SurTree(max_depth=2, min_events_leaf=10).fit(X, Y)
    for method in ("intercept", "slope", "leaves"):
        factors = recalibrate(model, X, Y, method=method).recalibration_.factors
        np.testing.assert_allclose(factors, 1.0, atol=1e-9)


def test_entry_and_weights_count(model):
    twice = np.repeat(np.arange(400, 686), 2)
    one = recalibrate(model, X[NEW], Y[NEW], np.full(286, 2.0), method="leaves")
    two = recalibrate(model, X.iloc[twice], Y[twice], method="leaves")
    np.testing.assert_allclose(one.recalibration_.factors, two.recalibration_.factors)
    time = Y["time"][NEW]
    entry = np.minimum(300.0, time / 2)
    late = recalibrate(model, X[NEW], Y[NEW], entry=entry, shrinkage=0)
    assert late.recalibration_.ratio > one.recalibration_.ratio


@pytest.fixture
def new(model):
    return recalibrate(model, X[NEW], Y[NEW], method="slope")


def test_the_certificate_is_void_and_said_so(model, new, tmp_path):
    assert (new.status_, new.gap_, new.lower_bound_) == ("recalibrated", 1.0, 0.0)
    assert model.status_ == "optimal"
    assert model.recalibration_ is None
    assert new.validation_ is new.risk_groups_ is new.row_digest_ is None
    page = write_report(new, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Recalibrated: certificate void" in page
    methods = export_methods(new)
    assert f"It was {new.recalibration_}." in methods
    assert "Nothing is proven about the tree" in methods
    verified = surtree.verify(new, X[OLD], Y[OLD])
    assert not verified.confirmed
    with pytest.raises(ValueError, match="was recalibrated"):
        surtree.risk_groups(new, k=2)


def test_files_keep_new_hazards(new, tmp_path):
    new.save(tmp_path / "new.json")
    loaded = surtree.load(tmp_path / "new.json")
    assert loaded.recalibration_ == new.recalibration_
    np.testing.assert_array_equal(loaded.predict(X), new.predict(X))
    np.testing.assert_array_equal(loaded.predict_median(X), new.predict_median(X))
    assert export_sql(loaded, value="risk") == export_sql(new, value="risk")
    saved = json.loads((tmp_path / "new.json").read_text())
    saved["status"] = "optimal"
    (tmp_path / "bad.json").write_text(json.dumps(saved))
    with pytest.raises(ValueError, match="is damaged: its path"):
        surtree.load(tmp_path / "bad.json")
    saved["status"] = "recalibrated"
    saved["time_unit"] = "days"
    (tmp_path / "edited.json").write_text(json.dumps(saved))
    edited = surtree.load(tmp_path / "edited.json")
    assert edited.status_ == "edited"
    edited.save(tmp_path / "again.json")
    assert surtree.load(tmp_path / "again.json").status_ == "edited"


def test_evaluate_ends_with_the_advice(model):
    right = evaluate(model, X[OLD], Y[OLD], n_bootstraps=30)
    assert right.advice.endswith("nothing says that the model needs to be recalibrated")
    assert str(right).endswith(right.advice)
    faster = Y[NEW].copy()
    faster["time"] = faster["time"] / 3
    level = evaluate(model, X[NEW], faster, n_bootstraps=30)
    assert level.ratio[1] > 1
    assert "recalibrate(model, X, y" in level.advice
    new = recalibrate(model, X[NEW], faster, shrinkage=0)
    assert evaluate(new, X[NEW], faster, n_bootstraps=2).ratio[0] == pytest.approx(1, rel=0.02)


def test_what_cannot_be_is_refused(model):
    with pytest.raises(ValueError, match="method must be one of"):
        recalibrate(model, X[NEW], Y[NEW], method="all")
    with pytest.raises(ValueError, match="shrinkage"):
        recalibrate(model, X[NEW], Y[NEW], shrinkage=-1)
    with pytest.raises(TypeError, match="none or several"):
        recalibrate(CompetingRisksTree(1).fit(*load_melanoma()), *load_melanoma())
    stump = SurTree(max_depth=0).fit(X[OLD], Y[OLD])
    with pytest.raises(ValueError, match="two leaves of different risk"):
        recalibrate(stump, X[NEW], Y[NEW], method="slope")


def test_a_search_is_recalibrated_as_the_model_that_it_chose():
    search = SurTreeCV(max_depth=1, cv=2, shrinkage=1.0).fit(X[OLD], Y[OLD])
    new = recalibrate(search, X[NEW], Y[NEW])
    assert isinstance(new, SurTree)
    again = recalibrate(new, X[NEW], Y[NEW], shrinkage=0)
    assert recalibrate(again, X[NEW], Y[NEW], shrinkage=0).recalibration_.ratio == pytest.approx(1)

"""ONNX models say what the models say; where rows fall is in test_same_leaf.py."""

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import surtree.export.onnx
from surtree import (
    BeyondFollowUpWarning,
    CompetingRisksTree,
    EffectTree,
    SurTree,
    SurTreeCV,
    UnseenCategoryWarning,
    UntestedEffectsWarning,
)
from surtree.datasets import load_gbsg2, load_lung, load_melanoma, load_rossi
from surtree.export import export_onnx
from surtree.heuristics import ConditionalInferenceTree, GreedyTree, LocalSearchTree

TIMES = [730.0, 0.0, 365.0, 2400.0, 5000.0]  # in no order, and after all follow-up


def cells(X, session):
    """Return the columns of a data frame that a session asks for."""
    found = {}
    for one in session.get_inputs():
        column = X[one.name]
        if one.type == "tensor(string)":
            found[one.name] = column.astype(object).where(column.notna(), "").to_numpy(object)
        elif column.dtype.kind in "biuf":
            found[one.name] = column.to_numpy(dtype=float, na_value=np.nan)
        else:
            raise TypeError(column.dtype)
        found[one.name] = found[one.name].reshape(-1, 1)
    return found


def run(model, X, **options):
    exported = export_onnx(model, **options)
    session = onnxruntime.InferenceSession(exported.SerializeToString())
    return session.run(None, cells(X, session))


def survival(model, X, times):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BeyondFollowUpWarning)
        return np.stack([curve(times) for curve in model.predict_survival_function(X)])


@pytest.mark.parametrize(
    "estimator",
    [
        SurTree(max_depth=3),
        SurTree(max_depth=2, leaf_curve="kaplan-meier"),
        SurTreeCV(max_depth=2, cv=2, shrinkage=3.0, leaf_curve="shrunk"),
        GreedyTree(3),
        ConditionalInferenceTree(3),
        LocalSearchTree(3, random_state=0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
@pytest.mark.parametrize("load", [load_gbsg2, load_lung])
def test_risk_median_and_survival_are_those_of_the_model(estimator, load):
    X, y = load()
    model = estimator.fit(X, y)
    risk, median, found = run(model, X, value=["risk", "median", "survival"], times=TIMES)
    assert np.array_equal(risk.ravel(), model.predict(X))
    assert np.array_equal(median.ravel(), model.predict_median(X))
    assert np.array_equal(found, survival(model, X, TIMES), equal_nan=True)
    assert np.isnan(found[:, -1]).all()
    assert np.isfinite(found[:, 0]).any()


def test_survival_of_another_curve():
    X, y = load_gbsg2()
    model = SurTree(max_depth=2).fit(X, y)
    other = SurTree(max_depth=2, leaf_curve="kaplan-meier").fit(X, y)
    (found,) = run(model, X, value="survival", times=[500], leaf_curve="kaplan-meier")
    assert np.array_equal(found, survival(other, X, [500]))


def test_causes_have_a_risk_and_an_incidence():
    X, y = load_melanoma()
    model = CompetingRisksTree(max_depth=2).fit(X, y)
    times = [1000.0, 2000.0]
    for cause in (None, 1, 2):
        risk, found = run(model, X, value=["risk", "incidence"], times=times, cause=cause)
        expected = model.predict_cumulative_incidence(X, cause=1 if cause is None else cause)
        assert np.array_equal(found, np.stack([curve(times) for curve in expected]))
        if cause is None:
            assert np.array_equal(risk.ravel(), model.predict(X))
    with pytest.raises(ValueError, match="cause"):
        export_onnx(model, cause=3)
    with pytest.raises(ValueError, match="cause"):
        export_onnx(model, value="leaf", cause=1)


def test_effects_are_hazard_ratios():
    X, y = load_rossi()
    treatment = X.pop("financial_aid")
    model = EffectTree(max_depth=2).fit(X, y, treatment=treatment)
    (effect,) = run(model, X, value="effect")
    with pytest.warns(UntestedEffectsWarning):
        expected = model.predict_effect(X)
    assert np.allclose(effect.ravel(), expected.ravel(), rtol=0, atol=0)


def test_unseen_categories_and_blanks_count_as_missing():
    X, y = load_gbsg2()
    model = SurTree(max_depth=3).fit(X, y)
    exported = export_onnx(model, value="leaf")
    session = onnxruntime.InferenceSession(exported.SerializeToString())
    assert [one.name for one in session.get_inputs() if one.type == "tensor(string)"]
    later = X.head(4).copy()
    later["tumor_grade"] = ["IV", "  II ", "", None]
    with pytest.warns(UnseenCategoryWarning):
        expected = model.apply(later)
    assert session.run(None, cells(later, session))[0].ravel().tolist() == expected.tolist()


def test_a_single_leaf_has_no_input():
    X, y = load_lung()
    model = SurTree(max_depth=0).fit(X, y)
    exported = export_onnx(model, value=["risk", "survival"], times=[100, 200])
    assert not exported.graph.input
    session = onnxruntime.InferenceSession(exported.SerializeToString())
    risk, found = session.run(None, {})
    assert risk.tolist() == [[model.predict(X)[0]]]
    assert found.shape == (1, 2)


def test_names_of_columns_do_not_meet_those_of_outputs():
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    model = SurTree(max_depth=1, min_support=0).fit(X, [4.0, 3.0, 2.0, 1.0])
    exported = export_onnx(model, feature_names=["risk"])
    session = onnxruntime.InferenceSession(exported.SerializeToString())
    assert [one.name for one in session.get_outputs()] == ["risk_output"]
    (risk,) = session.run(None, {"risk": X})
    assert risk.ravel().tolist() == model.predict(X).tolist()
    with pytest.raises(ValueError, match="empty name"):
        export_onnx(model, feature_names=[""])
    two = np.random.default_rng(0).random((60, 2))
    both = SurTree(max_depth=2).fit(two, 1 / (two[:, 0] + two[:, 1]))
    with pytest.raises(ValueError, match="both called 'a'"):
        export_onnx(both, feature_names=["a", "a"])


def test_the_model_describes_itself():
    model = SurTree(max_depth=1).fit(*load_gbsg2())
    exported = export_onnx(model, value="survival", times=[365])
    onnx.checker.check_model(exported, full_check=True)
    assert exported.producer_name == "surtree"
    assert "survival at 365" in exported.doc_string
    assert "positive_nodes > 3" in exported.doc_string


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"value": "hazard"}, "value must be one of"),
        ({"value": []}, "value must be one of"),
        ({"value": ["risk", "risk"]}, "value must be one of"),
        ({"value": "survival"}, "times are missing"),
        ({"value": "survival", "times": []}, "times is empty"),
        ({"value": "survival", "times": [-1.0]}, "zero or later"),
        ({"value": "risk", "times": [1.0]}, "times go with"),
        ({"value": {0: 1.0}}, "value has nothing for the leaves"),
        ({"value": "incidence", "times": [1.0]}, "cause"),
        ({"value": "effect"}, "not kept"),
    ],
)
def test_what_is_wrong_is_said(options, message):
    model = SurTree(max_depth=1).fit(*load_lung())
    with pytest.raises((ValueError, TypeError), match=message):
        export_onnx(model, **options)


def test_values_of_ones_own_are_numbers():
    X, y = load_lung()
    model = SurTree(max_depth=1).fit(X, y)
    low, high = model.tree_.leaves.tolist()
    (found,) = run(model, X, value={low: 0, high: 2.5})
    assert set(found.ravel()) == {0.0, 2.5}
    with pytest.raises(TypeError, match="not texts"):
        export_onnx(model, value={low: "low", high: "high"})


def test_what_to_install_is_said(monkeypatch):
    monkeypatch.setattr(surtree.export.onnx, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r'pip install "surtree\[onnx\]"'):
        export_onnx(SurTree(max_depth=1).fit(*load_lung()))


def test_the_code_of_the_document_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[2] / "docs" / "export.md").read_text(encoding="utf-8")
    namespace: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL):
        exec(block, namespace)
    expected = namespace["model"].predict(namespace["X"])
    assert np.array_equal(namespace["risk"].ravel(), expected)

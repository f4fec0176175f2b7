"""What a model file keeps beside the tree: read as it was written, or refused with one line."""

import json
import warnings

import numpy as np
import pytest

from damage import _damage_value
from surtree import (
    CompetingRisksTree,
    EffectTree,
    SurTree,
    SurTreeCV,
    Tuning,
    correct_effects,
    heterogeneity_test,
    write_report,
)
from surtree.datasets import load_gbsg2, load_melanoma, load_rossi
from surtree.export import export_leaves, export_methods

KINDS = {"tuned": SurTree, "trial": EffectTree, "causes": CompetingRisksTree}
FIELDS = {
    "tuned": ("horizons", "tuning", "time_unit"),
    "trial": ("heterogeneity", "correction", "horizons"),
    "causes": ("cause_names", "horizons"),
}


@pytest.fixture(scope="module")
def models():
    tuned = SurTreeCV(max_depth=2, cv=2, shrinkage=(1.0, 3.0)).fit(*load_gbsg2())
    X, y = load_rossi()
    aid = X.pop("financial_aid")
    trial = EffectTree(max_depth=1).fit(X, y, aid)
    trial.heterogeneity_ = heterogeneity_test(trial, X, y, aid, n_draws=19)
    trial.correction_ = correct_effects(trial, X, y, aid, n_repeats=1)
    causes = CompetingRisksTree(max_depth=1).fit(*load_melanoma())
    causes.cause_names_ = {1: "melanoma", 2: "other causes"}
    found = {"tuned": tuned.best_estimator_, "trial": trial, "causes": causes}
    for model in found.values():
        model.horizons_, model.time_unit_ = (30, 10), "days"
    return found


@pytest.fixture(scope="module")
def saved(models, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model.json"
    texts = {}
    for name, model in models.items():
        model.save(path)
        texts[name] = path.read_text(encoding="utf-8")
    return texts


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.json"


def load(name, path, saved):
    path.write_text(json.dumps(saved))
    return KINDS[name].load(path)


@pytest.mark.parametrize("name", KINDS)
def test_what_a_model_keeps_comes_back(models, saved, path, name):
    model, again = models[name], load(name, path, json.loads(saved[name]))
    assert again.status_ == "optimal"
    assert (again.horizons_, again.time_unit_) == ([10, 30], "days")
    assert again.tuning_ == model.tuning_
    if name == "tuned":
        assert again.tuning_ == Tuning((1.0, 3.0), stratified=True, status="optimal")
    if name == "trial":
        assert again.heterogeneity_ == model.heterogeneity_
        assert again.correction_ == model.correction_
    if name == "causes":
        assert again.cause_names_ == model.cause_names_
    again.save(path)
    assert json.loads(path.read_text()) == json.loads(saved[name])


@pytest.mark.parametrize("name", KINDS)
def test_a_file_that_was_written_before_knows_nothing_of_them(saved, path, name):
    old = json.loads(saved[name])
    for field in ("horizons", "tuning", "heterogeneity", "correction", "cause_names"):
        old.pop(field, None)
    again = load(name, path, old)
    assert again.horizons_ is None
    assert again.tuning_ is None
    if name == "trial":
        assert again.heterogeneity_ is None
        assert again.correction_ is None
        assert "holds no test" in export_methods(again)
    if name == "causes":
        assert again.cause_names_ is None
        assert "of cause 1" in export_methods(again)


@pytest.mark.parametrize("name", KINDS)
def test_an_edited_file_keeps_names_and_no_results(saved, path, name):
    edited = load(name, path, json.loads(saved[name]) | {"digest": "0" * 64})
    assert edited.status_ == "edited"
    assert edited.horizons_ == [10, 30]
    assert edited.tuning_ is None
    if name == "trial":
        assert edited.heterogeneity_ is None
        assert edited.correction_ is None
    if name == "causes":
        assert edited.cause_names_ == {1: "melanoma", 2: "other causes"}


def update(*where, **values):
    """Change values of an object in a file."""

    def change(saved):
        for key in where:
            saved = saved[key]
        saved.update(values)

    return change


LIMITS = [{"lower": 0.5, "upper": None}]
TEST = {
    "statistic": 1.0,
    "p_value": 0.5,
    "overall": [1.0],
    "limits": LIMITS,
    "drawn": [2.0, 0.0, 0.0],
}
CORRECTION = {
    "slope": None,
    "error": None,
    "overall": [1.0],
    "corrected": [1.0],
    "limits": LIMITS,
    "n_repeats": 1,
}


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("tuned", update(horizons=[-1.0]), "horizons[0] is -1.0, not a number, zero or more"),
        ("tuned", update(horizons=[True]), "horizons[0] is True"),
        ("tuned", update(horizons=30), "horizons is 30, not a list"),
        ("tuned", update(tuning={}), "'shrinkages' is not there in tuning"),
        ("tuned", update("tuning", shrinkages=[-1.0]), "tuning.shrinkages[0] is -1.0"),
        ("tuned", update("tuning", shrinkages=[7.0]), "is not one of those that were tried"),
        ("tuned", update("tuning", shrinkages=[]), "is not one of those that were tried"),
        ("tuned", update("tuning", stratified=1), "tuning.stratified is 1, not true or false"),
        ("tuned", update("tuning", status="done"), "tuning.status is 'done'"),
        ("tuned", update(sizes=None), "is not one of those that were tried"),
        ("tuned", update(heterogeneity=TEST), "belongs to a tree without arms"),
        ("tuned", update(correction=CORRECTION), "belongs to a tree without arms"),
        ("tuned", update(cause_names={"1": "x"}), "no cause '1' to be called 'x'"),
        ("trial", update(heterogeneity=[]), "heterogeneity is [], not an object"),
        ("trial", update("heterogeneity", p_value=0.0), "p_value is 0.0, not a probability"),
        ("trial", update("heterogeneity", p_value=1e-5), "not that of its draws"),
        ("trial", update("heterogeneity", statistic=1e9), "not that of its draws"),
        ("trial", update("heterogeneity", drawn=[]), "not that of its draws"),
        ("trial", update("heterogeneity", drawn=["a"]), "drawn[0] is 'a'"),
        ("trial", update("heterogeneity", overall=[0.0]), "overall[0] is 0.0"),
        ("trial", update("heterogeneity", overall=[1.0, 1.0]), "of other arms"),
        ("trial", update("correction", slope=1.5), "correction.slope is 1.5"),
        ("trial", update("correction", error="x"), "correction.error is 'x'"),
        ("trial", update("correction", corrected=[1.0]), "of other leaves or arms"),
        ("trial", update("correction", limits=LIMITS), "of other leaves or arms"),
        ("trial", update("correction", n_repeats=0), "correction.n_repeats is 0"),
        ("trial", update("heterogeneity", limits=[]), "of other arms"),
        ("trial", update(cause_names={"1": "x"}), "no cause '1' to be called 'x'"),
        ("causes", update(cause_names=["a"]), "cause_names is ['a'], not an object"),
        ("causes", update(cause_names={"1": 1}), "is 1, not a text"),
        ("causes", update(cause_names={"3": "x"}), "no cause '3' to be called 'x'"),
        ("causes", update(cause_names={"01": "x"}), "no cause '01' to be called 'x'"),
        ("causes", update(cause_names={"1": "\ud800"}), "half of a character"),
    ],
)
def test_what_is_wrong_in_a_kept_field_is_said(saved, path, name, change, message):
    damaged = json.loads(saved[name])
    change(damaged)
    with pytest.raises(ValueError, match="damaged") as error:
        load(name, path, damaged)
    assert message in str(error.value)
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize("name", KINDS)
def test_damaged_fields_are_refused_or_harmless(saved, path, tmp_path, name):
    rng = np.random.default_rng(28)
    outcomes = set()
    for number in range(120):
        damaged = json.loads(saved[name])
        field = FIELDS[name][number % len(FIELDS[name])]
        holder = [damaged[field]]
        _damage_value(holder, rng)
        damaged[field] = holder[0] if holder else None
        # A digest that anybody can compute: the damage is read as if it were meant.
        damaged["digest"] = digest_of(damaged)
        refusal = None
        try:
            model = load(name, path, damaged)
        except ValueError as error:
            refusal = str(error)
        outcomes.add("used" if refusal is None else "refused")
        if refusal is not None:
            assert refusal.startswith(str(path))
            assert len(refusal.splitlines()) == 1
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            export_methods(model).encode()
            export_leaves(model).encode()
            write_report(model, tmp_path / "report.html")
            model.save(path)
            if name == "trial" and model.heterogeneity_ and model.correction_:
                assert np.isfinite(model.expected_effects()).all()
    assert outcomes == {"used", "refused"}


def digest_of(saved):
    from surtree._support.json_file import digest

    try:
        return digest({name: value for name, value in saved.items() if name != "digest"})
    except ValueError:  # what is no number has no digest
        return "0" * 64


def test_a_test_of_other_arms_is_not_saved(models, path):
    X, y = load_rossi()
    aid = X.pop("financial_aid").astype(str)
    other = EffectTree(max_depth=1, reference="yes").fit(X, y, aid)
    other.heterogeneity_ = models["trial"].heterogeneity_
    with pytest.raises(ValueError, match="is a test of the arms"):
        other.save(path)
    with pytest.raises(ValueError, match="is a test of the arms"):
        other.predict_effect(X, corrected=True)


def test_names_of_causes_that_are_not_there_are_refused(path):
    model = CompetingRisksTree(max_depth=1).fit(*load_melanoma())
    model.cause_names_ = {3: "lightning"}
    with pytest.raises(ValueError, match="names has the cause 3: the causes are"):
        model.save(path)
    with pytest.raises(ValueError, match="names has the cause 3"):
        export_leaves(model)


def test_horizons_that_are_no_times_are_refused(path):
    model = SurTree(max_depth=1).fit(*load_gbsg2())
    model.horizons_ = [-3]
    with pytest.raises(ValueError, match="horizons must be times"):
        model.save(path)

"""A model that is saved and loaded: the same in every respect, or an error that says why not."""

import json
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from sklearn.exceptions import NotFittedError

import surtree
from problems import cases
from surtree import SurTree, SurTreeCV, write_report
from surtree.datasets import load_gbsg2, load_lung
from surtree.export import export_methods


def reload(model, tmp_path):
    model.save(tmp_path / "model.json")
    return SurTree.load(tmp_path / "model.json")


def require_same(loaded, model, X):
    assert loaded.get_params() == model.get_params() | {"progress": None}
    assert vars(loaded).keys() == vars(model).keys()
    for name in vars(model).keys() - {"encoder_", "feature_names_in_", "progress"}:
        assert getattr(loaded, name) == getattr(model, name), name
    assert [size.tree for size in loaded.path_] == [size.tree for size in model.path_]
    assert loaded.encoder_.cuts_ == model.encoder_.cuts_
    assert loaded.encoder_.heavier_side_.tolist() == model.encoder_.heavier_side_.tolist()
    assert loaded.encoder_.get_params() == model.encoder_.get_params()
    np.testing.assert_array_equal(loaded.encoder_.transform(X), model.encoder_.transform(X))
    for method in ("predict", "apply", "predict_median"):
        np.testing.assert_array_equal(getattr(loaded, method)(X), getattr(model, method)(X))
    for method in ("predict_survival_function", "predict_cumulative_hazard_function"):
        np.testing.assert_array_equal(
            getattr(loaded, method)(X, return_array=True),
            getattr(model, method)(X, return_array=True),
        )


@pytest.mark.parametrize("leaf_curve", ["baseline", "kaplan-meier"])
@pytest.mark.parametrize("load", [load_gbsg2, load_lung])
def test_a_loaded_model_is_the_saved_one(tmp_path, load, leaf_curve):
    X, y = load()
    model = SurTree(max_depth=3, leaf_curve=leaf_curve).fit(X, y)
    loaded = reload(model, tmp_path)
    require_same(loaded, model, X)
    assert loaded.feature_names_in_.tolist() == list(X.columns)
    assert loaded.feature_importances_.tolist() == model.feature_importances_.tolist()
    assert loaded.score(X, y) == model.score(X, y)
    # What is loaded can be copied, fitted and saved again like any other.
    assert pickle.loads(pickle.dumps(loaded)).tree_ == model.tree_
    assert loaded.fit(X, y).tree_ == model.tree_


def test_a_file_says_which_surtree_fitted_the_model(tmp_path, monkeypatch):
    X, y = load_gbsg2()
    monkeypatch.setattr("surtree.estimators.fit.VERSION", "0.0.7")
    model = reload(SurTree(max_depth=1).fit(X, y), tmp_path)
    monkeypatch.undo()
    # Whoever reads and writes it later has not fitted it.
    assert reload(model, tmp_path).surtree_version_ == "0.0.7"
    assert "Fitted with surtree 0.0.7." in export_methods(model)
    write_report(model, tmp_path / "page.html")
    assert "with surtree 0.0.7" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert model.fit(X, y).surtree_version_ == surtree.__version__
    model.surtree_version_ = None  # as of older files
    assert reload(model, tmp_path).surtree_version_ is None
    assert "which version fitted the model is not known" in export_methods(model)


@settings(max_examples=40, deadline=None)
@given(cases())
def test_any_model_survives(tmp_path_factory, case):
    model = SurTree(**case.limits).fit(case.X, case.y, case.weight, case.entry)
    require_same(reload(model, tmp_path_factory.mktemp("model")), model, case.X)


def test_columns_without_names_stay_without(tmp_path):
    X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), [4.0, 3.0, 2.0, 1.0]
    loaded = reload(SurTree(max_depth=1).fit(X, y), tmp_path)
    assert not hasattr(loaded, "feature_names_in_")
    with pytest.raises(ValueError, match="expecting 1 features"):
        loaded.predict(np.zeros((1, 2)))


def test_names_are_checked_after_loading(tmp_path):
    X, y = load_gbsg2()
    loaded = reload(SurTree(max_depth=1).fit(X, y), tmp_path)
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(X.rename(columns={"age": "years"}))


def test_an_unfinished_search_keeps_its_gap(tmp_path):
    X, y = load_gbsg2()
    stopped = SurTree(max_depth=5, progress=lambda _: True, n_thresholds=50).fit(X, y)
    assert stopped.status_ == "interrupted"
    assert stopped.gap_ > 0
    require_same(reload(stopped, tmp_path), stopped, X)


def test_numbers_of_numpy_and_no_limit_at_all(tmp_path):
    X, y = load_gbsg2()
    model = SurTree(max_depth=np.int64(1), min_support=np.float64(0.05), time_limit=np.inf)
    loaded = reload(model.fit(X, y), tmp_path)
    assert (loaded.max_depth, loaded.min_support, loaded.time_limit) == (1, 0.05, None)
    json.loads((tmp_path / "model.json").read_text(), parse_constant=pytest.fail)


def test_the_tree_of_a_search_can_be_saved(tmp_path):
    X, y = load_gbsg2()
    search = SurTreeCV(max_depth=2, cv=3).fit(X, y)
    loaded = reload(search.best_estimator_, tmp_path)
    assert loaded.tree_ == search.tree_


def test_each_tree_is_written_once(tmp_path):
    X, y = load_gbsg2()
    model = SurTree(max_depth=4).fit(X, y)
    loaded = reload(model, tmp_path)
    assert sum(size.tree is loaded.tree_ for size in loaded.path_) >= 1
    times = json.dumps(model.tree_.baseline.times.tolist())
    assert (tmp_path / "model.json").read_text().count(times) == 1


def test_an_estimator_that_is_not_fitted_has_nothing_to_save(tmp_path):
    with pytest.raises(NotFittedError):
        SurTree().save(tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []


def test_a_path_may_be_text(tmp_path):
    X, y = load_gbsg2()
    SurTree(max_depth=1).fit(X, y).save(str(tmp_path / "m.json"))
    assert SurTree.load(str(tmp_path / "m.json")).status_ == "optimal"


class TestDamage:
    @pytest.fixture
    def saved(self, tmp_path):
        X, y = load_gbsg2()
        SurTree(max_depth=2).fit(pd.DataFrame(X), y).save(tmp_path / "model.json")
        return tmp_path / "model.json"

    def load_changed(self, saved, change):
        model = json.loads(saved.read_text())
        change(model)
        saved.write_text(json.dumps(model))
        return SurTree.load(saved)

    def test_an_unchanged_file_is_read(self, saved):
        assert self.load_changed(saved, lambda model: None).status_ == "optimal"

    def test_a_file_that_is_not_there(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            SurTree.load(tmp_path / "none.json")

    @pytest.mark.parametrize("text", ["", "{", "not json", "\x00\x01"])
    def test_not_json(self, tmp_path, text):
        Path(tmp_path / "m.json").write_text(text)
        with pytest.raises(ValueError, match=r"m\.json is not a model of surtree, or is damaged"):
            SurTree.load(tmp_path / "m.json")

    def test_bytes_that_are_no_text(self, tmp_path):
        Path(tmp_path / "m.json").write_bytes(b"\xff\xfe\x00")
        with pytest.raises(ValueError, match="not a model of surtree"):
            SurTree.load(tmp_path / "m.json")

    @pytest.mark.parametrize("text", ["[]", "3", "{}", '{"format": "other"}', '"surtree.model"'])
    def test_json_of_someone_else(self, tmp_path, text):
        Path(tmp_path / "m.json").write_text(text)
        with pytest.raises(ValueError, match="not a model of surtree: its format is"):
            SurTree.load(tmp_path / "m.json")

    def test_a_file_of_the_future(self, saved):
        with pytest.raises(ValueError, match="version 3, and this surtree reads versions 1 to 2"):
            self.load_changed(saved, lambda model: model.update(version=3))

    def test_a_truncated_file(self, saved):
        saved.write_text(saved.read_text()[:-100])
        with pytest.raises(ValueError, match="damaged"):
            SurTree.load(saved)

    def test_any_part_that_is_absent_is_named(self, saved):
        model = json.loads(saved.read_text())
        may_be_absent = {"time_unit", "digest", "known", "held_out", "sizes", "validation"}
        may_be_absent |= {"proven_depth", "surtree_version", "horizons", "tuning", "follow_up"}
        may_be_absent |= {"rows", "receipt", "comparison", "teaching", "kept", "free_loss"}
        may_be_absent |= {"risk_groups", "recalibration"}
        for part in model.keys() - {"format", "version"} - may_be_absent:
            saved.write_text(json.dumps({k: v for k, v in model.items() if k != part}))
            with pytest.raises(ValueError, match=f"damaged: {part!r} is not there"):
                SurTree.load(saved)

    @pytest.mark.parametrize(
        ("fault", "change"),
        [
            ("damaged", lambda m: m.update(trees=[])),
            ("damaged", lambda m: m.update(trees=None)),
            ("damaged", lambda m: m.update(parameters=None)),
            ("damaged", lambda m: m.update(encoder={"n_colours": 3})),
            ("damaged: .*depth_max", lambda m: m["parameters"].update(depth_max=3)),
            ("damaged: max_depth must be", lambda m: m["parameters"].update(max_depth="deep")),
            ("a loss of 1.0 belongs", lambda m: m.update(loss=1.0)),
            ("a loss of 1.0 belongs", lambda m: m["path"][1].update(loss=1.0)),
            ("damaged", lambda m: m["path"][1].update(tree=99)),
            ("names for 8 columns", lambda m: m["columns"].pop()),
            ("more than the 1 columns", lambda m: m.update(n_columns=1, columns=["a"])),
            ("not equally many", lambda m: m["heavier_side"].pop()),
            ("damaged", lambda m: m["cuts"][0].update(colour="red")),
            ("not equally long", lambda m: m["trees"][0]["nodes"]["loss"].pop()),
            ("not equally long", lambda m: m["trees"][0]["nodes"]["sums"]["events"].pop()),
            ("theta is not what", lambda m: m["trees"][0]["nodes"]["theta"].pop()),
            ("not a finite number", lambda m: m["trees"][0]["nodes"]["theta"].__setitem__(0, None)),
            ("not form a tree", lambda m: m["trees"][0]["nodes"]["left"].__setitem__(0, 0)),
            ("not form a tree", lambda m: m["trees"][0]["nodes"]["right"].__setitem__(0, 99)),
            ("not form a tree", lambda m: m["trees"][0]["nodes"]["left"].__setitem__(0, -1)),
            ("questions", lambda m: m["trees"][0]["nodes"]["cut"].__setitem__(0, 99)),
            ("questions", lambda m: m["trees"][0]["nodes"]["cut"].__setitem__(2, 0)),
            ("questions", lambda m: m["trees"][0]["nodes"]["column"].__setitem__(0, 7)),
            ("do not add up", lambda m: m["trees"][0]["nodes"]["n_samples"].__setitem__(0, 7)),
            ("baseline is not", lambda m: m["baseline"]["times"].reverse()),
            ("baseline is not", lambda m: m["baseline"]["cumulative_hazard"].reverse()),
            ("baseline is not", lambda m: m["baseline"]["times"].pop()),
            ("risk counts", lambda m: m["trees"][0]["risk"].pop()),
            ("risk counts", lambda m: m["trees"][0]["risk"][0]["step"].__setitem__(0, 9999)),
            ("risk counts", lambda m: m["trees"][0]["risk"][0]["at_risk"].pop()),
            ("risk counts", lambda m: m["trees"][0]["risk"][0]["round_at_risk"].pop()),
        ],
    )
    def test_parts_that_do_not_fit(self, saved, fault, change):
        with pytest.raises(ValueError, match=fault):
            self.load_changed(saved, change)

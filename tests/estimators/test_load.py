"""`surtree.load` reads every file that surtree writes, as an object of the right class."""

import json

import numpy as np
import pytest

import surtree
from surtree import (
    CompetingRisksTree,
    CompetingRisksTreeCV,
    EffectTree,
    PointsTable,
    SurTree,
    SurTreeBayes,
    SurTreeCV,
    TaughtTree,
)
from surtree.datasets import load_lung, load_melanoma, load_rossi
from surtree.export import export_json

ONE, CAUSES = load_lung(), load_melanoma()


def effects():
    X, y = load_rossi()
    aid = X.pop("financial_aid")
    return EffectTree(max_depth=1).fit(X, y, treatment=aid)


MODELS = {
    "SurTree": lambda: SurTree(max_depth=1).fit(*ONE),
    "SurTreeCV": lambda: SurTreeCV(max_depth=1, cv=2).fit(*ONE),
    "SurTreeBayes": lambda: SurTreeBayes(1, 2).fit(*ONE),
    "PointsTable": lambda: PointsTable(2).fit(*ONE),
    "TaughtTree": lambda: TaughtTree(max_depth=1).fit(*ONE),
    "CompetingRisksTree": lambda: CompetingRisksTree(max_depth=1, causes={1: 1.0}).fit(*CAUSES),
    "CompetingRisksTreeCV": lambda: CompetingRisksTreeCV(max_depth=1, cv=2).fit(*CAUSES),
    "EffectTree": effects,
}


@pytest.mark.parametrize("name", MODELS)
def test_one_function_reads_the_file_of_any_model(name, tmp_path):
    model = MODELS[name]()
    model.save(tmp_path / "model.json")
    loaded = surtree.load(str(tmp_path / "model.json"))
    assert type(loaded).__name__ == name.removesuffix("CV")
    saved = getattr(model, "best_estimator_", model)
    assert loaded.get_params() == saved.get_params()
    for tree, other in zip(
        getattr(loaded, "trees_", [getattr(loaded, "tree_", None)]),
        getattr(saved, "trees_", [getattr(saved, "tree_", None)]),
        strict=True,
    ):
        assert tree == other


def test_the_tree_of_an_export_is_read_back(tmp_path):
    model = MODELS["SurTree"]()
    path = tmp_path / "tree.json"
    path.write_text(export_json(model), encoding="utf-8")
    assert surtree.load(path) == model.tree_
    saved = json.loads(path.read_text("utf-8"))
    saved["nodes"]["left"][0] = 99
    path.write_text(json.dumps(saved), encoding="utf-8")
    with pytest.raises(ValueError, match=r"tree\.json is damaged"):
        surtree.load(path)


def test_a_search_loads_the_model_that_it_chose(tmp_path):
    search = MODELS["SurTreeCV"]()
    search.save(tmp_path / "model.json")
    model = SurTreeCV.load(tmp_path / "model.json")
    assert type(model) is SurTree
    assert np.array_equal(model.predict(ONE[0]), search.predict(ONE[0]))
    causes = MODELS["CompetingRisksTreeCV"]()
    causes.save(tmp_path / "model.json")
    assert type(CompetingRisksTreeCV.load(tmp_path / "model.json")) is CompetingRisksTree


def test_the_wrong_class_says_that_the_file_is_sound_and_what_reads_it(tmp_path):
    MODELS["SurTreeBayes"]().save(tmp_path / "average.json")
    MODELS["SurTree"]().save(tmp_path / "one.json")
    MODELS["EffectTree"]().save(tmp_path / "effects.json")
    for kind, name in (
        (SurTree, "average"),
        (SurTree, "effects"),
        (SurTreeBayes, "one"),
        (CompetingRisksTree, "one"),
        (EffectTree, "one"),
    ):
        with pytest.raises(ValueError, match=r"surtree\.load") as raised:
            kind.load(tmp_path / f"{name}.json")
        assert "damaged" not in str(raised.value)


def test_what_is_no_model_is_refused_in_a_line(tmp_path):
    path = tmp_path / "other.json"
    for content in ("[]", '{"format": "else"}', '{"parameters": 3}', "not JSON", "[" * 100_000):
        path.write_text(content, encoding="utf-8")
        with pytest.raises(ValueError, match=r"other\.json is (not a model of surtree|damaged)"):
            surtree.load(path)
    with pytest.raises(FileNotFoundError):
        surtree.load(tmp_path / "none.json")

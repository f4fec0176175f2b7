"""Files that an older surtree wrote: they are read for ever, and written again as new ones.

The files in ``tests/data`` were written by the last surtree of version 1 of the format, and so were
the predictions beside them; those of version 2 by one that kept no test of effects and no horizons.
"""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from golden import golden_tree

from damage import use_everywhere
from surtree import EffectTree, SurTree, Tree, UntestedEffectsWarning, leaf_curves
from surtree.export import export_methods
from surtree.survival.objective import RELATIVE_RISK, RelativeRisk

DATA = Path(__file__).parent / "old_files"
MODELS = ("weights", "entry")


def read(name):
    return json.loads((DATA / name).read_text(encoding="utf-8"))


def assert_predicts(model, expected):
    table = pd.DataFrame(expected["table"])
    assert model.apply(table).tolist() == expected["leaf"]
    assert model.predict(table).tolist() == expected["theta"]
    assert [str(median) for median in model.predict_median(table)] == expected["median"]
    survival = model.predict_survival_function(table, return_array=True)[:, ::8]
    np.testing.assert_allclose(survival, expected["survival"], rtol=1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_a_model_of_version_1_predicts_as_it_did_and_is_saved_as_version_2(name, tmp_path):
    saved, expected = read(f"version_1_{name}.json"), read("version_1_predictions.json")[name]
    model = SurTree.load(DATA / f"version_1_{name}.json")
    assert (model.status_, model.loss_, model.gap_) == ("optimal", saved["loss"], saved["gap"])
    assert [size.loss for size in model.path_] == [size["loss"] for size in saved["path"]]
    assert_predicts(model, expected)
    model.save(tmp_path / "model.json")
    written = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))
    assert (saved["version"], written["version"]) == (1, 2)
    assert written["objective"] == {"name": "relative_risk", "parameters": [0.0]}
    assert {tree["version"] for tree in written["trees"]} == {2}
    again = SurTree.load(tmp_path / "model.json")
    assert (again.status_, again.path_) == (model.status_, model.path_)
    assert_predicts(again, expected)
    use_everywhere(again)


@pytest.mark.parametrize("name", ["version_1_tree.json", "version_1_golden_tree.json"])
def test_a_tree_of_version_1_has_the_same_nodes_and_is_written_as_version_2(name):
    saved = read(name)
    tree = Tree.from_dict(saved)
    assert tree.objective == RELATIVE_RISK
    for field, values in saved["nodes"].items():
        assert getattr(tree, field).tolist() == values, field
    written = tree.to_dict()
    assert (saved["version"], written["version"]) == (1, 2)
    assert written["nodes"]["sums"] == {
        field: saved["nodes"][field] for field in ("events", "hazard")
    }
    assert Tree.from_dict(json.loads(json.dumps(written))) == tree


@pytest.mark.parametrize("name", MODELS)
def test_curves_of_version_1_are_of_the_kind_of_the_parameters_and_do_not_end(name):
    saved = read(f"version_1_{name}.json")
    model = SurTree.load(DATA / f"version_1_{name}.json")
    tree = model.tree_
    assert tree.leaf_curve == saved["parameters"]["leaf_curve"]
    assert all(not size.tree.risk or size.tree is tree for size in model.path_)
    assert {s.tree.leaf_curve for s in model.path_ if s.tree is not tree} <= {"baseline"}
    assert tree.baseline.last_time == np.inf
    assert all(not counts.of_all_times for counts in tree.risk)
    end = tree.baseline.times[-1]
    for curve in leaf_curves(model):
        assert curve.survival(10 * end) == curve.survival(end)
    # Something is drawn as far as rows are known to be there, and no further.
    for leaf, counts in zip(tree.outcome.groups, tree.risk, strict=True):
        assert max(tree.baseline.times[counts.step], default=0) <= leaf.last_time <= end
    # What is at risk between the events of a leaf is not known.
    prior = replace(tree, objective=RelativeRisk(1.0))
    with pytest.raises(ValueError, match="saved before its leaves kept what is at risk"):
        leaf_curves(prior, "shrunk")


def test_the_first_trees_that_were_written():
    old, new = Tree.from_dict(read("version_1_golden_tree.json")), golden_tree()
    assert old.leaf_curve == "baseline"
    for field in set(Tree._names()) - {"risk", "baseline"}:
        assert np.array_equal(getattr(old, field), getattr(new, field)), field
    assert old.baseline == replace(new.baseline, last_time=np.inf)
    for before, now in zip(
        leaf_curves(old, "kaplan-meier"), leaf_curves(new, "kaplan-meier"), strict=True
    ):
        assert before.survival.y.tolist() == now.survival.y.tolist()
    model = SurTree.load(DATA / "version_1_golden_model.json")
    assert (model.status_, model.gap_) == ("optimal", 0.0)
    assert [size.splits for size in model.path_] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("message", "change"),
    [
        ("'objective' is not a field", lambda m: m.update(objective={})),
        ("'sums' is not a field in nodes", lambda m: m["trees"][0]["nodes"].update(sums={})),
        ("'hazard' is not there in nodes", lambda m: m["trees"][0]["nodes"].pop("hazard")),
        ("not a finite number", lambda m: m["trees"][0]["nodes"]["hazard"].append("x")),
        ("not equally long", lambda m: m["trees"][0]["nodes"]["hazard"].pop()),
        ("theta is not what", lambda m: m["trees"][0]["nodes"]["theta"].__setitem__(0, 99.0)),
        ("'objective' is not there", lambda m: m["trees"][0].update(version=2)),
        ("version True", lambda m: m.update(version=True)),
    ],
)
def test_a_damaged_model_of_version_1_is_refused(tmp_path, message, change):
    saved = read("version_1_weights.json")
    change(saved)
    path = tmp_path / "model.json"
    path.write_text(json.dumps(saved))
    with pytest.raises(ValueError, match=message):
        SurTree.load(path)


def test_an_edited_model_of_version_1_has_no_certificate(tmp_path):
    saved = read("version_1_weights.json")
    saved["trees"][0]["nodes"]["loss"][0] += 1.0
    path = tmp_path / "model.json"
    path.write_text(json.dumps(saved))
    assert SurTree.load(path).status_ == "edited"


def test_a_tuned_model_that_was_saved_before_does_not_know_which_shrinkages_were_tried():
    model = SurTree.load(DATA / "version_2_tuned.json")
    assert model.status_ == "optimal"
    assert model.sizes_ is not None
    assert (model.tuning_, model.horizons_) == (None, None)
    assert "which values of shrinkage were tried is not recorded" in export_methods(model)
    use_everywhere(model)


def test_a_trial_that_was_saved_before_holds_no_test(tmp_path):
    model = EffectTree.load(DATA / "version_2_trial.json")
    assert model.status_ == "optimal"
    assert (model.heterogeneity_, model.correction_, model.horizons_) == (None, None, None)
    assert "The model holds no test of whether effects differ" in export_methods(model)
    with pytest.warns(UntestedEffectsWarning, match="holds no test"):
        model.predict_effect(pd.DataFrame({"parole": ["yes", "no"], "age": [20, 40]}))
    model.save(tmp_path / "model.json")
    assert EffectTree.load(tmp_path / "model.json").tree_ == model.tree_

"""Parameters are declared, documented and checked once, and constructors only store them."""

import inspect
import re

import pytest
from sklearn.base import BaseEstimator

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
from surtree.cuts.encoder import Encoder
from surtree.data import rows
from surtree.datasets import load_gbsg2
from surtree.estimators.saved import class_of
from surtree.heuristics import ConditionalInferenceTree, GreedyTree, LocalSearchTree

# What may be passed without a name.
POSITIONAL = {
    SurTree: ["max_depth", "max_splits"],
    SurTreeCV: ["max_depth", "max_splits"],
    CompetingRisksTree: ["max_depth", "max_splits"],
    CompetingRisksTreeCV: ["max_depth", "max_splits"],
    EffectTree: ["max_depth", "max_splits"],
    TaughtTree: ["max_depth", "max_splits"],
    LocalSearchTree: ["max_depth", "max_splits"],
    SurTreeBayes: ["max_depth", "n_stages"],
    PointsTable: ["n_stages"],
    GreedyTree: ["max_depth"],
    ConditionalInferenceTree: ["max_depth"],
}
# A label of the user's, and a model of any library, are read with the rows.
UNCHECKED = {"reference", "teacher"}

of_each_class = pytest.mark.parametrize("estimator", POSITIONAL, ids=lambda kind: kind.__name__)


def test_every_public_estimator_is_here():
    everything = [
        getattr(module, name)
        for module in (surtree, surtree.heuristics)
        for name in module.__all__
        if hasattr(module, name)
    ]
    public = {kind for kind in everything if isinstance(kind, type)}
    fitted = {kind for kind in public if issubclass(kind, BaseEstimator) and hasattr(kind, "fit")}
    assert fitted - {Encoder} == POSITIONAL.keys()


@of_each_class
def test_constructors_only_store(estimator):
    model = estimator()
    assert vars(model) == model.get_params(deep=False)
    given = {name: object() for name in model.get_params(deep=False)}
    assert vars(estimator(**given)) == given


@of_each_class
def test_most_parameters_need_their_name(estimator):
    parameters = inspect.signature(estimator).parameters.values()
    positional = [p.name for p in parameters if p.kind is not inspect.Parameter.KEYWORD_ONLY]
    assert positional == POSITIONAL[estimator]


@of_each_class
def test_every_parameter_is_documented_once(estimator):
    section = inspect.getdoc(estimator).split("Parameters\n----------\n")[1].split("\n\n")[0]
    headings = re.findall(r"^(\w[\w, ]*?) : ", section, flags=re.MULTILINE)
    named = [name for heading in headings for name in heading.split(", ")]
    assert sorted(named) == sorted(estimator().get_params(deep=False))


@of_each_class
def test_every_parameter_is_checked(estimator):
    names = estimator().get_params(deep=False).keys()
    assert names - estimator._checks.keys() - Encoder().get_params().keys() <= UNCHECKED


def test_a_search_reads_its_table_once(monkeypatch):
    X, y = load_gbsg2()
    read, readings = rows.read_table, []
    monkeypatch.setattr(rows, "read_table", lambda *a, **k: readings.append(1) or read(*a, **k))
    search = SurTreeCV(max_depth=1, cv=3).fit(X, y)
    assert len(readings) == 1
    alone = SurTree(**search.best_estimator_.get_params()).fit(X, y)
    assert alone.tree_ == search.best_estimator_.tree_
    assert alone.row_digest_ == search.best_estimator_.row_digest_
    assert alone.feature_names_in_.tolist() == search.best_estimator_.feature_names_in_.tolist()


def test_the_chosen_model_knows_labels_that_are_numbers():
    X, y = load_gbsg2()
    table = X[["age", "tumor_size"]].set_axis([0, 1], axis=1)
    search = SurTreeCV(max_depth=1, cv=2).fit(table, y)
    with pytest.raises(ValueError, match="in their order"):
        search.best_estimator_.predict(table[[1, 0]])


@pytest.mark.parametrize(
    ("format_", "parameter", "expected"),
    [
        ("surtree.model", "max_depth", SurTree),
        ("surtree.model", "causes", CompetingRisksTree),
        ("surtree.model", "min_events_arm", EffectTree),
        ("surtree.model", "prior_events", TaughtTree),
        ("surtree.bayes", "max_depth", SurTreeBayes),
        ("surtree.points", "n_stages", PointsTable),
        ("another", "max_depth", None),
        (["surtree.model"], "max_depth", None),
    ],
)
def test_a_file_has_the_class_that_wrote_it(format_, parameter, expected):
    assert class_of(format_, {parameter: None}) is expected


def test_a_subclass_of_the_users_loads_files_of_its_parent(tmp_path):
    class Theirs(SurTree):
        pass

    X, y = load_gbsg2()
    SurTree(max_depth=1).fit(X, y).save(tmp_path / "model.json")
    assert type(Theirs.load(tmp_path / "model.json")) is Theirs
    assert type(surtree.load(tmp_path / "model.json")) is SurTree

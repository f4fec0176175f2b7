"""Audits of labels and of trees from R: begun with a tree that has these leaves, never negative."""

import gzip
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from problems import Case, cases
from surtree import Encoder, SurTree, audit_tree, read_r_tree
from surtree.data.named import RowInputs
from surtree.datasets import load_gbsg2, load_lung
from surtree.fitting.training import read_training_data
from surtree.heuristics import GreedyTree
from surtree.questions._audited_tree import read_audited_tree, rebuilt

R = Path(__file__).parents[1] / "r"
sys.path.append(str(R))
from real_tables import TABLES  # noqa: E402

check = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))


def start_of(labels, X, y, weight=None, entry=None):
    rows = read_training_data(Encoder(), RowInputs(X, y, weight, entry))
    audited = read_audited_tree(labels, X, rows)
    return audited, rebuilt(audited, rows), rows


@check
@given(cases(max_rows=24, max_columns=3))
def test_leaves_of_any_tree_are_found_again_as_a_tree(case: Case):
    model = SurTree(**case.limits).fit(case.X, case.y, case.weight, case.entry)
    leaves = model.apply(case.X)
    audited, start, rows = start_of(leaves, case.X, case.y, case.weight, case.entry)
    assert start.n_leaves == audited.n_leaves == len(set(leaves))
    pairs = set(zip(start.label.tolist(), audited.label.tolist(), strict=True))
    assert len(pairs) == start.n_leaves
    assert start.tree(rows).total_loss == pytest.approx(rows.sums.partition_loss(audited.label))


def test_leaves_of_no_tree_are_told_so_and_nothing_is_missed():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 2)), columns=["a", "b"])
    side = X["a"] + X["b"] > 0  # a linear split
    y = np.empty(300, dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = True, rng.exponential(np.where(side, 0.1, 10.0))
    found = audit_tree(side.to_numpy(), X, y, time_limit=5.0)
    assert found.loss < found.optimum.loss
    assert found.missed == found.gap == 0
    assert "linear combinations" in found.notes[0]
    assert found.notes[0] in str(found)
    assert "0.0 %" in str(found)


def test_labels_are_audited_over_every_threshold_and_set():
    X, y = load_gbsg2(backend="pandas")
    best = SurTree(1, n_thresholds=None, min_support=0.0).fit(X, y)
    found = audit_tree(best.apply(X), X, y)
    assert found.missed == 0
    assert found.optimum.loss == pytest.approx(best.loss_)
    few = audit_tree(best.apply(X), X, y, encoder=Encoder(n_thresholds=2))
    assert few.optimum.loss == pytest.approx(best.loss_)  # the question of the labels themselves


@given(st.sampled_from([1e-9, 0.05]), st.integers(2, 9))
@settings(max_examples=6, deadline=None)
def test_a_search_without_time_has_the_audited_tree_itself(time_limit, depth):
    X, y = load_lung(backend="pandas")
    model = GreedyTree(depth, min_support=0.0).fit(X, y)
    for audited in (model, model.apply(X)):
        found = audit_tree(audited, X, y, time_limit=time_limit)
        assert found.optimum.loss <= found.loss * (1 + 1e-12)
        assert found.missed >= 0
        assert found.optimum.lower_bound <= found.optimum.loss


def test_a_large_tree_is_summarised():
    X, y = load_gbsg2(backend="pandas")
    model = GreedyTree(12).fit(X, y)
    assert model.tree_.n_leaves > 100
    text = str(audit_tree(model, X, y, time_limit=0.5))
    assert len(text.splitlines()) < 40
    leaves = model.tree_.n_leaves
    assert f"{leaves} leaves, depth 12, too many to print; of 1 to " in text
    assert "questions about " in text


@pytest.mark.parametrize("package", ["rpart", "partykit"])
@pytest.mark.parametrize("name", TABLES)
def test_default_trees_of_r_are_audited_and_nothing_is_negative(name, package, tmp_path):
    X, y = TABLES[name]()
    saved = json.loads(gzip.decompress((R / f"default_{package}.json.gz").read_bytes()))[name]
    (tmp_path / "tree.json").write_text(json.dumps(saved))
    tree = read_r_tree(tmp_path / "tree.json")
    for audited in (tree, tree.leaf):
        found = audit_tree(audited, X, y, time_limit=0.2)
        assert found.missed >= 0
        assert found.gap >= 0
        assert found.optimum.loss <= found.loss * (1 + 1e-12) or found.notes
    found = audit_tree(tree, X, y, time_limit=0.2)
    assert found.name == package
    if X.isna().any(axis=None) and found.notes:
        assert "surrogate questions" in found.notes[0]
    else:
        assert found.tree.n_leaves == len(set(saved["leaf"]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "rpart"}, "format"),
        ({"nodes": []}, "it has no nodes"),
        ({"nodes": [{"id": 2, "column": "a", "kids": [4, 5]}]}, "does not say where its rows go"),
        ({"nodes": [{"id": 1}, {"id": 7}]}, "node 7 is below no node before it"),
        (
            {"nodes": [{"id": 1, "column": "a", "kids": [2, 3], "right": ["x"]}, {"id": 2}]},
            "node 3 is not there",
        ),
    ],
)
def test_files_that_hold_no_tree_of_r(tmp_path, change, message):
    whole = {"format": "surtree.r-tree", "package": "rpart", "nodes": [{"id": 1}]}
    (tmp_path / "tree.json").write_text(json.dumps(whole))
    assert repr(read_r_tree(tmp_path / "tree.json")) == "RTree(rpart, 0 splits)"
    (tmp_path / "tree.json").write_text(json.dumps(whole | change))
    with pytest.raises(ValueError, match=message):
        read_r_tree(tmp_path / "tree.json")


def test_a_tree_of_r_asks_about_columns_of_the_table(tmp_path):
    node = {"id": 1, "column": "bmi", "kids": [2, 3], "threshold": 25, "above": "right"}
    saved = {"format": "surtree.r-tree", "package": "rpart", "nodes": [node, {"id": 2}, {"id": 3}]}
    (tmp_path / "tree.json").write_text(json.dumps(saved))
    X, y = load_gbsg2(backend="pandas")
    with pytest.raises(ValueError, match="the tree asks about 'bmi', which is no column"):
        audit_tree(read_r_tree(tmp_path / "tree.json"), X, y)

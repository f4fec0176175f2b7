"""Leaves have letters wherever people read, and the numbers of their nodes in programs."""

import csv
import io
import re

import pytest

from surtree import EffectTree, SurTree, evaluate, leaf_hazard_ratios, validate
from surtree.datasets import load_gbsg2, load_rossi
from surtree.export import export_dot, export_leaves, export_mermaid, export_text
from surtree.words.numbers import leaf_names


def test_names_go_on_after_z():
    names = list(leaf_names(range(3, 733)).values())
    assert names[:3] == ["A", "B", "C"]
    assert names[25:28] == ["Z", "AA", "AB"]
    assert names[701:704] == ["ZZ", "AAA", "AAB"]
    assert len(set(names)) == len(names)


@pytest.fixture(scope="module")
def model():
    return SurTree(max_depth=2).fit(*load_gbsg2())


def test_every_text_calls_a_leaf_by_its_name(model):
    tree = model.tree_
    names = list(tree.leaf_names.values())
    assert names == ["A", "B", "C", "D"]
    assert [rule.name for rule in tree.rules()] == names
    assert re.findall(r"  ([A-D])  ", str(tree)) == names
    for text in (export_dot(tree), export_mermaid(tree), export_text(tree)):
        assert re.findall(r"leaf:? ([A-Z])\b", text) == names
    ratios = "\n".join(map(str, leaf_hazard_ratios(model)))
    assert re.findall(r"^leaf (\w+):", ratios, re.MULTILINE) == names
    cells = [line.split("|")[1].strip() for line in export_leaves(model).splitlines()[2:6]]
    assert cells == names


def test_a_table_for_programs_has_the_numbers_too(model):
    rows = list(csv.DictReader(io.StringIO(export_leaves(model, "csv"))))
    names = {int(row["leaf"]): row["name"] for row in rows}
    assert names == model.tree_.leaf_names
    assert set(names) == set(model.apply(load_gbsg2()[0]).tolist())


def test_results_on_other_rows_call_leaves_as_the_tree_does(model):
    X, y = load_gbsg2()
    # Not all leaves have rows here.
    rows = model.apply(X) >= 5
    lines = str(evaluate(model, X[rows], y[rows])).splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("leaf"))
    assert [line.split()[0] for line in lines[head + 1 : head + 3]] == ["C", "D"]
    again = validate(SurTree(max_depth=1), X, y, n_bootstraps=2, random_state=0)
    lines = str(again).splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("leaf"))
    assert [line.split()[0] for line in lines[head + 1 : head + 3]] == ["A", "B"]


def test_effects_of_a_trial_call_leaves_as_the_tree_does():
    X, y = load_rossi()
    model = EffectTree(max_depth=1).fit(X, y, X.pop("financial_aid"))
    assert [str(effect)[:7] for effect in model.effects_] == ["leaf A:", "leaf B:"]

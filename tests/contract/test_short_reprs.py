"""What a notebook shows of results that hold arrays: a table or a line, never all of them."""

import numpy as np
import pytest

from surtree import (
    StepFunction,
    SurTree,
    SurTreeCV,
    audit_tree,
    cost_complexity_path,
)
from surtree.datasets import load_gbsg2
from surtree.heuristics import GreedyTree
from surtree.words.tables import table_html


@pytest.fixture(scope="module")
def results():
    X, y = load_gbsg2(backend="pandas")
    return {
        "sizes": SurTreeCV(max_depth=2, cv=3).fit(X, y).sizes_,
        "path": cost_complexity_path(X, y, estimator=SurTree(max_depth=2)),
        "audit": audit_tree(GreedyTree(max_depth=3).fit(X, y), X, y),
    }


@pytest.mark.parametrize("name", ["sizes", "path", "audit"])
def test_a_result_is_one_line_of_text_and_a_table_of_html(results, name):
    result = results[name]
    line = repr(result)
    assert line.startswith(type(result).__name__)
    assert len(line) < 160
    assert "\n" not in line
    assert "array" not in line
    shown = result._repr_html_()
    assert shown.startswith("<table>")
    # The table of a notebook has the lines of the printed one, which has a heading.
    printed = str(result).split("\n\n", maxsplit=1)[0].splitlines()
    assert shown.count("<tr>") == len(printed)
    for cell in printed[-1].split()[-1:]:
        assert cell in shown


def test_the_chosen_size_is_marked(results):
    assert "<td>best, chosen</td>" in results["sizes"]._repr_html_()
    assert f"chosen_splits={results['sizes'].max_splits[results['sizes'].chosen]}" in repr(
        results["sizes"]
    )


def test_an_audit_names_its_costliest_question(results):
    worst = results["audit"].split_costs[0]
    assert f"at node {worst.node}.</p>" in results["audit"]._repr_html_()


def test_texts_of_a_table_are_escaped():
    shown = table_html(("<b>",), [("<script>",)], caption="a & b")
    assert shown == (
        '<table><caption>a &amp; b</caption><thead><tr><th scope="col">&lt;b&gt;</th></tr></thead>'
        "<tbody><tr><td>&lt;script&gt;</td></tr></tbody></table>"
    )


def test_predicted_curves_are_a_line_each():
    X, y = load_gbsg2(backend="pandas")
    curves = SurTree(max_depth=2).fit(X, y).predict_survival_function(X.head(3))
    assert len(repr(curves).splitlines()) <= 6
    many = StepFunction(np.arange(1.0, 500.0), np.linspace(0.99, 0.01, 499), 1.0)
    assert repr(many) == "StepFunction(499 steps: 1 before time 1, 0.01 from 499 on)"
    assert repr(StepFunction([2.0], [0.5], 1.0)) == (
        "StepFunction(1 step: 1 before time 2, 0.5 from 2 on)"
    )
    assert repr(StepFunction([], [], 1.0)) == "StepFunction(1 throughout)"

"""How leaves with few events are shown, what is drawn of a leaf, and where curves end."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from surtree import BeyondFollowUpWarning, StepFunction, SurTree, leaf_curves
from surtree._support.parameters import LEAF_CURVES
from surtree.cli._summary import model_json
from surtree.datasets import load_gbsg2
from surtree.export import export_dot, export_mermaid, export_python, export_sql, export_text
from surtree.metrics import brier_score, calibration, normalized_integrated_brier_score
from surtree.outcomes import counted, everyone
from surtree.tree.leaf_curve import FEW_EVENTS, advice, events_note, theta_limits, theta_text


@pytest.fixture(scope="module")
def table():
    return load_gbsg2(backend="pandas")


@pytest.fixture(scope="module")
def model(table):
    """Leaf 6 has no events, leaf 13 has nine, all others have more."""
    return SurTree(max_depth=3).fit(*table)


def line_of(text, rule):
    (line,) = (line for line in text.splitlines() if rule in line)
    return line


def test_leaves_with_fewer_than_ten_events_have_few(model):
    notes = [events_note(count) for count in (0, 1, FEW_EVENTS - 1, FEW_EVENTS)]
    assert notes == ["no events", "few events", "few events", ""]
    texts = [counted(model.tree_.outcome.group(leaf)) for leaf in (6, 13)]
    assert texts == ["29 rows, no events", "11 rows, 9 events"]


def test_a_printed_leaf_without_events_has_the_most_that_theta_may_be(model):
    tree = model.tree_
    most = f"at most {theta_limits(tree, 6)[1]:.3g}"
    assert most == "at most 0.218"
    assert line_of(str(tree), "tumor_grade is I ").split("  ")[-1] == "no events"
    assert most in line_of(str(tree), "tumor_grade is I ")
    assert line_of(str(tree), "estrogen_receptor <= 8").endswith("  few events")
    assert not line_of(str(tree), "estrogen_receptor > 8").endswith("events")
    assert f"{tree.theta[6]:.3g}" not in str(tree)
    rules = {rule.leaf: str(rule) for rule in tree.rules()}
    assert rules[6].endswith(f": theta {most} (no events in 29 rows)")
    assert rules[13].endswith("(9 events in 11 rows: few events)")


def test_a_printed_tree_ends_with_advice_where_leaves_have_hardly_any_events(model, table):
    said = (
        "1 leaf has fewer than 5 events: its numbers say little about new data; try shrinkage, "
        "min_events_leaf or SurTreeCV."
    )
    assert said in str(model.tree_).splitlines()
    shrunk = SurTree(max_depth=4, shrinkage=0.5).fit(*table).tree_
    assert (shrunk.n_events[shrunk.leaves] < 5).sum() > 1
    assert "leaves have fewer than 5 events: their numbers" in advice(shrunk)
    assert advice(shrunk).endswith("try more shrinkage or min_events_leaf.")
    enough = SurTree(max_depth=3, min_events_leaf=5).fit(*table).tree_
    assert advice(enough) == ""
    assert "fewer than" not in str(enough)


def test_exports_say_which_leaves_have_few_events(model):
    most = "at most 0.218"
    assert f"theta {most}" in export_dot(model)
    assert r"29 rows, no events" in export_dot(model)
    assert r"11 rows, 9 events\nfew events" in export_dot(model)
    assert "11 rows, 9 events<br>few events" in export_mermaid(model)
    assert "theta: at most 0.22, " in export_text(model)
    assert export_text(model).count("no events") == 1
    assert export_text(model).count("few events") == 1
    assert f"/* no events: {most} */" in export_sql(model, value="risk")
    assert f"# no events: {most}" in export_python(model, value="risk")
    assert export_sql(model, value="median").count("/* few events */") == 1
    # The number of a leaf is no estimate.
    assert "/*" not in export_sql(model)
    assert "few events" not in export_python(model, value=dict.fromkeys(model.tree_.leaves, 1))


def test_json_has_the_numbers(model):
    leaves = {leaf["leaf"]: leaf for leaf in model_json(model)["leaves"]}
    assert leaves[6]["risk_limits"] == [0.0, theta_limits(model.tree_, 6)[1]]
    assert leaves[6]["median_limits"] == [None, None]
    assert {leaf for leaf, values in leaves.items() if values["few_events"]} == {6, 13}
    assert model_json(model)["last_time"] == 2659.0


@pytest.mark.parametrize("kind", LEAF_CURVES)
def test_leaves_are_drawn_to_their_last_follow_up_with_all_limits(model, table, kind):
    X, y = table
    tree = replace(model.tree_, leaf_curve=kind)
    leaf_of_row = model.apply(X)
    by_node = {group.node: tree.outcome.together(group) for group in tree.outcome.groups}
    for node, leaf in by_node.items():
        own = y[leaf_of_row == node]
        assert leaf.last_time == own["time"].max()
        assert leaf.times.size == 0 or leaf.times[-1] <= leaf.last_time
        censored = np.unique(own["time"][~own["event"]])
        assert np.isin(leaf.censored, censored).all()
        # Each has a tick less than a five-hundredth of the time axis before it.
        before = leaf.censored[np.searchsorted(leaf.censored, censored, side="right") - 1]
        assert (censored - before < 2659 / 500).all()
        assert leaf.no_events == (not own["event"].any())
        assert bool(leaf.group.note) == (own["event"].sum() < FEW_EVENTS)
        assert leaf.theta_limits == theta_limits(tree, node)
        lower, upper = leaf.band
        assert lower.shape == upper.shape == leaf.times.shape == leaf.values.shape
        # Never a band without width that claims to know.
        assert not ((lower == 1) & (upper == 1)).any()
    assert by_node[6].risk_text(3) == "at most 0.218"
    assert by_node[13].risk_text(3) == "2.61"
    assert np.isnan(by_node[6].band[0]).all() == (kind in ("kaplan-meier", "shrunk"))


def test_all_rows_together_have_no_limits(model):
    curve = everyone(model.tree_)
    assert (curve.band, curve.observed) == (None, None)
    assert curve.last_time == 2659.0
    assert not curve.group.note


def test_an_objective_without_events_has_no_limits(model):
    class Other(type(model.tree_.objective)):
        sum_names = ("one", "other")

    other = replace(model.tree_, objective=Other())
    assert np.isnan(theta_limits(other, 6)).all()
    assert theta_text(other, 6, ".3g") == "unknown"


def test_a_curve_has_a_domain_as_those_of_scikit_survival_do(model, table):
    X, _ = table
    (function,) = model.predict_survival_function(X.head(1))
    assert function.domain == (0.0, 2659.0)
    with pytest.warns(BeyondFollowUpWarning, match="2 of 3 times are after the last follow-up"):
        found = function([2659, 2660, 5000])
    assert np.isnan(found).tolist() == [False, True, True]
    assert StepFunction([1.0], [0.5], 1.0).domain == (0.0, np.inf)
    assert StepFunction([1.0], [0.5], 1.0)(1e9) == 0.5


@pytest.mark.parametrize("kind", LEAF_CURVES)
def test_scores_of_rows_after_the_last_training_time_are_numbers_without_warnings(table, kind):
    X, y = table
    early = y["time"] < 1500
    model = SurTree(max_depth=2, leaf_curve=kind, shrinkage=1.0).fit(X[early], y[early])
    curves = model.predict_survival_function(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        score = normalized_integrated_brier_score(y[early], y, curves)
        late = brier_score(y, y, curves, [1000.0, 2000.0])
    assert np.isfinite([score, *late]).all()
    with pytest.raises(ValueError, match="The horizon 2000 is past 1499, the last follow-up"):
        calibration(y, curves, 2000.0)
    # After the end of a curve, its last value counts.
    last = [curve(curve.domain[1]) for curve in curves]
    assert late[1] == pytest.approx(brier_score(y, y, np.array(last)[:, None], [2000.0])[0])


def test_a_kaplan_meier_curve_stays_where_its_leaf_ends(model, table):
    tree = replace(model.tree_, leaf_curve="kaplan-meier")
    for curve, counts in zip(leaf_curves(tree), tree.risk, strict=True):
        ends = counts.last_time, tree.baseline.last_time
        assert curve.survival(ends[0]) == curve.survival(ends[1])

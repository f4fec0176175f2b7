"""The tree on its own: built by hand from a topology, so that every number can be checked."""

import copy
import json
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

from surtree import SurTree, UnseenCategoryWarning
from surtree._support.parameters import LEAF_CURVES
from surtree.cuts.cut import Cut
from surtree.data.target import Target
from surtree.datasets import load_gbsg2
from surtree.export import export_dot, export_mermaid, export_text
from surtree.solver.core import Problem
from surtree.solver.problem import BinnedRows, TreeTopology
from surtree.summary.wording import leaf_texts
from surtree.survival.baseline import nelson_aalen
from surtree.survival.objective import RELATIVE_RISK
from surtree.tree.build import build_tree, unbuilt_trees
from surtree.tree.curves import leaf_curves
from surtree.tree.leaf_curve import theta_limits
from surtree.tree.tree import Tree

AGE = np.array([30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 35.0, 65.0])
DOSE = np.array([1.0, 3.0, 1.0, 3.0, 1.0, 3.0, np.nan, np.nan])
EVENT = np.array([True, True, False, True, True, True, False, True])
TIME = np.array([9.0, 7.0, 8.0, 4.0, 2.0, 1.0, 6.0, 4.0])
WEIGHT = np.array([1.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])

# The rows by hand: age > 55 holds for 3, 4, 5, 7; dose > 2 (missing: yes) for 1, 3, 5, 6, 7.
CUTS = (
    Cut(0, "age", threshold=45.0),
    Cut(0, "age", threshold=55.0),
    Cut(2, "dose", threshold=2.0, missing=False),
    Cut(2, "dose", threshold=2.0, missing=True),
)
BINNED = BinnedRows(
    bins=np.array([[0, 0, 1, 2, 2, 2, 0, 2], [0, 1, 0, 1, 0, 1, 2, 2]], dtype=np.uint16),
    n_bins=np.array([3, 3], dtype=np.int32),
    missing_bin=np.array([-1, 2], dtype=np.int32),
    cut_column=np.array([0, 0, 1, 1], dtype=np.int32),
    cut_first=np.array([1, 2, 1, 1], dtype=np.int32),
    cut_last=np.array([2, 2, 1, 1], dtype=np.int32),
    cut_missing=np.array([False, False, False, True]),
    cut_gaps=np.zeros(4, dtype=np.uint64),
)
#       age > 55
#   no /        \ yes
#  leaf 1     dose > 2 or missing
#              no /    \ yes
#           leaf 3    leaf 4
TOPOLOGY = TreeTopology(
    cut=np.array([1, -1, 3, -1, -1], dtype=np.int32),
    left=np.array([1, -1, 3, -1, -1], dtype=np.int32),
    right=np.array([2, -1, 4, -1, -1], dtype=np.int32),
)
ROWS_OF_NODE = [list(range(8)), [0, 1, 2, 6], [3, 4, 5, 7], [4], [3, 5, 7]]


def rows_of(age, dose):
    """Return rows to apply the tree to; the column between is of a kind that no tree can read."""
    unused = pd.to_datetime(["2020-01-01"] * len(age))
    return pd.DataFrame({"age": age, "unused": unused, "dose": dose})


def make_tree(target=None, weight=WEIGHT, topology=TOPOLOGY, entry=None):
    fitted = Target(EVENT, TIME, entry)
    baseline = nelson_aalen(fitted, weight)
    sums = RELATIVE_RISK.row_sums(fitted, weight, baseline)
    return build_tree(topology, Problem(BINNED, sums), CUTS, baseline, target)


@pytest.fixture
def tree():
    return make_tree(Target(EVENT, TIME, None))


def test_shape(tree):
    assert (tree.n_nodes, tree.n_splits, tree.n_leaves, tree.depth) == (5, 2, 3, 2)
    assert tree.leaves.tolist() == [1, 3, 4]
    assert tree.is_leaf.tolist() == [False, True, False, True, True]
    assert tree.column.tolist() == [0, -1, 2, -1, -1]
    assert tree.cut.tolist() == [0, -1, 1, -1, -1]
    assert tree.cuts == (CUTS[1], CUTS[3])


def test_node_sums_are_added_up_from_the_rows(tree):
    hazard = tree.baseline.row_hazard(Target(EVENT, TIME, None))
    for node, rows in enumerate(ROWS_OF_NODE):
        weight, event = WEIGHT[rows], EVENT[rows]
        assert tree.n_samples[node] == len(rows)
        assert tree.n_events[node] == event.sum()
        assert tree.weight[node] == weight.sum()
        assert tree.events[node] == weight[event].sum()
        assert tree.hazard[node] == pytest.approx(weight @ hazard[rows])
        assert tree.theta[node] == pytest.approx(tree.events[node] / tree.hazard[node])
        constant = -(weight[event] @ np.log(hazard[rows][event]))
        expected = constant - RELATIVE_RISK.gain(tree.sums[node])
        assert tree.loss[node] == pytest.approx(expected)
    assert tree.total_loss == pytest.approx(tree.loss[1] + tree.loss[3] + tree.loss[4])


def test_a_leaf_without_an_event_costs_nothing_and_is_not_flat():
    topology = TreeTopology(
        cut=np.array([0, 2, -1, -1, -1], dtype=np.int32),
        left=np.array([1, 2, -1, -1, -1], dtype=np.int32),
        right=np.array([4, 3, -1, -1, -1], dtype=np.int32),
    )
    # Three years of age in the middle bin alone: row 2, censored.
    event = EVENT.copy()
    event[[0, 6]] = False
    target = Target(event, TIME, None)
    baseline = nelson_aalen(target, WEIGHT)
    sums = RELATIVE_RISK.row_sums(target, WEIGHT, baseline)
    tree = build_tree(topology, Problem(BINNED, sums), CUTS, baseline)
    assert tree.n_events[2] == 0
    assert tree.loss[2] == 0
    assert tree.theta[2] == pytest.approx(0.5 / tree.hazard[2])


def test_apply_puts_training_rows_where_they_were(tree):
    leaf_of_row = tree.apply(rows_of(AGE, DOSE))
    for leaf in tree.leaves:
        assert np.flatnonzero(leaf_of_row == leaf).tolist() == ROWS_OF_NODE[leaf]


def test_apply_takes_any_table_with_the_columns_of_training(tree):
    rows = rows_of(AGE, DOSE)
    expected = tree.apply(rows).tolist()
    assert tree.apply(pl.from_pandas(rows)).tolist() == expected
    array = np.column_stack([AGE, np.zeros(8), DOSE])
    assert tree.apply(array).tolist() == expected
    assert tree.apply(array.tolist()).tolist() == expected


def test_apply_says_which_column_is_not_the_one_of_training(tree):
    rows = rows_of(AGE, DOSE)
    with pytest.raises(ValueError, match="X has 2 columns, but the tree asks about column 2"):
        tree.apply(rows[["age", "dose"]])
    with pytest.raises(ValueError, match=r"Column 0 of X .* is 'dose', but .* with 'age' there"):
        tree.decision_path(rows[["dose", "unused", "age"]])


def test_apply_takes_named_columns_where_training_had_no_names():
    tree = SurTree(max_depth=1).fit([[0], [0], [1], [1]], [4.0, 3.0, 2.0, 1.0]).tree_
    assert tree.apply(pd.DataFrame({"stage": [1, 0]})).tolist() == [2, 1]


def test_apply_warns_of_categories_that_training_never_had():
    X, y = [["I"], ["I"], ["II"], ["II"]], [4.0, 3.0, 2.0, 1.0]
    tree = SurTree(max_depth=1).fit(X, y).tree_
    with pytest.warns(UnseenCategoryWarning, match="'ii' in 1 row of column 'x0'") as caught:
        tree.apply([["ii"]])
    assert caught[0].filename == __file__
    with pytest.warns(UnseenCategoryWarning) as caught:
        tree.decision_path([["ii"]])
    assert caught[0].filename == __file__


def test_a_value_that_was_never_missing_follows_the_heavier_side():
    rows = rows_of([np.nan, np.nan], [1.0, np.nan])
    # Left of the root lie rows of weight 5, right of it of weight 4.
    assert make_tree().apply(rows).tolist() == [1, 1]
    heavy_right = WEIGHT + np.array([0, 0, 0, 5, 0, 0, 0, 0])
    assert make_tree(weight=heavy_right).apply(rows).tolist() == [3, 4]
    balanced = np.ones(8)
    assert make_tree(weight=balanced).apply(rows).tolist() == [1, 1]


def test_decision_path_has_every_node_from_the_root_to_the_leaf(tree):
    visited = tree.decision_path(rows_of(AGE, DOSE))
    assert visited.shape == (8, 5)
    for node, rows in enumerate(ROWS_OF_NODE):
        assert np.flatnonzero(visited[:, [node]].toarray()).tolist() == rows
    assert set(visited.data.tolist()) == {1}


def test_rules_lead_to_each_leaf(tree):
    rules = tree.rules()
    assert [rule.leaf for rule in rules] == [1, 3, 4]
    assert [rule.conditions for rule in rules] == [
        (CUTS[1].negated_rule,),
        (CUTS[1].rule, CUTS[3].negated_rule),
        (CUTS[1].rule, CUTS[3].rule),
    ]
    assert [(rule.n_samples, rule.n_events) for rule in rules] == [(4, 2), (1, 1), (3, 3)]
    assert [rule.theta for rule in rules] == tree.theta[tree.leaves].tolist()
    assert str(rules[0]).startswith("age <= 55: theta ")
    assert str(rules[0]).endswith("(2 events in 4 rows: few events)")
    assert rules[0].theta_limits == theta_limits(tree, 1)


def test_a_rule_of_one_row_is_in_the_singular():
    model = SurTree(max_depth=1).fit([[0], [1]], [2.0, 1.0])
    assert str(model.tree_.rules()[0]).endswith("(1 event in 1 row: few events)")


def test_importances_are_shares_of_the_reduction(tree):
    age = tree.loss[0] - tree.loss[1] - tree.loss[2]
    dose = tree.loss[2] - tree.loss[3] - tree.loss[4]
    expected = np.array([age, 0, dose, 0]) / (age + dose)
    np.testing.assert_allclose(tree.importances(4), expected, atol=1e-12)
    assert tree.importances(4).sum() == pytest.approx(1)


def test_a_single_leaf():
    no_split = TreeTopology(*(np.array([-1], dtype=np.int32) for _ in range(3)))
    tree = make_tree(topology=no_split)
    assert (tree.n_splits, tree.n_leaves, tree.depth) == (0, 1, 0)
    assert tree.apply(rows_of(AGE, DOSE)).tolist() == [0] * 8
    assert tree.decision_path(rows_of(AGE, DOSE)).toarray().tolist() == [[1]] * 8
    assert tree.importances(3).tolist() == [0, 0, 0]
    assert tree.rules()[0].conditions == ()
    assert str(tree.rules()[0]).startswith("all rows: theta ")
    assert "all rows" in str(tree)


def test_risk_counts_are_those_of_each_leaf(tree):
    # Leaf 4 has rows 3, 5, 7, with events at 4, 1, 4.
    counts = tree.risk[2]
    assert tree.baseline.times.tolist() == [1, 2, 4, 7, 9]
    assert tree.baseline.times[counts.step].tolist() == [1, 2, 4, 7]
    assert counts.at_risk.tolist() == [3, 2, 2, 0]
    assert counts.deaths.tolist() == [1, 0, 2, 0]
    assert counts.at_risk.dtype == np.uint8
    at_events = counts.at_events(5)
    assert at_events.at_risk.tolist() == [3, 2, 2, 0, 0]
    assert at_events.deaths.tolist() == [1, 0, 2, 0, 0]
    assert (counts.censored.size, counts.last_time) == (0, 4)


def test_risk_counts_honour_entry_and_fractional_weights():
    entry = np.array([0, 0, 0, 2, 0, 0, 0, 0.0])
    weight = WEIGHT * 0.5
    tree = make_tree(Target(EVENT, TIME, entry), weight, entry=entry)
    assert tree.risk[2].at_events(5).at_risk.tolist() == [1.0, 0.5, 1.0, 0.0, 0.0]
    assert tree.risk[0].deaths[tree.risk[0].deaths > 0].tolist() == [1.0, 0.5]
    assert tree.risk[0].deaths.dtype == np.float64


def test_risk_counts_of_huge_weights_keep_their_size():
    tree = make_tree(Target(EVENT, TIME, None), WEIGHT * 1e30)
    assert tree.risk[2].at_risk.tolist() == pytest.approx([3e30, 2e30, 2e30, 0])
    assert tree.risk[2].at_risk.dtype == np.float64


def test_without_a_target_no_risk_counts_are_kept():
    assert make_tree().risk == ()


def test_the_dictionary_goes_through_json_without_loss(tree):
    text = json.dumps(tree.to_dict(), allow_nan=False)
    again = Tree.from_dict(json.loads(text))
    assert again == tree
    assert json.dumps(again.to_dict()) == text
    assert again.apply(rows_of(AGE, DOSE)).tolist() == tree.apply(rows_of(AGE, DOSE)).tolist()


def test_fractional_risk_counts_go_through_json_too():
    tree = make_tree(Target(EVENT, TIME, None), WEIGHT / 3)
    assert Tree.from_dict(json.loads(json.dumps(tree.to_dict()))) == tree


@pytest.mark.parametrize("change", [{"format": "other"}, {"version": 3}, {"version": True}])
def test_a_dictionary_of_another_kind_is_refused(tree, change):
    with pytest.raises(ValueError, match="not a tree that this version of surtree can read"):
        Tree.from_dict(tree.to_dict() | change)
    with pytest.raises(ValueError, match="found None version None"):
        Tree.from_dict({})


def test_the_tree_is_drawn_with_its_leaf_statistics(tree):
    lines = str(tree).splitlines()
    assert lines[0].split() == ["leaf", "n", "events", "theta", "median", "(baseline)"]
    assert lines[1] == "all rows"
    assert lines[2].startswith("├─ age <= 55 ")
    assert lines[3] == "└─ age > 55"
    assert lines[4].startswith(f"   ├─ {CUTS[3].negated_rule} ")
    assert lines[5].startswith(f"   └─ {CUTS[3].rule} ")
    assert lines[5].split()[-7:-4] == ["C", "3", "3"]
    assert lines[5].split()[-3:] == ["4", "few", "events"]
    assert len({len(lines[i].removesuffix("  few events")) for i in (0, 2, 4, 5)}) == 1
    assert lines[6].startswith("3 leaves have fewer than 5 events: their numbers say little")


def test_a_median_that_is_not_reached_says_how_far_the_curve_goes(tree):
    far = replace(tree, sums=tree.sums * [1, 99], risk=())
    assert str(far).splitlines()[0].endswith("  median (baseline)")
    assert " > 9  " in str(far).splitlines()[2]


def test_the_median_of_a_leaf_is_that_of_the_curve_that_the_tree_predicts_with(tree):
    found = {}
    for kind in LEAF_CURVES:
        own = replace(tree, leaf_curve=kind)
        found[kind] = [curve.median for curve in leaf_curves(tree, kind)]
        assert [curve.median for curve in leaf_curves(own)] == found[kind]
        assert [own.median(leaf) for leaf in (1, 3, 4)] == found[kind]
        lines = str(own).splitlines()
        assert lines[0].endswith(f"theta  median ({kind})")
        said = [lines[place].removesuffix("  few events").split()[-1] for place in (2, 4, 5)]
        assert said == [f"{x:g}" for x in found[kind]]
    assert found["baseline"] != found["kaplan-meier"]


def test_no_words_about_missing_values_where_none_can_arrive():
    cuts = (
        Cut(0, "ecog", threshold=1.0, missing=True),
        Cut(0, "ecog", threshold=0.0, missing=False),
        Cut(0, "ecog", threshold=2.0, missing=False),
        Cut(1, "sex", categories=("F",), missing=False),
    )
    # A whole tree of depth 3: ecog twice on every way down, then sex.
    rng = np.random.default_rng(0)
    tree = SurTree(max_depth=3).fit(rng.random((60, 2)), np.arange(60.0) + 1).tree_
    asked = np.array([0, 1, 3, -1, -1, 3, -1, -1, 2, 3, -1, -1, 3, -1, -1], dtype=np.int32)
    assert np.array_equal(asked < 0, tree.is_leaf)
    tree = replace(tree, cuts=cuts, cut=asked, column=np.array([0, 0, 0, 1, -1])[asked])
    sex = ("sex is not F or is missing", "sex is F")
    above = [rule.conditions[:-1] for rule in tree.rules()]
    assert [rule.conditions[-1] for rule in tree.rules()] == [*sex * 4]
    assert above == [
        *[("ecog <= 1", "ecog <= 0")] * 2,
        *[("ecog <= 1", "ecog > 0")] * 2,
        *[("ecog > 1 or missing", "ecog <= 2 or missing")] * 2,
        *[("ecog > 1 or missing", "ecog > 2")] * 2,
    ]
    for text in (str(tree), export_text(tree), export_dot(tree), export_mermaid(tree)):
        assert "ecog <= 0 or missing" not in text
    texts = [text.removesuffix(f", {sex[0]}") for text in leaf_texts(tree).values()][::2]
    assert texts == [
        "ecog <= 0",
        "ecog <= 1, ecog > 0",
        "ecog > 1 or missing, ecog <= 2 or missing",
        "ecog > 1 or missing, ecog > 2",
    ]


def test_representation_is_short(tree):
    assert repr(tree) == f"Tree(n_leaves=3, depth=2, loss={tree.total_loss:.6g})"


def test_the_tree_is_frozen(tree):
    for value in (tree, pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree)):
        assert value == tree
        with pytest.raises(ValueError, match="read-only"):
            value.theta[0] = 1.0
        with pytest.raises(AttributeError):
            value.theta = value.theta


def test_trees_differ_by_content(tree):
    assert tree != make_tree()
    assert tree != make_tree(Target(EVENT, TIME, None), weight=WEIGHT + 1)
    assert tree == make_tree(Target(EVENT, TIME, None))


def test_risk_counts_in_one_pass_are_those_of_each_leaf():
    # Whole weights are counted for all leaves at once, others leaf by leaf.
    X, y = load_gbsg2(backend="pandas")
    rng = np.random.default_rng(0)
    weight = rng.integers(1, 4, len(y)).astype(float)
    at_once = SurTree(max_depth=3).fit(X, y, sample_weight=weight).tree_
    nothing = np.zeros(len(y))  # an entry time of zero changes nothing, but takes the other road
    leaf_by_leaf = SurTree(max_depth=3).fit(X, y, sample_weight=weight, entry=nothing).tree_
    assert at_once.n_leaves > 4
    assert at_once.risk == leaf_by_leaf.risk


def test_many_trees_at_once_are_what_each_is():
    target = Target(EVENT, TIME, None)
    for weight in (WEIGHT, np.ones(len(WEIGHT))):
        baseline = nelson_aalen(target, weight)
        problem = Problem(BINNED, RELATIVE_RISK.row_sums(target, weight, baseline))
        given = problem, CUTS, baseline
        leaf = TreeTopology(*(np.array([-1], dtype=np.int32) for _ in range(3)))
        topologies = [leaf, TOPOLOGY, leaf]
        lazies = unbuilt_trees(topologies, *given)
        trees = [lazy.tree for lazy in lazies]
        assert [lazy.loss for lazy in lazies] == [tree.total_loss for tree in trees]
        assert trees == [build_tree(topology, *given) for topology in topologies]
        assert not any(tree.theta.flags.writeable for tree in trees)
        assert lazies[1].tree is trees[1]
    assert unbuilt_trees([], *given) == []


def test_a_printed_tree_does_not_wait_for_hazard_ratios(monkeypatch):
    """Their profile limits take seconds where leaves are many, and nothing printed shows them."""

    def refuse(*_, **__):
        raise AssertionError("hazard ratios were computed")

    tree = SurTree(max_depth=2).fit(*load_gbsg2()).tree_
    monkeypatch.setattr("surtree.outcomes.event.leaf_hazard_ratios", refuse)
    assert "theta" in str(tree)
    with pytest.raises(AssertionError, match="were computed"):
        tree.outcome.columns(tree.outcome.groups)

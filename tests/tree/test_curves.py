"""Step functions and leaf curves, against small tables worked out by hand."""

import pickle

import numpy as np
import pytest

from surtree._support.parameters import LEAF_CURVES
from surtree.cuts.cut import Cut
from surtree.data.target import Target
from surtree.solver.core import Problem
from surtree.solver.problem import BinnedRows, TreeTopology
from surtree.survival.baseline import nelson_aalen
from surtree.survival.objective import RELATIVE_RISK
from surtree.survival.step_function import BeyondFollowUpWarning, StepFunction
from surtree.tree.build import build_tree
from surtree.tree.curves import confidence_band, leaf_curves

# The left leaf has rows 0 to 3, the right one the others; row 4 is all that dies on the right.
EVENT = np.array([True, True, False, True, True, False])
TIME = np.array([1.0, 2.0, 3.0, 4.0, 2.0, 5.0])


def one_split(event=EVENT, time=TIME, weight=None, entry=None, keep_risk=True):
    weight = np.ones(time.size) if weight is None else np.asarray(weight, dtype=float)
    target = Target(np.asarray(event), np.asarray(time), entry)
    binned = BinnedRows(
        bins=(np.arange(time.size) >= 4).astype(np.uint16)[None, :],
        n_bins=np.array([2], dtype=np.int32),
        missing_bin=np.array([-1], dtype=np.int32),
        cut_column=np.array([0], dtype=np.int32),
        cut_first=np.array([1], dtype=np.int32),
        cut_last=np.array([1], dtype=np.int32),
        cut_missing=np.array([False]),
        cut_gaps=np.zeros(1, dtype=np.uint64),
    )
    topology = TreeTopology(
        cut=np.array([0, -1, -1], dtype=np.int32),
        left=np.array([1, -1, -1], dtype=np.int32),
        right=np.array([2, -1, -1], dtype=np.int32),
    )
    baseline = nelson_aalen(target, weight)
    sums = RELATIVE_RISK.row_sums(target, weight, baseline)
    cuts = (Cut(0, "group", threshold=0.5),)
    return build_tree(
        topology, Problem(binned, sums), cuts, baseline, target if keep_risk else None
    )


@pytest.fixture
def tree():
    return one_split()


def test_a_step_function_is_constant_between_steps_and_after_the_last():
    function = StepFunction([1.0, 3.0], [0.7, 0.2], 1.0)
    assert function(0) == 1.0
    assert function(1) == 0.7
    assert isinstance(function(1), float)
    assert function([0.5, 1, 2.999, 3, 1e9]).tolist() == [1.0, 0.7, 0.7, 0.2, 0.2]
    assert function(np.array([[0, 1], [2, 3]])).tolist() == [[1.0, 0.7], [0.7, 0.2]]


def test_a_step_function_without_steps_is_constant():
    assert StepFunction([], [], 1.0)([0, 5]).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("time", [-1.0, np.nan])
def test_a_step_function_refuses_times_before_zero(time):
    with pytest.raises(ValueError, match=f"1 of 2 are not, the first of them {time:g}"):
        StepFunction([1.0], [0.5], 1.0)([2.0, time])
    with pytest.raises(ValueError, match="zero or later"):
        StepFunction([1.0], [0.5], 1.0)(time)


def test_a_step_function_checks_its_steps():
    with pytest.raises(ValueError, match="as many values as times"):
        StepFunction([1.0, 2.0], [0.5], 1.0)
    with pytest.raises(ValueError, match="must ascend"):
        StepFunction([2.0, 1.0], [0.5, 0.4], 1.0)


def test_a_step_function_is_a_frozen_value():
    function = StepFunction([1.0, 3.0], [0.7, 0.2], 1.0)
    again = pickle.loads(pickle.dumps(function))
    assert again == function
    assert function != StepFunction([1.0, 3.0], [0.7, 0.2], 0.9)
    with pytest.raises(ValueError, match="read-only"):
        again.y[0] = 0.0


def test_baseline_curves_multiply_the_baseline_hazard(tree):
    for curve, leaf in zip(leaf_curves(tree), (1, 2), strict=True):
        assert curve.leaf == leaf
        hazard = tree.theta[leaf] * tree.baseline.cumulative_hazard
        np.testing.assert_allclose(curve.cumulative_hazard.y, hazard)
        np.testing.assert_allclose(curve.survival.y, np.exp(-hazard))
        assert curve.survival.x.tolist() == [1, 2, 4]
        assert (curve.survival(0), curve.cumulative_hazard(0)) == (1.0, 0.0)


def test_kaplan_meier_curves_are_those_of_the_leaf_alone(tree):
    left, right = leaf_curves(tree, "kaplan-meier")
    np.testing.assert_allclose(left.survival.y, [3 / 4, 3 / 4 * 2 / 3, 0])
    np.testing.assert_allclose(left.cumulative_hazard.y, [1 / 4, 1 / 4 + 1 / 3, 1 / 4 + 1 / 3 + 1])
    np.testing.assert_allclose(right.survival.y, [1, 1 / 2, 1 / 2])
    np.testing.assert_allclose(right.cumulative_hazard.y, [0, 1 / 2, 1 / 2])
    assert left.survival.x.tolist() == right.survival.x.tolist() == [1, 2, 4]


def test_the_median_is_the_first_time_at_one_half_or_less(tree):
    left, right = leaf_curves(tree, "kaplan-meier")
    assert (left.median, right.median) == (2.0, 2.0)
    event = EVENT.copy()
    event[4] = False
    assert leaf_curves(one_split(event=event), "kaplan-meier")[1].median == np.inf


def test_kaplan_meier_curves_honour_weight_and_entry():
    weight = [1, 2, 1, 1, 1, 1]
    left, _ = leaf_curves(one_split(weight=weight), "kaplan-meier")
    np.testing.assert_allclose(left.survival.y, [4 / 5, 4 / 5 * 2 / 4, 0])
    entry = np.array([0, 1, 2, 0, 0, 0.0])
    left, _ = leaf_curves(one_split(entry=entry), "kaplan-meier")
    # At 1 only rows 0 and 3 are watched; row 2 enters at 2, too late for the event of row 1.
    np.testing.assert_allclose(left.survival.y, [1 / 2, 1 / 2 * 1 / 2, 0])


def test_a_leaf_without_an_event_stays_at_one():
    event = EVENT & (np.arange(6) < 4)
    _, right = leaf_curves(one_split(event=event), "kaplan-meier")
    assert right.survival.y.tolist() == [1, 1, 1]
    for limit in confidence_band(one_split(event=event), 2, kind="kaplan-meier"):
        assert np.isnan(limit.y).all()
    lower, upper = confidence_band(one_split(event=event), 2)
    assert upper.y.tolist() == [1, 1, 1]
    assert (lower.y < 1).all()


def test_the_band_is_greenwoods_on_the_log_log_scale(tree):
    lower, upper = confidence_band(tree, 1, level=0.9, kind="kaplan-meier")
    survival, z = 0.75, 1.6448536269514722
    width = z * np.sqrt(1 / (4 * 3)) / np.log(survival)
    assert lower(1) == pytest.approx(survival ** np.exp(-width))
    assert upper(1) == pytest.approx(survival ** np.exp(width))
    assert np.isnan([lower(0), upper(0)]).all()
    # At 4 the last row dies, and nothing is known of the variance of a survival of zero.
    assert np.isnan([lower(4), upper(4)]).all()
    assert lower.domain == (0, 4)
    with pytest.warns(BeyondFollowUpWarning):
        assert np.isnan(lower(4.5))


def test_there_is_no_band_where_nobody_of_the_leaf_is_at_risk():
    # Rows of the left leaf are seen until 4, and those of the right one die at 2 and 5.
    tree = one_split(event=np.array([True, True, False, False, True, True]))
    for kind in ("kaplan-meier", "shrunk"):
        for limit in confidence_band(tree, 1, kind=kind):
            assert limit.x.tolist() == [1, 2, 5]
            assert np.isnan(limit.y).tolist() == [False, False, True]
            assert limit.domain == (0, 4)
            assert not np.isnan(limit(4))


def test_a_wider_level_gives_a_wider_band(tree):
    for kind in LEAF_CURVES:
        narrow, wide = (confidence_band(tree, 1, level, kind) for level in (0.5, 0.99))
        assert np.all(wide[0].y[:2] < narrow[0].y[:2])
        assert np.all(wide[1].y[:2] > narrow[1].y[:2])


def test_what_a_band_cannot_be_asked(tree):
    with pytest.raises(ValueError, match="level must lie between 0 and 1"):
        confidence_band(tree, 1, level=95)
    with pytest.raises(ValueError, match=r"Node 0 is not a leaf; the leaves are \[1, 2\]"):
        confidence_band(tree, 0)


def test_there_are_four_kinds_of_curve(tree):
    kinds = r"one of \('baseline', 'kaplan-meier', 'shrunk', 'breslow'\); got 'cox'"
    with pytest.raises(ValueError, match=kinds):
        leaf_curves(tree, "cox")


def test_a_tree_without_risk_counts_says_how_to_get_them():
    tree = one_split(keep_risk=False)
    with pytest.raises(ValueError, match="Fit again with max_splits set to 1"):
        leaf_curves(tree, "kaplan-meier")
    assert len(leaf_curves(tree, "baseline")) == 2

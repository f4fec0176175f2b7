"""Weights of any size: the best tree, or a clear word; never a crash and never a wrong tree."""

import warnings
from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from problems import Case, expected_losses, relative_risk_rows
from solver_checks import draw_columns
from surtree import (
    CompetingRisksTree,
    EffectTree,
    SurTree,
    SurTreeCV,
    audit_tree,
    column_costs,
    force_questions,
)
from surtree._support.exact import Terms
from surtree.cli._summary import certificate
from surtree.data.target import Target
from surtree.export import export_methods
from surtree.report import write_report
from surtree.solver._wide import COARSE, divide
from surtree.solver.core import Problem
from surtree.solver.problem import Limits, Switches
from surtree.solver.reference import solve as solve_slowly
from surtree.survival.baseline import risk_table, weight_over
from surtree.survival.objective import RelativeRisk
from surtree.survival.row_sums import RowSums


def target(event, time) -> np.ndarray:
    y = np.empty(len(event), dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = event, time
    return y


@st.composite
def uneven_cases(draw: st.DrawFn) -> Case:
    """Draw a table whose weights differ by up to 24 orders of magnitude."""
    n = draw(st.integers(2, 10))
    row = st.lists(st.integers(0, 2), min_size=2, max_size=2)
    X = np.array(draw(st.lists(row, min_size=n, max_size=n)), dtype=float)
    event = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    event[draw(st.integers(0, n - 1))] = True
    time = draw(st.lists(st.integers(1, 6), min_size=n, max_size=n))
    spread = draw(st.sampled_from([3, 6, 12]))
    exponents = draw(st.lists(st.floats(-spread, spread), min_size=n, max_size=n))
    limits = {"max_depth": draw(st.integers(1, 3)), "n_thresholds": None, "min_support": 0.0}
    if draw(st.booleans()):
        limits["min_samples_leaf"] = draw(st.integers(1, 3))
    return Case(X, target(event, time), 10.0 ** np.array(exponents), None, limits)


def answers(X: np.ndarray) -> np.ndarray:
    """Return which rows each possible cut of columns of 0, 1, 2 holds for."""
    return np.stack([X[:, column] > cut for column in (0, 1) for cut in (0.5, 1.5)], axis=1)


def fit(model: SurTree, X, y, weight) -> SurTree:
    """Fit, whatever the gap."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y, sample_weight=weight)


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(uneven_cases())
def test_uneven_weights_give_the_best_tree_or_say_how_far_it_may_be(case: Case):
    expected = expected_losses(case, answers(case.X))
    try:
        model = fit(SurTree(**case.limits), case.X, case.y, case.weight)
    except ValueError as error:
        if "sample_weight goes from" not in str(error) or np.ptp(np.log10(case.weight)) < 9:
            raise
        return
    events = case.weight @ case.y["event"]
    for size in model.path_:
        best = expected[min(size.splits, len(expected) - 1)]
        tolerance = 1e-9 * (events + abs(best))
        assert size.lower_bound - tolerance <= best <= size.loss + tolerance
    assert model.status_ in ("optimal", "rounded")
    assert (model.status_ == "optimal") == (model.gap_ == 0)


# Rows of weight 10 beside one of 1e9: their hazard is less than a double can add to that of the
# heavy row. Both trees were single leaves once, "optimal" with a gap of one.
LIGHT = np.array([[1.0], [0], [1], [0], [1], [1]])
LIGHT_Y = target([1, 1, 0, 0, 0, 1], [2, 3, 3, 1, 2, 2])
LIGHT_WEIGHTS = [
    ([10, 1e9, 10, 1e3, 100, 10], 340.68773624, 1e-7),
    ([0.01, 1e9, 1e-5, 1e3, 100, 0.01], 0.34069173, 1e-4),
]


@pytest.mark.parametrize(("weight", "loss", "most"), LIGHT_WEIGHTS)
def test_light_rows_beside_a_heavy_one_decide_which_tree_is_the_best(weight, loss, most):
    tree = SurTree(max_depth=1, min_support=0)
    model = fit(tree, LIGHT, LIGHT_Y, weight)
    assert model.tree_.n_leaves == 2
    assert model.loss_ == pytest.approx(loss)
    # Sums of doubles do not tell it to the last of nine digits, and it does not say so.
    assert model.status_ == "rounded"
    assert 1e-9 < model.gap_ < most
    assert [size.lower_bound == size.loss for size in model.path_] == [True, False]
    assert model.proven_depth_ == 0
    forced = force_questions(tree, LIGHT, LIGHT_Y, weight, first="x0")
    assert (forced.loss, forced.free_loss) == (model.loss_, model.loss_)
    assert forced.lower_bound == forced.loss  # no other tree asks this first
    assert forced.free_lower_bound < forced.free_loss
    assert "(not all proven: weights are so uneven" in str(forced)
    optimum = audit_tree(model, LIGHT, LIGHT_Y, weight).optimum
    assert optimum.loss == model.loss_
    assert 0 < optimum.loss - optimum.lower_bound < most * optimum.loss


def test_a_gap_that_matters_is_a_warning_and_a_tiny_one_is_none():
    one, other = (weight for weight, _, _ in LIGHT_WEIGHTS)
    model = SurTree(max_depth=1, min_support=0)
    assert model.fit(LIGHT, LIGHT_Y, sample_weight=one).status_ == "rounded"
    with pytest.warns(ConvergenceWarning, match=r"up to a gap of .*e-05: weights are so uneven"):
        model.fit(LIGHT, LIGHT_Y, sample_weight=other)


def test_several_searches_are_rounded_where_one_of_them_is():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), target(rng.random(40) < 0.7, rng.exponential(size=40))
    y["event"][0], y["time"][0] = True, 9.0
    weight = np.where(np.arange(40) == 0, 1e12, 1.0)
    with pytest.warns(ConvergenceWarning, match="At least one tree is not proven: weights are so"):
        model = SurTreeCV(max_depth=2, min_support=0).fit(X, y, sample_weight=weight)
    assert model.status_ == "rounded"


@pytest.mark.parametrize("kind", ["causes", "arms"])
def test_several_hazards_in_a_leaf_are_rounded_where_light_rows_are_lost(kind):
    rng = np.random.default_rng(0)
    X, weight = rng.integers(0, 2, (40, 2)), np.where(np.arange(40) == 0, 1e12, 1.0)
    y = target(rng.random(40) < 0.7, rng.exponential(size=40))
    y["event"][0], y["time"][0] = True, 9.0
    model = EffectTree(max_depth=1, objective="both", min_events_arm=0, min_support=0)
    given = X, y, np.arange(40) % 2
    if kind == "causes":
        model = CompetingRisksTree(max_depth=1, min_support=0)
        given = X, (y["event"] * rng.integers(1, 3, 40), y["time"])
    with pytest.warns(ConvergenceWarning, match=r"up to a gap of .* weights are so uneven"):
        model.fit(*given, sample_weight=weight)
    assert model.status_ == "rounded"
    assert model.gap_ > 1e-6


def test_both_parts_of_a_sum_are_the_sum_rounded_down_where_it_is_a_hazard():
    rng = np.random.default_rng(0)
    values, unit = 10.0 ** rng.uniform(-25, 5, (2, 500)), 2.0**-30
    values[:, :2] = unit, 2**20 * unit
    fine_unit = unit / COARSE
    parts = divide(values, unit) / fine_unit
    coarse, fine = parts[:2], parts[2:]
    assert (coarse == np.floor(coarse)).all()
    assert (fine <= COARSE).all()
    whole = values[1] >= fine_unit
    assert whole[:2].all()
    assert not whole.all()
    assert (fine[1][whole] >= 1).all()
    assert (fine[1][whole] == np.floor(fine[1][whole])).all()
    for row in range(500):
        exact = [Fraction(value) / Fraction(fine_unit) for value in values[:, row]]
        joined = [
            Fraction(high) * int(COARSE) + Fraction(low)
            for high, low in zip(coarse[:, row], fine[:, row], strict=True)
        ]
        assert joined == [exact[0], floor(exact[1]) if whole[row] else exact[1]]


@pytest.mark.parametrize("seed", range(12))
def test_every_engine_finds_the_best_tree_of_uneven_weights(seed):
    rng = np.random.default_rng(seed)
    binned = draw_columns(rng, 24, 3)
    factor = 10.0 ** rng.uniform(-6, 3, 24)
    event, hazard = rng.random(24) < 0.6, 10.0 ** rng.uniform(-3, 0, 24)
    event[0] = True
    sums = RowSums(
        RelativeRisk(float(rng.choice([0.0, 2.0]))),
        np.stack([event, hazard]) * factor,
        {"samples": np.ones(24), "events": event.astype(float)},
        factor,
        np.zeros(24),
    )
    problem, limits = Problem(binned, sums), Limits(3, None, int(rng.integers(1, 4)))
    assert problem.rounding.wide
    bins = binned.bins[binned.cut_column].T
    inside = (bins >= binned.cut_first) & (bins <= binned.cut_last)
    missing = binned.cut_missing & (bins == binned.missing_bin[binned.cut_column])
    best = np.asarray(solve_slowly(inside | missing, sums, limits).gains)
    for switches in (
        *(Switches(kernel_depth=depth) for depth in (1, 2, 3)),
        Switches(bisect=0),
        Switches(sweep=False, share=False, fill=False, bounds=False),
    ):
        for n_jobs in (1, 2):
            gains = problem.solve(limits, n_jobs=n_jobs, switches=switches).gains
            expected = best[np.minimum(np.arange(gains.size), best.size - 1)]
            np.testing.assert_allclose(gains, expected, rtol=1e-12, atol=1e-13 * sums.scale)


def test_a_rounded_model_says_so_wherever_it_is_shown(tmp_path):
    model = fit(SurTree(max_depth=1, min_support=0), LIGHT, LIGHT_Y, LIGHT_WEIGHTS[1][0])
    model.save(tmp_path / "model.json")
    loaded = SurTree.load(tmp_path / "model.json")
    assert (loaded.status_, loaded.gap_) == ("rounded", model.gap_)
    assert "gap below 0.01% (rounded: weights are so uneven" in certificate(loaded)
    write_report(loaded, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "Not proven optimal: weights are so uneven that rounding hides" in page
    assert "<dt>status</dt><dd>rounded</dd>" in page
    assert "<dt>gap</dt><dd>less than 0.01 %</dd>" in page
    assert "exact but for rounding: weights are so uneven" in export_methods(loaded)
    costs = column_costs(loaded, LIGHT, LIGHT_Y, LIGHT_WEIGHTS[1][0])
    assert "Not all trees are proven optimal: weights are so uneven" in str(costs)


def test_events_that_vanish_beside_rows_without_hazard_are_refused():
    X, time = [[1], [3], [3], [1], [3], [3], [1], [3]], [5, 8, 8, 3, 1, 1, 1, 2]
    weight = [6.7e-11, 6.3e-08, 8.9e-10, 87957.4, 0.0035, 0.00038, 14.1, 0.0387]
    with pytest.raises(ValueError, match=r"all events together weigh 6.7e-11, and are lost"):
        SurTree().fit(X, target(np.arange(8) == 0, time), sample_weight=weight)


def test_no_uneven_weights_are_refused_and_most_trees_are_proven():
    rng = np.random.default_rng(0)
    n_proven = 0
    for _ in range(60):
        X = rng.normal(size=(60, 3))
        y = target(rng.random(60) < 0.6, rng.exponential(size=60))
        model = fit(SurTree(max_depth=2), X, y, 10 ** rng.uniform(-6, 6, 60))
        n_proven += model.status_ == "optimal"
    assert n_proven >= 55


@pytest.mark.parametrize("weight", [1e-310, 5e-324, 1e-101, 1e101, 1e306])
def test_weights_that_no_sum_can_hold_are_refused(weight):
    X, y = [[0.0], [1.0], [2.0]], target([True, False, True], [1, 2, 3])
    with pytest.raises(
        ValueError, match=r"sample_weight has weights .* in 3 rows: .* all weights by a large"
    ):
        SurTree().fit(X, y, sample_weight=[weight] * 3)


@pytest.mark.parametrize("weight", [1e-99, 2.0**-200, 0.1, 3.0, 2.0**200, 1e99])
def test_the_size_of_equal_weights_changes_only_the_scale(weight):
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 4, (60, 3)), target(rng.random(60) < 0.7, rng.exponential(1, 60))
    # The hazard of rows that left before the first event depends on the weight of all.
    y["event"][np.argmin(y["time"])] = True
    one, other = (SurTree().fit(X, y, sample_weight=np.full(60, w)) for w in (1.0, weight))
    assert one.tree_.cut.tolist() == other.tree_.cut.tolist()
    assert other.loss_ == pytest.approx(weight * one.loss_, rel=1e-9)


def test_a_light_event_beside_a_heavy_row_is_no_bug_of_ours():
    y = target([True, False], [1.0, 2.0])
    for weight in (1e6, 1e8, 1e12, 1e16):
        model = fit(SurTree(max_depth=1, min_support=0.0), [[0.0], [1.0]], y, [1, weight])
        assert model.tree_.n_leaves == 2
        assert model.status_ == "optimal"  # a loss of nothing is as small as any
        assert model.loss_ == pytest.approx(0, abs=1e-9)


def test_the_reference_knows_the_answer():
    # What the property above compares with: a light event of its own leaf costs nothing.
    holds = np.array([[False], [True]])
    rows = relative_risk_rows(np.array([1.0, 0.0]), np.array([1e-8, 1.0]), [True, False])
    solution = solve_slowly(holds, rows, Limits(1))
    np.testing.assert_allclose(solution.gains, [-1e-8, 8 * np.log(10)], rtol=1e-6)


def test_light_rows_at_risk_are_not_lost_beside_heavy_ones_that_enter_later():
    time = np.array([2.5, 2.5, 2.5, 5.0, 2.5, 2.5, 2.0, 1.0])
    entry = np.array([2.0, 0.0, 0.75, 0.0, 0.0, 0.0, 0.0, 0.8])
    weight = np.array([135162.2, *[1e-08] * 7])
    found = risk_table(Target(np.arange(8) > 0, time, entry), weight)
    by_hand = [weight[(entry < t) & (t <= time)].sum() for t in found.times]
    np.testing.assert_allclose(found.at_risk, by_hand, rtol=1e-13)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_the_weight_at_risk_is_that_of_the_intervals_that_cover_a_time(data):
    n = data.draw(st.integers(0, 20))
    places = st.lists(st.integers(0, n), min_size=2, max_size=2).map(sorted)
    intervals = np.array(data.draw(st.lists(places, min_size=1, max_size=20)))
    weight = np.array(data.draw(st.lists(st.floats(0, 1e9), min_size=20, max_size=20)))
    first, last = intervals.T
    weight = weight[: first.size]
    expected = [weight[(first <= place) & (place < last)].sum() for place in range(n)]
    found = weight_over(first, last, Terms.of(weight), n)
    np.testing.assert_allclose(found, expected, rtol=1e-12)

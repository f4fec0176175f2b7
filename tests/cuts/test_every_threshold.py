"""Every threshold of a column: bisected, bounded, and the same as by trying all."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import surtree.solver.search
from problems import (
    Case,
    cases,
    expected_losses,
    limits_of,
    neighbouring_floats,
    objective_of,
)
from surtree import SurTree, SurTreeCV, audit_tree
from surtree.cuts.encoder import Encoder
from surtree.data.table import read_table
from surtree.data.target import read_target
from surtree.datasets import make_survival_tree_data
from surtree.heuristics import GreedyTree, LocalSearchTree
from surtree.solver._incumbent import best_of
from surtree.solver._restriction import is_ordered, quantiles, restrict
from surtree.solver.core import Problem
from surtree.solver.problem import Limits, Solution, Switches, TreeTopology
from surtree.survival.baseline import nelson_aalen
from surtree.survival.objective import RELATIVE_RISK

BISECT = Switches(bisect=0)
PLAIN = Switches(bisect=10**6)


def encode(X, y, weight=None, entry=None, **parameters):
    encoder = Encoder(**{"n_thresholds": None, "min_support": 0.0} | parameters)
    weight = np.ones(len(y)) if weight is None else weight
    binned = encoder.fit_encode(read_table(encoder, X, reset=True), weight)
    target = read_target(y, len(y), entry)
    return encoder, binned, RELATIVE_RISK.row_sums(target, weight, nelson_aalen(target, weight))


@st.composite
def long_columns(draw: st.DrawFn, max_rows: int = 40) -> Case:
    """Draw columns of many values, with ties, missing values and something that is no number."""
    n = draw(st.integers(4, max_rows))
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    X = pd.DataFrame({"x0": random.normal(size=n).round(draw(st.integers(1, 3)))})
    kind = draw(st.sampled_from(["alone", "number", "missing", "nominal"]))
    if kind != "alone":
        X["x1"] = random.integers(0, draw(st.integers(2, n)), size=n).astype(float)
    if kind == "missing":
        X.loc[random.random(n) < 0.3, "x1"] = np.nan
    if kind == "nominal":
        X["x1"] = np.array(list("abcde"))[random.integers(0, 5, size=n)]
    y = np.empty(n, dtype=[("event", bool), ("time", float)])
    y["event"] = random.random(n) < draw(st.sampled_from([0.3, 0.7, 1.0]))
    y["event"][0] = True
    y["time"] = 0.1 + random.exponential(np.exp(X["x0"])).round(draw(st.integers(1, 3)))
    weight = random.choice([0.5, 1, 2], size=n) if draw(st.booleans()) else None
    limits = {"max_depth": draw(st.integers(2, 3))}
    if draw(st.booleans()):
        limits |= {
            "min_samples_leaf": draw(st.integers(1, 5)),
            "min_events_leaf": draw(st.integers(0, 3)),
        }
    return Case(X, y, weight, None, limits)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(long_columns(max_rows=40))
def test_optimum_over_all_thresholds_is_that_of_the_reference(case: Case):
    if len(case.y) > 16:  # the reference tries every tree
        case.limits["max_depth"] = 2
    encoder, binned, sums = encode(case.X, case.y, case.weight)
    found = Problem(binned, sums).solve(Limits(**case.limits), switches=BISECT)
    expected = expected_losses(case, encoder.transform(case.X).astype(bool))
    losses = sums.constant - found.gains
    n = min(len(losses), len(expected))
    np.testing.assert_allclose(losses[:n], expected[:n], rtol=0, atol=1e-9 * len(case.y))
    np.testing.assert_allclose(losses[-1], expected[-1], rtol=0, atol=1e-9 * len(case.y))


@st.composite
def crowded_columns(draw: st.DrawFn) -> Case:
    """Draw columns in which neighbouring values are neighbouring floats."""
    n = draw(st.integers(2, 12))
    X = {}
    for name in ("x0", "x1")[: draw(st.integers(1, 2))]:
        values = st.sampled_from(draw(neighbouring_floats()))
        X[name] = draw(st.lists(values, min_size=n, max_size=n))
    y = np.empty(n, dtype=[("event", bool), ("time", float)])
    y["event"] = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    y["event"][0] = True
    y["time"] = draw(st.lists(st.integers(1, 9), min_size=n, max_size=n))
    return Case(pd.DataFrame(X), y, None, None, {"max_depth": draw(st.integers(1, 2))})


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(crowded_columns())
def test_no_cut_between_neighbouring_floats_is_lost(case: Case):
    every = SurTree(n_thresholds=None, min_support=0.0, **case.limits).fit(case.X, case.y)
    ten = SurTree(n_thresholds=10, min_support=0.0, **case.limits).fit(case.X, case.y)
    columns = (case.X[name].to_numpy() for name in case.X)
    # Every cut, without a threshold: which rows have a value or a larger one.
    holds = np.column_stack([values >= value for values in columns for value in np.unique(values)])
    rounding = 1e-9 * len(case.y)
    assert every.status_ == "optimal"
    assert every.loss_ == pytest.approx(expected_losses(case, holds)[-1], rel=0, abs=rounding)
    assert every.loss_ <= ten.loss_ + rounding


@pytest.mark.parametrize(
    ("lower", "upper"),
    [(0.3, 0.1 + 0.2), (1.5e-323, 2e-323), (-5e-324, 0.0), (-1.7e308, 1.7e308), (1.6e308, 1.7e308)],
)
@pytest.mark.parametrize("estimator", [SurTree, GreedyTree, LocalSearchTree])
def test_two_values_are_told_apart_however_close_or_far(estimator, lower, upper):
    X, time = [[lower]] * 3 + [[upper]] * 3, [1.0, 2, 3, 7, 8, 9]
    model = estimator(max_depth=1, n_thresholds=None, min_support=0.0).fit(X, time)
    assert model.apply(X).tolist() == [1, 1, 1, 2, 2, 2]
    (cut,) = model.tree_.cuts
    assert lower <= float(cut.rule.removeprefix("x0 > ")) < upper
    assert audit_tree(model, X, time).gap == pytest.approx(0, abs=1e-9)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases(max_rows=16, max_columns=3))
def test_columns_of_all_kinds_have_the_optimum_of_the_reference(case: Case):
    limits = limits_of(case)
    encoder, binned, sums = encode(case.X, case.y, case.weight, case.entry, n_thresholds=3)
    sums = replace(sums, objective=objective_of(case))
    found = Problem(binned, sums).solve(limits, switches=BISECT)
    expected = expected_losses(case, encoder.transform(case.X).astype(bool))
    losses = sums.constant - found.gains
    losses = np.append(losses, [losses[-1]] * (len(expected) - len(losses)))
    np.testing.assert_allclose(losses, expected, rtol=0, atol=1e-9 * len(case.y))


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(long_columns(max_rows=150), st.booleans())
def test_the_same_trees_as_by_trying_all(case: Case, threads: bool):
    _, binned, sums = encode(case.X, case.y, case.weight)
    plain = Problem(binned, sums).solve(Limits(**case.limits), switches=PLAIN)
    n_jobs = 2 if threads else 1
    found = Problem(binned, sums).solve(Limits(**case.limits), switches=BISECT, n_jobs=n_jobs)
    known = Problem(binned, sums).solve(
        Limits(**case.limits),
        switches=BISECT,
        known_gains=plain.gains,
        memory_limit=0,
    )
    for other in (found, known):
        np.testing.assert_allclose(other.gains, plain.gains, rtol=1e-12)
        for mine, theirs in zip(other.topologies, plain.topologies, strict=True):
            np.testing.assert_array_equal(mine.cut, theirs.cut)
    assert found.n_evaluated <= found.n_cuts


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(long_columns(max_rows=80), st.integers(1, 12))
def test_quantiles_are_those_of_the_encoder(case: Case, n_thresholds: int):
    encoder, binned, _ = encode(case.X, case.y, case.weight)
    fewer = restrict(binned, quantiles(binned, np.ones(len(case.y)), n_thresholds))
    answers = encoder.transform(case.X)
    few = Encoder(n_thresholds=n_thresholds, min_support=0.0).fit(case.X)

    def split(answer):
        return min(answer.tobytes(), (1 - answer).tobytes())

    # A split that two columns can make belongs to the first. With every threshold that may be a
    # column whose quantiles lack it.
    owner = {
        split(answer): cut.column for answer, cut in zip(answers.T, encoder.cuts_, strict=True)
    }
    kept = {split(answers[:, cut]) for cut in fewer.cut}
    for answer, cut in zip(few.transform(case.X).T, few.cuts_, strict=True):
        assert split(answer) in kept or owner[split(answer)] < cut.column


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(long_columns(max_rows=60), st.randoms(use_true_random=False))
def test_restricted_cuts_give_the_same_answers(case: Case, random):
    encoder, binned, _ = encode(case.X, case.y)
    chosen = np.array([random.random() < 0.4 for _ in binned.cut_first])
    for line in range(len(binned.bins)):
        if not is_ordered(binned, line):
            chosen[binned.cut_column == line] = True
    fewer = restrict(binned, chosen)
    answers = encoder.transform(case.X)[:, chosen]
    few = fewer.binned
    for k in range(len(few.cut_first)):
        bins = few.bins[few.cut_column[k]]
        holds = (bins >= few.cut_first[k]) & (bins <= few.cut_last[k])
        if few.cut_missing[k]:
            holds |= bins == few.missing_bin[few.cut_column[k]]
        np.testing.assert_array_equal(holds, answers[:, k])
        assert few.n_bins[few.cut_column[k]] == bins.max() + 1


@pytest.fixture(scope="module")
def table():
    X, y, _ = make_survival_tree_data(400, random_state=3)
    return X, y


@pytest.fixture(scope="module")
def optimum(table):
    return SurTree(max_depth=3, n_thresholds=None, min_support=0.0).fit(*table)


def test_most_cuts_are_never_evaluated(optimum):
    assert optimum.status_ == "optimal"
    assert optimum.gap_ == 0
    assert 0 < optimum.n_evaluated_ < optimum.n_cuts_ / 3


def test_every_threshold_is_at_least_as_good(table, optimum):
    ten = SurTree(max_depth=3, min_support=0.0).fit(*table)
    assert ten.n_cuts_ == 0
    for size, of_ten in zip(optimum.path_, ten.path_, strict=True):
        assert size.loss <= of_ten.loss + 1e-9
    assert optimum.loss_ < ten.loss_ - 1


def test_a_stopped_search_has_a_valid_bound_and_is_no_worse_than_ten_quantiles(table, optimum):
    ten = SurTree(max_depth=3, min_support=0.0).fit(*table)
    for seconds in (0.15, 0.3):
        model = SurTree(max_depth=3, n_thresholds=None, min_support=0.0, time_limit=seconds)
        model.fit(*table)
        for size, best, of_ten in zip(model.path_, optimum.path_, ten.path_, strict=True):
            assert size.lower_bound <= best.loss + 1e-9
            assert best.loss - 1e-9 <= size.loss <= of_ten.loss + 1e-9


def test_limits_on_leaves_are_exact(table):
    X, y = table
    limits = {"max_depth": 2, "min_samples_leaf": 30, "min_events_leaf": 12}
    every = SurTree(**limits, n_thresholds=None, min_support=0.0).fit(X, y)
    leaf = every.apply(X)
    for number in np.unique(leaf):
        assert (leaf == number).sum() >= 30
        assert y["event"][leaf == number].sum() >= 12
    _, binned, sums = encode(X, y, category_cuts="subsets")
    plain = Problem(binned, sums).solve(Limits(**limits), switches=PLAIN)
    assert every.loss_ == pytest.approx(sums.constant - plain.gains[-1], rel=1e-12)


def test_a_search_that_is_stopped_at_its_start_has_the_tree_of_local_search(table):
    X, y = table
    ten = SurTree(max_depth=3, min_support=0.0).fit(X, y)
    shown = []

    def stop(now):
        shown.append(now)
        return now.loss < ten.loss_ - 1

    options = {"max_depth": 3, "n_thresholds": None, "min_support": 0.0}
    early = SurTree(**options, time_limit=600.0, progress=stop).fit(X, y)
    assert early.status_ == "interrupted"
    # Next to nothing is searched over all cuts yet.
    assert max(now.fraction for now in shown) < 0.1
    assert early.loss_ == pytest.approx(shown[-1].loss)
    assert early.loss_ < ten.loss_ - 1
    assert 0 <= early.lower_bound_ < early.loss_
    assert early.gap_ > 0


@st.composite
def few_columns(draw: st.DrawFn) -> Case:
    """Draw few columns of many values: quantiles of them tell fewer rows apart than all cuts."""
    n, n_columns = draw(st.integers(2, 40)), draw(st.integers(1, 3))
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    X = pd.DataFrame(random.random((n, n_columns)).round(draw(st.integers(1, 3))))
    if draw(st.booleans()):
        X = X.mask(random.random(X.shape) < 0.2)
    y = np.empty(n, dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = random.random(n) < 0.8, 0.1 + random.exponential(size=n)
    y["event"][0] = True
    weight = random.choice([0.5, 1, 2], size=n) if draw(st.booleans()) else None
    limits = {"max_depth": draw(st.integers(1, 5)), "n_thresholds": draw(st.integers(1, 5))}
    if draw(st.booleans()):
        limits |= {"max_splits": draw(st.integers(0, 12)), "min_samples_leaf": 2}
    return Case(X, y, weight, None, limits)


few = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


@few
@given(few_columns(), st.sampled_from([1e-9, 0.02]))
def test_few_columns_under_a_time_limit_have_a_tree_of_every_size(case: Case, seconds):
    limits = {"max_depth": case.limits["max_depth"], "n_thresholds": None, "min_support": 0.0}
    with pytest.MonkeyPatch.context() as patch:
        # So few rows are no reason for a first look at quantiles; here they are.
        patch.setattr(surtree.solver.search, "FEW_THRESHOLDS", 1)
        model = SurTree(time_limit=seconds, **limits).fit(case.X, case.y, case.weight)
    losses = np.array([size.loss for size in model.path_])
    assert (np.diff(losses) <= 0).all()
    assert all(size.lower_bound <= size.loss for size in model.path_)


def test_solutions_of_different_length_are_joined_size_by_size():
    leaf, one, two = (TreeTopology(*np.full((3, 1 + 2 * k), -1, dtype=np.int32)) for k in range(3))
    short = Solution("optimal", np.array([1.0, 5.0]), np.array([1.0, 5.0]), (leaf, one))
    long = Solution(
        "optimal", np.array([1.0, 4.0, 6.0]), np.array([1.0, 4.0, 6.0]), (leaf, one, two)
    )
    for first, second in ((short, long), (long, short)):
        both = best_of(first, second)
        assert both.gains.tolist() == [1, 5, 6]
        assert both.topologies[2] is two
        assert (both.gain_bounds >= both.gains).all()


def test_one_column_and_more_depth_than_its_quantiles_need():
    random = np.random.default_rng(0)
    X, time = random.random((200, 1)), random.exponential(size=200)
    plain = SurTree(max_depth=4).fit(X, time)
    every = SurTree(max_depth=4, n_thresholds=None, time_limit=5.0).fit(X, time)
    assert every.loss_ < plain.loss_


def test_tuning_over_every_threshold(table):
    X, y = table
    search = SurTreeCV(max_depth=2, cv=3, n_thresholds=None).fit(X, y)
    assert search.status_ == "optimal"
    assert search.best_estimator_.n_thresholds is None


def test_too_many_values_are_refused():
    n = 65_600
    X = pd.DataFrame({"x": np.arange(n, dtype=float)})
    with pytest.raises(ValueError, match=r"Column 'x' has 65,600 bins"):
        SurTree(max_depth=1, n_thresholds=None, min_support=0.0).fit(X, 1.0 + X["x"] % 7)

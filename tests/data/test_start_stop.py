"""Start-stop rows: a person in several rows is one person, however its time is divided."""

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import GroupKFold

from surtree import (
    CompetingRisksTree,
    EventStratifiedKFold,
    SurTree,
    SurTreeCV,
    evaluate,
    leaf_curves,
    validate,
)
from surtree._support.parameters import LEAF_CURVES
from surtree.data.persons import going_on, person_shares, read_persons
from surtree.data.target import read_target
from surtree.data.target_array import make_target
from surtree.export import export_text
from surtree.plot import plot_tree
from surtree.report import write_report

CLOSE = {"rtol": 1e-9, "atol": 1e-9}


def random_table(seed, n=60, late=False):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "a": np.round(rng.normal(size=n), 1),
            "b": rng.integers(0, 3, n).astype(float),
            "c": rng.choice(["u", "v", "w", "x"], n),
        }
    )
    X.loc[rng.random(n) < 0.1, "b"] = np.nan
    rate = np.exp(0.8 * (X["a"] > 0) + 0.5 * (X["c"] == "u"))
    time = np.ceil(rng.exponential(10 / rate)) + 1
    event = rng.random(n) < 0.7
    event[:3] = True
    # Some leave before the first event.
    early = np.arange(n) % 20 == 5
    event, time = event & ~early, np.where(early, 0.9, time)
    entry = np.where(rng.random(n) < 0.4, rng.integers(0, 2, n), 0) * 0.5 if late else np.zeros(n)
    return X, event, time, entry


def divide(X, event, time, entry, seed, *columns):
    """Cut rows in pieces at random times, in any order; only the last one has the event."""
    rng = np.random.default_rng(seed)
    rows = []
    for row in range(len(time)):
        inner = rng.uniform(entry[row], time[row], rng.integers(0, 4))
        inner = np.unique(np.where(rng.random(inner.size) < 0.5, np.round(inner), inner))
        inner = inner[(inner > entry[row]) & (inner < time[row])]
        ends = np.array([entry[row], *inner, time[row]])
        rows += [(row, *ends[k : k + 2], k == len(inner)) for k in range(len(ends) - 1)]
    rng.shuffle(rows)
    person, start, stop, last = map(np.array, zip(*rows, strict=True))
    pieces = X.iloc[person].reset_index(drop=True)
    return pieces, event[person] & last, stop, start, person, *(each[person] for each in columns)


def assert_same_tree(one, other):
    """Compare all but the numbers of rows, and with them weights."""
    assert one.cuts == other.cuts
    for name in ("column", "cut", "left", "right", "n_events"):
        assert np.array_equal(getattr(one, name), getattr(other, name))
    for name in ("sums", "loss", "theta"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), **CLOSE)
    assert one.baseline == other.baseline


@pytest.mark.parametrize("late", [False, True])
@settings(max_examples=20, deadline=None)
@given(
    st.integers(0, 10_000),
    st.sampled_from([0.0, 2.0]),
    st.sampled_from([1, 7]),
    st.sampled_from([0, 3]),
    st.sampled_from([2, 4, None]),
    st.sampled_from([0.05, 0.3]),
)
def test_dividing_rows_changes_neither_tree_nor_loss(
    late, seed, shrinkage, min_samples, min_events, n_thresholds, min_support
):
    X, event, time, entry = random_table(seed, late=late)
    pieces, *survival, start, person = divide(X, event, time, entry, seed)
    model = SurTree(
        2,
        shrinkage=shrinkage,
        min_samples_leaf=min_samples,
        min_events_leaf=min_events,
        n_thresholds=n_thresholds,
        min_support=min_support,
    )
    whole = model.fit(X, make_target(event, time), entry=entry)
    sizes, tree, certificate = whole.path_, whole.tree_, (whole.loss_, whole.gap_)
    model.fit(pieces, make_target(*survival), entry=start, id=person)
    assert_same_tree(model.tree_, tree)
    np.testing.assert_allclose((model.loss_, model.gap_), certificate, **CLOSE)
    for one, other in zip(model.path_, sizes, strict=True):
        np.testing.assert_allclose(one.loss, other.loss, **CLOSE)
    # The same rows, so the same persons; and the same curves of every kind.
    assert np.array_equal(model.tree_.n_persons, tree.n_samples)
    for kind in LEAF_CURVES:
        for one, other in zip(leaf_curves(model, kind), leaf_curves(tree, kind), strict=True):
            np.testing.assert_allclose(one.survival.y, other.survival.y, **CLOSE)
    for one, other in zip(model.tree_.risk, tree.risk, strict=True):
        assert np.array_equal(one.round_at_risk, other.round_at_risk)
        assert np.array_equal(one.censored, other.censored)
        assert one.last_time == other.last_time
    y = make_target(*survival)
    np.testing.assert_allclose(
        model.loss(pieces, y, entry=start, id=person),
        model.loss(X, make_target(event, time), entry=entry),
        **CLOSE,
    )


@pytest.mark.parametrize("seed", range(4))
def test_dividing_rows_changes_no_choice_of_folds_or_samples(seed):
    X, event, time, entry = random_table(seed, n=80)
    weight = np.random.default_rng(seed).integers(1, 4, len(time)).astype(float)
    pieces, *survival, start, person, weights = divide(X, event, time, entry, seed, weight)
    y, divided = make_target(event, time), make_target(*survival)
    search = SurTreeCV(2, cv=3, shrinkage=[1.0, 3.0])
    whole = search.fit(X, y, weight, entry, np.arange(len(time)))
    scores, tree = whole.cv_results_["mean_test_score"], whole.tree_
    search.fit(pieces, divided, weights, start, person)
    assert_same_tree(search.tree_, tree)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], scores, **CLOSE)


def test_a_person_counts_in_leaves_by_the_share_of_time():
    # Two persons change sides: one leaf has two persons, but less than one by their time.
    X = [[0], [1], [0], [1], [1]]
    time = np.array([1.0, 4.0, 2.0, 4.0, 0.5])
    y = make_target(np.array([False, True, False, True, True]), time)
    start, person = np.array([0.0, 1.0, 0.0, 2.0, 0.0]), ["p", "p", "q", "q", "r"]
    shares = person_shares(np.array([0, 0, 1, 1, 2]), time, start)
    assert shares.tolist() == [0.25, 0.75, 0.5, 0.5, 1.0]
    split = SurTree(1).fit(X, y, entry=start, id=person).tree_
    assert split.n_persons.tolist() == [3, 2, 3]
    assert "2 rows of 2 persons" in str(split.rules()[0])
    assert SurTree(1, min_samples_leaf=2).fit(X, y, entry=start, id=person).tree_.n_leaves == 1
    # By rows, the leaf has two.
    assert SurTree(1, min_samples_leaf=2).fit(X, y, entry=start).tree_.n_leaves == 2


def test_shares_of_a_person_add_up_to_one_exactly():
    rng = np.random.default_rng(0)
    person = rng.integers(0, 50, 700)
    start = rng.random(700)
    share = person_shares(person, start + rng.random(700), start)
    assert (share >= 0).all()
    assert (np.bincount(person, weights=share) == 1).all()
    # A person who has events at time zero alone has no time.
    assert person_shares(np.array([0, 0]), np.zeros(2), None).tolist() == [0.5, 0.5]


def test_rows_that_go_on_are_not_censored():
    person, time, entry = np.array([0, 0, 1]), np.array([2.0, 5.0, 5.0]), np.array([0.0, 2.0, 2.0])
    assert going_on(person, time, entry).tolist() == [True, False, False]
    target = replace(read_target(make_target(np.zeros(3, bool), time), 3, entry), person=person)
    assert target.censored.tolist() == [False, True, True]


def test_a_row_that_is_drawn_twice_is_two_persons():
    target = read_target(
        make_target(np.ones(3, bool), np.array([1.0, 2.0, 3.0])), 3, None, [7, 7, 9]
    )
    drawn = target.take(np.array([0, 1, 0, 1, 2]))
    assert np.unique(drawn.person).size == 3
    assert np.bincount(drawn.person, weights=drawn.share).tolist() == [1.0, 1.0, 1.0]
    assert target.take(np.array([True, False, True])).person.tolist() == [0, 1]


def test_folds_keep_groups_together_and_share_their_events():
    rng = np.random.default_rng(1)
    groups = rng.integers(0, 40, 200)
    event = rng.random(200) < 0.4
    counts = []
    for train, test in EventStratifiedKFold(5).split(event, event, groups):
        assert not set(groups[train]) & set(groups[test])
        counts.append(event[test].sum())
    assert max(counts) - min(counts) <= np.bincount(groups, weights=event).max()
    with pytest.raises(ValueError, match="1 of 2 groups has an event"):
        next(EventStratifiedKFold(2).split(event[:4], np.arange(4) < 2, [0, 0, 1, 1]))


def test_a_splitter_of_groups_gets_persons():
    X, event, time, entry = random_table(3)
    pieces, *survival, start, person = divide(X, event, time, entry, 3)
    search = SurTreeCV(1, cv=GroupKFold(3), shrinkage=1.0)
    assert search.fit(pieces, make_target(*survival), None, start, person).n_splits_ == 3


def test_measures_of_whole_persons_are_refused():
    X, event, time, entry = random_table(3)
    pieces, *survival, start, person = divide(X, event, time, entry, 3)
    with pytest.raises(ValueError, match="several rows of a person, choose 'loss' or 'concord"):
        SurTreeCV(1, scoring="integrated_brier").fit(
            pieces, make_target(*survival), entry=start, id=person
        )


def test_a_row_that_is_cut_in_two_has_the_same_concordance():
    X, event, time, entry = random_table(3)
    pieces, *survival, start, person = divide(X, event, time, entry, 3)
    model = SurTree(2).fit(X, make_target(event, time), entry=entry)
    whole = model.score(X, make_target(event, time), entry=entry)
    assert model.score(pieces, make_target(*survival), entry=start) == whole
    search = SurTreeCV(1, scoring="concordance", cv=3)
    search.fit(pieces, make_target(*survival), entry=start, id=person)
    assert np.isfinite(search.best_score_)


def test_validation_draws_persons():
    X, event, time, entry = random_table(3, n=100)
    pieces, *survival, start, person = divide(X, event, time, entry, 3)
    found = validate(
        SurTree(1), pieces, make_target(*survival), entry=start, id=person, n_bootstraps=3
    )
    unseen = pd.DataFrame(found.repetitions.unseen.T).groupby(person)
    assert (unseen.min() == unseen.max()).all().all()
    assert np.isfinite(found["concordance"].value)
    for name in ("concordance_ipcw", "brier"):
        assert np.isnan(found[name].value)
        assert "needs one prediction for each person" in found[name].reason


def test_an_evaluation_draws_persons_and_says_what_their_parts_do_not_have():
    X, event, time, entry = random_table(3, n=100)
    pieces, *survival, start, person = divide(X, event, time, entry, 3)
    y = make_target(*survival)
    model = SurTree(1).fit(pieces, y, entry=start, id=person)
    found = evaluate(model, pieces, y, entry=start, id=person, n_bootstraps=20)
    alone = evaluate(model, pieces, y, entry=start, n_bootstraps=20)
    assert found["concordance"].value == alone["concordance"].value
    assert found["concordance"].lower != alone["concordance"].lower
    assert "needs one prediction for each person" in str(found)
    assert "nan" not in str(found)


@pytest.mark.parametrize("kind", ["baseline", "kaplan-meier"])
def test_survival_along_a_path_is_the_product_over_its_pieces(kind):
    X, event, time, entry = random_table(5, n=80)
    pieces, *survival, start, person = divide(X, event, time, entry, 5)
    model = SurTree(2, leaf_curve=kind).fit(X, make_target(event, time))
    # Covariates that do not change give the curve of the leaf.
    order = np.lexsort((start, person))
    along = model.predict_survival_along(
        pieces.iloc[order], start[order], survival[1][order], person[order]
    )
    constant = model.predict_survival_function(X)
    for one, other, end in zip(along, constant, time, strict=True):
        times = np.linspace(0, end, 7)
        np.testing.assert_allclose(one(times), other(times), **CLOSE)
        assert one.domain == (0.0, end)
    # Covariates that change: the leaf of the first row until 4, then that of the second.
    rows = X.iloc[[int(np.argmin(model.predict(X))), int(np.argmax(model.predict(X)))]]
    (changing,) = model.predict_survival_along(rows, [0.0, 4.0])
    first, second = model.predict_survival_function(rows)
    asked = np.array([1.0, 4.0, 5.0, 9.0])
    expected = np.where(asked <= 4, first(asked), first(4.0) * second(asked) / second(4.0))
    np.testing.assert_allclose(changing(asked), expected, **CLOSE)
    (hazard,) = model.predict_cumulative_hazard_along(rows, [0.0, 4.0])
    one, other = model.predict_cumulative_hazard_function(rows)
    assert hazard(9.0) == pytest.approx(one(4.0) + other(9.0) - other(4.0))
    # Late entry: survival from then on.
    (late,) = model.predict_survival_along(rows.iloc[1:], [4.0])
    assert late(9.0) == pytest.approx(second(9.0) / second(4.0))


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"start": [0.0, 2.0], "stop": [1.0, 3.0]}, "without gaps"),
        ({"start": [0.0, 2.0], "stop": [0.0, 3.0]}, "not after start in 1 of 2"),
        ({"start": [1.0, 1.0]}, "the same time for two rows"),
        ({"start": [-1.0, 1.0]}, "zero or later"),
        ({"start": [1.0]}, "a time for each of 2 rows"),
    ],
)
def test_a_path_that_is_none_is_refused(given, fault):
    model = SurTree(1).fit([[0], [0], [1], [1]], [4.0, 3.0, 2.0, 1.0])
    with pytest.raises(ValueError, match=fault):
        model.predict_survival_along([[0], [1]], **given)


@pytest.mark.parametrize(
    ("id", "fault"),
    [
        ([1, 1], "X has 3 rows and id has 2"),
        ([[1], [1], [2]], "1d array"),
        ([1.0, np.nan, 2.0], "no label in 1 of 3 rows"),
        (np.array([1, None, "a"], dtype=object), "no label in 1 of 3"),
        (np.array([1, 2, "a"], dtype=object), "several types"),
        (["a", "a", "b"], "1 of 3 rows overlap in time .* row 1, .* of id .*'a'"),
    ],
)
def test_bad_ids_are_refused(id, fault):
    with pytest.raises(ValueError, match=fault):
        SurTree(1).fit([[0], [1], [1]], [1.0, 2.0, 3.0], entry=[0.0, 0.5, 0.0], id=id)
    # Without entry times, as in gap times of events that recur, rows may overlap.
    assert read_persons(["a", "a", "b"], np.ones(3), None).tolist() == [0, 0, 1]


def test_persons_are_saved_printed_drawn_and_reported(tmp_path):
    X, event, time, entry = random_table(8, n=100)
    pieces, *survival, start, person = divide(X, event, time, entry, 8)
    model = SurTree(2, min_samples_leaf=5).fit(
        pieces, make_target(*survival), entry=start, id=person
    )
    model.save(tmp_path / "model.json")
    again = SurTree.load(tmp_path / "model.json")
    assert again.tree_ == model.tree_
    assert "persons  rows  events" in str(model.tree_)
    assert "persons: " in export_text(model)
    plot_tree(model)
    write_report(model, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "<dt>persons</dt>" in page
    assert "at least 5 persons in a leaf" in page
    saved = model.tree_.to_dict()
    saved["nodes"]["n_persons"][0] = 10_000
    with pytest.raises(ValueError, match="persons are not those of its rows"):
        type(model.tree_).from_dict(saved)


def test_the_page_says_what_happens(capsys):
    page = (Path(__file__).parents[2] / "docs" / "start-stop.md").read_text()
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    names = {}
    for (kind, code), (next_kind, said) in pairwise(blocks):
        if kind != "python":
            continue
        exec(code, names)
        assert capsys.readouterr().out == ("" if next_kind else said)


@pytest.mark.parametrize("seed", range(4))
def test_dividing_rows_changes_no_tree_of_competing_risks(seed):
    X, event, time, entry = random_table(seed)
    cause = np.where(event, np.random.default_rng(seed).integers(1, 3, len(time)), 0)
    pieces, died, stop, start, person, of_row = divide(X, event, time, entry, seed, cause)
    model = CompetingRisksTree(2, min_samples_leaf=3, shrinkage=float(seed % 2))
    whole = model.fit(X, (cause, time), entry=entry)
    tree, loss = whole.tree_, whole.loss_
    model.fit(pieces, (np.where(died, of_row, 0), stop), entry=start, id=person)
    assert model.tree_.cuts == tree.cuts
    assert model.loss_ == pytest.approx(loss, rel=1e-9)
    np.testing.assert_allclose(model.tree_.sums, tree.sums, **CLOSE)
    assert np.array_equal(model.tree_.n_persons, tree.n_samples)
    incidence = model.predict_cumulative_incidence(X, 1, return_array=True)
    expected = CompetingRisksTree(2, min_samples_leaf=3, shrinkage=float(seed % 2)).fit(
        X, (cause, time), entry=entry
    )
    np.testing.assert_allclose(
        incidence, expected.predict_cumulative_incidence(X, 1, return_array=True), **CLOSE
    )

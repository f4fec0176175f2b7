"""Leaves are merged into the best groups, and what is shown of them is corrected."""

import itertools
import json
import sqlite3

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import xlogy

import surtree
from surtree import (
    CompetingRisksTree,
    EffectTree,
    SurTree,
    SurTreeCV,
    leaf_hazard_ratios,
    risk_groups,
    write_report,
)
from surtree.datasets import load_gbsg2, load_melanoma, load_rossi
from surtree.export import export_leaves, export_methods, export_sql
from surtree.outcomes.risk_groups import merged_leaves
from surtree.plot import plot_curves

X, Y = load_gbsg2()


@pytest.fixture(scope="module")
def model():
    return SurTree(max_depth=3, max_splits=5, shrinkage=1).fit(X, Y)


@pytest.fixture(scope="module")
def groups(model):
    return risk_groups(model, X, Y, k=3)


def gain(events, expected, group):
    totals = [np.bincount(group, weights=one) for one in (events, expected)]
    return float(xlogy(totals[0], totals[0] / totals[1]).sum())


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 40), st.floats(0.1, 40)), min_size=1, max_size=6),
    st.integers(1, 6),
)
def test_no_division_of_leaves_into_as_many_groups_is_better(leaves, k):
    events, expected = np.array(leaves, dtype=float).T
    k = min(k, events.size)
    found = merged_leaves(events, expected, k)
    assert set(found) == set(range(k))
    best = max(
        gain(events, expected, group)
        for group in itertools.product(range(k), repeat=events.size)
        if len(set(group)) == k
    )
    assert gain(events, expected, found) == pytest.approx(best, rel=1e-9, abs=1e-9)


def test_groups_are_in_the_order_of_risk(groups, model):
    thetas = [group.curve.theta for group in groups]
    assert thetas == sorted(thetas)
    assert groups.names == ("low", "intermediate", "high")
    leaf, named = model.apply(X), groups.predict(X)
    for group in groups:
        inside = named == group.name
        assert group.n_samples == inside.sum()
        assert group.n_events == Y["event"][inside].sum()
        assert set(leaf[inside]) == set(group.leaves)


def test_curves_and_ratios_are_those_of_the_rows_of_a_group(groups):
    """A tree of one question, about the group, has the same curves and hazard ratios."""
    named = groups.predict(X)
    code = np.select([named == "low", named == "intermediate"], [0.0, 1.0], 2.0)
    tree = SurTree(
        2, thresholds={"x0": [0.5, 1.5]}, leaf_curve="kaplan-meier", min_support=0.0
    ).fit(code[:, None], Y)
    assert tree.tree_.n_leaves == 3
    ratios = leaf_hazard_ratios(tree, reference=int(tree.apply([[0.0]])[0]))
    for position, group in enumerate(groups):
        one = ratios[position]
        assert one.n_samples == group.n_samples
        assert group.ratio == pytest.approx(one.ratio, rel=1e-6)
        assert group.limits == pytest.approx(one.limits, rel=1e-5)
        (survival,) = tree.predict_survival_function([[float(position)]], times=[1000.0])[0]
        assert group.curve.at(1000.0)[0] == pytest.approx(survival, rel=1e-9)
        assert group.curve.group.at_risk(np.array([0.0]))[0] == group.n_samples


def test_held_out_groups_are_those_of_trees_that_had_not_seen_the_rows(groups):
    assert sum(group.n_samples for group in groups.held_out) == len(X)
    assert sum(group.n_events for group in groups.held_out) == Y["event"].sum()
    # What groups say of rows that they were not formed on is less far apart.
    assert 1 < groups.held_out[2].ratio < groups[2].ratio
    assert "corrected" in str(groups)


def test_noise_makes_no_groups():
    rng = np.random.default_rng(5)
    noise = rng.normal(size=(300, 4))
    y = rng.random(300) < 0.7, rng.exponential(size=300)
    model = SurTree(max_depth=3).fit(noise, y)
    assert len(risk_groups(model, noise, y)) == 1
    three = risk_groups(model, noise, y, k=3)
    assert three[2].ratio > 3
    assert three.held_out[2].ratio < 2


def test_the_same_seed_gives_the_same_groups(model, groups):
    again = risk_groups(model, X, Y, k=3)
    assert str(again) == str(groups)
    other = risk_groups(model, X, Y, k=3, random_state=1)
    assert other.group_of_leaf == groups.group_of_leaf
    assert str(other) != str(groups)


def test_rows_of_a_person_are_held_out_together():
    frame = X.iloc[:200].reset_index(drop=True)
    y = Y[:200]
    twice = frame.loc[np.repeat(frame.index, 2)].reset_index(drop=True)
    entry = np.column_stack([np.zeros(200), y["time"] / 2]).ravel()
    stop = np.column_stack([y["time"] / 2, y["time"]]).ravel()
    event = np.column_stack([np.zeros(200, dtype=bool), y["event"]]).ravel()
    person = np.repeat(np.arange(200), 2)
    model = SurTree(2).fit(twice, (event, stop), entry=entry, id=person)
    found = risk_groups(model, twice, (event, stop), k=2, entry=entry, id=person)
    assert sum(group.n_events for group in found.held_out) == y["event"].sum()


def test_names_and_reference_are_the_users(model):
    found = risk_groups(model, k=2, names=["stage I", "stage II"], reference="stage II")
    assert [group.ratio_text for group in found][1] == "1 (reference)"
    assert found[0].ratio < 1
    assert "Not corrected" in str(found)
    assert risk_groups(model, k=5).names == tuple(f"group {n}" for n in range(1, 6))


def test_causes_are_grouped_by_the_main_one():
    frame, y = load_melanoma()
    model = CompetingRisksTree(2).fit(frame, y)
    found = risk_groups(model, frame, y, k=2)
    named = found.predict(frame)
    cause = y["cause"] if "cause" in (y.dtype.names or ()) else np.asarray(y)[:, 0]
    main = model.tree_.objective.main_cause
    assert [group.n_events for group in found] == [
        int(((cause == main) & (named == name)).sum()) for name in found.names
    ]
    low, high = (group.curve.at(2000.0)[0] for group in found)
    assert 0 < low < high < 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"k": 9}, "6 leaves"),
        ({}, "Say how many groups"),
        ({"k": 2, "names": ["a", "a"]}, "2 different ones"),
        ({"k": 2, "reference": "middle"}, "reference must be one of"),
        ({"X": X[:300], "y": Y[:300]}, "not the rows that the model was fitted on"),
        ({"X": X, "y": Y, "n_folds": 1}, "n_folds"),
    ],
)
def test_what_cannot_be_is_refused(model, given, said):
    with pytest.raises(ValueError, match=said):
        risk_groups(model, **given)


def test_effects_make_no_groups_of_risk():
    frame, y = load_rossi()
    aid = frame.pop("financial_aid")
    with pytest.raises(ValueError, match="not in risk"):
        risk_groups(EffectTree(max_depth=1).fit(frame, y, aid), k=2)


@pytest.fixture
def kept(model, groups, tmp_path):
    model.risk_groups_ = groups
    model.save(tmp_path / "model.json")
    model.risk_groups_ = None
    return surtree.load(tmp_path / "model.json")


def test_they_are_kept_in_the_file_of_the_model(kept, groups, model, tmp_path):
    assert str(kept.risk_groups_) == str(groups)
    np.testing.assert_array_equal(kept.risk_groups_.predict(X), groups.predict(X))
    other = SurTree(1).fit(X, Y)
    other.risk_groups_ = groups
    with pytest.raises(ValueError, match="another tree"):
        other.save(tmp_path / "other.json")
    model.fit(X, Y)
    assert model.risk_groups_ is None


@pytest.mark.parametrize(
    ("name", "value"),
    [("group_of_leaf", [0, 0, 0, 0, 0, 0]), ("names", ["a", "a", "b"]), ("reference", 7)],
)
def test_a_file_with_other_groups_is_refused(kept, tmp_path, name, value):
    kept.save(tmp_path / "model.json")
    saved = json.loads((tmp_path / "model.json").read_text())
    saved["risk_groups"][name] = value
    (tmp_path / "bad.json").write_text(json.dumps(saved))
    with pytest.raises(ValueError, match="risk groups are not those of its tree"):
        surtree.load(tmp_path / "bad.json")


def test_everything_that_shows_the_model_shows_them(kept, tmp_path):
    page = write_report(kept, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Risk groups" in page
    assert kept.risk_groups_.held_out[2].ratio_text in page
    methods = export_methods(kept)
    assert "merged into 3 risk groups" in methods
    assert f"high {kept.risk_groups_.held_out[2].ratio_text}" in methods
    assert (
        export_leaves(kept, "csv", horizons=[])
        .splitlines()[0]
        .startswith("leaf,name,rule,risk_group,")
    )
    ax = plot_curves(kept.risk_groups_)
    words = " ".join(text.get_text() for text in ax.texts)
    assert "intermediate" in words
    assert "held out" in words


def test_sql_names_the_group_of_each_row(kept):
    query = f"select {export_sql(kept, value=kept.risk_groups_.of_leaf)} as risk from t"
    with sqlite3.connect(":memory:") as connection:
        X.to_sql("t", connection, index=False)
        named = [row[0] for row in connection.execute(f"{query} order by rowid")]
    assert named == kept.risk_groups_.predict(X).tolist()


def test_a_search_keeps_them(tmp_path):
    search = SurTreeCV(max_depth=2, cv=2, shrinkage=1.0).fit(X, Y)
    search.risk_groups_ = risk_groups(search, X, Y, k=2, n_folds=2)
    search.save(tmp_path / "model.json")
    assert str(surtree.load(tmp_path / "model.json").risk_groups_) == str(search.risk_groups_)

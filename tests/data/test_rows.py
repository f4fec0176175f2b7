"""What verbs make of the rows that they are given; tests/contract/ has all of them in a table."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from surtree import EffectTree, EventStratifiedKFold, SurTree, SurTreeCV, evaluate, validate
from surtree.datasets import load_gbsg2, load_rossi

X, Y = load_gbsg2()


def test_evaluate_on_the_training_rows_is_what_validate_calls_apparent():
    y = Y.copy()
    y["time"][:40], y["event"][:40] = 0.0, False
    model = SurTree(max_depth=2)
    with pytest.warns(UserWarning, match="40 of 686 rows are censored at time zero"):
        model.fit(X, y)
    with pytest.warns(UserWarning, match="40 of 686 rows are censored at time zero"):
        seen = evaluate(model, X, y, n_bootstraps=2)
    with pytest.warns(UserWarning, match="40 of 686 rows are censored at time zero"):
        apparent = validate(SurTree(max_depth=2), X, y, n_bootstraps=2)
    assert seen.n_rows == 646
    leaves = model.tree_.leaves
    assert [leaf.n_rows for leaf in seen.leaves] == model.tree_.n_samples[leaves].tolist()
    for measure in apparent.measures:
        assert seen[measure.name].value == measure.apparent


def test_rows_of_a_group_stay_together_in_folds():
    group = np.arange(len(X)) // 3
    by_hand = EventStratifiedKFold(4).split(X, Y, group)
    tuned = SurTreeCV(max_depth=1, cv=4, shrinkage=1.0).fit(X, Y, groups=group)
    expected = SurTreeCV(max_depth=1, cv=list(by_hand), shrinkage=1.0).fit(X, Y)
    alone = SurTreeCV(max_depth=1, cv=4, shrinkage=1.0).fit(X, Y)
    assert np.array_equal(tuned.sizes_.held_out, expected.sizes_.held_out)
    assert not np.array_equal(tuned.sizes_.held_out, alone.sizes_.held_out)


def test_groups_without_a_label_are_refused():
    group = np.arange(len(X)).astype(float)
    group[[3, 5]] = np.nan
    with pytest.raises(
        ValueError, match=r"groups has no label in 2 of 686 rows \(the first is row 3"
    ):
        SurTreeCV(cv=3).fit(X, Y, groups=group)


def test_one_column_may_say_whose_rows_they_are_and_which_stay_together():
    frame = X.assign(centre=np.arange(len(X)) // 5, event=Y["event"], time=Y["time"])
    named = SurTreeCV(max_depth=1, cv=3).fit(frame, ("event", "time"), id="centre", groups="centre")
    assert "centre" not in named.feature_names_in_
    arrays = SurTreeCV(max_depth=1, cv=3).fit(X, Y, id=frame["centre"])
    assert np.array_equal(named.sizes_.held_out, arrays.sizes_.held_out)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"y": ("event", "tim")}, "there is no column 'tim': the table has age"),
        ({"y": ("event", "time"), "entry": "time"}, "name a column twice: event, time, time"),
        ({"y": {"event": "event", "when": "time"}}, "y has the keys event, when: y names two"),
        ({"y": ("event", "time"), "id": "pid"}, "there is no column 'pid'"),
    ],
)
def test_names_of_columns_that_there_are_not(given, words):
    frame = X.assign(event=Y["event"], time=Y["time"])
    with pytest.raises(ValueError, match=words):
        SurTree().fit(frame, **given)


def test_names_of_columns_of_a_table_that_has_none():
    with pytest.raises(ValueError, match="y names the column 'event', and X has no names"):
        SurTree().fit(X.select_dtypes("number").to_numpy(), ("event", "time"))
    with pytest.raises(ValueError, match="sample_weight names the column 'w', and X has no names"):
        SurTree().fit([[1.0]], Y[:1], sample_weight="w")


def test_names_of_columns_are_no_patterns():
    frame = pl.DataFrame({"^d.*$": Y["time"], "died": Y["event"], "*": X["age"], "days": X["age"]})
    named = SurTree(max_depth=1).fit(frame, ("died", "^d.*$"))
    assert named.feature_names_in_.tolist() == ["*", "days"]


def test_weights_may_be_named_beside_a_target_of_arrays():
    weight = np.arange(1.0, len(X) + 1)
    named = SurTree(max_depth=1).fit(X.assign(w=weight), Y, sample_weight="w")
    assert named.loss_ == SurTree(max_depth=1).fit(X, Y, sample_weight=weight).loss_


def test_a_tree_of_effects_may_start_from_another():
    rows, y = load_rossi()
    aid = rows.pop("financial_aid")
    limits = {"max_depth": 5, "min_events_arm": 2}
    first = EffectTree(**limits).fit(rows, y, aid)
    ended = EffectTree(**limits, time_limit=1e-9)
    assert ended.fit(rows, y, aid).loss_ > first.loss_ + 0.1
    assert ended.fit(rows, y, aid, init=first).loss_ == pytest.approx(first.loss_)


def test_rows_without_weight_do_not_change_the_loss_of_a_tree_of_effects():
    rows, y = load_rossi()
    aid = rows.pop("financial_aid")
    model = EffectTree(max_depth=1).fit(rows, y, aid)
    more = pd.concat([rows, rows.head(9)])
    weight = np.repeat([1.0, 0.0], [len(rows), 9])
    loss = model.loss(more, np.concatenate([y, y[:9]]), [*aid, *aid[:9]], sample_weight=weight)
    assert loss == pytest.approx(model.loss(rows, y, aid), rel=1e-12)

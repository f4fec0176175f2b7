"""The score card: points of columns that add up."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import surtree
from surtree import PointsTable, SurTreeBayes
from surtree.datasets import load_gbsg2, load_lung


@pytest.fixture(scope="module")
def gbsg2():
    return load_gbsg2()


def points_by_hand(card, row):
    """Add up what a person reads off the printed card."""
    total = 0
    for column in card:
        value = row[column.name]
        for label, points in zip(column.labels, column.points, strict=True):
            missing = value is None or value != value
            parts = label.split(" or ")
            if missing:
                holds = "missing" in label
            elif parts[0][0] in "<>":
                limits = [limit.split(" ") for limit in parts[0].split(" and ")]
                tests = {">": lambda x, t: x > t, "<=": lambda x, t: x <= t}
                holds = all(tests[sign](value, float(t)) for sign, t in limits)
            else:
                holds = str(value) in label.split(", ")
            if holds:
                total += points
                break
        else:
            raise AssertionError(f"{column.name} = {value} is not on the card")
    return total


@pytest.mark.parametrize("load", [load_gbsg2, load_lung])
def test_a_person_who_reads_the_card_gets_the_points_of_the_model(load):
    X, y = load()
    model = PointsTable().fit(X, y)
    rows = X.head(60)
    by_hand = [points_by_hand(model.card_, row) for row in rows.to_dict("records")]
    assert model.points(rows).tolist() == by_hand


def test_ten_points_double_the_hazard(gbsg2):
    X, y = gbsg2
    model = PointsTable().fit(X, y)
    points, risk = model.points(X), model.predict(X)
    np.testing.assert_allclose(np.log2(risk / risk[0]), (points - points[0]) / 10, atol=1e-12)
    hazard = -np.log(model.survival_of([7, 17], times=[1000.0]))
    assert hazard[1, 0] == pytest.approx(2 * hazard[0, 0])
    finer = PointsTable(points_to_double=40).fit(X, y)
    assert finer.card_.most > 3 * model.card_.most


def test_the_card_expects_as_many_events_as_there_are(gbsg2):
    X, y = gbsg2
    model = PointsTable().fit(X, y)
    hazard = np.maximum(model.baseline_.at(y["time"]), model.baseline_.floor)
    assert (model.predict(X) * hazard).sum() == pytest.approx(y["event"].sum())


def test_a_column_of_noise_has_few_points(gbsg2):
    X, y = gbsg2
    noise = X.assign(noise=np.random.default_rng(0).normal(size=len(X)))
    names = {column.name: max(column.points) for column in PointsTable().fit(noise, y).card_}
    assert names["positive_nodes"] > 10
    assert names.get("noise", 0) < names["positive_nodes"] / 2


def test_neighbours_of_equal_points_share_a_line_and_the_least_is_zero(gbsg2):
    X, y = gbsg2
    for column in PointsTable().fit(X, y).card_:
        assert min(column.points) == 0
        assert all(a != b for a, b in zip(column.points, column.points[1:], strict=False))


def test_rounding_costs_next_to_nothing(gbsg2):
    X, y = gbsg2
    losses = [PointsTable(points_to_double=scale).fit(X, y).loss(X, y) for scale in (10, 1000)]
    assert abs(losses[0] - losses[1]) / len(X) < 1e-3


def test_it_is_nearly_as_good_on_new_rows_as_the_average_over_trees_with_interactions(gbsg2):
    X, y = gbsg2
    rows = np.random.default_rng(3).permutation(len(X))
    scores = [
        model.fit(X.iloc[rows[:300]], y[rows[:300]]).score(X.iloc[rows[300:]], y[rows[300:]])
        for model in (PointsTable(), SurTreeBayes())
    ]
    assert scores[0] > scores[1] - 0.03


def test_a_saved_card_is_the_same(tmp_path, gbsg2):
    X, y = gbsg2
    model = PointsTable().fit(X, y)
    path = tmp_path / "card.json"
    model.save(path)
    again = surtree.load(path)
    assert isinstance(again, PointsTable)
    assert str(again.card_) == str(model.card_)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    saved = json.loads(path.read_text())
    saved["points"][0].append(3)
    path.write_text(json.dumps(saved))
    with pytest.raises(ValueError, match="damaged"):
        PointsTable.load(path)


def test_the_card_is_short_to_look_at(gbsg2):
    X, y = gbsg2
    card = PointsTable().fit(X, y).card_
    assert len(repr(card)) < 80
    assert card._repr_html_().count("<tr>") == str(card).count("\n") + 2


def test_a_name_and_a_category_with_marks_are_escaped_in_html():
    X = pd.DataFrame({"<b>group": ["<i>a", "b"] * 50})
    y = np.ones(100, dtype=bool), np.where(X.iloc[:, 0] == "b", 1.0, 9.0) + np.arange(100)
    html = PointsTable().fit(X, y).card_._repr_html_()
    assert "<b>group" not in html
    assert "&lt;b&gt;group" in html


def test_bad_parameters_and_small_tables(gbsg2):
    X, y = gbsg2
    with pytest.raises(ValueError, match="points_to_double"):
        PointsTable(points_to_double=0).fit(X, y)
    with pytest.raises(ValueError, match="n_stages"):
        PointsTable(0).fit(X, y)
    flat = PointsTable().fit(np.zeros((5, 2)), ([True] * 5, [1.0, 2, 3, 4, 5]))
    assert (len(flat.card_), flat.card_.most, str(flat.card_)) == (0, 0, "")

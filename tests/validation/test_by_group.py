"""Performance by centre, each by a model of the others, and by subgroup."""

import json

import numpy as np
import pytest

import surtree
from surtree import CompetingRisksTree, SurTree, evaluate, validate, write_report
from surtree.datasets import load_gbsg2, load_melanoma
from surtree.export import export_methods
from surtree.metrics import concordance_index_censored
from surtree.validation._by_group import GroupPerformance, spread_between
from surtree.validation._measures import Measure

X, Y = load_gbsg2()
CENTRE = np.array(["north", "east", "south"])[np.random.default_rng(1).integers(0, 3, len(X))]
TREE = SurTree(max_depth=2, shrinkage=1)


@pytest.fixture(scope="module")
def result():
    return validate(TREE, X, Y, groups=CENTRE, method="groups", n_bootstraps=25, horizons=[1000])


def test_each_centre_is_predicted_by_a_model_of_the_others(result):
    assert [group.name for group in result.groups] == ["east", "north", "south"]
    for group in result.groups:
        inside = group.name == CENTRE
        model = TREE.fit(X[~inside], Y[~inside])
        alone = evaluate(model, X[inside], Y[inside], n_bootstraps=2, horizons=[1000])
        assert (group.n_rows, group.n_events) == (inside.sum(), Y["event"][inside].sum())
        for name in ("concordance", "calibration_at_1000"):
            assert group[name].value == pytest.approx(alone[name].value, rel=1e-9)
            assert group[name].lower < group[name].value < group[name].upper


def test_all_rows_together_are_judged_by_models_that_had_not_seen_their_centre(result):
    risk = np.empty(len(X))
    for name in np.unique(CENTRE):
        inside = name == CENTRE
        risk[inside] = TREE.fit(X[~inside], Y[~inside]).predict(X[inside])
    cindex = concordance_index_censored(Y["event"], Y["time"], risk).cindex
    assert result["concordance"].value == pytest.approx(cindex)
    assert result.n_repetitions == 1
    with pytest.raises(ValueError, match="folds share most of their rows"):
        result.survival_interval(X.head(1), [1000])


def test_it_is_printed_kept_and_shown(result, tmp_path):
    assert "SD between, beyond chance" in str(result)
    model = SurTree(max_depth=2, shrinkage=1).fit(X, Y)
    model.validation_ = result
    model.save(tmp_path / "model.json")
    loaded = surtree.load(tmp_path / "model.json")
    assert str(loaded.validation_) == str(result)
    page = write_report(loaded, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Group by group" in page
    assert "Not known to be better than no tree" in page
    assert "each predicted by the model of the others" in export_methods(loaded)
    saved = json.loads((tmp_path / "model.json").read_text())
    saved["validation"]["groups"][0]["n_rows"] = -1
    (tmp_path / "bad.json").write_text(json.dumps(saved))
    with pytest.raises(ValueError, match="n_rows"):
        surtree.load(tmp_path / "bad.json")


def test_persons_are_drawn_whole():
    frame, y = X.iloc[:200], Y[:200]
    twice = frame.iloc[np.repeat(np.arange(200), 2)].reset_index(drop=True)
    entry = np.column_stack([np.zeros(200), y["time"] / 2]).ravel()
    stop = np.column_stack([y["time"] / 2, y["time"]]).ravel()
    event = np.column_stack([np.zeros(200, dtype=bool), y["event"]]).ravel()
    found = validate(
        SurTree(1), twice, (event, stop), entry=entry, id=np.repeat(np.arange(200), 2),
        groups=np.repeat(CENTRE[:200], 2), method="groups", n_bootstraps=21,
    )  # fmt: skip
    assert sum(group.n_rows for group in found.groups) == 400
    assert sum(group.n_events for group in found.groups) == y["event"].sum()


def test_subgroups_of_a_fitted_model():
    model = TREE.fit(X[:400], Y[:400])
    rows, y = X[400:], Y[400:]
    found = evaluate(model, rows, y, by=rows["menopause"], n_bootstraps=25)
    for group in found.groups:
        inside = (rows["menopause"] == group.name).to_numpy()
        alone = evaluate(model, rows[inside], y[inside], n_bootstraps=2)
        assert group["concordance"].value == pytest.approx(alone["concordance"].value)
    whole = evaluate(model, rows, y, n_bootstraps=25)
    assert found.measures == whole.measures
    named = rows.assign(event=y["event"], days=y["time"], site=CENTRE[400:])
    by_name = evaluate(model, named, ("event", "days"), by="site", n_bootstraps=2)
    assert [group.name for group in by_name.groups] == ["east", "north", "south"]
    assert "site" not in {column.name for column in by_name.columns}
    # A column that the model asks about stays in the table.
    assert evaluate(model, rows, y, by="menopause", n_bootstraps=25).groups == found.groups


def test_causes_are_judged_group_by_group():
    frame, y = load_melanoma()
    found = validate(
        CompetingRisksTree(1), frame, y, groups=np.arange(len(frame)) % 2, method="groups",
        n_bootstraps=3,
    )  # fmt: skip
    assert {one.cause for one in found.groups[0].measures} == {1, 2}


def test_groups_must_be_named():
    with pytest.raises(ValueError, match="say which, as groups=centre"):
        validate(TREE, X, Y, method="groups", n_bootstraps=2)


def test_the_spread_between_groups_is_that_of_dersimonian_and_laird():
    def group(value, error):
        limits = value - 1.959964 * error, value + 1.959964 * error
        return GroupPerformance("", 1, 1, (Measure("c", "c", value, *limits),))

    # Q = 18, less 2 degrees of freedom; the weights are 100 each.
    groups = [group(value, 0.1) for value in (0.2, 0.5, 0.8)]
    assert spread_between(groups, "c", 0.95) == pytest.approx(((18 - 2) / 200) ** 0.5, rel=1e-5)
    assert spread_between([group(0.5, 0.1), group(0.51, 0.1)], "c", 0.95) == 0
    assert np.isnan(spread_between(groups[:1], "c", 0.95))

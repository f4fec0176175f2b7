"""The table of leaves and the methods paragraph: the numbers of the tree, and nothing else."""

import csv
import io
import re

import numpy as np
import pandas as pd
import pytest

from surtree import (
    CompetingRisksTree,
    EffectTree,
    SurTree,
    SurTreeCV,
    arm_differences,
    confidence_band,
    leaf_curves,
    restricted_means,
    validate,
)
from surtree.datasets import load_gbsg2, load_lung, load_melanoma, load_rossi
from surtree.export import export_leaves, export_methods
from surtree.heuristics import ConditionalInferenceTree, GreedyTree
from surtree.outcomes.arm_effects import leaf_effects
from surtree.outcomes.incidence import (
    cause_limits,
    cause_theta,
    leaf_incidence,
    leaf_incidence_band,
)
from surtree.tree.leaf_curve import median_limits, theta_limits


def table(model, **options):
    return list(csv.DictReader(io.StringIO(export_leaves(model, "csv", **options))))


def number(cell):
    return float(cell) if cell else np.nan


@pytest.fixture(scope="module")
def model():
    return SurTree(max_depth=3).fit(*load_gbsg2())


@pytest.fixture(scope="module")
def trial():
    X, y = load_rossi()
    return EffectTree(max_depth=1, min_events_arm=5).fit(X, y, treatment=X.pop("financial_aid"))


def test_a_row_of_the_table_is_a_leaf_with_the_numbers_of_the_tree(model):
    tree = model.tree_
    rows = table(model, horizons=[500, 2500])
    curves = leaf_curves(model)
    assert [int(row["leaf"]) for row in rows] == tree.leaves.tolist()
    for row, curve in zip(rows, curves, strict=True):
        leaf = curve.leaf
        assert int(row["rows"]) == tree.n_samples[leaf]
        assert int(row["events"]) == tree.n_events[leaf]
        lower, upper = theta_limits(tree, leaf)
        assert (number(row["risk_lower"]), number(row["risk_upper"])) == (lower, upper)
        assert number(row["survival_500"]) == curve.survival(500)
        band = confidence_band(model, leaf)
        found = number(row["survival_500_lower"]), number(row["survival_500_upper"])
        assert found == (band[0](500), band[1](500))
        ends = np.isfinite(median_limits(tree, leaf))
        assert [bool(row["median_lower"]), bool(row["median_upper"])] == ends.tolist()
        if np.isfinite(curve.median):
            assert number(row["median"]) == curve.median
        # Nobody was followed up so long in some of the leaves.
        last = tree.risk[int(np.searchsorted(tree.leaves, leaf))].last_time
        assert bool(row["survival_2500"]) is (last >= 2500)
    assert {bool(row["survival_2500"]) for row in rows} == {True, False}


def test_a_leaf_without_events_has_a_limit_and_no_estimate(model):
    (row,) = (row for row in table(model) if row["events"] == "0")
    assert (row["note"], row["risk"], row["median"]) == ("no events", "", "")
    assert number(row["risk_upper"]) > 0
    line = next(line for line in export_leaves(model).splitlines() if " 0 |" in line)
    assert "at most" in line
    assert "not reached" in line


def test_rules_are_written_to_their_end():
    rng = np.random.default_rng(0)
    name = "a column | with *a* very <b>long</b> name that pictures would not write to its end"
    levels = [f"category number {k}" for k in range(10, 22)]
    X = pd.DataFrame({name: rng.choice(levels, 300)})
    time = np.where(X[name].isin(levels[:6]), 1.0, 5.0) + rng.random(300)
    model = SurTree(max_depth=1, max_categories=12).fit(X, time)
    rows = table(model)
    assert all(row["rule"].startswith(name) for row in rows)
    listed = {level for row in rows for level in levels if level in row["rule"]}
    assert len(listed) >= 6
    assert "…" not in "".join(row["rule"] for row in rows)
    lines = export_leaves(model).splitlines()
    bars = [len(re.findall(r"(?<!\\)\|", line)) for line in lines[:4]]
    assert len(set(bars)) == 1  # as many cells in each line, whatever a name contains
    assert r"\<b>" in lines[2]
    assert r"\*a\*" in lines[2]


def test_labels_and_units_are_used(model):
    text = export_leaves(
        model, labels={"tumor_size": "tumour size"}, units={"tumor_size": "mm"}, time_unit="days"
    )
    assert "tumour size > 22.5 mm" in text
    assert "tumor_size" not in text
    assert "survival at 1000 days (95% CI)" in text


def test_causes_have_columns_of_their_own():
    model = CompetingRisksTree(max_depth=2).fit(*load_melanoma())
    tree = model.tree_
    for place, row in enumerate(table(model, horizons=[1000, 3450])):
        leaf = int(row["leaf"])
        for cause in (1, 2):
            assert number(row[f"risk_{cause}_upper"]) == cause_limits(tree, leaf, cause)[1]
            if float(row[f"events_{cause}"]) > 0:
                assert number(row[f"risk_{cause}"]) == cause_theta(tree, cause)[leaf]
            curve, band = leaf_incidence(model, cause)[place], leaf_incidence_band(model, leaf, 1)
            assert number(row[f"incidence_{cause}_1000"]) == curve(1000)
            assert np.array_equal(
                [number(row["incidence_1_1000_lower"])], [band[0](1000)], equal_nan=True
            )
    assert "cause 2: incidence by 1000" in export_leaves(model, horizons=[1000])


def test_arms_have_hazard_ratios(trial):
    effects = {effect.leaf: effect for effect in leaf_effects(trial.tree_)}
    for row in table(trial, horizons=[20]):
        effect = effects[int(row["leaf"])]
        assert number(row["hazard_ratio_yes"]) == effect.ratio
        assert number(row["hazard_ratio_yes_upper"]) == effect.limits[1]
        assert (int(row["rows_yes"]), int(row["rows_no"])) == effect.n_samples
        assert 0 < number(row["survival_yes_20"]) <= 1


def test_a_single_leaf_is_a_table_too():
    model = SurTree(max_depth=0).fit(*load_lung())
    (row,) = table(model)
    assert row["rule"] == "all rows"
    assert float(row["risk"]) == pytest.approx(1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "html"}, "format must be one of"),
        ({"horizons": [-1.0]}, "horizons must be times"),
        ({"level": 1.5}, "level"),
    ],
)
def test_what_is_wrong_is_said(model, options, message):
    with pytest.raises(ValueError, match=message):
        export_leaves(model, **options)


def test_methods_say_what_was_done(model):
    text = export_methods(model, time_unit="days")
    paragraph, to_add, *references = text.rstrip("\n").split("\n\n")
    for said in (
        "686 rows with 299 events",
        "the last event was at 2456 days",
        "up to 10 thresholds a column",
        f"{len(model.encoder_.cuts_)} questions in all",
        "with depth at most 3, none has a smaller loss on these rows",
        "Size and shrinkage were parameters of the fit; surtree did not tune them.",
        "was not assessed",
        "max_depth=3",
    ):
        assert said in paragraph
    assert to_add.startswith("[Not known to the model")
    assert any("AAAI" in reference for reference in references)


def test_methods_of_a_tuned_model_say_what_was_tried_also_those_of_its_file(tmp_path):
    X, y = load_gbsg2()
    search = SurTreeCV(max_depth=2, cv=3, shrinkage=(1.0, 3.0)).fit(X, y)
    text = export_methods(search)
    assert "3 folds, stratified by events" in text
    assert "shrinkage of 1, 3 events" in text
    assert f"Harrell's C {search.held_out_.mean('concordance'):.3f}" in text
    assert "corrected for the choice of size" in text
    search.save(tmp_path / "model.json")
    loaded = SurTree.load(tmp_path / "model.json")
    chosen = "The number of splits, the depth and the shrinkage were chosen by cross-validation ("
    for said in (text, export_methods(loaded)):
        assert f"{chosen}3 folds, stratified by events, drawn with the seed 0; trees of" in said
    loaded.tuning_ = None  # as in a file that was written before
    assert "which values of shrinkage were tried is not recorded" in export_methods(loaded)
    search.validation_ = validate(search, X, y, n_bootstraps=3)
    text = export_methods(search)
    assert "Internal validation by 3 bootstrap samples" in text
    assert f"{search.validation_['concordance'].value:.3f}" in text
    assert "corrected for the choice of size" not in text


def test_methods_claim_no_proof_where_there_is_none(model, trial, tmp_path):
    X, y = load_gbsg2()
    for heuristic in (GreedyTree(2), ConditionalInferenceTree(2)):
        text = export_methods(heuristic.fit(X, y))
        assert "nothing is proven" in text
        assert "minimises" not in text
        assert "AAAI" not in text
    assert "How the tree was found is not recorded." in export_methods(model.tree_)
    with pytest.warns(match="time limit"):
        stopped = SurTree(max_depth=6, n_thresholds=None, time_limit=0.01).fit(X, y)
    assert "was not completed: the time limit ended the search" in export_methods(stopped)
    path = tmp_path / "model.json"
    model.save(path)
    path.write_text(path.read_text().replace('"max_depth": 3', '"max_depth": 4', 1))
    edited = SurTree.load(path)
    assert edited.status_ == "edited"
    assert "Nothing is proven about the tree: the file" in export_methods(edited)
    assert "Whether size and shrinkage were tuned is not recorded." in export_methods(edited)
    assert "The model holds no test of whether effects differ" in export_methods(trial)
    assert "at least 5 events in each arm of a leaf" in export_methods(trial)


def test_methods_name_missing_values_and_causes():
    text = export_methods(SurTree(max_depth=1).fit(*load_lung()))
    assert "Values were missing in the columns" in text
    assert "none was imputed" in text
    model = CompetingRisksTree(max_depth=1, causes=[1]).fit(*load_melanoma())
    text = export_methods(model)
    assert "57 of cause 1 and 14 of cause 2" in text
    assert "summed over cause 1." in text


def test_methods_define_each_measure_with_its_range_reference_unit_and_seed():
    X, y = load_gbsg2()
    model = SurTree(max_depth=1).fit(X, y)
    model.validation_ = validate(model, X, y, n_bootstraps=20, random_state=7, horizons=[700])
    text = export_methods(model, time_unit="days")
    assert "The median follow-up was 1645 days (quartiles 1100 and 1976; reverse" in text
    assert "Censoring is taken to be independent of the event among the rows of a leaf" in text
    assert (
        "20 bootstrap samples (.632+ rule; .632 for the Brier score and mean calibration; Efron "
        "and Tibshirani, 1997), drawn with the seed 7" in text
    )
    end = np.quantile(y["time"], 0.9)
    assert f"Uno's C before {end:g} days 0." in text
    assert "predicted - observed survival at 700 days" in text
    assert "divided by that of the Kaplan-Meier curve of all training rows" in text
    assert "integrated between the 10% and 90% quantiles of the times" in text
    cited = ("Harrell FE", "Uno H", "Graf E", "Efron B", "Schemper M", "Huisman T", "LeBlanc M")
    for author in cited:
        assert text.count(f"\n\n{author}") == 1
    alone = export_methods(model.tree_)
    assert not any(f"\n\n{author}" in alone for author in cited[:5])


def test_methods_say_why_a_measure_is_missing():
    X, y = load_gbsg2()
    start = np.where(np.arange(len(y)) % 2, y["time"] / 2, 0.0)
    person = np.arange(len(y)) // 2
    time = np.where(start > 0, y["time"] + 5000, y["time"])
    start = np.where(start > 0, 5000.0, 0.0)
    model = SurTreeCV(max_depth=1, cv=3).fit(X, (y["event"], time), entry=start, id=person)
    text = export_methods(model)
    assert "Harrell's C 0." in text
    assert "reduction of the Brier score: not estimable: " in text
    assert "needs one prediction for each person." in text
    assert "Graf E" not in text


def test_restricted_means_are_columns_of_their_own(model, trial):
    means = restricted_means(model, 1500)
    rows = table(model, horizons=[], restricted_mean=1500)
    assert [number(row["restricted_mean"]) for row in rows] == [one.value for one in means[:-1]]
    assert number(rows[0]["restricted_mean_upper"]) == means[0].limits[1]
    rows = table(trial, horizons=[], restricted_mean=40)
    gains = arm_differences(trial, 40)[:-1]
    assert [number(row["mean_gained_yes"]) for row in rows] == [one.mean for one in gains]
    assert number(rows[1]["survival_gained_yes_lower"]) == gains[1].survival_limits[0]
    assert number(rows[1]["needed_to_treat_yes"]) == gains[1].needed_to_treat
    assert {"restricted_mean_yes", "restricted_mean_no"} <= rows[0].keys()
    text = export_leaves(trial, horizons=[], restricted_mean=40, time_unit="weeks")
    assert "number needed to treat, yes over no by 40 weeks (95% CI)" in text
    assert gains[0].needed_text in text
    X, y = load_melanoma()
    lost = export_leaves(CompetingRisksTree(max_depth=1).fit(X, y), restricted_mean=2000)
    assert "mean time lost to cause 1 by 2000 (95% CI)" in lost

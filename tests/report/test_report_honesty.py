"""What a page says of new rows, of its questions, and of where it comes from."""

import re
from dataclasses import replace
from datetime import date
from importlib.metadata import version

import numpy as np
import pandas as pd
import pytest
from test_report_page import data_of, text_of

from surtree import SurTree, SurTreeCV, audit_tree, leaf_curves
from surtree.datasets import load_gbsg2, load_lung
from surtree.heuristics import GreedyTree
from surtree.report import write_report
from surtree.report._page import page_html
from surtree.report._validation import scores_of, validation_html
from surtree.summary.findings import read_findings
from surtree.validation.held_out import HeldOutScores
from surtree.words.numbers import number


@pytest.fixture(scope="module")
def table():
    return load_gbsg2(backend="pandas")


@pytest.fixture(scope="module")
def tuned(table):
    return SurTreeCV(max_depth=2, cv=3).fit(*table)


def scores(loss, without=(0.7, 0.72, 0.74), **others):
    values = {"concordance": (0.6, 0.62, 0.64), "brier": (0.05, 0.06, 0.07)} | others
    return HeldOutScores(
        np.array(loss), np.array(without), *(np.array(values[name]) for name in values), True
    )


# How well it predicts.


def test_held_out_figures_come_first_after_the_tree(tuned, tmp_path):
    said = text_of(tuned, tmp_path)
    held_out = tuned.held_out_
    start = said.index("How well does it predict?")
    assert said.index("The tree") < start < said.index("Is a better tree possible?")
    shown = said[start : said.index("Why this size?")]
    c, error = held_out.mean("concordance"), held_out.standard_error("concordance")
    assert f"{c:.3f} ± {error:.3f}" in shown
    assert "of two people, how often the one with the higher predicted risk has the event" in shown
    assert "0.5 is chance" in shown
    assert f"{held_out.mean('brier'):.1%} ± {held_out.standard_error('brier'):.1%}" in shown
    assert f"{held_out.mean('loss_without_tree'):.4f} without a tree" in shown
    assert "a mean over 3 folds of rows that the trees had not seen" in shown
    assert "corrected for the choice of size" in shown
    assert "Not validated" not in said


def test_held_out_figures_stay_with_a_model_in_a_file(tuned, tmp_path):
    tuned.best_estimator_.save(tmp_path / "model.json")
    said = text_of(SurTree.load(tmp_path / "model.json"), tmp_path)
    assert f"{tuned.held_out_.mean('concordance'):.3f} ±" in said
    assert "Why this size?" in said


def test_a_model_without_held_out_rows_says_so_and_names_the_command(table, tmp_path):
    said = text_of(SurTree(max_depth=2).fit(*table), tmp_path)
    assert "Not validated: nothing is known about new data." in said
    assert "Run surtree fit with --validate, or set model.validation_" in said
    assert "(in sample)" in said
    greedy = text_of(GreedyTree(max_depth=2).fit(*table), tmp_path)
    assert "Not validated" in greedy
    assert "cross_val_score(model, X, y)" in greedy
    assert "surtree fit" not in greedy


@pytest.mark.parametrize(
    ("loss", "good", "words"),
    [
        ((0.6, 0.62, 0.64), True, "Predicts new data better than no tree"),
        # Smaller, but not by more than 1.2 standard errors of the differences.
        ((0.6, 0.75, 0.74), False, "Not clearly better than no tree"),
        ((0.8, 0.82, 0.84), False, "Not clearly better than no tree"),
    ],
)
def test_a_tree_that_does_not_beat_no_tree_is_amber(table, loss, good, words):
    found = read_findings(SurTree(max_depth=2).fit(*table))
    said = validation_html(replace(found, held_out=scores(loss)))
    assert f'data-good="{str(good).lower()}"' in said
    assert words in said


def test_a_single_leaf_that_was_chosen_is_a_finding(table):
    found = read_findings(SurTree(max_depth=0).fit(*table))
    same = (0.7, 0.72, 0.74)
    said = validation_html(replace(found, held_out=scores(same, same)))
    assert "No tree was better than none" in said
    assert 'data-good="false"' in said


def test_scores_that_cannot_be_computed_are_left_out():
    nothing = (np.nan,) * 3
    terms = [score.term for score in scores_of(scores((0.6, 0.6, 0.6), brier=nothing))]
    assert terms == ["concordance (Harrell's C)", "held-out loss per row"]
    (loss,) = scores_of(scores((0.6,), (0.7,), concordance=nothing, brier=nothing))
    assert loss.figure == "0.6000"  # one fold has no standard error


# The certificate.


def test_the_certificate_names_every_threshold_and_the_shrinkage(table, tmp_path):
    X, y = table
    model = SurTree(max_depth=1, n_thresholds=None, shrinkage=2.0)
    said = text_of(model.fit(X[["age", "tumor_size"]], y), tmp_path)
    assert "Questions to choose from: every threshold; " in said
    assert "categories" not in said.split("Questions to choose from")[1].split(".")[0]
    assert "a shrinkage of 2 events" in said


def test_an_unfinished_search_is_not_called_the_best_of_every_size(table, tmp_path):
    found = read_findings(SurTree(max_depth=3).fit(*table))
    whole = page_html(found, title="", horizons=None, level=0.95)
    assert "The best tree of every size" in whole
    ended = replace(found.certificate, status="time_limit", gap=0.1, lower_bound=1.0)
    sizes = tuple(replace(size, lower_bound=0.9 * size.loss) for size in found.sizes)
    page = page_html(
        replace(found, certificate=ended, sizes=sizes), title="", horizons=None, level=0.95
    )
    assert "The best tree of every size" not in page
    assert "The best trees found so far" in page


def test_a_search_that_tried_no_split_says_so(table, tmp_path):
    model = SurTree(max_depth=3).fit(*table)
    model.path_, model.status_, model.gap_, model.lower_bound_ = model.path_[:1], "time_limit", 1, 0
    model.tree_ = model.path_[0].tree
    said = text_of(model, tmp_path)
    assert "Very likely. Stopped before any split was tried" in said
    assert "every size" not in said


# The groups.


def test_curves_are_named_and_said_to_be_chosen_on_these_rows(table, tmp_path):
    said = text_of(SurTree(max_depth=2).fit(*table), tmp_path)
    assert "The groups were chosen on these rows: in new data their curves will lie closer" in said
    assert "what the tree predicts: the hazard of all rows, times the relative risk" in said
    single = text_of(SurTree(max_depth=0).fit(*table), tmp_path)
    assert "The groups were chosen on these rows" not in single


def test_the_table_of_groups_has_rules_numbers_and_survival(table, tmp_path):
    X, y = table
    model = SurTree(max_depth=3).fit(X, y)
    said = text_of(model, tmp_path, time_unit="days").split("The groups in numbers")[1]
    for rule in model.tree_.rules():
        assert f" {rule.name} " in said
    assert "relative risk (95% CI)" in said
    assert "time in days" in said
    leaf = next(rule for rule in model.tree_.rules() if rule.n_events == 0)
    rows = f"{leaf.n_samples} 0 ≤ "
    assert rows in said
    few = next(rule for rule in model.tree_.rules() if 0 < rule.n_events < 10)
    assert f"{few.n_samples} {few.n_events} (few)" in said


@pytest.mark.parametrize("kind", ["kaplan-meier", "shrunk"])
def test_every_kind_of_curve_has_its_name_and_its_numbers(table, tmp_path, kind):
    X, y = table
    model = SurTree(max_depth=3, leaf_curve=kind, shrinkage=2.0).fit(X, y)
    said = text_of(model, tmp_path)
    words = {"kaplan-meier": "the Kaplan-Meier estimate of the rows", "shrunk": "drawn towards"}
    assert words[kind] in said
    for node, leaf in data_of(model, tmp_path)["leaves"].items():
        (curve,) = (curve for curve in leaf_curves(model) if curve.leaf == int(node))
        for row in leaf["horizons"]:
            assert row["survival"] == pytest.approx(curve.survival(float(row["time"])), abs=1e-4)
        # What is observed is drawn apart from what is predicted, unless it is the same.
        assert (leaf["observed"] is None) is (kind == "kaplan-meier")
        assert len(leaf["censored"]) > 0


def test_a_leaf_without_events_has_no_digits_of_risk(table, tmp_path):
    X, y = table
    model = SurTree(max_depth=3).fit(X, y)
    (group,) = (group for group in model.tree_.outcome.groups if group.note == "no events")
    data = data_of(model, tmp_path)
    most = number(model.tree_.outcome.together(group).theta_limits[1], 3)
    figures = data["nodes"][group.node]["figures"]
    assert figures[0] == ["relative risk", f"≤ {most}", "no events"]
    text = data["leaves"][str(group.node)]["text"]
    assert text.startswith(f"no events: relative risk at most {most}; median survival")
    assert number(group.theta, 3) not in text


def test_rows_at_risk_are_known_between_events_too(table, tmp_path):
    X, y = table
    model = SurTree(max_depth=2).fit(X, y)
    leaves = model.apply(X)
    horizons = [365.0, 366.5, 1234.0]
    for node, leaf in data_of(model, tmp_path, horizons=horizons)["leaves"].items():
        for row in leaf["horizons"]:
            low = int(row["atRisk"].removeprefix("at least "))
            truth = np.sum(y["time"][leaves == int(node)] >= float(row["time"]))
            assert low <= truth < low + 5
            assert "at least" in row["atRisk"] or low == truth


def test_no_row_of_a_table_is_about_nobody(table, tmp_path):
    X, y = table
    model = SurTree(max_depth=3).fit(X, y)
    leaves = model.apply(X)
    for node, leaf in data_of(model, tmp_path)["leaves"].items():
        last = y["time"][leaves == int(node)].max()
        assert all(float(row["time"]) <= last for row in leaf["horizons"])
        assert all(row["atRisk"] != "0" for row in leaf["horizons"])


# Labels and units.


def test_labels_and_units_are_used_wherever_a_person_reads(table, tmp_path):
    X, y = table
    model = SurTree(max_depth=3).fit(X, y)
    labels = {"positive_nodes": "positive <lymph> nodes", "unknown": "of no column"}
    units = {"tumor_size": "mm", "tumor_grade": "no unit of a category"}
    page = write_report(model, tmp_path / "p.html", labels=labels, units=units).read_text("utf-8")
    assert "positive_" not in page
    assert "<lymph>" not in page
    text = re.sub(r"<wbr>|<[^>]+>", "", page).replace("\u00a0", " ")
    assert "positive &lt;lymph&gt; nodes &lt;= 3" in text
    assert "tumor_size &gt; 22.5 mm" in text
    assert "3 to 120 mm in training" in text
    assert re.search(r"above 12, .*57 mm \(3 to 120\)", text)
    assert "no unit of a category" not in page
    said = data_of(model, tmp_path, labels=labels, units=units)
    assert said["fields"][0]["name"] == "positive <lymph> nodes"
    assert any("22.5\u00a0mm" in node["rule"] for node in said["nodes"])


def test_labels_are_used_for_the_questions_of_an_audit(table, tmp_path):
    X, y = table
    found = audit_tree(GreedyTree(max_depth=3).fit(X, y), X, y)
    said = text_of(found, tmp_path, labels={"positive_nodes": "lymph nodes"})
    assert "positive_nodes" not in said
    assert "lymph nodes &gt; 3" in said


@pytest.mark.parametrize("wrong", [{"labels": ["age"]}, {"units": {"age": 5}}, {"labels": "age"}])
def test_labels_must_be_texts(table, tmp_path, wrong):
    model = SurTree(max_depth=1).fit(*table)
    with pytest.raises(TypeError, match=f"{next(iter(wrong))} must be a mapping from names"):
        write_report(model, tmp_path / "page.html", **wrong)


# Where a page comes from.


def test_the_foot_of_a_page_says_how_it_was_made(table):
    X, y = table
    model = SurTree(max_depth=2, min_events_leaf=3, n_jobs=2).fit(X, y)
    page = page_html(
        read_findings(model), title="", horizons=None, level=0.95, today=date(2024, 2, 29)
    )
    said = re.sub(r"<[^>]+>", " ", page[page.index("How this page was made") :])
    said = " ".join(said.split())
    assert f"2024-02-29 with surtree {version('surtree')}" in said
    n_cuts = len(model.encoder_.cuts_)
    assert f"686 rows, 299 events; {n_cuts} candidate questions, {299 / n_cuts:.2g} events" in said
    assert "max_depth=2" in said
    assert "min_events_leaf=3" in said
    assert "n_jobs" not in said
    assert "missing values none in the columns of questions" in said


def test_missing_values_are_counted_by_column(tmp_path):
    X, y = load_lung(backend="pandas")
    model = SurTree(max_depth=2).fit(X, y)
    incomplete = sum(X[name].isna().any() for name in X)
    assert incomplete > 2
    assert f"in {incomplete} columns (" in text_of(model, tmp_path)


def test_folds_of_the_user_do_not_fill_the_foot(table, tmp_path):
    X, y = table
    half = np.arange(len(y)) % 2 == 0
    folds = [(np.flatnonzero(half), np.flatnonzero(~half))]
    search = SurTreeCV(max_depth=1, cv=folds).fit(X, y)
    said = text_of(search, tmp_path).split("How this page was made")[1]
    assert len(said) < 1500


def test_weights_are_said_to_be_repeated_rows(table, tmp_path):
    X, y = table
    said = text_of(SurTree(max_depth=1).fit(X, y, np.full(len(y), 2.0)), tmp_path)
    assert "counted as repeated rows (frequency weights)" in said


def test_an_empty_category_has_a_name(tmp_path):
    rng = np.random.default_rng(0)
    site = pd.Categorical(rng.choice(["A", "B", "C"], 300))
    time = rng.exponential(1 + 3.0 * (site == "B")) + 0.1
    model = SurTree(max_depth=1).fit(pd.DataFrame({"site": site}), time)
    cuts = tuple(replace(cut, known=("A", "", "B")) for cut in model.tree_.cuts)
    said = text_of(replace(model.tree_, cuts=cuts), tmp_path)
    assert "(empty text)" in said
    assert "another or unknown" in said

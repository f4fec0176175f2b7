"""What a page says of a validation: the figures of new rows, pictures, and stability."""

import re
from dataclasses import replace

import numpy as np
import pytest
from test_report_page import text_of

from surtree import BeyondFollowUpWarning, SurTree, SurTreeCV, validate
from surtree.datasets import load_gbsg2
from surtree.report import write_report
from surtree.report._resampled import curves_html, stability_html
from surtree.report._validation import validation_html
from surtree.summary.findings import read_findings
from surtree.validation.verdict import prediction_verdicts

X, Y = load_gbsg2(backend="pandas")


@pytest.fixture(scope="module")
def found():
    return validate(SurTreeCV(max_depth=2, cv=3), X, Y, n_bootstraps=20)


def page_of(model, validation):
    """Return the part of a page about new rows."""
    return validation_html(replace(read_findings(model), validation=validation))


@pytest.fixture
def model(found):
    fitted = SurTreeCV(max_depth=2, cv=3).fit(X, Y)
    fitted.validation_ = found
    return fitted


def test_corrected_figures_come_before_those_of_its_own_rows(model, found, tmp_path):
    said = text_of(model, tmp_path)
    shown = said[said.index("How well does it predict?") : said.index("Why this size?")]
    one = found["concordance"]
    assert f"{one.value:.2f} ({one.lower:.2f} to {one.upper:.2f})" in shown
    assert f"{one.apparent:.2f} on the rows it was fitted on" in shown
    assert f"{found['brier'].value:.1%}" in shown
    assert "was repeated on 20 samples of the rows" in shown
    slope = found["calibration_slope"]
    limits = f"({slope.lower:.2f} to {slope.upper:.2f})"
    assert f"calibration slope {slope.value:.2f} {limits} {slope.apparent:.2f} on the" in shown
    assert "±" not in shown  # the figures of folds are less honest, and not shown beside these
    assert "Predicts new data better than no tree" in shown


def test_a_saved_model_has_the_same_page(model, tmp_path):
    model.save(tmp_path / "model.json")
    loaded = text_of(SurTree.load(tmp_path / "model.json"), tmp_path)
    start, end = "How well does it predict?", "The groups in numbers"
    said = text_of(model, tmp_path)
    assert (
        loaded[loaded.index(start) : loaded.index(end)] == said[said.index(start) : said.index(end)]
    )


def test_stability_is_told_in_words(model, found):
    said = re.sub(r"<[^>]+>", " ", stability_html(read_findings(model)))
    first = max(found.columns, key=lambda use: use.first)
    assert f"Of 20 trees of samples, {first.first:.0%} ask about {first.name} first" in said
    assert f"{100 * found.instability:.0f} percentage points" in said
    for leaf in found.leaves:
        assert leaf.words in said
        assert f"{leaf.jaccard:.0%} agreement" in said


def test_pictures_have_a_point_for_each_group(model, found):
    html = curves_html(model.validation_, None)
    known = np.isfinite(found.calibration.observed).sum()
    assert html.count('class="point"') == known
    assert html.count("<svg") == 2
    assert "nan" not in html
    no_decision = replace(found, decision=None)
    model.validation_ = no_decision
    assert curves_html(model.validation_, None).count("<svg") == 1
    model.validation_ = replace(no_decision, calibration=None)
    assert curves_html(model.validation_, None) == ""
    model.validation_ = None
    assert curves_html(model.validation_, None) == stability_html(read_findings(model)) == ""


def test_chance_is_called_chance(model, found):
    bad = tuple(replace(one, value=-0.01) if one.name == "brier" else one for one in found.measures)
    said = page_of(model, replace(found, measures=bad))
    assert "Not better than no tree" in said
    assert 'data-good="false"' in said
    rng = np.random.default_rng(2)
    noise, y = rng.normal(size=(120, 5)), rng.exponential(size=120)
    fitted = SurTree(max_depth=2).fit(noise, y)
    said = page_of(fitted, validate(fitted, noise, y, n_bootstraps=20))
    assert "Not clearly better than chance" in said
    assert 'data-good="false"' in said


def test_late_entries_have_all_figures_and_parts_of_persons_say_which_they_lack():
    entry = np.where(np.arange(len(Y)) % 3, 0.0, Y["time"] / 2)
    fitted = SurTree(max_depth=1).fit(X, Y, entry=entry)
    said = page_of(fitted, validate(fitted, X, Y, entry=entry, n_bootstraps=20))
    assert (
        "Its concordance (Harrell&#x27;s C) is above 0.5 by more than 2.5 standard errors" in said
    )
    assert "reduction of the integrated Brier score" in said
    assert "not estimable" not in said
    is_second, person = np.arange(len(Y)) % 2 > 0, np.arange(len(Y)) // 2
    start = np.where(is_second, 5000.0, 0.0)
    y = Y["event"], Y["time"] + start
    given = {"entry": start, "id": person}
    found = validate(fitted, X, y, **given, n_bootstraps=20)
    said = page_of(SurTree(max_depth=1).fit(X, y, **given), found)
    assert "concordance (Harrell&#x27;s C)" in said
    assert "Uno&#x27;s C up to" in said
    assert "not estimable: 686 of 686 rows are parts of persons" in said
    assert "nan" not in said


def test_a_lower_level_is_no_easier_verdict():
    rng = np.random.default_rng(2)
    noise, y = rng.normal(size=(120, 5)), rng.exponential(size=120)
    lucky = validate(SurTree(max_depth=2), noise, y, n_bootstraps=20, level=0.5)
    assert lucky["concordance"].lower > 0.5
    (verdict,) = prediction_verdicts(lucky, None, 3)
    assert verdict.heading == "Not clearly better than chance"


def test_the_optimism_bootstrap_gives_no_verdict(found):
    (verdict,) = prediction_verdicts(replace(found, method="optimism"), None, 3)
    assert str(verdict).startswith("Not known to be better than no tree. The optimism bootstrap")


def test_few_samples_give_no_verdict(model):
    few = validate(SurTree(max_depth=1), X, Y, n_bootstraps=2)
    said = page_of(model, few)
    assert "Not known to be better than no tree" in said
    assert "has no interval: 20 samples must have a value, and 2 have." in said
    assert 'data-good="false"' in said
    assert "nan" not in said


def test_a_horizon_beyond_the_follow_up_is_no_number_of_the_page(model, tmp_path):
    with pytest.warns(BeyondFollowUpWarning):
        model.validation_ = validate(SurTree(max_depth=1), X, Y, n_bootstraps=20, horizons=[9000])
    said = text_of(model, tmp_path)
    shown = said[said.index("How well does it predict?") : said.index("Why this size?")]
    assert "not estimable: 9000 is after the last follow-up of the training rows, 2659." in shown
    assert "nan" not in shown


@pytest.mark.parametrize("width", [360, 820, 1600])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_cut_off(visit, model, tmp_path, width, scheme):
    labels = {"positive_nodes": "number of positive axillary lymph nodes at surgery"}
    page = visit(
        write_report(model, tmp_path / "page.html", time_unit="days", labels=labels),
        width=width,
        color_scheme=scheme,
    )
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    charts = page.locator("#validation .chart")
    assert charts.count() == 2
    for place in range(2):
        box = charts.nth(place).bounding_box()
        assert box["width"] > 200
        for text in charts.nth(place).locator("text").all():
            inside = text.bounding_box()
            assert inside["x"] >= box["x"] - 1
            assert inside["x"] + inside["width"] <= box["x"] + box["width"] + 1
    assert "number of positive axillary lymph nodes" in page.locator("#validation").inner_text()

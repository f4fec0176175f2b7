"""Figures that rows cannot give are not numbers, and what is printed says why."""

import re
import warnings

import numpy as np
import polars as pl
import pytest

from surtree import (
    BeyondFollowUpWarning,
    CompetingRisksTree,
    SurTree,
    SurTreeBayes,
    SurTreeCV,
    evaluate,
    validate,
)
from surtree.datasets import load_gbsg2
from surtree.export import export_methods
from surtree.heuristics import GreedyTree
from surtree.metrics import calibration, calibration_slope, decision_curve
from surtree.report import write_report

X, Y = load_gbsg2()  # followed to 2659 days
LATER = (np.arange(100) % 2 == 0, np.linspace(5000, 9000, 100))


@pytest.fixture(scope="module")
def model():
    return SurTree(max_depth=2).fit(X, Y)


def test_rows_after_the_follow_up_of_the_model_have_no_predicted_survival(model):
    with pytest.warns(
        BeyondFollowUpWarning, match="horizon 7000 is after the last .* 2659: nobody"
    ):
        found = evaluate(model, X.head(100), LATER, horizons=[7000])
    for name in ("brier", "calibration_slope", "calibration_at_7000"):
        assert np.isnan([found[name].value, found[name].lower, found[name].upper]).all()
        assert "after the last follow-up of the training rows, 2659" in found[name].reason
    assert (found.calibration, found.decision) == (None, None)
    for leaf in found.leaves:
        assert np.isnan(leaf.predicted).all()
        assert leaf.ratio == 0  # all events are later than what the leaf can expect
    assert found.n_events_after == found.n_events == 50
    text = str(found)
    assert "nan" not in text
    assert (
        "calibration slope, predicted - observed survival at 7000, AUC at 7000, "
        "Uno's C up to 7000, ICI at 7000, E50 at 7000, E90 at 7000: not estimable: 7000 is after "
        "the last follow-up of the training rows, 2659"
    ) in text
    assert "observed / expected: without 50 events after 2659" in text


def test_a_horizon_that_the_rows_do_not_reach_is_not_estimable(model):
    short = Y["time"] < 1500
    with pytest.warns(BeyondFollowUpWarning, match="after the last follow-up of these rows, 1499"):
        found = evaluate(model, X[short], Y[short], horizons=[1000, 2000])
    assert np.isfinite(found["calibration_at_1000"].value)
    assert found["calibration_at_2000"].reason == (
        "no rows are at risk at 2000; the last follow-up is at 1499"
    )
    assert "- observed: no row of the leaf is at risk at 2000" in str(found)
    assert "nan" not in str(found)


def test_rows_that_enter_after_the_end_of_the_model_expect_nothing(model):
    with pytest.warns(BeyondFollowUpWarning):
        found = evaluate(model, X.head(100), LATER, entry=np.full(100, 4000.0), horizons=[3000])
    assert all(np.isnan(leaf.ratio) for leaf in found.leaves)
    # Before the first of them enters, nobody is at risk: survival is unknown, and not one.
    assert np.isnan([leaf.observed for leaf in found.leaves]).all()
    assert "nan" not in str(found)


def test_a_validation_beyond_the_follow_up_says_so():
    with pytest.warns(BeyondFollowUpWarning, match="horizon 5000 is after") as caught:
        found = validate(SurTree(max_depth=1), X, Y, n_bootstraps=20, horizons=[1000, 5000])
    assert [warning.filename for warning in caught] == [__file__]
    assert np.isfinite(found["calibration_at_1000"].value)
    assert np.isnan(found["calibration_at_5000"].value)
    assert np.isnan(found["calibration_slope"].value)
    assert (found.calibration, found.decision) == (None, None)
    assert np.isnan(found.instability)
    assert "-: 5000 is after the last follow-up" in str(found)
    assert "nan" not in str(found)


def test_a_known_horizon_needs_no_warning(model):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = evaluate(model, X, Y, horizons=[2000])
    distances = {f"{kind}_at_2000" for kind in ("ici", "e50", "e90")}
    assert {one.name for one in found.measures if one.reason} == distances
    assert all(np.isfinite(one.value) for one in found.measures)


@pytest.mark.parametrize("metric", [calibration, decision_curve])
def test_a_metric_refuses_a_horizon_that_nobody_was_followed_to(model, metric):
    curves = model.predict_survival_function(X.head(100))
    with pytest.raises(
        ValueError, match="7000 is past 2659, the last follow-up that the predicted"
    ):
        metric(LATER, curves, 7000)
    with pytest.raises(ValueError, match="horizon 9500 is past the last time, 9000"):
        metric(LATER, np.full(100, 0.5), 9500)


# The slope


@pytest.mark.parametrize("distance", [1e-3, 0.1, 0.8])
@pytest.mark.parametrize("reverse", [False, True])
def test_the_slope_of_two_rows_is_not_the_end_of_a_search(distance, reverse):
    survival = np.array([0.1, 0.1 + distance])
    times = np.array([2.0, 1.0]) if reverse else np.array([1.0, 2.0])
    assert np.isnan(calibration_slope((np.array([True, True]), times), survival))


def test_a_steep_slope_of_close_predictions_is_found():
    rng = np.random.default_rng(0)
    x = rng.normal(size=500)
    y = np.full(500, True), rng.exponential(np.exp(-x))
    assert calibration_slope(y, np.exp(-np.exp(x / 1000))) == pytest.approx(
        1000 * calibration_slope(y, np.exp(-np.exp(x))), rel=0.01
    )


def test_an_evaluation_of_two_rows_says_what_it_cannot_estimate(model):
    found = evaluate(model, X.head(2), Y[:2])
    assert np.isnan(found["calibration_slope"].value)
    text = str(found)
    assert "calibration slope: not estimable: the events come in the very order of the" in text
    assert re.search(
        "Harrell's C, Uno's .*, reduction of the Brier score.*: no interval: the samples do", text
    )
    assert "-50" not in text
    assert "nan" not in text


# Intervals


def test_one_sample_gives_no_interval():
    found = validate(SurTree(max_depth=1), X, Y, n_bootstraps=1)
    one = found["concordance"]
    assert np.isnan([one.lower, one.upper]).all()
    text = str(found)
    assert text.startswith("1 bootstrap sample, .632+ rule ")
    assert "no interval: 20 samples must have a value, and 1 has" in text
    assert "-: fewer than 20 samples have a value" in text
    with pytest.raises(
        ValueError, match="needs the models of 20 samples, and there is 1: validate"
    ):
        found.survival_interval(X.head(1), [500])


def test_twenty_samples_give_an_interval_and_nineteen_do_not(model):
    assert np.isnan(evaluate(model, X, Y, n_bootstraps=19)["concordance"].lower)
    one = evaluate(model, X, Y, n_bootstraps=20)["concordance"]
    assert one.lower < one.value < one.upper


def test_draws_of_folds_give_an_interval_of_one_repetition():
    found = validate(SurTree(max_depth=1), X, Y, n_bootstraps=1, method="folds")
    assert str(found).startswith("1 repetition of folds ")
    assert found["concordance"].lower < found["concordance"].upper


def test_a_saved_validation_keeps_its_reasons(model, tmp_path):
    fitted = SurTree(max_depth=1).fit(X, Y)
    fitted.validation_ = validate(fitted, X, Y, n_bootstraps=2)
    fitted.save(tmp_path / "model.json")
    loaded = SurTree.load(tmp_path / "model.json").validation_
    assert str(loaded) == str(fitted.validation_)
    assert "20 samples must have a value" in loaded["brier"].reason


def test_no_rows_are_named_as_such(model):
    with pytest.raises(ValueError, match="There are no rows: at least one row with an event"):
        evaluate(model, X.head(0), Y[:0])


def test_net_benefit_ends_where_the_follow_up_of_treated_rows_does():
    time = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    y, survival = (np.array([True, True, False, True, False]), time), [0.2, 0.3, 0.4, 0.9, 0.9]
    found = decision_curve(y, survival, 3.5, thresholds=[0.05, 0.5, 0.65])
    # Of those with a risk of one half, nobody is followed beyond 3; the two others have died.
    assert np.isnan(found.model).tolist() == [False, True, False]
    assert found.model[2] == pytest.approx(2 / 5)
    assert np.isfinite(found.treat_all).all()


def test_a_single_fold_has_no_standard_error_and_says_so():
    folds = [(np.arange(400), np.arange(400, 686))]
    search = SurTreeCV(max_depth=1, cv=folds).fit(X, Y)
    assert "std. error: a single fold has none" in str(search.held_out_)
    for text in (str(search.held_out_), str(search.sizes_), export_methods(search)):
        assert "nan" not in text


def test_net_benefit_that_is_missing_is_told_on_the_page(tmp_path):
    time = np.where(X["positive_nodes"] > 3, np.minimum(Y["time"], 600), Y["time"])
    y = Y["event"] & (time == Y["time"]), time
    fitted = SurTree(max_depth=1, thresholds={"positive_nodes": [3]}).fit(X[["positive_nodes"]], y)
    fitted.validation_ = validate(fitted, X[["positive_nodes"]], y, n_bootstraps=20, horizons=[800])
    said = fitted.validation_.decision.missing
    assert said.startswith("no net benefit at thresholds from 0.")
    assert said.endswith("none was followed to 800")
    write_report(fitted, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert f"The line has a gap: {said}." in page
    assert "NaN" not in page.split("Is it worth acting on?")[1].split("</figure>")[0]


# Left truncation


EARLY = np.array([0.0, *np.linspace(1, 2, 60)])
AFTER = (np.arange(61) % 3 != 1, np.array([0.5, *np.linspace(3, 9, 60)]))
COLUMN = np.arange(61.0)[:, None] % 7


@pytest.mark.parametrize(
    "estimator",
    [
        SurTree(max_depth=1),
        SurTreeCV(max_depth=1, cv=3),
        SurTreeBayes(1, 2),
        GreedyTree(1),
        CompetingRisksTree(max_depth=1),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_a_first_row_that_dies_alone_is_told(estimator):
    with pytest.warns(
        UserWarning, match=r"All rows at risk at 0\.5 have their event then"
    ) as caught:
        estimator.fit(COLUMN, AFTER, entry=EARLY)
    assert [warning.filename for warning in caught] == [__file__]
    # The remedy that it names: from 2 on all others are at risk.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        y = AFTER[0][1:], AFTER[1][1:]
        fitted = estimator.fit(COLUMN[1:], y, entry=np.maximum(EARLY[1:], 2))
    if hasattr(fitted, "predict_median"):
        assert fitted.predict_median(COLUMN[1:]).min() > 3


def test_a_lazy_table_whose_first_row_dies_alone_is_told(tmp_path):
    frame = pl.DataFrame({"x": COLUMN[:, 0], "event": AFTER[0], "time": AFTER[1], "from": EARLY})
    with pytest.warns(UserWarning, match=r"All rows at risk at 0\.5 have their event then"):
        SurTree(max_depth=1).fit(frame.lazy(), ("event", "time"), entry="from")


def test_scores_of_rows_whose_first_dies_alone_say_so():
    fitted = SurTree(max_depth=1).fit(COLUMN[1:], (AFTER[0][1:], AFTER[1][1:]))
    found = evaluate(fitted, COLUMN, AFTER, entry=EARLY)
    assert np.isfinite(found["concordance"].value)
    assert found["brier"].reason.startswith("All rows at risk at 0.5 have their event then")
    assert "nan" not in str(found)

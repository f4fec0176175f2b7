"""Pictures of a validation: what is drawn, and where."""

from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.pipeline import make_pipeline

from surtree import BeyondFollowUpWarning, SurTree, SurTreeBayes, SurTreeCV, evaluate, validate
from surtree.datasets import load_gbsg2
from surtree.plot import plot_calibration, plot_decision_curve, plot_stability

X, Y = load_gbsg2()


@pytest.fixture(autouse=True)
def _agg():
    """Draw without a screen, and leave no figure behind."""
    backend = mpl.get_backend()
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")
    pyplot.switch_backend(backend)


@pytest.fixture(scope="module")
def found():
    return validate(SurTree(max_depth=2), X, Y, n_bootstraps=20)


def test_calibration_is_drawn_with_its_limits(found):
    other = evaluate(SurTree(max_depth=2).fit(X, Y), X, Y, n_bootstraps=2)
    for shown in (found, found.calibration, other):
        curve = getattr(shown, "calibration", shown)
        (points,) = (
            line for line in plot_calibration(shown).get_lines() if line.get_marker() == "o"
        )
        np.testing.assert_array_equal(points.get_xdata(), curve.predicted)
        np.testing.assert_array_equal(points.get_ydata(), curve.observed)


def test_instability_is_drawn_for_every_row_and_leaf(found):
    ax = plot_stability(found)
    points = [line for line in ax.get_lines() if line.get_marker() == ","]
    draws = found.repetitions
    assert points[0].get_xdata().size == draws.predicted.size
    assert set(np.round(points[0].get_ydata(), 9)) == set(np.round(draws.predicted.ravel(), 9))
    bars = [line for line in ax.get_lines() if line.get_linewidth() == 2 and line.get_xdata().size]
    assert [tuple(bar.get_ydata()) for bar in bars] == [
        (leaf.lower, leaf.upper) for leaf in found.leaves
    ]
    saved = replace(found, repetitions=None)
    assert not [line for line in plot_stability(saved).get_lines() if line.get_marker() == ","]


def test_net_benefit_is_drawn_beside_acting_on_all_and_none(found):
    for shown in (found, found.decision):
        lines = {line.get_label(): line for line in plot_decision_curve(shown).get_lines()}
        assert set(lines) == {"act on nobody", "act on everybody", "act on the prediction"}
        np.testing.assert_array_equal(
            lines["act on the prediction"].get_ydata(), found.decision.model
        )


def test_what_is_not_there_is_said():
    late = validate(SurTree(max_depth=1), X, Y, entry=Y["time"] / 2, n_bootstraps=2)
    with pytest.raises(ValueError, match="There is no decision curve: rows have entry times"):
        plot_decision_curve(late)
    with pytest.warns(BeyondFollowUpWarning):
        past = evaluate(SurTree(max_depth=1).fit(X, Y), X, Y, horizons=[9999], n_bootstraps=2)
    with pytest.raises(ValueError, match="There is no calibration: the horizon is past"):
        plot_calibration(past)
    ax = pyplot.figure().subplots()
    assert plot_calibration(late, ax) is ax


PLOTS = (plot_calibration, plot_stability, plot_decision_curve)


@pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: plot.__name__)
def test_a_validated_model_is_drawn_as_its_validation(plot, found):
    search = SurTreeCV(max_depth=1, cv=2).fit(X, Y)
    pipe = make_pipeline("passthrough", SurTree(max_depth=1)).fit(X, Y)
    for model, owner in ((search, search), (search.best_estimator_, search), (pipe, pipe[-1])):
        owner.validation_ = None
        with pytest.raises(ValueError, match=r"was not validated: pass what validate\(model, X, y"):
            plot(model)
        owner.validation_ = found
        drawn, expected = (
            [list(line.get_ydata()) for line in plot(one).get_lines()] for one in (model, found)
        )
        assert drawn == expected


@pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: plot.__name__)
def test_what_keeps_no_validation_is_told_to_validate(plot):
    for model in (SurTree(), SurTreeCV(), SurTreeBayes(1, 1).fit(X, Y), "model"):
        with pytest.raises(ValueError, match="was not validated"):
            plot(model)


def test_an_evaluation_has_no_stability():
    other = evaluate(SurTree(max_depth=1).fit(X, Y), X, Y, n_bootstraps=2)
    with pytest.raises(ValueError, match="plot_stability draws what validate says"):
        plot_stability(other)


def test_shares_are_percentages_leaves_have_letters_and_times_their_unit():
    X, y = load_gbsg2(backend="pandas")
    model = SurTree(max_depth=2, shrinkage=3).fit(X, y)
    model.validation_ = validate(model, X, y, n_bootstraps=20)
    model.time_unit_ = "days"
    stability, calibration = plot_stability(model), plot_calibration(model)
    assert {text.get_text() for text in stability.texts} == {"A", "B", "C", "D"}
    assert calibration.get_xlabel().endswith(" days")
    for ax in (stability, calibration):
        ax.figure.canvas.draw()
        assert ax.get_xticklabels()[-1].get_text() == "100%"
        assert not ax.spines["top"].get_visible()

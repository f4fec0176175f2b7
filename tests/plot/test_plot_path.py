"""The picture of all sizes: what is drawn, and where the chosen size is."""

from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot

from surtree import SurTreeCV
from surtree.datasets import load_gbsg2
from surtree.plot import plot_path


@pytest.fixture(autouse=True)
def _agg():
    """Draw without a screen, and leave no figure behind."""
    backend = mpl.get_backend()
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")
    pyplot.switch_backend(backend)


@pytest.fixture(scope="module")
def sizes():
    return SurTreeCV(max_depth=3, cv=5).fit(*load_gbsg2()).sizes_


def drawn(ax):
    return {line.get_label(): line.get_xydata() for line in ax.get_lines()}


def labels(ax):
    return ax.get_legend_handles_labels()[1]


def test_losses_of_training_and_held_out_rows_against_the_size(sizes):
    # The best size, and with it the line, is of the largest depth.
    sizes = replace(sizes, held_out=np.where(sizes.max_splits[:, None] == 6, -0.1, sizes.held_out))
    ax = plot_path(sizes)
    line = sizes.of_depth(3)
    training = drawn(ax)["training rows, depth 3"]
    np.testing.assert_array_equal(training[:, 0], np.arange(8))
    np.testing.assert_allclose(training[:, 1], sizes.training_loss[line].mean(axis=1))
    (held_out,) = ax.containers
    assert held_out.get_label() == "held-out rows, depth 3"
    np.testing.assert_allclose(held_out[0].get_ydata(), -sizes.mean[line])
    bars = held_out[2][0].get_segments()
    np.testing.assert_allclose(
        [bar[1][1] - bar[0][1] for bar in bars], 2 * sizes.standard_error[line]
    )
    assert drawn(ax)["chosen: at most 6 splits"].tolist() == [[6, 0.1]]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("splits", "loss per row")
    assert [text.get_text() for text in ax.texts] == ["depth 2"]
    ax.figure.canvas.draw()


@pytest.mark.parametrize("scoring", ["loss", "concordance"])
def test_the_band_is_on_the_worse_side_of_the_best(sizes, scoring):
    sign = 1 if scoring == "loss" else -1
    sizes = replace(sizes, scoring=scoring, held_out=-sign * np.abs(sizes.held_out))
    ax = plot_path(sizes)
    (band,) = ax.patches
    best, error = sizes.mean[sizes.best], sizes.standard_error[sizes.best]
    expected = sorted((-best, -best + error)) if scoring == "loss" else (best - error, best)
    assert band.get_extents().transformed(ax.transData.inverted()).intervaly == pytest.approx(
        expected
    )
    assert "within one standard error of the best" in labels(ax)
    assert any(label.startswith("training") for label in labels(ax)) == (scoring == "loss")
    assert ax.get_ylabel() == ("loss per row" if scoring == "loss" else "concordance")


def test_the_chosen_size_is_on_the_line_that_is_shown(sizes):
    held_out = np.array(sizes.held_out)
    # Of depth two with three splits, and of depth three with three: not on one line.
    held_out[(sizes.max_splits == 7)] = -0.1 + np.linspace(-2, 2, 5)
    sizes = replace(sizes, held_out=held_out, rule="1se")
    assert "held-out rows, depth 3" in labels(plot_path(sizes))
    low = np.where((sizes.max_depth == 2) & (sizes.max_splits == 3), -0.3, -9.0)
    both = replace(
        sizes,
        held_out=np.where(sizes.max_splits[:, None] == 7, sizes.held_out, low[:, None]),
    )
    assert both.max_depth[both.chosen] == 2
    ax = plot_path(both)
    assert "held-out rows, depth 2" in labels(ax)
    assert drawn(ax)["chosen: at most 3 splits"].tolist() == [[3, 0.3]]
    assert [text.get_text() for text in ax.texts] == ["depth 3"]


def test_axes_are_taken_and_returned(sizes):
    figure, ax = pyplot.subplots()
    assert plot_path(sizes, ax) is ax
    assert pyplot.get_fignums() == [figure.number]

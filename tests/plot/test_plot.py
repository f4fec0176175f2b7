"""Pictures: what they say of each leaf, and that no text hides another or leaves its place."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.colors import to_rgb

from surtree import SurTree
from surtree._support.parameters import LEAF_CURVES
from surtree.cuts.cut import Cut
from surtree.data.target import Target
from surtree.datasets import load_gbsg2
from surtree.plot import plot_curves, plot_tree
from surtree.plot._curves import spread
from surtree.plot._page import open_page
from surtree.plot._panel import add_panel, draw_leaf
from surtree.plot.requirement import mapped_colours
from surtree.solver.core import Problem
from surtree.solver.problem import BinnedRows, TreeTopology
from surtree.summary.wording import leaf_texts, rule_texts, wrap
from surtree.survival.baseline import nelson_aalen
from surtree.survival.objective import RELATIVE_RISK
from surtree.tree.build import build_tree
from surtree.tree.curves import leaf_curves
from surtree.tree.leaf_curve import events_note, theta_text
from surtree.words.colour import risk_colours
from surtree.words.numbers import median_text

PLOTS = (plot_tree, plot_curves)
REGIONS = tuple(f"Region number {place} of the whole wide world" for place in range(12))


@pytest.fixture(autouse=True)
def _agg():
    """Draw without a screen, and leave no figure behind."""
    backend = mpl.get_backend()
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")
    pyplot.switch_backend(backend)


def short(place):
    return Cut(place, f"x{place}", threshold=place + 0.5)


def forty_characters(place):
    return Cut(place, f"serum_concentration_of_the_marker_no_{place:03d}", threshold=1234.5678)


def one_long_word(place):
    return Cut(place, "x" * 35 + f"{place:05d}", threshold=place + 0.5, missing=True)


def long_lists(place):
    return Cut(place, f"region_{place}", categories=REGIONS, missing=place % 2 == 0)


def grow(depth, cut=short, chain=False):
    """Return a tree that splits every node, or always only the right one, down to a depth."""
    cuts, left, right = [], [], []

    def add(first, last, below):
        """Add the node of the bins from first to last; each leaf has a bin."""
        node = len(cuts)
        for values in (cuts, left, right):
            values.append(-1)
        if below:
            middle = first + 1 if chain else (first + last + 1) // 2
            cuts[node] = middle - 1
            left[node] = add(first, middle - 1, 0 if chain else below - 1)
            right[node] = add(middle, last, below - 1)
        return node

    n_leaves = depth + 1 if chain else 2**depth
    add(0, n_leaves - 1, depth)
    rng = np.random.default_rng(depth)
    bins = np.arange(40 * n_leaves) % n_leaves
    time = np.ceil(1000 * rng.weibull(1.3, bins.size) * (0.4 + bins / n_leaves))
    # Every third leaf has no event.
    event = (rng.random(bins.size) < 0.7) & (bins % 3 != 2)
    target = Target(event, time, None)
    weight = np.ones(bins.size)
    baseline = nelson_aalen(target, weight)
    binned = BinnedRows(
        bins=bins[None].astype(np.uint16),
        n_bins=np.array([n_leaves], dtype=np.int32),
        missing_bin=np.array([-1], dtype=np.int32),
        cut_column=np.zeros(n_leaves - 1, dtype=np.int32),
        cut_first=np.arange(1, n_leaves, dtype=np.int32),
        cut_last=np.full(n_leaves - 1, n_leaves - 1, dtype=np.int32),
        cut_missing=np.zeros(n_leaves - 1, dtype=bool),
        cut_gaps=np.zeros(n_leaves - 1, dtype=np.uint64),
    )
    return build_tree(
        TreeTopology(*(np.array(values, dtype=np.int32) for values in (cuts, left, right))),
        Problem(binned, RELATIVE_RISK.row_sums(target, weight, baseline)),
        tuple(map(cut, range(n_leaves - 1))),
        baseline,
        target,
    )


def shown_texts(ax):
    """Return the texts of a picture that can be seen, those on the axes of its panels included."""
    shown = [text for text in ax.texts if text.get_text()]
    for panel in ax.child_axes:
        for axis in (panel.xaxis, panel.yaxis):
            low, high = axis.get_view_interval()
            shown += [
                tick.label1
                for tick in axis.get_major_ticks()
                if low <= tick.get_loc() <= high and tick.label1.get_visible()
            ]
    return shown


def words(ax):
    return [text.get_text() for text in ax.texts]


def assert_legible(ax, place=None):
    """Check that texts hide neither each other nor lines or curves, and that all are in place."""
    ax.figure.draw_without_rendering()
    texts = shown_texts(ax)
    boxes = [text.get_window_extent() for text in texts]
    x0, y0, x1, y1 = np.array([box.extents for box in boxes]).T
    left, bottom, right, top = (place or ax.figure.bbox).extents
    outside = (x0 < left - 0.5) | (y0 < bottom - 0.5) | (x1 > right + 0.5) | (y1 > top + 0.5)
    assert not outside.any(), [text.get_text() for text in np.array(texts)[outside]]

    def meet(one_low, one_high, other_low, other_high):
        return np.minimum(one_high, other_high) - np.maximum(one_low, other_low) > 0.5

    hidden = meet(x0[:, None], x1[:, None], x0, x1) & meet(y0[:, None], y1[:, None], y0, y1)
    pairs = [(texts[i].get_text(), texts[j].get_text()) for i, j in np.argwhere(np.triu(hidden, 1))]
    assert not pairs
    for panel in ax.child_axes:
        left, bottom, right, top = panel.bbox.extents
        under = meet(x0, x1, left, right) & meet(y0, y1, bottom, top)
        assert not under.any(), [text.get_text() for text in np.array(texts)[under]]
    for line in ax.lines:
        path = line.get_path().transformed(line.get_transform())
        struck = [
            text.get_text()
            for text, box in zip(texts, boxes, strict=True)
            if len(path) > 1 and path.intersects_bbox(box.padded(-0.5), filled=False)
        ]
        assert not struck


@pytest.mark.parametrize("plot", PLOTS)
@pytest.mark.parametrize(
    ("depth", "cut"), [*((depth, forty_characters) for depth in range(6)), (1, short), (5, short)]
)
def test_all_text_is_legible_at_any_depth(plot, depth, cut):
    assert_legible(plot(grow(depth, cut), time_unit="days"))


@pytest.mark.parametrize("plot", PLOTS)
@pytest.mark.parametrize("cut", [one_long_word, long_lists])
@pytest.mark.parametrize("chain", [False, True])
def test_all_text_is_legible_with_hard_names(plot, cut, chain):
    assert_legible(plot(grow(3, cut, chain)))


@pytest.mark.parametrize("plot", PLOTS)
@pytest.mark.parametrize(
    ("size", "layout"),
    [((8, 3), None), ((24, 3), None), ((8, 10), "tight"), ((8, 3), "constrained")],
)
def test_a_picture_keeps_to_given_axes(plot, size, layout):
    _, (ax, other) = pyplot.subplots(1, 2, figsize=size, dpi=200, layout=layout, sharex=True)
    other.set_xlim(3, 4)
    assert plot(grow(3, forty_characters), ax) is ax
    assert_legible(ax, ax.bbox)
    assert other.get_xlim() == (3, 4)


@pytest.mark.parametrize("plot", PLOTS)
def test_text_and_axes_can_be_seen_on_a_dark_background(plot):
    with pyplot.style.context("dark_background"):
        ax = plot(grow(2))
        assert_legible(ax)
        assert {to_rgb(text.get_color()) for text in shown_texts(ax)} == {(1.0, 1.0, 1.0)}
    assert ax.figure.get_facecolor() == (0, 0, 0, 1)


@pytest.mark.parametrize("plot", PLOTS)
def test_settings_of_matplotlib_stay_and_nothing_is_shown(plot, monkeypatch):
    monkeypatch.setattr(pyplot, "show", lambda: pytest.fail("a plot must not call show"))
    before = mpl.rcParams.copy()
    plot(grow(1))
    assert mpl.rcParams == before


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_each_leaf_has_its_numbers_beside_its_curve(depth):
    tree = grow(depth)
    ax = plot_tree(tree)
    ax.figure.draw_without_rendering()
    medians = [curve.median for curve in leaf_curves(tree)]
    assert len(ax.child_axes) == tree.n_leaves
    for leaf, panel, median in zip(tree.leaves, ax.child_axes, medians, strict=True):
        middle = (panel.bbox.y0 + panel.bbox.y1) / 2
        right = panel.bbox.x1
        row = [
            text.get_text()
            for text in ax.texts
            for box in [text.get_window_extent()]
            if box.x0 > right and box.y0 < middle < box.y1
        ]
        assert row == [
            tree.leaf_names[leaf],
            str(tree.n_samples[leaf]),
            str(tree.n_events[leaf]),
            theta_text(tree, leaf, ".3g"),
            f"{median:.0f}" if np.isfinite(median) else "not reached",
            *filter(None, [events_note(tree.n_events[leaf])]),
        ]


def test_rules_are_on_the_edges_from_the_root_to_each_leaf():
    ax = plot_tree(grow(2))
    for rule in ("x1 <= 1.5", "x1 > 1.5", "x0 <= 0.5", "x0 > 0.5", "x2 <= 2.5", "x2 > 2.5"):
        assert words(ax).count(rule) == 1
    places = {text.get_text(): text.get_position() for text in ax.texts}
    # No is above, yes below, and the next rule to the right.
    assert places["x1 <= 1.5"][1] > places["x1 > 1.5"][1]
    assert places["x0 <= 0.5"][1] > places["x0 > 0.5"][1] > places["x2 <= 2.5"][1]
    assert places["all rows"][0] < places["x1 > 1.5"][0] < places["x2 > 2.5"][0]
    assert "160 rows, 84 events" in words(ax)


@pytest.mark.parametrize("kind", LEAF_CURVES)
def test_curves_are_those_of_the_leaves_on_shared_axes(kind):
    tree = grow(2)
    ax = plot_tree(tree, kind=kind)
    together = plot_curves(tree, kind=kind).child_axes[0]
    last = tree.baseline.times[-1]
    for position, curve in enumerate(leaf_curves(tree, kind)):
        panel = ax.child_axes[position]
        assert panel.get_xlim() == (0, last)
        assert panel.get_ylim() == ax.child_axes[0].get_ylim()
        observed = leaf_curves(tree, "kaplan-meier")[position].survival
        counts = tree.risk[position]
        end = min(counts.last_time, last)
        for lines in (panel.lines[2:], together.lines[3 * position :]):
            own, thin, ticks = lines[:3]
            for line, function in ((own, curve.survival), (thin, observed)):
                times = line.get_xdata()
                assert line.get_drawstyle() == "steps-post"
                np.testing.assert_array_equal(line.get_ydata(), function(times))
                assert (times[0], times[-1]) == (0, end)
            assert thin.get_linewidth() < own.get_linewidth() / 2
            np.testing.assert_array_equal(
                ticks.get_xdata(), counts.censored[counts.censored <= last]
            )
            np.testing.assert_array_equal(ticks.get_ydata(), observed(ticks.get_xdata()))
            assert (ticks.get_linestyle(), ticks.get_marker()) == ("None", "|")


@pytest.mark.parametrize("kind", LEAF_CURVES)
def test_curves_have_a_band_and_a_higher_level_a_wider_one(kind):
    tree = grow(1)

    def area(level):
        (band,) = plot_tree(tree, kind=kind, level=level).child_axes[0].collections
        x, y = band.get_paths()[0].vertices.T
        return abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2

    assert area(0.99) > 1.5 * area(0.5) > 0
    said = " ".join(words(plot_curves(tree, kind=kind, level=0.99))[-1].split())
    # Limits of a baseline curve are those of theta: the curve of all rows counts as known.
    bands = {
        "baseline": "band of the uncertainty of theta only",
        "breslow": "confidence band, if hazards are proportional",
    }
    band = bands.get(kind, "confidence band")
    assert f"(curve: {kind}), with 99% {band}." in said
    assert ("Thin line: observed" in said) == (kind != "kaplan-meier")


def test_a_step_without_limits_leaves_no_other_out():
    tree = grow(1)
    leaf = tree.outcome.together(tree.outcome.groups[0], "kaplan-meier")
    lower, upper = (np.full(leaf.times.size, value) for value in (0.2, 0.8))
    lower[3] = upper[3] = np.nan
    page = open_page([SimpleNamespace(least=(10, 10), comfortable=(10, 10))], None, None)
    panel = add_panel(page, (0, 0, 10, 10), leaf.last_time)
    draw_leaf(page, panel, replace(leaf, band=(lower, upper)), leaf.last_time)
    (band,) = panel.collections
    ends = [path.vertices[:, 0] for path in band.get_paths()]
    assert [(x.min(), x.max()) for x in ends] == [
        (leaf.times[0], leaf.times[3]),
        (leaf.times[4], leaf.last_time),
    ]


def test_captions_say_what_weights_are():
    tree = grow(1)
    weighted = replace(tree, weight=2 * tree.weight)
    for plot in PLOTS:
        assert "Weights count" not in " ".join(words(plot(tree)))
        assert "Weights count as repeated rows." in " ".join(
            " ".join(words(plot(weighted))).split()
        )


def test_every_curve_has_its_label_beside_it_in_the_order_of_their_ends():
    tree = grow(3)
    ax = plot_curves(tree, precision=2)
    headings = {
        text.get_text(): text.get_position()[1]
        for text in ax.texts
        if text.get_text().startswith("leaf") and ":" in text.get_text()
    }
    curves = leaf_curves(tree)
    expected = {}
    for curve, counts in zip(curves, tree.risk, strict=True):
        note = events_note(tree.n_events[curve.leaf])
        heading = (
            f"leaf {tree.leaf_names[curve.leaf]}: "
            f"relative risk {theta_text(tree, curve.leaf, '.2g')}, "
            f"median {median_text(curve.median, 2)}{note and f', {note}'}"
        )
        expected[heading] = curve.survival(min(counts.last_time, tree.baseline.times[-1]))
    assert any(heading.endswith("no events") for heading in expected)
    assert headings.keys() == expected.keys()
    from_below = sorted(headings, key=headings.get)
    assert np.all(np.diff([expected[heading] for heading in from_below]) >= 0)
    for curve in curves:
        rows = (
            f"40 rows, {tree.n_events[curve.leaf] or 'no'} events: {leaf_texts(tree)[curve.leaf]}"
        )
        assert rows in words(ax)


def numbers_in_the_table(ax, name):
    """Return the texts in the row of a leaf below the curves."""
    (name,) = (text for text in ax.texts if text.get_text() == f"leaf {name}")
    return [
        text
        for text in ax.texts
        if text.get_position()[1] == name.get_position()[1] and text is not name
    ]


def test_the_table_counts_the_rows_at_risk_below_each_tick():
    X, y = load_gbsg2(backend="pandas")
    model = SurTree(max_depth=2).fit(X, y)
    ax = plot_curves(model.tree_)
    ax.figure.draw_without_rendering()
    panel = ax.child_axes[0]
    ticks = [tick for tick in panel.get_xticks() if 0 <= tick <= panel.get_xlim()[1]]
    leaf_of_row = model.apply(X)
    for leaf in model.tree_.leaves:
        row = numbers_in_the_table(ax, model.tree_.leaf_names[leaf])
        time = y["time"][leaf_of_row == leaf]
        assert [text.get_text() for text in row] == [str(sum(time >= tick)) for tick in ticks]
        middles = [(box.x0 + box.x1) / 2 for box in (text.get_window_extent() for text in row)]
        below = [panel.transData.transform((tick, 0))[0] for tick in ticks]
        np.testing.assert_allclose(middles, below, atol=1)


@pytest.mark.parametrize("scale", [1e-4, 0.003, 1.0, 70.0, 12345.6])
@pytest.mark.parametrize("width", [3, 5, 9, 16])
def test_every_tick_has_its_number_at_risk(scale, width):
    rng = np.random.default_rng(3)
    time = scale * rng.weibull(1.2, 300) + 1e-9
    tree = SurTree(max_depth=1).fit(rng.random((300, 1)), time).tree_
    _, ax = pyplot.subplots(figsize=(width, 4))
    plot_curves(tree, ax)
    ticks = [t for t in ax.child_axes[0].get_xticks() if 0 <= t <= tree.baseline.times[-1]]
    assert len(ticks) >= 2
    total = sum(group.at_risk(np.array(ticks)) for group in tree.outcome.groups)
    assert total.tolist() == [np.sum(time >= tick) for tick in ticks]


def test_ticks_that_are_not_quite_round_numbers_are_found():
    time = np.arange(1, 81) / 100
    tree = SurTree(max_depth=0).fit(np.zeros((80, 1)), time).tree_
    # The fourth is 0.30000000000000004, or 0.3, which is less than three times 0.1.
    for ticks in (0.1 * np.arange(9), np.arange(9) / 10):
        assert tree.outcome.group(0).at_risk(ticks).tolist() == [80, 71, 61, 51, 41, 31, 21, 11, 1]


def test_rows_that_enter_late_are_not_at_risk_before():
    entry = np.array([0.0, 0.0, 2.0, 3.5, 6.0])
    time = np.array([1.0, 10.0, 4.0, 9.0, 10.0])
    weight = np.array([1.0, 1.0, 0.25, 1.0, 1.0])
    tree = SurTree(max_depth=0).fit(np.zeros((5, 1)), time, weight, entry).tree_
    asked = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 10.0, 0.5, 11.0])
    expected = [2.0, 2.0, 1.0, 1.25, 2.25, 2.0, 2.0, 3.0, 2.0, np.nan, np.nan]
    np.testing.assert_array_equal(tree.outcome.group(0).at_risk(asked), expected)


def test_a_tree_without_risk_counts_has_baseline_curves_and_no_table():
    tree = replace(grow(1), risk=())
    for plot in PLOTS:
        with pytest.raises(ValueError, match="keeps no at-risk counts"):
            plot(tree, kind="kaplan-meier")
        assert_legible(plot(tree))
    assert "at risk" not in words(plot_curves(tree, kind="baseline"))
    assert "at risk" in words(plot_curves(grow(1), kind="baseline"))


def test_large_numbers_at_risk_have_room():
    tree = grow(1)
    risk = tuple(replace(counts, round_at_risk=1e13 * counts.round_at_risk) for counts in tree.risk)
    _, ax = pyplot.subplots(figsize=(6, 6), dpi=200)
    plot_curves(replace(tree, weight=1e13 * tree.weight, risk=risk), ax)
    assert f"{40 * 10**13}" in words(ax)
    assert_legible(ax, ax.bbox)


def test_a_name_that_looks_like_a_formula_is_shown_as_it_is():
    name = r"$\frac{$ <script> %"
    tree = grow(1, lambda place: Cut(place, name, threshold=1.0))
    ax = plot_tree(tree)
    assert_legible(ax)
    assert f"{name} > 1" in words(ax)


def test_long_lists_say_how_many_they_leave_out_and_long_names_keep_both_ends():
    tree = grow(1, long_lists)
    _, no, yes = rule_texts(tree)
    listed = ", ".join(f"Region number {place} of the…de world" for place in range(4))
    assert yes == f"region_0 is one of {listed}, … 8 more or missing"
    assert no == f"region_0 is none of {listed}, … 8 more and not missing"
    tree = grow(1, lambda place: Cut(place, "head" + 100 * "x" + "tail", threshold=1.0))
    rule = rule_texts(tree)[2]
    assert rule.startswith("headx")
    assert rule.endswith("xtail > 1")
    assert len(rule) == 60 + len(" > 1")


def test_the_label_of_a_leaf_leaves_out_what_later_rules_imply():
    tree = grow(3, lambda place: Cut(0, "age", threshold=float(place)), chain=True)
    assert leaf_texts(tree) == {
        1: "age <= 0",
        3: "age > 0, age <= 1",
        5: "age > 1, age <= 2",
        6: "age > 2",
    }
    assert leaf_texts(grow(0)) == {0: "all rows"}


@pytest.mark.parametrize("width", [6, 11, 17, 40])
def test_wrapped_text_keeps_to_its_width_and_loses_nothing(width):
    text = "progesterone_receptorLevel.atVisit-two <= 1234.5 or is missing, age > 1e-05"
    lines = wrap(text, width, len).split("\n")
    assert max(map(len, lines)) <= width
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_lines_break_between_words_and_never_after_a_comparison():
    assert wrap("tumor_size <= 22.5", 14, len) == "tumor_size\n<= 22.5"
    assert wrap("progesterone_receptor > 83", 14, len) == "progesterone_\nreceptor > 83"
    assert wrap("x > 1e-05", 7, len) == "x\n> 1e-05"


@pytest.mark.parametrize("seed", range(5))
def test_labels_are_spread_without_overlap_and_in_order(seed):
    rng = np.random.default_rng(seed)
    heights = rng.uniform(1, 3, 12)
    room = heights.sum() * 1.2
    middles = spread(np.sort(rng.uniform(0, room, 12)), heights, room)
    ends, starts = middles + heights / 2, middles - heights / 2
    assert np.all(starts[1:] >= ends[:-1] - 1e-9)
    assert starts[0] >= -1e-9
    assert ends[-1] <= room + 1e-9


def test_labels_that_do_not_meet_stay_where_they_are():
    np.testing.assert_allclose(spread([1.0, 5.0, 9.0], [2.0, 2.0, 2.0], 10.0), [1.0, 5.0, 9.0])
    np.testing.assert_allclose(spread([5.0, 5.0], [2.0, 2.0], 10.0), [4.0, 6.0])


def test_colours_tell_risks_apart_on_white_and_on_black():
    def luminance(colour):
        channels = np.array(to_rgb(colour))
        linear = np.where(
            channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4
        )
        return linear @ [0.2126, 0.7152, 0.0722]

    theta = np.geomspace(0.1, 10, 41)
    colours = risk_colours(theta)
    light = np.array([luminance(colour) for colour in colours])
    assert np.all(1.05 / (light + 0.05) >= 3)
    assert np.all((light + 0.05) / 0.05 >= 3)
    # Colour-blind people tell blue from red by the blue that is in it.
    redness = [
        to_rgb(colour)[0] - to_rgb(colour)[2] for colour in risk_colours([0.25, 0.5, 1, 2, 4])
    ]
    assert np.all(np.diff(redness) > 0)
    assert risk_colours([4.0]) == risk_colours([400.0])
    assert mapped_colours([1.0], "gray") == ["#808080"]
    assert mapped_colours(theta, None) == colours


def test_text_has_the_size_that_the_user_asks_for():
    ax = plot_tree(grow(1), fontsize=14)
    assert max(text.get_fontsize() for text in ax.texts) == 14
    assert_legible(ax)
    with pytest.raises(ValueError, match="fontsize must be a number of points above zero; got 0"):
        plot_tree(grow(1), fontsize=0)


@pytest.mark.parametrize("plot", PLOTS)
def test_without_matplotlib_the_remedy_is_named(plot, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'pip install "surtree\[plot\]"'):
        plot(grow(0))


def test_matplotlib_is_imported_only_to_draw():
    code = "import sys, surtree.plot; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_demo_reports_a_proven_tree_and_ends_with_its_pictures(tmp_path):
    demo = Path(__file__).parents[2] / "examples" / "demo.py"
    command = [sys.executable, "-W", "error", demo, tmp_path / "pictures"]
    report = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for words_of_it in (
        "686 women, 299",
        "optimal",
        "0.00%",
        "positive_nodes <= 3",
        "40 bootstrap",
        "1 of 4 leaves rarely reproduced: use the predictions of the tree",
        "So should I use it?",
    ):
        assert words_of_it in report
    paths = [Path(line.strip()) for line in report.splitlines()[-2:]]
    assert [path.name for path in paths] == ["tree.png", "curves.png"]
    for path in paths:
        height, width, _ = pyplot.imread(path).shape
        assert width > height > 500

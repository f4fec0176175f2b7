"""All leaf curves together, each with its label, over a table of the rows at risk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.isotonic import isotonic_regression

from surtree._support.parameters import LeafCurveKind
from surtree._support.types import Floats
from surtree.outcomes import GroupCurve
from surtree.outcomes.event import leaf_caption
from surtree.outcomes.risk_groups import RiskGroups
from surtree.plot._page import FAINT, LINE, SMALL, Page, Ruler, open_page, text_height
from surtree.plot._panel import TICK_ROOM, add_panel, draw_leaf
from surtree.plot.requirement import coloured_curves, mapped_colours, recoloured, require_matplotlib
from surtree.summary.labels import read_labels
from surtree.summary.survival_table import time_label
from surtree.summary.wording import leaf_texts, wrap
from surtree.tree.leaf_curve import events_note
from surtree.tree.resolve import time_unit_of, tree_of
from surtree.tree.tree import Tree
from surtree.words.numbers import median_text, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap


# All sizes are in ems.
_RULE_WIDTHS = (84.0, 60.0, 42.0, 30.0, 22.0, 16.0)
_LEAST_PANEL = (18.0, 12.0)
_COMFORTABLE_PANEL = (40.0, 26.0)
_LEADER = 2.5
_LABEL_GAP = 0.7
_PAD = 0.6
_TIME_AXIS = 2 * LINE + 1.2
_SWATCH = 1.5


def plot_curves(
    model: Any,
    ax: Axes | None = None,
    *,
    kind: LeafCurveKind | None = None,
    level: float = 0.95,
    time_unit: str | None = None,
    precision: int = 3,
    cmap: str | Colormap | None = None,
    fontsize: float | None = None,
    labels: Mapping[str, str] | None = None,
    units: Mapping[str, str] | None = None,
) -> Axes:
    """Draw the survival curves of all leaves together, over a table of the rows at risk.

    Each curve has its label at its end: the name of the leaf, its
    relative risk and median survival, and what holds for its rows. Curves are coloured by
    relative risk: blue below one, grey at one, vermilion above.

    Below each tick of the time axis stands how many rows of a leaf (or how much weight, where rows
    have weights) are at risk at that time: those that have come under observation, and had
    neither the event nor been censored before. A tree without at-risk counts, such as those of
    other sizes on a model's path, has no such table, and ``kind`` must be "baseline".

    Parameters
    ----------
    model : fitted estimator, Tree or RiskGroups
        A model of this package, a pipeline that ends in one, or its ``tree_``; or what
        `surtree.risk_groups` returns: the curves of groups, corrected where that is known, with
        the apparent ones as thin lines.
    ax : matplotlib Axes, optional
        Whose place the picture takes; a new figure of a fitting size when None.
    kind : {"baseline", "kaplan-meier", "shrunk", "breslow"}, optional
        Which curve a leaf has, and its median with it (`leaf_curves`); by default the one that
        the model predicts with. The observed Kaplan-Meier curve is a thin line beside
        it, with a tick where rows were censored.
    level : float, default=0.95
        The level of the confidence band, in which weights count as repeated rows.
    time_unit : str, optional
        What time is counted in, for example "days"; by default the ``time_unit_`` of the model.
    precision : int, default=3
        Significant digits of relative risks and medians.
    cmap : str or matplotlib colour map, optional
        Other colours, from a relative risk of at most 1/4 to one of at least 4.
    fontsize : float, optional
        The size of text in points. When None it is matplotlib's, or less where that is too large
        for ``ax``.
    labels, units : mapping of str to str, optional
        What columns are called in rules, and what they are counted in, as in `write_report`.

    Returns
    -------
    matplotlib Axes
        ``ax``, or the axes of the new figure; the axes of the curves are its only ``child_axes``.

    Examples
    --------
    >>> from surtree import SurTree
    >>> from surtree.datasets import load_gbsg2
    >>> from surtree.plot import plot_curves
    >>> model = SurTree(max_depth=1).fit(*load_gbsg2())
    >>> ax = plot_curves(model, time_unit="days")
    >>> five_years = ax.child_axes[0].axvline(5 * 365)
    """
    require_matplotlib()
    names = read_labels(labels, units)
    if isinstance(model, RiskGroups):
        tree, leaves, caption = model.tree, model.curves, model.caption
        colours = mapped_colours([leaf.theta for leaf in leaves], cmap)
        leaves = tuple(map(recoloured, leaves, colours))
    else:
        tree = tree_of(model)
        leaves, caption = coloured_curves(tree, kind, level, cmap), leaf_caption(tree, kind, level)
        time_unit = time_unit_of(model) if time_unit is None else time_unit
    rules = leaf_texts(tree, names)
    # From below, as they end: so leaders from curves to labels do not cross.
    order = sorted(leaves, key=lambda leaf: (leaf.last_value, -leaf.theta))
    ruler = Ruler()
    texts = [
        rules[leaf.group.leaf] if leaf.channel.label == leaf.group.name else leaf.group.name
        for leaf in order
    ]
    layouts = [
        _lay_out(tree, order, texts, width, precision, caption, ruler) for width in _RULE_WIDTHS
    ]
    page = open_page(layouts, ax, fontsize)
    end = tree.last_event
    panel = add_panel(page, page.layout.panel(page.width, page.height), end, page.layout.tick_room)
    for leaf in leaves:
        # Many bands over each other would hide the curves.
        draw_leaf(page, panel, leaf, end, band_opacity=min(0.25, 1.5 / len(leaves)))
    _draw_axis_labels(page, time_unit, ruler, "survival" if leaves[0].start else "incidence")
    _draw_labels(order, panel, page)
    if tree.risk:
        _draw_risk_table(order[::-1], panel, page)
    page.text(0, 0, page.layout.caption, size=SMALL, va="bottom", alpha=FAINT)
    return page.ax


@dataclass(frozen=True)
class _CurvesLayout:
    """The texts around the curves, and their sizes."""

    # The first line of each label, and the lines below it; labels from below.
    headings: tuple[str, ...]
    rules: tuple[str, ...]
    left: float  # the width of what stands on either side
    right: float
    tick_room: float  # the width of a number in the table, or of a tick label where that is more
    n_rows: int  # the number of rows of the table
    caption: str  # what stands below

    @property
    def label_heights(self) -> Floats:
        return np.array([LINE + SMALL * text_height(rule) + _LABEL_GAP for rule in self.rules])

    @property
    def bottom(self) -> float:
        """The height of all that stands below the curves."""
        table = LINE * (self.n_rows + 1) + _PAD if self.n_rows else 0.0
        return _TIME_AXIS + table + SMALL * text_height(self.caption)

    def panel(self, width: float, height: float) -> tuple[float, float, float, float]:
        """Return left, bottom, width and height of the curves on a page of some size."""
        return (
            self.left,
            self.bottom,
            width - self.left - self.right,
            height - self.bottom - _PAD,
        )

    @property
    def least(self) -> tuple[float, float]:
        return self._size(*_LEAST_PANEL)

    @property
    def comfortable(self) -> tuple[float, float]:
        return self._size(*_COMFORTABLE_PANEL)

    def _size(self, width: float, height: float) -> tuple[float, float]:
        labels = float(self.label_heights.sum())
        return self.left + width + self.right, max(height, labels) + _PAD + self.bottom


def _lay_out(
    tree: Tree,
    leaves: list[GroupCurve],
    texts: Sequence[str],
    rule_width: float,
    precision: int,
    caption: str,
    ruler: Ruler,
) -> _CurvesLayout:
    headings = tuple(
        f"{leaf.channel.label}: relative risk {leaf.risk_text(precision)}"
        f"{_median(leaf, precision)}{_noted(leaf)}"
        for leaf in leaves
    )
    rules = tuple(
        wrap(f"{leaf.counted}: {text}", rule_width / SMALL, ruler)
        for leaf, text in zip(leaves, texts, strict=True)
    )
    right = _LEADER + max(*map(ruler, headings), *(SMALL * ruler(rule) for rule in rules))
    names = max(ruler(leaf.channel.label) for leaf in leaves)
    numbers = ruler(number(float(tree.weight.max()), 3))
    # The first number of a row of the table is centred below the start of the time axis.
    left = max(SMALL * ruler("100%") + 1.5 * LINE, _SWATCH + names + numbers / 2) + 2 * _PAD
    return _CurvesLayout(
        headings=headings,
        rules=rules,
        left=left,
        right=right,
        tick_room=max(TICK_ROOM, numbers + _PAD),
        n_rows=len(leaves) if tree.risk else 0,
        caption=wrap(caption, (left + _LEAST_PANEL[0] + right) / SMALL, ruler),
    )


def _median(leaf: GroupCurve, precision: int) -> str:
    return f", median {median_text(leaf.median, precision)}" if leaf.start == 1 else ""


def _noted(leaf: GroupCurve) -> str:
    note = events_note(leaf.n_events)
    return f", {note}" if note else ""


def _draw_axis_labels(
    page: Page[_CurvesLayout], time_unit: str | None, ruler: Ruler, what: str
) -> None:
    left, bottom, width, height = page.layout.panel(page.width, page.height)
    below = bottom - _TIME_AXIS + _PAD
    page.text(left + width / 2, below, time_label(time_unit), ha="center", va="bottom")
    beside = left - SMALL * ruler("100%") - _PAD
    page.text(beside, bottom + height / 2, what, rotation=90, ha="right", va="center")


def _draw_labels(leaves: list[GroupCurve], panel: Axes, page: Page[_CurvesLayout]) -> None:
    layout = page.layout
    left, bottom, width, height = layout.panel(page.width, page.height)
    ends = height * np.array([leaf.last_value for leaf in leaves]) / panel.get_ylim()[1]
    middles = spread(ends, layout.label_heights, height)
    tops = bottom + middles + (layout.label_heights - _LABEL_GAP) / 2
    for leaf, heading, rule, end, top in zip(
        leaves, layout.headings, layout.rules, bottom + ends, tops, strict=True
    ):
        x = left + width + _LEADER
        page.text(x, top - LINE / 2, heading, va="center")
        page.text(x, top - LINE, rule, size=SMALL, va="top", alpha=FAINT)
        style = {"color": leaf.colour, "linewidth": 0.1 * page.fontsize}
        page.line([left + width, x - _PAD / 2], [end, top - LINE / 2], **style)
        # A curve that ends earlier is a long way from its label.
        last = left + width * min(leaf.last_time / panel.get_xlim()[1], 1.0)
        page.line([last, left + width], [end, end], linestyle=(0, (1, 6)), **style)


def _draw_risk_table(leaves: list[GroupCurve], panel: Axes, page: Page[_CurvesLayout]) -> None:
    left, bottom, width, _ = page.layout.panel(page.width, page.height)
    first, last = panel.get_xlim()
    ticks = np.array([tick for tick in panel.get_xticks() if first <= tick <= last])
    top = bottom - _TIME_AXIS
    page.text(0, top, "at risk", size=SMALL, va="top", alpha=FAINT)
    for row, leaf in enumerate(leaves):
        middle = top - LINE * (row + 1.5)
        page.text(_SWATCH, middle, leaf.channel.label, va="center")
        page.line(
            [_SWATCH / 3], [middle], marker="s", markersize=0.6 * page.fontsize, color=leaf.colour
        )
        for tick, count in zip(ticks, leaf.group.at_risk(ticks), strict=True):
            page.text(
                left + width * tick / last, middle, number(count, 3), ha="center", va="center"
            )


def spread(wanted: ArrayLike, heights: ArrayLike, room: float) -> Floats:
    """Return the centres of labels so that none overlaps another.

    Their order stays, and the sum of their squared shifts is the least possible.
    """
    heights = np.asarray(heights, dtype=np.float64)
    # Middles of labels that touch each other, the first of them at the bottom.
    touching = np.cumsum(heights) - heights / 2
    # Relative to that, labels do not overlap if their shifts ascend: an isotonic regression.
    slack = max(room - heights.sum(), 0.0)
    shift = isotonic_regression(np.asarray(wanted) - touching, y_min=0.0, y_max=slack)
    return touching + np.asarray(shift, dtype=np.float64)

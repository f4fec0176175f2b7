"""The tree with its rules on the edges, and the curve and the numbers of each leaf."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from surtree._support.parameters import LeafCurveKind
from surtree._support.types import Floats
from surtree.outcomes import GroupCurve, Outcome, counted, everyone
from surtree.plot._page import FAINT, LINE, SMALL, Page, Ruler, open_page, text_height
from surtree.plot._panel import add_panel, draw_leaf
from surtree.plot.requirement import mapped_colours, recoloured, require_matplotlib
from surtree.summary.figures import figure_text
from surtree.summary.labels import read_labels
from surtree.summary.survival_table import time_label
from surtree.summary.wording import rule_texts, wrap
from surtree.tree.resolve import time_unit_of, tree_of
from surtree.tree.tree import Tree
from surtree.words.quoting import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

# All sizes are in ems.
_RULE_WIDTHS = (28.0, 21.0, 16.0, 12.0, 9.0)
_PAD = 0.6
_ROW_GAP = 1.3
_COLUMN_GAP = 1.2
_LEAST_PANEL = (11.0, 4.5)
_COMFORTABLE_PANEL_WIDTH = 21.0
_LEAST_HEADER = 2 * LINE + 0.8
_TIME_AXIS = 2 * LINE + 0.8


def plot_tree(
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
    """Draw a tree from left to right, with the survival curve and the numbers of each leaf.

    The rule that leads to a node is on its edge. Each leaf has its curve, in a column of panels
    with the same axes and beside the curve of all rows in grey, and then its
    name, rows, events, relative risk and median survival. Curves are coloured by relative
    risk: blue below one, grey at one, vermilion above, which colour-blind people tell apart and
    which can be seen on light and dark backgrounds.

    Parameters
    ----------
    model : fitted estimator or Tree
        A model of this package, a pipeline that ends in one, or its ``tree_``.
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
        ``ax``, or the axes of the new figure; the panels are its ``child_axes``.

    Examples
    --------
    >>> from surtree import SurTree
    >>> from surtree.datasets import load_gbsg2
    >>> from surtree.plot import plot_tree
    >>> model = SurTree(max_depth=2).fit(*load_gbsg2())
    >>> ax = plot_tree(model, time_unit="days")
    >>> len(ax.child_axes)
    4
    """
    require_matplotlib()
    tree = tree_of(model)
    if time_unit is None:
        time_unit = time_unit_of(model)
    outcome = tree.outcome
    table = _table(outcome, time_unit, precision, level)
    shades = mapped_colours(tree.theta[tree.leaves], cmap)
    curves = [outcome.tree_curves(group, kind, level) for group in outcome.groups]
    text = outcome.caption(kind, level)
    if len(curves[0]) == 1:
        curves = [(recoloured(one, shade),) for (one,), shade in zip(curves, shades, strict=True)]
        text = f"{text} Grey: all rows."
    ruler = Ruler()
    rules = rule_texts(tree, read_labels(labels, units))
    layouts = [_lay_out(tree, rules, table, width, text, ruler) for width in _RULE_WIDTHS]
    page = open_page(layouts, ax, fontsize)
    _draw_edges(tree, page)
    _draw_panels(tree, curves, page, time_unit)
    _draw_table(page)
    page.text(0, 0, page.layout.caption, size=SMALL, va="bottom", alpha=FAINT)
    return page.ax


@dataclass(frozen=True)
class _TreeLayout:
    """Positions and sizes, from the left and from the top."""

    rules: tuple[str, ...]  # what stands above and below the edge of each node
    notes: tuple[str, ...]
    levels: Floats  # where the edges of each depth begin, and where the deepest ones end
    gutter: float  # the width of what stands between an edge and the panel of its leaf
    # The columns of the table, a heading and a cell for each leaf.
    table: tuple[tuple[str, ...], ...]
    columns: Floats  # how wide they are
    header: float  # the height of what stands above the leaves, and the least height of a leaf
    row: float
    caption: str  # what stands below

    @property
    def n_leaves(self) -> int:
        return len(self.table[0]) - 1

    @property
    def fixed_width(self) -> float:
        """The width of all but the panels."""
        return float(self.levels[-1] + self.gutter + self.columns.sum())

    @property
    def footer(self) -> float:
        """The height of the time axis and of the caption."""
        return _TIME_AXIS + SMALL * text_height(self.caption)

    @property
    def least(self) -> tuple[float, float]:
        return self._size(_LEAST_PANEL[0], self.row)

    @property
    def comfortable(self) -> tuple[float, float]:
        # A few leaves have room for large panels, many must share the screen.
        return self._size(
            _COMFORTABLE_PANEL_WIDTH, max(self.row, min(12.0, 6.0 + 20.0 / self.n_leaves))
        )

    def _size(self, panel: float, row: float) -> tuple[float, float]:
        return self.fixed_width + panel, self.header + self.n_leaves * row + self.footer

    def row_height(self, height: float) -> float:
        """Return how high a leaf is on a page of some height."""
        return (height - self.header - self.footer) / self.n_leaves

    def leaf_middles(self, height: float) -> Floats:
        """Return where the leaves are on a page of some height, counted from below."""
        above = self.row_height(height) * (np.arange(self.n_leaves, dtype=np.float64) + 0.5)
        return height - self.header - above


def _table(
    outcome: Outcome, time_unit: str | None, precision: int, level: float
) -> tuple[tuple[str, ...], ...]:
    """Return the figures of the leaves as columns, each with its heading."""
    groups = outcome.groups
    table = [["leaf", *(group.letters for group in groups)]]
    if groups[0].n_persons is not None:
        table.append(["persons", *(str(group.n_persons) for group in groups)])
    table.append(["rows", *(str(group.n_samples) for group in groups)])
    for column in outcome.printed_columns(groups, level):
        heading = column.picture_heading
        if column.is_time:
            heading = f"{column.symbol}\n{printable(time_unit or 'survival')}"
        cells = [heading, *(figure_text(column, index, precision) for index in range(len(groups)))]
        if column.joins:
            table[-1] = [f"{one}, {two}" for one, two in zip(table[-1], cells, strict=True)]
            continue
        table.append(cells)
        if column.shows_limits:
            limits = (column.limits_text(index) for index in range(len(groups)))
            table.append([f"{100 * level:g}%\ninterval", *limits])
    notes = [group.note for group in groups]
    if any(notes):
        table.append(["", *notes])
    return tuple(map(tuple, table))


def _lay_out(
    tree: Tree,
    texts: Sequence[str],
    table: tuple[tuple[str, ...], ...],
    rule_width: float,
    caption: str,
    ruler: Ruler,
) -> _TreeLayout:
    rules = tuple(wrap(text, rule_width, ruler) for text in texts)
    notes = tuple(
        "" if leaf else counted(tree.outcome.group(node)) for node, leaf in enumerate(tree.is_leaf)
    )
    levels = np.zeros(tree.depth + 2)
    for rule, note, path in zip(rules, notes, tree.paths(), strict=True):
        width = max(ruler(rule), SMALL * ruler(note)) + 2 * _PAD
        levels[len(path)] = max(levels[len(path)], width)
    columns = np.array([max(map(ruler, column)) + _COLUMN_GAP for column in table])
    gutter = SMALL * ruler("100%") + 2 * _PAD
    levels = np.cumsum(levels)
    width = levels[-1] + gutter + _LEAST_PANEL[0] + columns.sum()
    # Edges of one depth are a row apart, and a row and a half below one that has a note: a split
    # is in the middle of at least two rows. So rules above edges reach neither edges nor notes.
    tallest = max(map(text_height, rules)) + _PAD
    row = max(_LEAST_PANEL[1] + _ROW_GAP, tallest)
    return _TreeLayout(
        rules=rules,
        notes=notes,
        levels=levels,
        gutter=gutter,
        table=table,
        columns=columns,
        header=max(_LEAST_HEADER, tallest - row / 2),
        row=row,
        caption=wrap(caption, width / SMALL, ruler),
    )


def _draw_edges(tree: Tree, page: Page[_TreeLayout]) -> None:
    from matplotlib import rcParams

    levels = page.layout.levels
    middles = np.empty(tree.n_nodes)
    middles[tree.leaves] = page.layout.leaf_middles(page.height)
    # Preorder: backwards, children are placed before their parent.
    for node in np.flatnonzero(~tree.is_leaf)[::-1]:
        middles[node] = (middles[tree.left[node]] + middles[tree.right[node]]) / 2

    depths = np.array([len(path) - 1 for path in tree.paths()])
    style = {"color": rcParams["text.color"], "linewidth": 0.09 * page.fontsize, "alpha": 0.6}
    for node, middle in enumerate(middles):
        begin, end = levels[depths[node]], levels[-1]
        if not tree.is_leaf[node]:
            end = levels[depths[node] + 1]
            page.line([end, end], middles[[tree.left[node], tree.right[node]]], **style)
        page.line([begin, end], [middle, middle], **style)
        page.text(begin + _PAD, middle + 0.2, page.layout.rules[node], va="bottom")
        page.text(
            begin + _PAD, middle - 0.2, page.layout.notes[node], size=SMALL, va="top", alpha=FAINT
        )


def _draw_panels(
    tree: Tree,
    curves: Sequence[tuple[GroupCurve, ...]],
    page: Page[_TreeLayout],
    time_unit: str | None,
) -> None:
    from matplotlib import rcParams

    layout = page.layout
    times = tree.event_times
    left = layout.levels[-1] + layout.gutter
    width = page.width - layout.fixed_width
    height = layout.row_height(page.height) - _ROW_GAP
    all_rows = np.concatenate(([1.0], everyone(tree).values))
    style: dict[str, Any] = {"color": rcParams["text.color"], "alpha": 0.35}
    for drawn, middle in zip(curves, layout.leaf_middles(page.height), strict=True):
        panel = add_panel(page, (left, middle - height / 2, width, height), times[-1])
        panel.set_yticks([0.0, 0.5, 1.0])
        panel.tick_params(labelbottom=drawn is curves[-1])
        panel.axhline(0.5, linewidth=0.06 * page.fontsize, **style)
        if len(drawn) == 1:
            panel.plot(
                [0.0, *times],
                all_rows,
                drawstyle="steps-post",
                linewidth=0.1 * page.fontsize,
                **style,
            )
        for curve in drawn:
            draw_leaf(page, panel, curve, times[-1], 0.25 if len(drawn) == 1 else 0.15)
    middle = left + width / 2
    below, above = layout.footer - _TIME_AXIS, page.height - layout.header + _PAD
    page.text(middle, below + 0.4, time_label(time_unit), ha="center", va="bottom")
    if len(curves[0]) == 1:
        page.text(middle, above, "survival", ha="center", va="bottom")
        return
    # What each colour is: the labels of the channels, one after the other.
    start = left
    for curve in curves[0]:
        label = curve.channel.label
        page.text(start, above, label, ha="left", va="bottom", color=curve.colour)
        start += Ruler()(label) + 2 * _PAD


def _draw_table(page: Page[_TreeLayout]) -> None:
    layout = page.layout
    right = page.width - layout.columns.sum() + layout.columns.cumsum()
    for (heading, *cells), x in zip(layout.table, right, strict=True):
        page.text(x, page.height - layout.header + _PAD, heading, ha="right", va="bottom")
        for cell, middle in zip(cells, layout.leaf_middles(page.height), strict=True):
            page.text(x, middle, cell, ha="right", va="center")

"""Cumulative incidence of competing risks: a panel of stacked areas for each leaf."""

from __future__ import annotations

import math
from collections.abc import Mapping
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from surtree._types import Floats
from surtree.display.cause_leaves import cause_colours, cause_names, causes_text, stacked_incidence
from surtree.display.leaves import at_risk, time_label
from surtree.display.wording import leaf_texts, number
from surtree.parameters import LeafCurveKind
from surtree.plot._requirement import require_matplotlib
from surtree.tree.resolve import time_unit_of, tree_of
from surtree.tree.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_COLUMNS = 3
_PANEL = (4.3, 3.6)  # inches, with its texts
_LEGEND = 0.5
_TITLE_WIDTH = 46


def plot_incidence(
    model: Any,
    ax: Axes | None = None,
    *,
    kind: LeafCurveKind | None = None,
    names: Mapping[int, str] | None = None,
    time_unit: str | None = None,
) -> Axes:
    """Draw the cumulative incidence of all causes in each leaf, stacked, with the rows at risk.

    The height of an area is the share of rows that has had an event of that cause, and what is
    left on top has had none. Below each tick of the time axis stands how many rows of the leaf (or
    how much weight) are at risk. Areas end with the last follow-up of the leaf.

    Parameters
    ----------
    model : fitted CompetingRisksTree, or its ``tree_``
        The model.
    ax : matplotlib Axes, optional
        Whose place the picture takes; a new figure of a fitting size when None.
    kind : {"baseline", "kaplan-meier", "shrunk"}, optional
        Which curves a leaf has (`leaf_incidence`); by default those that the model predicts with.
    names : mapping of int to str, optional
        What to call the causes, such as ``{1: "melanoma", 2: "other causes"}``.
    time_unit : str, optional
        What time is counted in, for example "days"; by default the ``time_unit_`` of the model.

    Returns
    -------
    matplotlib Axes
        ``ax``, or the axes of the new figure; the panels are its ``child_axes``, in the order of
        the leaves.

    Examples
    --------
    >>> from surtree import CompetingRisksTree
    >>> from surtree.datasets import load_melanoma
    >>> from surtree.plot import plot_incidence
    >>> model = CompetingRisksTree(max_depth=1).fit(*load_melanoma())
    >>> ax = plot_incidence(model, names={1: "melanoma", 2: "other causes"}, time_unit="days")
    >>> len(ax.child_axes)
    2
    """
    require_matplotlib()
    import matplotlib.pyplot as plt
    from matplotlib.patches import Patch

    tree = tree_of(model)
    if time_unit is None:
        time_unit = time_unit_of(model)
    called, colours = cause_names(tree, names), cause_colours(tree)
    n_columns = 2 if tree.n_leaves in (2, 4) else min(_MOST_COLUMNS, tree.n_leaves)
    n_lines = math.ceil(tree.n_leaves / n_columns)
    size = _PANEL[0] * n_columns, _PANEL[1] * n_lines + _LEGEND
    if ax is None:
        figure = plt.figure(figsize=size)
        ax = figure.add_axes((0, 0, 1, 1))
    ax.set_axis_off()
    texts = leaf_texts(tree)
    for place, leaf in enumerate(tree.leaves.tolist()):
        line, column = divmod(place, n_columns)
        corner = _PANEL[0] * column + 0.65, size[1] - _PANEL[1] * (line + 1) + 0.85
        box = (corner[0] / size[0], corner[1] / size[1])
        extent = (_PANEL[0] - 0.95) / size[0], (_PANEL[1] - 1.55) / size[1]
        panel = ax.inset_axes((*box, *extent))
        _draw(panel, tree, leaf, kind, colours)
        _label_times(panel, tree, place, time_unit)
        title = fill(f"leaf {leaf}: {texts[leaf]}", _TITLE_WIDTH)
        panel.set_title(f"{title}\n{causes_text(tree, leaf, called)}", fontsize=8.5, loc="left")
    patches = [
        Patch(color=colour, label=called[cause])
        for cause, colour in zip(called, colours, strict=True)
    ]
    patches.append(Patch(facecolor="none", edgecolor="0.6", label="no event"))
    patches.append(Patch(facecolor="0.92", label="no follow-up"))
    ax.legend(handles=patches, loc="lower center", ncols=len(patches), frameon=False)
    return ax


def _draw(
    panel: Axes, tree: Tree, leaf: int, kind: LeafCurveKind | None, colours: list[str]
) -> None:
    times, stacked = stacked_incidence(tree, leaf, kind)
    corners = np.repeat(times, 2)[1:]
    below: Floats = np.zeros(corners.size)
    for upper, colour in zip(stacked, colours, strict=True):
        edge = np.repeat(upper, 2)[:-1]
        panel.fill_between(corners, below, edge, color=colour, alpha=0.85, linewidth=0)
        below = edge
    end = float(tree.baseline.times[-1])
    if times[-1] < end:
        panel.axvspan(float(times[-1]), end, color="0.92", linewidth=0)


def _label_times(panel: Axes, tree: Tree, place: int, time_unit: str | None) -> None:
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    end = float(tree.baseline.times[-1])
    panel.set(xlim=(0, end), ylim=(0, 1))
    ticks = [
        tick for tick in MaxNLocator(4, steps=[1, 2, 5, 10]).tick_values(0, end) if 0 <= tick <= end
    ]
    labels = [f"{tick:g}" for tick in ticks]
    if tree.risk:
        counts = at_risk(tree, place, np.array(ticks)).tolist()
        labels = [
            f"{label}\n{number(count, 3) if math.isfinite(count) else ''}"
            for label, count in zip(labels, counts, strict=True)
        ]
    panel.set_xticks(ticks, labels)
    panel.yaxis.set_major_formatter(PercentFormatter(1.0))
    panel.spines[["top", "right"]].set_visible(False)
    panel.tick_params(labelsize=8)
    below = ", rows at risk below" if tree.risk else ""
    panel.set_xlabel(f"{time_label(time_unit)}{below}", fontsize=8)

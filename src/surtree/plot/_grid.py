"""A panel for each leaf, in lines of a few, with rows at risk below the ticks of time."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

from surtree._support.types import Floats
from surtree.plot._page import inches_of
from surtree.summary.survival_table import time_label
from surtree.tree.tree import Tree
from surtree.words.numbers import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_COLUMNS = 3
_PANEL = (4.3, 3.6)  # inches, with its texts and one line of numbers at risk
_LINE = 0.16  # another such line
_LEGEND = 0.5
_TITLE_WIDTH = 46


def open_grid(ax: Axes | None, tree: Tree, n_lines: int) -> tuple[Axes, list[Axes], float]:
    """Return the axes of a picture, a panel in them for each leaf, and how large text may be."""
    from matplotlib import pyplot

    width, height = _PANEL[0], _PANEL[1] + _LINE * (n_lines - 1)
    n_columns = 2 if tree.n_leaves in (2, 4) else min(_MOST_COLUMNS, tree.n_leaves)
    size = width * n_columns, height * math.ceil(tree.n_leaves / n_columns) + _LEGEND
    if ax is None:
        ax = pyplot.figure(figsize=size).add_axes((0, 0, 1, 1))
    ax.set_axis_off()
    panels = []
    for position in range(tree.n_leaves):
        line, column = divmod(position, n_columns)
        left = width * column + 0.65
        bottom = size[1] - height * (line + 1) + 0.85 + _LINE * (n_lines - 1)
        panels.append(
            ax.inset_axes(
                (
                    left / size[0],
                    bottom / size[1],
                    (width - 0.95) / size[0],
                    (_PANEL[1] - 1.55) / size[1],
                )
            )
        )
    inches = inches_of(ax)
    return ax, panels, min(1.0, inches[0] / size[0], inches[1] / size[1])


def label_panel(
    panel: Axes,
    tree: Tree,
    title: str,
    subtitle: str,
    time_unit: str | None,
    at_risk: Callable[[Floats], tuple[Floats, ...]],
    scale: float,
) -> None:
    """Write the title, the ticks and the numbers at risk of a panel."""
    import numpy as np
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    end = tree.last_event
    panel.set(xlim=(0, end), ylim=(0, 1))
    values = MaxNLocator(4, steps=[1, 2, 5, 10]).tick_values(0, end)
    ticks = [tick for tick in values if 0 <= tick <= end]
    labels = [f"{tick:g}" for tick in ticks]
    rows = at_risk(np.array(ticks))
    for counts in rows:
        labels = [
            f"{label}\n{number(count, 3) if math.isfinite(count) else ''}"
            for label, count in zip(labels, counts.tolist(), strict=True)
        ]
    panel.set_xticks(ticks, labels)
    panel.yaxis.set_major_formatter(PercentFormatter(1.0))
    panel.spines[["top", "right"]].set_visible(False)
    panel.tick_params(labelsize=8 * scale, pad=3 * scale)
    below = ", rows at risk below" if rows else ""
    panel.set_xlabel(
        f"{time_label(time_unit)}{below}",
        fontsize=8 * scale,
        labelpad=4 * scale,
        parse_math=False,
    )
    panel.set_title(
        f"{fill(title, _TITLE_WIDTH)}\n{subtitle}",
        fontsize=8.5 * scale,
        pad=6 * scale,
        loc="left",
        parse_math=False,
    )


def add_legend(ax: Axes, handles: Sequence[Any], scale: float) -> None:
    """Write what colours and lines mean below all panels."""
    legend = ax.legend(
        handles=handles,
        loc="lower center",
        ncols=len(handles),
        frameon=False,
        fontsize=10 * scale,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)

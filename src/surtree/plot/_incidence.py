"""Cumulative incidence of competing risks: a panel of stacked areas for each leaf."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from surtree._support.parameters import LeafCurveKind
from surtree._support.types import Floats
from surtree.outcomes.legacy import cause_colours, cause_names, causes_text, stacked_incidence
from surtree.plot._colour import read_colours
from surtree.plot._grid import add_legend, label_panel, open_grid
from surtree.plot._requirement import require_matplotlib
from surtree.summary.labels import read_labels
from surtree.summary.leaves import at_risk
from surtree.summary.wording import leaf_texts
from surtree.tree.resolve import cause_names_of, time_unit_of, tree_of
from surtree.tree.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_incidence(
    model: Any,
    ax: Axes | None = None,
    *,
    kind: LeafCurveKind | None = None,
    names: Mapping[int, str] | None = None,
    time_unit: str | None = None,
    labels: Mapping[str, str] | None = None,
    units: Mapping[str, str] | None = None,
    colours: Sequence[str] | None = None,
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
        What to call the causes, such as ``{1: "melanoma", 2: "other causes"}``; by default the
        ``cause_names_`` of the model.
    time_unit : str, optional
        What time is counted in, for example "days"; by default the ``time_unit_`` of the model.
    labels, units : mapping of str to str, optional
        What columns are called in rules, and what they are counted in, as in `write_report`.
    colours : sequence of str, optional
        A colour for each cause.

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
    from matplotlib.patches import Patch

    tree = tree_of(model)
    if time_unit is None:
        time_unit = time_unit_of(model)
    called = cause_names(tree, cause_names_of(model) if names is None else names)
    areas = read_colours(colours, cause_colours(tree))
    ax, panels, scale = open_grid(ax, tree, 1)
    texts = leaf_texts(tree, read_labels(labels, units))
    for place, (panel, leaf) in enumerate(zip(panels, tree.leaves.tolist(), strict=True)):
        _draw(panel, tree, leaf, kind, areas)
        title, said = f"leaf {leaf}: {texts[leaf]}", causes_text(tree, leaf, called)
        counted = [partial(at_risk, tree, place)] if tree.risk else []
        label_panel(panel, tree, title, said, time_unit, counted, scale)
    patches = [
        Patch(color=colour, label=called[cause])
        for cause, colour in zip(called, areas, strict=True)
    ]
    patches.append(Patch(facecolor="none", edgecolor="0.6", label="no event"))
    patches.append(Patch(facecolor="0.92", label="no follow-up"))
    add_legend(ax, patches, scale)
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

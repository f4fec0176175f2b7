"""A panel for each leaf, with a curve of each cause or arm, and rows at risk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from surtree._support.parameters import LeafCurveKind
from surtree._support.types import Floats
from surtree.outcomes import GroupCurve, outcome_of
from surtree.outcomes.curve import stacked
from surtree.plot._grid import add_legend, label_panel, open_grid
from surtree.plot._panel import draw_curve
from surtree.plot.requirement import read_colours, recoloured, require_matplotlib
from surtree.summary.labels import read_labels
from surtree.summary.wording import leaf_texts
from surtree.tree.resolve import cause_names_of, time_unit_of, tree_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Told apart also where there are no colours; the first is solid.
_STYLES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1)), (0, (6, 1.5, 1.5, 1.5)))
_FONTSIZE = 9.0


def plot_channels(
    model: Any,
    ax: Axes | None = None,
    *,
    kind: LeafCurveKind | None = None,
    level: float = 0.95,
    names: Mapping[Any, str] | None = None,
    time_unit: str | None = None,
    labels: Mapping[str, str] | None = None,
    units: Mapping[str, str] | None = None,
    colours: Sequence[str] | None = None,
) -> Axes:
    """Draw what each cause, or each arm of a trial, is at in each leaf, with the rows at risk.

    Of competing risks a panel has the cumulative incidence of all causes, stacked: the height of an
    area is the share of rows that has had an event of that cause, and what is left on top has had
    none. Of a trial it has the survival of each arm, with ticks for censored rows. Above each panel
    stand the rule of the leaf and its figures; below each tick of the time axis, how many rows (or
    how much weight) are at risk, of each arm in the order of the legend. Nothing is drawn after
    the last follow-up of a leaf.

    Parameters
    ----------
    model : fitted CompetingRisksTree or EffectTree, or its ``tree_``
        The model.
    ax : matplotlib Axes, optional
        Whose place the picture takes; a new figure of a fitting size when None.
    kind : {"baseline", "kaplan-meier", "shrunk", "breslow"}, optional
        Which curves a leaf has; by default those that the model predicts with.
    level : float, default=0.95
        The level of intervals.
    names : mapping of int to str, optional
        What to call the causes, such as ``{1: "melanoma", 2: "other causes"}``; by default the
        ``cause_names_`` of the model.
    time_unit : str, optional
        What time is counted in, for example "days"; by default the ``time_unit_`` of the model.
    labels, units : mapping of str to str, optional
        What columns are called in rules, and what they are counted in, as in `write_report`.
    colours : sequence of str, optional
        A colour for each cause or arm; the lines of arms are dashed in different ways too.

    Returns
    -------
    matplotlib Axes
        ``ax``, or the axes of the new figure; the panels are its ``child_axes``, in the order of
        the leaves.

    Examples
    --------
    >>> from surtree import CompetingRisksTree
    >>> from surtree.datasets import load_melanoma
    >>> from surtree.plot import plot_channels
    >>> model = CompetingRisksTree(max_depth=1).fit(*load_melanoma())
    >>> ax = plot_channels(model, names={1: "melanoma", 2: "other causes"}, time_unit="days")
    >>> len(ax.child_axes)
    2
    """
    require_matplotlib()

    tree = tree_of(model)
    if time_unit is None:
        time_unit = time_unit_of(model)
    outcome = outcome_of(tree, cause_names_of(model) if names is None else names)
    if not outcome.is_several:
        raise ValueError(
            "The leaves of this tree have one curve each, which plot_curves draws: causes and arms "
            "are those of a fitted CompetingRisksTree or EffectTree."
        )
    groups = outcome.groups
    shades = read_colours(colours, [channel.colour for channel in outcome.channels])
    texts = leaf_texts(tree, read_labels(labels, units))
    end = tree.last_event
    ax, panels, scale = open_grid(ax, tree, len(outcome.at_risk(groups[0], np.zeros(1))) or 1)
    for panel, group in zip(panels, groups, strict=True):
        curves = [
            recoloured(curve, shade)
            for curve, shade in zip(outcome.curves(group, kind, level), shades, strict=True)
        ]
        if outcome.is_stacked:
            _draw_areas(panel, curves, end)
        else:
            for curve, style in zip(curves, _STYLES, strict=False):
                draw_curve(panel, curve, end, _FONTSIZE * scale, 0.15, style)
        title, text = f"{group.name}: {texts[group.leaf]}", outcome.group_text(group, level)
        label_panel(panel, tree, title, text, time_unit, partial(outcome.at_risk, group), scale)
        panel.set_ylim(0, 1 if outcome.is_stacked else 1.03)
    legend = _areas if outcome.is_stacked else _lines
    add_legend(ax, legend([channel.label for channel in outcome.channels], shades), scale)
    return ax


def _areas(labels: Sequence[str], shades: Sequence[str]) -> list[Any]:
    """Return what areas mean, for a legend."""
    from matplotlib.patches import Patch

    keys = [Patch(color=shade, label=label) for label, shade in zip(labels, shades, strict=True)]
    keys.append(Patch(facecolor="none", edgecolor="0.6", label="no event"))
    keys.append(Patch(facecolor="0.92", label="no follow-up"))
    return keys


def _lines(labels: Sequence[str], shades: Sequence[str]) -> list[Any]:
    """Return what lines mean, for a legend."""
    from matplotlib.lines import Line2D

    return [
        Line2D([], [], color=shade, linestyle=style, label=label)
        for label, shade, style in zip(labels, shades, _STYLES, strict=False)
    ]


def _draw_areas(panel: Axes, curves: Sequence[GroupCurve], end: float) -> None:
    times, edges = stacked(curves, end)
    corners = np.repeat(times, 2)[1:]
    below: Floats = np.zeros(corners.size)
    for upper, curve in zip(edges, curves, strict=True):
        edge = np.repeat(upper, 2)[:-1]
        panel.fill_between(corners, below, edge, color=curve.colour, alpha=0.85, linewidth=0)
        below = edge
    if times[-1] < end:
        panel.axvspan(float(times[-1]), end, color="0.92", linewidth=0)

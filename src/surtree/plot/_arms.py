"""The arms of a trial: a panel for each leaf, with a curve and the rows at risk of each arm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from surtree._support.parameters import LeafCurveKind
from surtree.outcomes.arm_effects import arms_of, effects_of_leaf, interval_text, ratio_text
from surtree.outcomes.legacy import arm_at_risk
from surtree.plot._colour import read_colours
from surtree.plot._grid import add_legend, label_panel, open_grid
from surtree.plot._panel import draw_curve
from surtree.plot._requirement import require_matplotlib
from surtree.summary.arms import ARM_COLOURS, read_arm_leaves
from surtree.summary.labels import read_labels
from surtree.summary.wording import leaf_texts
from surtree.tree.resolve import time_unit_of, tree_of
from surtree.tree.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Told apart also where there are no colours; the reference is solid.
_STYLES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1)), (0, (6, 1.5, 1.5, 1.5)))
_FONTSIZE = 9.0


def plot_arms(
    model: Any,
    ax: Axes | None = None,
    *,
    kind: LeafCurveKind | None = None,
    level: float = 0.95,
    time_unit: str | None = None,
    labels: Mapping[str, str] | None = None,
    units: Mapping[str, str] | None = None,
    colours: Sequence[str] | None = None,
) -> Axes:
    """Draw the survival of each arm in each leaf, with ticks for censored rows and rows at risk.

    Above each panel stand the rule of the leaf and its hazard ratios; below each tick of the time
    axis, how many rows (or how much weight) of each arm are at risk, in the order of the legend.

    Parameters
    ----------
    model : fitted EffectTree, or its ``tree_``
        The model.
    ax : matplotlib Axes, optional
        Whose place the picture takes; a new figure of a fitting size when None.
    kind : {"baseline", "kaplan-meier", "shrunk", "breslow"}, optional
        Which curve an arm has; by default the one that the model predicts with.
    level : float, default=0.95
        The level of intervals.
    time_unit : str, optional
        What time is counted in, for example "days"; by default the ``time_unit_`` of the model.
    labels, units : mapping of str to str, optional
        What columns are called in rules, and what they are counted in, as in `write_report`.
    colours : sequence of str, optional
        A colour for each arm, the reference first; lines are dashed in different ways too.

    Returns
    -------
    matplotlib Axes
        ``ax``, or the axes of the new figure; the panels are its ``child_axes``, in the order of
        the leaves.

    Examples
    --------
    >>> from surtree import EffectTree
    >>> from surtree.datasets import load_rossi
    >>> from surtree.plot import plot_arms
    >>> X, y = load_rossi()
    >>> model = EffectTree(max_depth=1).fit(X, y, treatment=X.pop("financial_aid"))
    >>> ax = plot_arms(model, time_unit="weeks")
    >>> len(ax.child_axes)
    2
    """
    require_matplotlib()
    from matplotlib.lines import Line2D

    tree = tree_of(model)
    arms = arms_of(tree)
    if time_unit is None:
        time_unit = time_unit_of(model)
    texts = leaf_texts(tree, read_labels(labels, units))
    end = float(tree.baseline.times[-1])
    ax, panels, scale = open_grid(ax, tree, arms.n_arms)
    called = read_colours(colours, ARM_COLOURS[: arms.n_arms])
    styled = list(zip(arms.names, called, _STYLES[: arms.n_arms], strict=True))
    for panel, leaf in zip(panels, tree.leaves.tolist(), strict=True):
        drawn = read_arm_leaves(tree, leaf, kind, level)
        for arm, (_, colour, style) in zip(drawn, styled, strict=True):
            draw_curve(panel, replace(arm, colour=colour), end, _FONTSIZE * scale, 0.15, style)
        counted = [partial(arm_at_risk, tree, leaf, arm) for arm in range(arms.n_arms)]
        title, said = f"leaf {leaf}: {texts[leaf]}", _effects_text(tree, leaf, level)
        label_panel(panel, tree, title, said, time_unit, counted, scale)
        panel.set_ylim(0, 1.03)
    keys = [
        Line2D([], [], color=colour, linestyle=style, label=label)
        for label, colour, style in styled
    ]
    add_legend(ax, keys, scale)
    return ax


def _effects_text(tree: Tree, leaf: int, level: float) -> str:
    """Return the events of each arm of a leaf, and its hazard ratios with limits."""
    arms = arms_of(tree)
    counts = zip(arms.names, arms.n_events[leaf], arms.n_samples[leaf], strict=True)
    events = ", ".join(f"{label} {events} of {rows}" for label, events, rows in counts)
    ratios = (
        f"hazard ratio {effect.contrast}: {ratio_text(effect.ratio)} "
        f"({100 * level:g}% CI {interval_text(effect.limits)})"
        for effect in effects_of_leaf(tree, leaf, level)
    )
    return "\n".join([f"events: {events}", *ratios])

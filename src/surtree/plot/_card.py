"""A score card as a picture: the points of every column, on one scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from surtree.averages.points import PointsTable
from surtree.plot.requirement import require_matplotlib
from surtree.tree.resolve import last_step
from surtree.words.numbers import plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BAR = "#0A5FB5"
# Inches of a line of the card.
_LINE = 0.24


def plot_card(model: Any, ax: Axes | None = None) -> Axes:
    """Draw the points of a score card, a bar for each of its lines.

    Parameters
    ----------
    model : PointsTable
        A fitted score card, or a pipeline that ends in one.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when None.

    Returns
    -------
    matplotlib Axes
        ``ax``, or the axes of the new figure.

    Examples
    --------
    >>> from surtree import PointsTable
    >>> from surtree.datasets import load_gbsg2
    >>> from surtree.plot import plot_card
    >>> X, y = load_gbsg2()
    >>> plot_card(PointsTable().fit(X, y)).get_xlabel()
    'points (10 double the hazard; at most 40)'
    """
    require_matplotlib()
    from matplotlib import pyplot

    card = last_step(model).model
    if not isinstance(card, PointsTable):
        raise TypeError(f"plot_card draws a fitted PointsTable; got {type(card).__name__}.")
    columns = card.card_
    n_lines = sum(len(column.points) + 1 for column in columns)
    if ax is None:
        size = (6.0, 1.0 + _LINE * max(n_lines, 2))
        _, ax = pyplot.subplots(figsize=size, layout="constrained")
    places, labels, position = [], [], 0
    for column in columns:
        ax.text(0, position, f" {column.name}", va="center", fontweight="bold", fontsize="medium")
        for label, points in zip(column.labels, column.points, strict=True):
            position += 1
            ax.barh(position, points, height=0.7, color=_BAR)
            ax.annotate(
                str(points),
                (points, position),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                fontsize="small",
            )
            places.append(position)
            labels.append(label)
        position += 1
    ax.set_yticks(places, labels)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(position, -0.8)
    ax.margins(x=0.08)
    ax.set_xlim(left=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    double = f"{card.points_to_double:g}"
    ax.set_xlabel(f"points ({double} double the hazard; at most {columns.most})")
    if not columns:
        ax.set_title(f"no column has points ({plural(card.n_features_in_, 'column')} in the table)")
    return ax

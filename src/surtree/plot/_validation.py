"""Validation in pictures: calibration, instability of predictions, net benefit."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from surtree.metrics import Calibration, DecisionCurve
from surtree.plot.requirement import require_matplotlib
from surtree.tree.resolve import last_step
from surtree.validation import Evaluation, Validation
from surtree.words.numbers import leaf_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAIN, _OTHER = "#0A5FB5", "#8B8B8B"
# More predictions than these are drawn as a choice of them.
_MOST_POINTS = 20_000


def plot_calibration(result: Any, ax: Axes | None = None) -> Axes:
    """Draw predicted against observed survival at a horizon, with limits.

    On the diagonal, what was predicted is what happened. Of a `Validation`, the predictions are by
    models that had not seen the rows.

    Parameters
    ----------
    result : Validation, Evaluation, Calibration, or fitted model
        What `validate`, `evaluate` or `surtree.metrics.calibration` returns; or a model whose
        ``validation_`` you have set.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when None.

    Returns
    -------
    matplotlib Axes
        ``ax``, or the axes of the new figure.

    Examples
    --------
    >>> from surtree import SurTree, validate
    >>> from surtree.datasets import load_gbsg2
    >>> from surtree.plot import plot_calibration
    >>> result = validate(SurTree(max_depth=2), *load_gbsg2(), n_bootstraps=10)
    >>> plot_calibration(result).get_xlabel()
    'predicted survival at 646'
    """
    curve = result if isinstance(result, Calibration) else _judgement(result).calibration
    if curve is None:
        raise ValueError("There is no calibration: the horizon is past the last time.")
    of = "survival" if curve.cause is None else f"incidence of cause {curve.cause}"
    at = f"at {curve.horizon:g}{_unit(result)}"
    ax = _axes(ax, "xy")
    ax.plot([0, 1], [0, 1], "--", color=_OTHER, linewidth=1, zorder=1)
    limits = np.stack([curve.observed - curve.lower, curve.upper - curve.observed])
    ax.errorbar(
        curve.predicted,
        curve.observed,
        np.nan_to_num(np.maximum(limits, 0.0)),
        fmt="o",
        color=_MAIN,
        capsize=2,
        markersize=5,
        linewidth=1,
    )
    ax.set(
        xlim=(0, 1),
        ylim=(0, 1),
        aspect="equal",
        xlabel=f"predicted {of} {at}",
        ylabel=f"observed {of} {at}",
    )
    return ax


def plot_stability(result: Any, ax: Axes | None = None) -> Axes:
    """Draw what the models of samples predict, against what the model of all rows predicts.

    The instability plot of Riley and Collins: a point for each row and each sample, and for each
    leaf the range that its rows have in most samples. Far from the diagonal, another sample of
    rows would have given another answer for the same person.

    Parameters
    ----------
    result : Validation, or fitted model
        What `validate` returns, or a model whose ``validation_`` you have set. Read from the file
        of a model, it has the ranges of leaves only.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when None.

    Returns
    -------
    matplotlib Axes
        ``ax``, or the axes of the new figure.

    Examples
    --------
    >>> from surtree import SurTree, validate
    >>> from surtree.datasets import load_gbsg2
    >>> from surtree.plot import plot_stability
    >>> result = validate(SurTree(max_depth=2), *load_gbsg2(), n_bootstraps=10)
    >>> plot_stability(result).get_xlabel()
    'survival at 646, by the model of all rows'
    """
    validation = _judgement(result)
    if not isinstance(validation, Validation):
        raise ValueError("An evaluation repeats nothing: plot_stability draws what validate says.")
    ax = _axes(ax, "xy")
    horizon = f"{validation.horizons[-1]:g}{_unit(result)}"
    names = leaf_names(leaf.leaf for leaf in validation.leaves)
    ax.plot([0, 1], [0, 1], "--", color=_OTHER, linewidth=1, zorder=3)
    draws = validation.repetitions
    if draws is not None:
        # Rows of a leaf have the same prediction: they are spread a little, so that all are seen.
        rng = np.random.default_rng(0)
        x = np.broadcast_to(draws.whole, draws.predicted.shape).ravel()
        chosen = rng.choice(x.size, min(x.size, _MOST_POINTS), replace=False)
        x, y = x[chosen], draws.predicted.ravel()[chosen]
        spread = rng.uniform(-0.008, 0.008, x.size)
        ax.plot(x + spread, y, ",", color=_OTHER, alpha=0.5, zorder=1, rasterized=True)
    for leaf in validation.leaves:
        ax.plot([leaf.survival] * 2, [leaf.lower, leaf.upper], color=_MAIN, linewidth=2, zorder=4)
        ax.plot(leaf.survival, leaf.survival, "o", color=_MAIN, markersize=5, zorder=5)
        if isfinite(leaf.survival):
            ax.annotate(
                names[leaf.leaf],
                (leaf.survival, leaf.survival),
                (5, -9),
                textcoords="offset points",
                color=_MAIN,
                fontweight="bold",
                zorder=6,
            )
    if validation.leaves:
        ax.plot(
            [],
            [],
            "o-",
            color=_MAIN,
            label=f"leaf, and {100 * validation.level:g}% of samples for its rows",
        )
        ax.legend(frameon=False, loc="upper left", fontsize="small")
    ax.set(
        xlim=(0, 1),
        ylim=(0, 1),
        aspect="equal",
        xlabel=f"{validation.curve_name} at {horizon}, by the model of all rows",
        ylabel=f"{validation.curve_name} at {horizon}, by models of samples",
    )
    return ax


def plot_decision_curve(result: Any, ax: Axes | None = None) -> Axes:
    """Draw the net benefit of acting on the predictions, on everybody and on nobody.

    Parameters
    ----------
    result : Validation, Evaluation, DecisionCurve, or fitted model
        What `validate`, `evaluate` or `surtree.metrics.decision_curve` returns; or a model whose
        ``validation_`` you have set.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when None.

    Returns
    -------
    matplotlib Axes
        ``ax``, or the axes of the new figure.

    Examples
    --------
    >>> from surtree import SurTree, validate
    >>> from surtree.datasets import load_gbsg2
    >>> from surtree.plot import plot_decision_curve
    >>> result = validate(SurTree(max_depth=2), *load_gbsg2(), n_bootstraps=10)
    >>> plot_decision_curve(result).get_ylabel()
    'net benefit'
    """
    curve = result if isinstance(result, DecisionCurve) else _judgement(result).decision
    if curve is None:
        raise ValueError(
            "There is no decision curve: rows have entry times, or the horizon is "
            "past the last time."
        )
    of = "an event" if curve.cause is None else f"cause {curve.cause}"
    ax = _axes(ax, "x")
    ax.axhline(0.0, color=_OTHER, linestyle="--", linewidth=1, label="act on nobody")
    ax.plot(curve.thresholds, curve.treat_all, color=_OTHER, linewidth=1, label="act on everybody")
    ax.plot(curve.thresholds, curve.model, color=_MAIN, label="act on the prediction")
    most = max(float(np.nanmax(curve.model, initial=0.01)), float(curve.treat_all.max()))
    ax.set(
        xlim=(0, float(curve.thresholds[-1])),
        ylim=(-most / 4, 1.1 * most),
        xlabel=f"threshold probability of {of} by {curve.horizon:g}{_unit(result)}",
        ylabel="net benefit",
    )
    ax.legend(frameon=False, loc="upper right")
    return ax


def _judgement(result: Any) -> Validation | Evaluation:
    """Return a validation or an evaluation as it is, and of a model the one that it keeps."""
    if isinstance(result, Validation | Evaluation):
        return result
    kept = getattr(last_step(result).model, "validation_", None)
    if not isinstance(kept, Validation):
        raise ValueError(
            f"This {type(result).__name__} was not validated: pass what validate(model, X, y) "
            "returns, or set model.validation_ to it first."
        )
    return kept


def _unit(result: Any) -> str:
    """Return the unit of time after a blank, where a model or an evaluation knows it."""
    unit = getattr(result, "time_unit", None) or getattr(result, "time_unit_", None)
    return f" {unit}" if unit else ""


def _axes(ax: Axes | None, shares: str) -> Axes:
    """Return axes in the style of the other plots; some of them are of shares."""
    require_matplotlib()
    from matplotlib import pyplot
    from matplotlib.ticker import PercentFormatter

    if ax is None:
        _, ax = pyplot.subplots(layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    for name in shares:
        getattr(ax, f"{name}axis").set_major_formatter(PercentFormatter(1.0))
    return ax

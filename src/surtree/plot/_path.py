"""Training and held-out scores against the size of the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from surtree._support.types import Floats
from surtree.averages.taught import TaughtTree
from surtree.model_selection.cv import SurTreeCV
from surtree.plot.requirement import require_matplotlib
from surtree.tree.resolve import last_step
from surtree.validation.sizes import SizeScores
from surtree.words.numbers import plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HELD_OUT = "#0A5FB5"
_TRAINING = "#C04808"
_OTHER = "#8B8B8B"


def plot_path(search: SurTreeCV | SizeScores | TaughtTree, ax: Axes | None = None) -> Axes:
    """Draw how well trees of every size did, and which size was chosen.

    The line of the best depth has the standard error of each mean; other depths are thin and
    grey, with their depth at the end. The band reaches from the best mean to one standard error
    from it. With ``scoring="loss"`` the loss of the training rows is drawn too. Of a `TaughtTree`,
    it is the share of its teacher that the tree of each size explains.

    Parameters
    ----------
    search : SurTreeCV, SizeScores or TaughtTree
        A fitted search or its ``sizes_``, or a taught tree; or a pipeline that ends in one.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when None.

    Returns
    -------
    matplotlib Axes
        ``ax``, or the axes of the new figure.

    Examples
    --------
    >>> from surtree import SurTreeCV
    >>> from surtree.datasets import load_gbsg2
    >>> from surtree.plot import plot_path
    >>> search = SurTreeCV(max_depth=2, cv=3).fit(*load_gbsg2())
    >>> plot_path(search).get_xlabel()
    'splits'
    """
    require_matplotlib()
    from matplotlib import pyplot
    from matplotlib.ticker import MaxNLocator

    last = last_step(search).model
    sizes = None if isinstance(last, TaughtTree) else _scores_of(last)
    if ax is None:
        _, ax = pyplot.subplots(layout="constrained")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("splits")
    if sizes is None:
        return _draw_explained(ax, last)
    loss = sizes.scoring == "loss"
    mean = -sizes.mean if loss else sizes.mean
    best, chosen = sizes.best, sizes.chosen
    depth = _depth_to_show(sizes)
    line = sizes.of_depth(depth)
    splits, error = sizes.max_splits[line], sizes.standard_error[line]

    edge = mean[best] + (1 if loss else -1) * sizes.standard_error[best]
    band = ax.axhspan(*sorted((mean[best], edge)), color=_HELD_OUT, alpha=0.12, linewidth=0)
    band.set_label("within one standard error of the best")
    if loss:
        training = sizes.training_loss.mean(axis=1)[line]
        ax.plot(splits, training, "--", color=_TRAINING, label=f"training rows, depth {depth}")
    label = f"held-out rows, depth {depth}"
    ax.errorbar(splits, mean[line], error, color=_HELD_OUT, marker=".", capsize=2, label=label)
    ax.plot(
        sizes.max_splits[[chosen]],
        mean[[chosen]],
        "o",
        color=_HELD_OUT,
        markersize=10,
        markerfacecolor="none",
        label=f"chosen: at most {sizes.max_splits[chosen]} splits",
    )
    for other in range(1, int(sizes.max_depth.max()) + 1):
        _draw_other(ax, sizes, mean, other, line)
    ax.set_ylabel("loss per row" if loss else sizes.scoring)
    ax.legend(frameon=False)
    return ax


def _draw_explained(ax: Axes, model: TaughtTree) -> Axes:
    """Draw the share of its teacher that the tree of each size explains."""
    from matplotlib.ticker import PercentFormatter

    explained = model.explained_
    ax.plot(explained, color=_HELD_OUT, marker=".", label="nearest tree of each size")
    splits = model.tree_.n_splits
    label = f"this tree: {plural(splits, 'split')}, {explained[splits]:.0%}"
    (ring,) = ax.plot([splits], explained[[splits]], "o", color=_HELD_OUT, label=label)
    ring.set_markersize(10)
    ring.set_markerfacecolor("none")
    ax.set_ylim(0, 1.03)
    ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    ax.set_ylabel("explained of the teacher's deviance")
    ax.legend(frameon=False)
    return ax


def _scores_of(search: Any) -> SizeScores:
    if isinstance(search, SizeScores):
        return search
    if not isinstance(search, SurTreeCV):
        raise TypeError(
            f"plot_path draws a fitted SurTreeCV, or its sizes_; got {type(search).__name__}."
        )
    # Without refit there is no tree, but there are scores.
    check_is_fitted(search, "sizes_")
    return search.sizes_


def _depth_to_show(sizes: SizeScores) -> int:
    """Return the depth of the best size, or of the chosen one where that is not on its line."""
    best = int(sizes.max_depth[sizes.best])
    return best if sizes.chosen in sizes.of_depth(best) else int(sizes.max_depth[sizes.chosen])


def _draw_other(
    ax: Axes, sizes: SizeScores, mean: Floats, depth: int, shown: NDArray[np.intp]
) -> None:
    line = sizes.of_depth(depth)
    # Lines of different depths have their beginnings in common.
    apart = np.flatnonzero(~np.isin(line, shown))
    if not apart.size:
        return
    line = line[max(int(apart[0]) - 1, 0) :]
    splits = sizes.max_splits[line]
    ax.plot(splits, mean[line], color=_OTHER, linewidth=0.8, zorder=1)
    ax.annotate(
        f"depth {depth}",
        (splits[-1], mean[line][-1]),
        xytext=(4, 0),
        textcoords="offset points",
        va="center",
        color=_OTHER,
        fontsize="small",
    )

"""A tree above the best tree of its size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from surtree.plot._tree import plot_tree
from surtree.plot.requirement import require_matplotlib
from surtree.questions.audit_result import Audit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Inches of a new figure: its width, what each tree needs, and what each of its leaves needs.
_WIDTH, _TREE, _LEAF = 13.0, 1.9, 0.62


def plot_audit(audit: Audit, axes: Sequence[Axes] | None = None, **options: Any) -> list[Axes]:
    """Draw an audited tree above the optimum of the same depth and number of splits.

    Parameters
    ----------
    audit : Audit
        What `audit_tree` returned.
    axes : sequence of matplotlib Axes, optional
        Whose places the two trees take, or the one tree where leaf labels were audited; a new
        figure when None.
    **options
        What `plot_tree` takes besides.

    Returns
    -------
    list of matplotlib Axes
        The axes of the audited tree, if there is one, and of the optimum.

    Examples
    --------
    >>> from surtree import audit_tree
    >>> from surtree.datasets import load_gbsg2
    >>> from surtree.heuristics import GreedyTree
    >>> from surtree.plot import plot_audit
    >>> X, y = load_gbsg2()
    >>> above, below = plot_audit(audit_tree(GreedyTree(max_depth=3).fit(X, y), X, y))
    >>> below.get_title(loc="left")
    'optimum, 7 splits, depth up to 3: loss 403.583; GreedyTree misses 8.4 % of what it explains'
    """
    require_matplotlib()
    if not isinstance(audit, Audit):
        raise TypeError(f"plot_audit draws what audit_tree found; got {type(audit).__name__}.")
    optimum = audit.optimum
    pictures = [(optimum.tree, audit.optimum_title())]
    if audit.tree is not None:
        pictures.insert(0, (audit.tree, audit.title()))
    drawn = _new_axes([tree.n_leaves for tree, _ in pictures]) if axes is None else list(axes)
    if len(drawn) != len(pictures):
        raise ValueError(f"axes must be {len(pictures)}, one for each tree; got {len(drawn)}.")
    # Titles first: they take space, and the size of text depends on the rest.
    for ax, (_, title) in zip(drawn, pictures, strict=True):
        ax.set_title(title, loc="left", parse_math=False)
    for ax, (tree, _) in zip(drawn, pictures, strict=True):
        plot_tree(tree, ax, **options)
    return drawn


def _new_axes(n_leaves: list[int]) -> list[Axes]:
    from matplotlib import pyplot
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    heights = [_TREE + _LEAF * n for n in n_leaves]
    _, axes = pyplot.subplots(
        len(heights),
        squeeze=False,
        figsize=(_WIDTH, sum(heights)),
        layout=ConstrainedLayoutEngine(h_pad=0.2, w_pad=0.2),
        height_ratios=heights,
    )
    return list(axes[:, 0])

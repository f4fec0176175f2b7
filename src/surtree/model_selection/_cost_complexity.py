"""The optimal tree for every penalty on the number of splits."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from surtree._support.parameters import require_not_negative
from surtree._support.types import ArrayValue, Floats
from surtree.estimators.tree import SurTree
from surtree.tree.size import Size
from surtree.tree.tree import Tree
from surtree.words.tables import table_html


@dataclass(frozen=True, eq=False)
class CostComplexityPath(ArrayValue):
    """The optimal tree for every penalty, from none to any.

    Parameters
    ----------
    ccp_alphas : array of float of shape (n_trees,)
        The breakpoints, ascending from 0: from this penalty on, up to the next one, the tree has
        the smallest ``loss + penalty * splits`` of all trees within the limits.
    losses : array of float of shape (n_trees,)
        The loss of each tree on its training rows.
    n_splits : array of int of shape (n_trees,)
        The number of splits of each tree, descending to 0.
    trees : tuple of Tree
        The trees.

    Examples
    --------
    >>> from surtree import SurTree, cost_complexity_path
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> path = cost_complexity_path(X, y, estimator=SurTree(max_depth=2))
    >>> path.n_splits.tolist()
    [3, 2, 1, 0]
    """

    ccp_alphas: Floats
    losses: Floats
    n_splits: NDArray[np.int64]
    trees: tuple[Tree, ...]

    def tree(self, ccp_alpha: float) -> Tree:
        """Return the optimal tree for a penalty; at a breakpoint, the smaller one of the two.

        Parameters
        ----------
        ccp_alpha : float
            What a split must be worth, zero or more.
        """
        if ccp_alpha != np.inf:
            require_not_negative("ccp_alpha", ccp_alpha)
        return self.trees[int(np.searchsorted(self.ccp_alphas, ccp_alpha, side="right")) - 1]

    def __repr__(self) -> str:
        return (
            f"CostComplexityPath(n_trees={len(self.trees)}, n_splits={self.n_splits.tolist()}, "
            f"largest_alpha={self.ccp_alphas[-1]:.6g})"
        )

    def _repr_html_(self) -> str:
        rows = zip(self.ccp_alphas, self.n_splits, self.losses, strict=True)
        return table_html(
            ("penalty from", "splits", "loss"),
            ((f"{alpha:.6g}", str(splits), f"{loss:.6g}") for alpha, splits, loss in rows),
        )

    def __str__(self) -> str:
        lines = [f"{'penalty from':>12}  {'splits':>6}  {'loss':>12}"]
        lines += [
            f"{alpha:>12.6g}  {splits:>6}  {loss:>12.6g}"
            for alpha, splits, loss in zip(self.ccp_alphas, self.n_splits, self.losses, strict=True)
        ]
        return "\n".join(lines)


def cost_complexity_path(
    X: Any,
    y: Any,
    *,
    estimator: SurTree | None = None,
    sample_weight: ArrayLike | None = None,
    entry: ArrayLike | None = None,
) -> CostComplexityPath:
    """Find the optimal tree for every penalty on the number of splits.

    Unlike pruning, which cuts branches off one large tree, each of the trees is the best of all
    trees for its penalties. One solve finds them: they are the corners of the lower convex hull
    of the losses of the best tree of every size.

    Parameters
    ----------
    X : data frame or array of shape (n_samples, n_features)
        Numbers, booleans, categories or text; values may be missing.
    y : structured array, data frame or pair of arrays
        Event and time, as in `SurTree.fit`.
    estimator : SurTree, optional
        The limits within which to search; fitted or not, it stays as it is. Its own ``ccp_alpha``
        does not matter.
    sample_weight : array of shape (n_samples,), optional
        How often each row counts.
    entry : array of shape (n_samples,), optional
        When each row came under observation.

    Examples
    --------
    >>> from surtree import SurTree, cost_complexity_path
    >>> from surtree.datasets import load_gbsg2
    >>> print(cost_complexity_path(*load_gbsg2(), estimator=SurTree(max_depth=2)))
    penalty from  splits          loss
               0       3       425.907
         5.22474       2       431.132
         14.6144       1       445.746
         32.1092       0       477.855
    """
    template = SurTree() if estimator is None else estimator
    if type(template) is not SurTree:
        raise TypeError(
            f"penalties are for a SurTree, of one event: got {type(template).__name__}, whose "
            "path_ has the best tree of every size"
        )
    model = clone(template).fit(X, y, sample_weight, entry)
    corners = _lower_hull(model.path_)
    rises = [_rise(larger, smaller) for larger, smaller in pairwise(corners)]
    return CostComplexityPath(
        ccp_alphas=np.array([0.0, *rises]),
        losses=np.array([size.loss for size in corners]),
        n_splits=np.array([size.tree.n_splits for size in corners]),
        trees=tuple(size.tree for size in corners),
    )


def _lower_hull(path: tuple[Size, ...]) -> list[Size]:
    """Return the sizes that are optimal for some penalty, the largest first.

    Going down in size, the loss of a corner must rise faster and faster for each split that is
    saved; where it does not, the size before was no corner.
    """
    corners: list[Size] = []
    for size in reversed(path):
        if corners and size.tree.n_splits == corners[-1].tree.n_splits:
            continue
        while len(corners) >= 2 and _rise(corners[-1], size) <= _rise(corners[-2], corners[-1]):
            corners.pop()
        corners.append(size)
    return corners


def _rise(larger: Size, smaller: Size) -> float:
    saved = larger.tree.n_splits - smaller.tree.n_splits
    return (smaller.loss - larger.loss) / saved

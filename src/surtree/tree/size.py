"""The best tree of one size, with its loss and its lower bound."""

from __future__ import annotations

from surtree.tree.build import UnbuiltTree
from surtree.tree.tree import Tree


class Size:
    """The best tree with at most a number of splits.

    Parameters
    ----------
    splits : int
        The largest number of splits that was allowed.
    loss : float
        The loss of the tree on its training rows.
    lower_bound : float
        No tree within the limits and with at most ``splits`` splits has a smaller loss.
    tree : Tree or UnbuiltTree
        The tree; the same as that of the size before, if one more split gains nothing.

    Examples
    --------
    >>> from surtree import SurTree
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> model = SurTree(max_depth=2).fit(X, y)
    >>> [(size.splits, round(size.loss, 1)) for size in model.path_]
    [(0, 477.9), (1, 445.7), (2, 431.1), (3, 425.9)]
    """

    __slots__ = ("_tree", "loss", "lower_bound", "splits")

    def __init__(
        self, splits: int, loss: float, lower_bound: float, tree: Tree | UnbuiltTree
    ) -> None:
        self.splits = splits
        self.loss = loss
        self.lower_bound = lower_bound
        self._tree = tree

    @property
    def tree(self) -> Tree:
        """The tree."""
        return self._tree.tree if isinstance(self._tree, UnbuiltTree) else self._tree

    def with_tree_of(self, best: Size, tree: Tree) -> Size:
        """Return this size with another tree, if it has that of the best size."""
        if self._tree is not best._tree:
            return self
        return Size(self.splits, self.loss, self.lower_bound, tree)

    def with_splits(self, splits: int, lower_bound: float) -> Size:
        """Return a size that has the same tree."""
        return Size(splits, self.loss, lower_bound, self._tree)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Size) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash((self.splits, self.loss))

    def __repr__(self) -> str:
        return f"Size(splits={self.splits}, loss={self.loss}, lower_bound={self.lower_bound})"

    # Pickle the tree, not its factory, which holds the trees of the other sizes.
    def __reduce__(self) -> tuple[type, tuple[int, float, float, Tree]]:
        return Size, self._values()

    def _values(self) -> tuple[int, float, float, Tree]:
        return self.splits, self.loss, self.lower_bound, self.tree

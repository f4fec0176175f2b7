"""Stability: which questions and leaves the trees of samples reproduce."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from surtree._support.types import Floats
from surtree.tree.tree import Tree
from surtree.words.numbers import figure, leaf_names, limits_text, plural
from surtree.words.quoting import printable

# With fewer samples there are no intervals. Even the smallest and the largest of 20 values hold
# the next one between them only 19 times in 21 (90%): the tails of fewer are guesses.
FEWEST_SAMPLES = 20
# Below this agreement the rows of a leaf are hardly ever together again (Hennig).
RARELY_REPRODUCED = 0.5
# From this one on a leaf is found again in most samples.
REPRODUCED = 0.75


@dataclass(frozen=True)
class ColumnUse:
    """How often the trees of samples ask about a column.

    Parameters
    ----------
    name : str
        The column.
    anywhere, first : float
        The share of trees that ask about it at all, and that ask about it first.
    thresholds : tuple of float
        Where they cut it, if it is a number: all of them, ascending.

    Examples
    --------
    >>> from surtree import SurTree, validate
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> result = validate(SurTree(max_depth=1), X, y, n_bootstraps=10)
    >>> result.columns[0].name, result.columns[0].anywhere
    ('positive_nodes', 0.8)
    """

    name: str
    anywhere: float
    first: float
    thresholds: tuple[float, ...] = ()

    @property
    def middle(self) -> tuple[float, float] | None:
        """Where the middle 80% of the thresholds lie."""
        if not self.thresholds:
            return None
        low, high = np.quantile(self.thresholds, [0.1, 0.9], method="inverted_cdf")
        return float(low), float(high)


@dataclass(frozen=True)
class LeafStability:
    """How a leaf of the tree of all rows fares in the trees of samples.

    Parameters
    ----------
    leaf : int
        The number of its node.
    jaccard : float
        How much of the leaf is reproduced: of the rows in it or in the leaf most like it, the share
        that is in both; the mean over the trees of samples.
    survival : float
        What the leaf says of survival at the horizon; of competing risks, of the incidence of the
        main cause, and of a tree with arms, the mean over its rows, each in its arm.
    lower, upper : float
        Between which the trees of samples see the survival of a row of this leaf; the mean over
        its rows.
    limits : tuple of (time, lower, upper)
        Limits of the survival of its rows over time: the mean of `Validation.survival_interval`.
        There are none with fewer than 20 samples, with folds, and of causes or arms.

    Examples
    --------
    >>> from surtree import SurTree, validate
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> result = validate(SurTree(max_depth=1), X, y, n_bootstraps=10)
    >>> leaf = result.leaves[0]
    >>> leaf.leaf, round(leaf.jaccard, 2), leaf.words
    (1, 0.79, 'reproduced')
    """

    leaf: int
    jaccard: float
    survival: float
    lower: float
    upper: float
    limits: tuple[tuple[float, float, float], ...] = ()

    def limits_at(self, time: float) -> tuple[float, float]:
        """Return the limits of survival at a time, NaN where they are not known."""
        if not self.limits or time > self.limits[-1][0]:
            return np.nan, np.nan
        times, lower, upper = np.array([(0.0, 1.0, 1.0), *self.limits]).T
        return float(np.interp(time, times, lower)), float(np.interp(time, times, upper))

    @property
    def words(self) -> str:
        """Whether samples give it again."""
        if self.jaccard >= REPRODUCED:
            return "reproduced"
        return "partly reproduced" if self.jaccard >= RARELY_REPRODUCED else "rarely reproduced"


def column_uses(trees: Sequence[Tree]) -> tuple[ColumnUse, ...]:
    """Return how often trees ask about each column, the most used first."""
    asked = [{cut.name for cut in tree.cuts} for tree in trees]
    first = [tree.question(0).name if tree.n_splits else None for tree in trees]
    thresholds: dict[str, list[float]] = {}
    for tree in trees:
        for node in np.flatnonzero(~tree.is_leaf).tolist():
            cut = tree.question(node)
            if cut.threshold is not None:
                thresholds.setdefault(cut.name, []).append(float(cut.threshold))
    uses = [
        ColumnUse(
            name,
            sum(name in names for names in asked) / len(trees),
            first.count(name) / len(trees),
            tuple(sorted(thresholds.get(name, []))),
        )
        for name in set().union(*asked)
    ]
    return tuple(sorted(uses, key=lambda use: (-use.anywhere, -use.first, use.name)))


def jaccard(
    of_row: NDArray[np.intp], other: NDArray[np.intp], n_leaves: int, weight: Floats | None
) -> Floats:
    """Return, for each leaf of a tree, its agreement with the leaf of another that is most like it.

    The agreement (Jaccard) is the weight of the rows that are in both, divided by that of the rows
    that are in one of them.
    """
    n_others = int(other.max()) + 1
    both = np.bincount(of_row * n_others + other, weights=weight, minlength=n_leaves * n_others)
    both = both.reshape(n_leaves, n_others).astype(np.float64)
    either = both.sum(axis=1, keepdims=True) + both.sum(axis=0) - both
    return np.asarray(np.divide(both, either, where=either > 0, out=np.zeros_like(both)).max(1))


def leaf_stabilities(
    tree: Tree,
    of_row: NDArray[np.intp],
    agreement: Floats,
    whole: Floats,
    predicted: Floats,
    level: float,
) -> tuple[LeafStability, ...]:
    """Return how each leaf of a tree fares in the trees of samples."""
    limits = np.full((2, of_row.size), np.nan)
    enough = np.isfinite(predicted).sum(axis=0) >= FEWEST_SAMPLES
    if enough.any():
        tails = [(1 - level) / 2, (1 + level) / 2]
        limits[:, enough] = np.nanquantile(predicted[:, enough], tails, axis=0)
    stabilities = []
    for index, leaf in enumerate(tree.leaves.tolist()):
        rows = of_row == index
        if rows.any():
            lower, upper = limits[:, rows].mean(axis=1)
            here = whole[rows]  # of a tree with arms, several values
            survival = float(here[0] if (here == here[0]).all() else here.mean())
            stabilities.append(
                LeafStability(leaf, float(agreement[index]), survival, float(lower), float(upper))
            )
    return tuple(stabilities)


def column_lines(columns: Sequence[ColumnUse]) -> list[str]:
    """Return a table of how often columns are asked about, as lines of text."""
    if not columns:
        return []
    names = [printable(use.name) for use in columns]
    width = max(6, *map(len, names))
    lines = ["", f"{'column':{width}}  asked about  asked first  cut, mostly"]
    for name, use in zip(names, columns, strict=True):
        cut = "" if use.middle is None else _range(*use.middle)
        line = f"{name:{width}}  {use.anywhere:11.0%}  {use.first:11.0%}  {cut}"
        lines.append(line.rstrip())
    return lines


def _range(low: float, high: float) -> str:
    return f"at {low:.4g}" if low == high else f"from {low:.4g} to {high:.4g}"


def leaf_lines(
    leaves: Sequence[LeafStability], time: float, level: float, curve_name: str
) -> list[str]:
    """Return a table of how leaves are reproduced, and of survival at a time, as lines of text."""
    if not leaves:
        return []
    horizon = f"{time:g}"
    heading = f"{curve_name} at {horizon}"
    lines = ["", f"leaf  agreement  {heading}  {100 * level:g}% of samples say"]
    names = leaf_names(leaf.leaf for leaf in leaves)
    for leaf in leaves:
        limits = limits_text(leaf.lower, leaf.upper, 2)
        survival = figure(leaf.survival, 2).rjust(len(heading))
        lines.append(
            f"{names[leaf.leaf]:4}  {leaf.jaccard:9.2f}  {survival}  {limits}, {leaf.words}"
        )
    rare = sum(leaf.jaccard < RARELY_REPRODUCED for leaf in leaves)
    if rare:
        lines.append(
            f"{rare} of {plural(len(leaves), 'leaf')} rarely reproduced: use the predictions "
            "of the tree, do not take these groups for kinds of patients"
        )
    if not all(isfinite(leaf.survival) for leaf in leaves):
        lines.append(f"-: {horizon} is after the last follow-up")
    elif not all(isfinite(leaf.lower) for leaf in leaves):
        lines.append(f"-: fewer than {FEWEST_SAMPLES} samples have a value")
    return lines

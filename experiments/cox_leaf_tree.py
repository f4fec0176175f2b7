"""A Cox model in each leaf of a tree: the tree is the optimum of a quadratic surrogate.

Around a Cox model with expected events ``mu`` the log-likelihood of new slopes ``d`` of a leaf is
about ``G'd - d'Kd / 2``, with ``G = sum (E - mu) z``, ``K = sum mu z z'`` and ``z = (1, x)``. With
a normal prior of precision ``L`` its evidence is ``G'(K + L)^-1 G / 2 - log det(I + K / L) / 2``: a
function of sums, so that a search over all trees is exact for it. Since a Newton step from zero can
go too far, the slopes of the tree that is found are refitted with damped steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.scores import Floats

PRECISIONS = (3.0, 10.0, 30.0)
_SPLIT = 0.5
_LEAST_ROWS = 10
_STEPS, _HALVINGS = 30, 20


@dataclass(frozen=True, eq=False)
class Node:
    """A leaf with its slopes, or a cut with two sides; rows for which it holds go right."""

    cut: int = -1
    sides: tuple[Node, ...] = ()
    slopes: Floats | None = None
    limits: tuple[float, float] = (-np.inf, np.inf)

    @property
    def n_splits(self) -> int:
        """The number of questions."""
        return 0 if self.cut < 0 else 1 + sum(side.n_splits for side in self.sides)

    def log_risk(self, answers: NDArray[np.bool_], z: Floats, offset: Floats) -> Floats:
        """Return the logarithm of the risk of rows, within the range of the leaf's rows."""
        if self.slopes is not None:
            return np.clip(offset + z @ self.slopes, *self.limits)
        out = np.empty(len(z))
        for side, own in zip(self.sides, _parts(answers, self.cut), strict=True):
            out[own] = side.log_risk(answers[own], z[own], offset[own])
        return out


def fit_cox_leaves(
    answers: NDArray[np.bool_],
    z: Floats,
    events: Floats,
    expected: Floats,
    offset: Floats,
    max_depth: int,
) -> Node:
    """Return the tree of the largest evidence, of all precisions, with slopes refitted.

    Parameters
    ----------
    answers : array of bool of shape (n_rows, n_cuts)
        What each cut says.
    z : array of shape (n_rows, 1 + n_columns)
        Ones, and standardised columns.
    events, expected, offset : array of shape (n_rows,)
        Events, those to expect by the baseline, and the logarithm of the risk by the Cox model.
    max_depth : {0, 1, 2}
        The largest depth.
    """
    mu = expected * np.exp(offset)
    i, j = np.triu_indices(z.shape[1])
    sums = np.column_stack(
        [np.ones(len(z)), (events - mu)[:, None] * z, mu[:, None] * z[:, i] * z[:, j]]
    )
    found = [_search(answers, sums, precision, max_depth) for precision in PRECISIONS]
    best = int(np.argmax([worth for worth, _ in found]))
    return _refit(found[best][1], answers, z, events, expected, offset, PRECISIONS[best])


def evidence(sums: Floats, precision: float) -> Floats:
    """Return the evidence of leaves from their sums (the last axis): rows, ``G``, and ``K``."""
    q = _width(sums.shape[-1])
    gradient, i, j = sums[..., 1 : 1 + q], *np.triu_indices(q)
    matrix = np.zeros((*sums.shape[:-1], q + 1, q + 1))
    matrix[..., j, i] = sums[..., 1 + q :]
    matrix[..., range(q), range(q)] += precision
    matrix[..., q, :q] = gradient
    # The last pivot is the top less the quadratic form: one factorisation says everything.
    top = 1.0 + (gradient**2).sum(axis=-1) / precision
    matrix[..., q, q] = top
    pivots = np.linalg.cholesky(matrix)[..., range(q + 1), range(q + 1)]
    quadratic = top - pivots[..., q] ** 2
    half_log_det = np.log(pivots[..., :q]).sum(axis=-1) - q * np.log(precision) / 2
    return np.asarray(quadratic / 2 - half_log_det)


def _width(n_sums: int) -> int:
    """Return how many slopes there are, given the number of sums: 1 + q + q (q + 1) / 2."""
    return round((np.sqrt(8 * n_sums + 1) - 3) / 2)


def _search(
    answers: NDArray[np.bool_], sums: Floats, precision: float, max_depth: int
) -> tuple[float, Node]:
    """Return the best tree of at most some depth, and its evidence times its prior."""
    leaf = float(evidence(sums.sum(axis=0), precision))
    if max_depth == 0 or not answers.shape[1]:
        return leaf, Node()
    holds = answers.astype(float)
    own = np.stack([(1 - holds).T @ sums, holds.T @ sums])
    price = np.log(_SPLIT) - np.log(answers.shape[1])
    enough = (own[..., 0] >= _LEAST_ROWS).all(axis=0)
    worth, children = (
        (evidence(own, precision), None)
        if max_depth == 1
        else _best_children(holds, sums, own, precision, price)
    )
    total = np.where(enough, worth.sum(axis=0) + price, -np.inf)
    cut = int(total.argmax())
    if total[cut] <= leaf + np.log(1 - _SPLIT):
        return leaf + np.log(1 - _SPLIT), Node()
    inner = (-1, -1) if children is None else children[:, cut].tolist()
    sides = tuple(Node() if one < 0 else Node(one, (Node(), Node())) for one in inner)
    return float(total[cut]), Node(cut, sides)


def _best_children(
    holds: Floats, sums: Floats, own: Floats, precision: float, price: float
) -> tuple[Floats, NDArray[np.intp]]:
    """Return what each side of each cut is worth with its best cut or none, and that cut or -1."""
    worth = evidence(own, precision) + np.log(1 - _SPLIT)
    best = np.full(worth.shape, -1)
    for cut in range(holds.shape[1]):
        for side in (0, 1):
            rows = holds[:, cut] == side
            right = holds[rows].T @ sums[rows]
            pair = np.stack([own[side, cut] - right, right])
            there = np.flatnonzero((pair[..., 0] >= _LEAST_ROWS).all(axis=0))
            if not there.size:
                continue
            total = evidence(pair[:, there], precision).sum(axis=0) + price
            k = int(total.argmax())
            if total[k] > worth[side, cut]:
                worth[side, cut], best[side, cut] = total[k], there[k]
    return worth, best


def _refit(
    node: Node,
    answers: NDArray[np.bool_],
    z: Floats,
    events: Floats,
    expected: Floats,
    offset: Floats,
    precision: float,
) -> Node:
    """Return a tree with the slopes of the largest posterior in each leaf."""
    if node.cut < 0:
        slopes = _slopes(z, events, expected * np.exp(offset), precision)
        log_risk = offset + z @ slopes
        return Node(slopes=slopes, limits=(float(log_risk.min()), float(log_risk.max())))
    parts = zip(node.sides, _parts(answers, node.cut), strict=True)
    return Node(
        node.cut,
        tuple(
            _refit(side, answers[own], z[own], events[own], expected[own], offset[own], precision)
            for side, own in parts
        ),
    )


def _parts(answers: NDArray[np.bool_], cut: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    return np.flatnonzero(~answers[:, cut]), np.flatnonzero(answers[:, cut])


def _slopes(z: Floats, events: Floats, mu: Floats, precision: float) -> Floats:
    """Maximise a Poisson likelihood with a normal prior by damped Newton steps."""

    def value(slopes: Floats) -> float:
        with np.errstate(over="ignore"):
            line = z @ slopes
            return float(events @ line - mu @ np.exp(line) - precision * slopes @ slopes / 2)

    slopes = np.zeros(z.shape[1])
    for _ in range(_STEPS):
        now = mu * np.exp(z @ slopes)
        gradient = (events - now) @ z - precision * slopes
        step = np.linalg.solve((z.T * now) @ z + precision * np.eye(z.shape[1]), gradient)
        if gradient @ step < 1e-9:
            break
        size = 1.0
        for _ in range(_HALVINGS):
            if value(slopes + size * step) >= value(slopes):
                break
            size /= 2
        slopes = slopes + size * step
    return slopes

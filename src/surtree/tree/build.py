"""Trees from the topologies of a search, their sums added up again from the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.parameters import LeafCurveKind
from surtree._support.types import Floats
from surtree.cuts.cut import Cut
from surtree.data.target import Target
from surtree.solver.core import Problem
from surtree.solver.problem import Forest, TreeTopology
from surtree.solver.pruning import Subtree
from surtree.survival.baseline import Baseline
from surtree.survival.objective import Objective
from surtree.tree.arms import count_arms
from surtree.tree.at_risk import leaf_at_risk
from surtree.tree.tree import Tree


class UnbuiltTree:
    """The loss of a tree, and the tree itself once it is asked for."""

    def __init__(self, loss: float, make: Callable[[], Tree]) -> None:
        self.loss = loss
        self._make = make

    @cached_property
    def tree(self) -> Tree:
        """The tree; always the same object."""
        return self._make()


def unbuilt_trees(
    topologies: Sequence[TreeTopology], problem: Problem, cuts: Sequence[Cut], baseline: Baseline
) -> list[UnbuiltTree]:
    """Return the trees of some topologies, all sums added up again from the rows."""
    if not topologies:
        return []
    # The nodes of all trees, one after the other, are computed at once.
    node_sums = problem.sum_terms(Forest.of(_wholes(topologies)))
    return trees_of_sums(topologies, node_sums, problem.sums.objective, cuts, baseline)


def _wholes(topologies: Sequence[TreeTopology]) -> list[TreeTopology]:
    """Return the trees that all others are a part of: subtrees share the nodes of their tree."""
    wholes = [topology.whole for topology in topologies]
    return list(dict(zip(map(id, wholes), wholes, strict=True)).values())


def trees_of_sums(
    topologies: Sequence[TreeTopology],
    node_sums: Sequence[Floats],
    objective: Objective,
    cuts: Sequence[Cut],
    baseline: Baseline,
) -> list[UnbuiltTree]:
    *sums, constant, n_samples, n_events, weight = node_sums
    nodes: dict[str, Any] = {
        "n_samples": _whole(n_samples),
        "n_events": _whole(n_events),
        "weight": weight,
        "sums": np.column_stack(sums),
        # No leaf fits its rows better than one leaf a row does; less than nothing is rounding.
        "loss": np.maximum(constant - objective.gain(sums), 0.0),
    }
    for values in nodes.values():
        values.setflags(write=False)  # once for all trees
    wholes = _wholes(topologies)
    ends = np.cumsum([0, *(whole.cut.size for whole in wholes)]).tolist()
    slices = (slice(*borders) for borders in pairwise(ends))
    node_slices = dict(zip(map(id, wholes), slices, strict=True))
    of_sizes: dict[int, Floats] = {}

    def loss_of(topology: TreeTopology, node_slice: slice) -> float:
        loss = nodes["loss"][node_slice]
        if not isinstance(topology, Subtree):
            return float(loss[topology.left < 0].sum())
        key = id(topology.pruning)
        if key not in of_sizes:
            of_sizes[key] = topology.pruning.sum_leaves(loss)
        return float(of_sizes[key][topology.splits])

    trees = []
    for topology in topologies:
        node_slice = node_slices[id(topology.whole)]
        make = partial(_take, nodes, topology, node_slice, cuts, objective, baseline)
        trees.append(UnbuiltTree(loss_of(topology, node_slice), make))
    return trees


def _whole(counts: Floats) -> NDArray[Any]:
    """Return counts as integers, of 64 bits only where these are needed."""
    return counts.astype(np.int32 if counts.max() < 2**31 else np.int64)


def _take(
    nodes: dict[str, Any],
    topology: TreeTopology,
    node_slice: slice,
    cuts: Sequence[Cut],
    objective: Objective,
    baseline: Baseline,
) -> Tree:
    numbers = topology.cut.tolist()
    used = sorted(set(numbers) - {-1})
    asked = tuple(cuts[number] for number in used)
    index = {number: index for index, number in enumerate(used)} | {-1: -1}
    column = [*(cut.column for cut in asked), -1]
    part = topology.nodes if isinstance(topology, Subtree) else slice(None)
    return Tree(
        **{name: values[node_slice][part] for name, values in nodes.items()},
        left=topology.left,
        right=topology.right,
        column=np.array([column[index[number]] for number in numbers], dtype=np.int32),
        cut=np.array([index[number] for number in numbers], dtype=np.int32),
        cuts=asked,
        objective=objective,
        baseline=baseline,
    )


def build_tree(
    topology: TreeTopology,
    problem: Problem,
    cuts: Sequence[Cut],
    baseline: Baseline,
    target: Target | None = None,
    leaf_curve: LeafCurveKind = "baseline",
) -> Tree:
    (lazy,) = unbuilt_trees([topology], problem, cuts, baseline)
    tree = lazy.tree
    return tree if target is None else with_at_risk(tree, topology, problem, target, leaf_curve)


def with_at_risk(
    tree: Tree,
    topology: TreeTopology,
    problem: Problem,
    target: Target,
    leaf_curve: LeafCurveKind,
) -> Tree:
    """Return a tree with the at-risk counts that leaves need for curves of their own."""
    leaf_of_row = problem.find_leaves(topology)
    weight = problem.sums.weight_terms
    risk = leaf_at_risk(leaf_of_row, topology.left, target, weight, tree.baseline)
    n_persons = None if target.person is None else _count_persons(tree, leaf_of_row, target.person)
    arms = None
    if target.labels:
        arms = count_arms(tree, leaf_of_row, target, weight, tree.baseline, target.labels)
    return replace(tree, risk=risk, leaf_curve=leaf_curve, n_persons=n_persons, arms=arms)


def _count_persons(
    tree: Tree, leaf_of_row: NDArray[np.int32], person: NDArray[np.intp]
) -> NDArray[np.int32]:
    """Return how many persons have a row in each node; one may be on both sides of a split."""
    persons: dict[int, NDArray[np.intp]] = {}
    # In preorder, children come after their parents.
    for node in reversed(range(tree.n_nodes)):
        if tree.is_leaf[node]:
            persons[node] = np.unique(person[leaf_of_row == node])
        else:
            sides = int(tree.left[node]), int(tree.right[node])
            persons[node] = np.union1d(*(persons[side] for side in sides))
    return np.array([persons[node].size for node in range(tree.n_nodes)], dtype=np.int32)

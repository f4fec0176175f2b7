"""From the structure that a search found to a tree, its sums added up from the rows again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._solver import Structure, Structures, find_leaves, sum_nodes
from surtree.cut import Cut
from surtree.encoding import Encoded
from surtree.risk import leaf_risk
from surtree.statistics import Baseline, RowSums, gain, leaf_theta
from surtree.target import Target
from surtree.tree import Tree


class Draft:
    """A tree that is added up, and made when somebody looks at it.

    Parameters
    ----------
    loss : float
        The loss of the tree on its training rows.
    make : callable
        Makes the tree.
    """

    def __init__(self, loss: float, make: Callable[[], Tree]) -> None:
        self.loss = loss
        self._make = make

    @cached_property
    def tree(self) -> Tree:
        """The tree; always the same object."""
        return self._make()


def draft_trees(
    structures: Sequence[Structure],
    encoded: Encoded,
    cuts: Sequence[Cut],
    sums: RowSums,
    baseline: Baseline,
) -> list[Draft]:
    """Return drafts of the trees of some structures, all sums added up from the rows again.

    Parameters
    ----------
    structures : sequence of Structure
        Which cut each node asks, as the solver found it.
    encoded : Encoded
        The training rows, as the solver saw them.
    cuts : sequence of Cut
        The cuts that ``encoded`` and ``structures`` number.
    sums : RowSums
        What each training row adds to a node.
    baseline : Baseline
        The baseline hazard of the training rows.
    """
    if not structures:
        return []
    # The nodes of all trees, one after the other, are computed at once.
    joined = Structures.of(structures)
    hazard, negative_log_hazard, n_samples, n_events, *weighted = sum_nodes(
        encoded, joined, sums.node_values
    )
    weight, events = weighted or (n_samples, n_events)
    nodes: dict[str, Any] = {
        "left": joined.left,
        "right": joined.right,
        "theta": leaf_theta(events, hazard),
        "n_samples": n_samples.astype(np.int32),
        "n_events": n_events.astype(np.int32),
        "weight": weight,
        "events": events,
        "hazard": hazard,
        # No leaf fits its rows better than a hazard for each row; less than nothing is rounding.
        "loss": np.maximum(negative_log_hazard - gain(events, hazard), 0.0),
    }
    for values in nodes.values():
        values.setflags(write=False)  # so that no tree has to see to it
    own_nodes = [slice(*ends) for ends in pairwise(joined.begin.tolist())]
    return [
        Draft(
            float(nodes["loss"][own][joined.left[own] < 0].sum()),
            partial(_take, nodes, joined.cut, own, cuts, baseline),
        )
        for own in own_nodes
    ]


def _take(
    nodes: dict[str, Any],
    cut: NDArray[np.int32],
    own: slice,
    cuts: Sequence[Cut],
    baseline: Baseline,
) -> Tree:
    """Return the tree that has some of the nodes, and no cuts but its own."""
    numbers = cut[own].tolist()
    used = sorted(set(numbers) - {-1})
    asked = tuple(cuts[number] for number in used)
    place = {number: place for place, number in enumerate(used)} | {-1: -1}
    column = [*(cut.column for cut in asked), -1]
    return Tree(
        **{name: values[own] for name, values in nodes.items()},
        column=np.array([column[place[number]] for number in numbers], dtype=np.int32),
        cut=np.array([place[number] for number in numbers], dtype=np.int32),
        cuts=asked,
        baseline=baseline,
    )


def build_tree(
    structure: Structure,
    encoded: Encoded,
    cuts: Sequence[Cut],
    sums: RowSums,
    baseline: Baseline,
    target: Target | None = None,
) -> Tree:
    """Return the tree of one structure.

    Parameters
    ----------
    structure, encoded, cuts, sums, baseline
        As in `draft_trees`.
    target : Target, optional
        Events and times of the training rows; with it, the leaves keep their risk counts.
    """
    (draft,) = draft_trees([structure], encoded, cuts, sums, baseline)
    tree = draft.tree
    return tree if target is None else with_risk(tree, structure, encoded, sums, target)


def with_risk(
    tree: Tree, structure: Structure, encoded: Encoded, sums: RowSums, target: Target
) -> Tree:
    """Return a tree with what it takes to draw the Kaplan-Meier curves of its leaves.

    Parameters
    ----------
    tree : Tree
        The tree of the structure.
    structure, encoded, sums, target
        As in `build_tree`.
    """
    leaf_of_row = find_leaves(encoded, structure)
    return replace(
        tree, risk=leaf_risk(leaf_of_row, structure.left, target, sums.weight, tree.baseline)
    )

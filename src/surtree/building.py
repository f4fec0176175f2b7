"""From the structure that a search found to a tree, its sums added up from the rows again."""

from __future__ import annotations

import numpy as np

from surtree._solver import Structure, sum_nodes
from surtree.cut import Cut
from surtree.encoding import Encoded
from surtree.risk import leaf_risk
from surtree.statistics import Baseline, RowSums, gain, leaf_theta
from surtree.target import Target
from surtree.tree import Tree


def build_tree(
    structure: Structure,
    encoded: Encoded,
    cuts: tuple[Cut, ...],
    sums: RowSums,
    baseline: Baseline,
    target: Target | None = None,
) -> Tree:
    """Return the tree of a structure, with the sums of every node added up from the rows again.

    Parameters
    ----------
    structure : Structure
        Which cut each node asks, as the solver found it.
    encoded : Encoded
        The training rows, as the solver saw them.
    cuts : tuple of Cut
        The cuts that ``encoded`` and ``structure`` number.
    sums : RowSums
        What each training row adds to a node.
    baseline : Baseline
        The baseline hazard of the training rows.
    target : Target, optional
        Events and times of the training rows; with it, the leaves keep their risk counts.
    """
    left, right = structure.left, structure.right
    leaf_of_row, node_sums = sum_nodes(encoded, structure, sums.node_values)
    hazard, negative_log_hazard, n_samples, n_events, *weighted = node_sums
    weight, events = weighted or (n_samples, n_events)
    numbers = structure.cut.tolist()
    used = sorted(set(numbers) - {-1})
    position = {number: place for place, number in enumerate(used)} | {-1: -1}
    columns = {number: cuts[number].column for number in used} | {-1: -1}
    return Tree(
        column=np.array([columns[number] for number in numbers], dtype=np.int32),
        cut=np.array([position[number] for number in numbers], dtype=np.int32),
        left=left.astype(np.int32),
        right=right.astype(np.int32),
        theta=leaf_theta(events, hazard),
        n_samples=n_samples.astype(np.int32),
        n_events=n_events.astype(np.int32),
        weight=weight,
        events=events,
        hazard=hazard,
        # No leaf fits its rows better than a hazard for each row; less than nothing is rounding.
        loss=np.maximum(negative_log_hazard - gain(events, hazard), 0.0),
        cuts=tuple(cuts[number] for number in used),
        baseline=baseline,
        risk=() if target is None else leaf_risk(leaf_of_row, left, target, sums.weight, baseline),
    )

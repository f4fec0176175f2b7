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
    weight, events, hazard, negative_log_hazard, n_samples, n_events = node_sums
    used, position = np.unique(structure.cut[structure.cut >= 0], return_inverse=True)
    cut = np.full(left.size, -1, dtype=np.int32)
    column = cut.copy()
    cut[structure.cut >= 0] = position
    column[structure.cut >= 0] = [cuts[number].column for number in structure.cut if number >= 0]
    return Tree(
        column=column,
        cut=cut,
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

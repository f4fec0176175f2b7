"""Trees in files: baselines and sums, and checks of what was read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.json_file import (
    POSITIVE,
    Check,
    Number,
    anything,
    list_of,
    one_of,
    optional,
    read_each,
    record,
)
from surtree._support.parameters import LEAF_CURVES
from surtree._support.types import Floats
from surtree.cuts.validate import category, known_categories, require_one_kind
from surtree.survival.baseline import Baseline
from surtree.survival.objective import Objective
from surtree.survival.step_function import round_times
from surtree.tree.at_risk import CENSORED_PLACES, AtRiskCounts, read_time, saved_time

if TYPE_CHECKING:
    from surtree.tree.tree import Tree

# Python that is exported has a block in a block for each question, and Python allows a hundred.
MOST_QUESTIONS = 90

# Sums of fractions that are added up in another order differ by less.
_ROUNDING = 1e-6


_node = Number("-1 or the number of a node, column or question", -1, 2**31 - 1, whole=True)
_count = Number("a whole number, zero or more", 0, 2**31 - 1, whole=True)
# So that sums of them are finite.
_sum = Number("a number, zero or more", 0.0, 1e300)
_finite = Number("a finite number", -1e300, 1e300)
# Weights and times of rows are from 1e-100 to 1e100 (target.py); products of two stay finite.
_time = Number("a time from 0 to 1e100", 0.0, 1e100)
_factor = Number("a factor from 1e-6 to 1e6", 1e-6, 1e6)
_weight = Number("a weight, zero or more", 0.0, 1e120)
_positive_weight = Number("a weight above zero", 1e-120, 1e120)
_positive = Number("a number above zero", POSITIVE)


_BASELINE = record(
    {"times": list_of(_time), "cumulative_hazard": list_of(_positive), "floor": _positive},
    also={"last_time": optional(_time), "of_cause": list_of(anything)},  # in version 2
)

# In version 1, only the event times of a leaf have counts.
_OLD_RISK: dict[str, Check] = {
    "step": list_of(_count),
    "at_risk": list_of(_positive_weight),
    "deaths": list_of(_positive_weight),
    "round_at_risk": list_of(_weight),
}
RISK: dict[str, Check] = _OLD_RISK | {
    "at_risk": list_of(_weight),
    "deaths": list_of(_weight),
    "censored": list_of(_time),
    "last_time": optional(_time),
}
BY_CAUSE: dict[str, Check] = {"by_cause": list_of(list_of(_weight))}

_NODES = {
    **dict.fromkeys(("column", "cut", "left", "right"), list_of(_node)),
    **dict.fromkeys(("n_samples", "n_events"), list_of(_count)),
    "weight": list_of(_weight),
    "loss": list_of(_sum),
    "theta": list_of(_finite),
}


def _rectangle(value: Any, where: str) -> None:
    """Check a list of equally long lists of counts."""
    list_of(list_of(_count))(value, where)
    if len({len(line) for line in value}) > 1:
        raise ValueError(f"{where} has lines of different lengths")


def _labels(value: Any, where: str) -> None:
    """Check labels of arms: texts, numbers or booleans, all different."""
    list_of(category)(value, where)
    if len(set(map(str, value))) < len(value):
        raise ValueError(f"{where} is not a list of different labels")


_arms_format = record(
    {
        "labels": _labels,
        "n_samples": _rectangle,
        "n_events": _rectangle,
        "risk": list_of(list_of(record(RISK))),
    }
)


def _tree_format(
    nodes: dict[str, Check], fields: dict[str, Check], risk: dict[str, Check]
) -> Check:
    return record(
        {
            "format": one_of("surtree.tree"),
            "version": anything,
            **fields,
            "nodes": record(
                _NODES | nodes, also={"n_persons": list_of(_count), "factor": list_of(_factor)}
            ),
            "cuts": list_of(anything),
            "risk": list_of(record(risk, also=BY_CAUSE)),
        },
        also={"baseline": anything, "known": known_categories, "arms": _arms_format},
    )


# By version. In the first, the objective is relative risk, and its sums stand beside the rest.
TREE_FORMATS = {
    1: _tree_format(dict.fromkeys(("events", "hazard"), list_of(_finite)), {}, _OLD_RISK),
    2: _tree_format(
        {"sums": anything},
        {"objective": anything, "leaf_curve": one_of(*LEAF_CURVES)},
        RISK,
    ),
}


def save_baseline(baseline: Baseline) -> dict[str, Any]:
    """Return a baseline as plain lists and numbers that JSON can hold without loss."""
    return {
        "times": baseline.times.tolist(),
        "cumulative_hazard": baseline.cumulative_hazard.tolist(),
        "floor": baseline.floor,
        "last_time": saved_time(baseline.last_time),
        **(
            {"of_cause": [save_baseline(one) for one in baseline.of_cause]}
            if baseline.of_cause
            else {}
        ),
    }


def read_baseline(saved: Any) -> Baseline:
    """Return a baseline that `Tree.to_dict` wrote."""
    _BASELINE(saved, "baseline")
    times, hazard = (
        np.array(saved[name], dtype=np.float64) for name in ("times", "cumulative_hazard")
    )
    fields = times, hazard, float(saved["floor"]), read_time(saved.get("last_time"))
    if "of_cause" in saved:
        causes = read_each(read_baseline, saved["of_cause"], "of_cause")
        return Baseline(*fields, of_cause=causes)
    return Baseline(*fields)


def read_sums(nodes: dict[str, Any], objective: Objective, version: int) -> Floats:
    """Return the sums of the nodes of a tree, of shape (n_nodes, n_sums)."""
    lists = nodes if version == 1 else nodes["sums"]
    if version > 1:
        record({name: list_of(_finite) for name in objective.sum_names})(lists, "nodes.sums")
    if {len(lists[name]) for name in objective.sum_names} != {len(nodes["left"])}:
        raise _not_whole("its fields are not equally long")
    return np.array([lists[name] for name in objective.sum_names], dtype=np.float64).T.copy()


def validate_tree(tree: Tree, theta: Floats) -> None:
    """Raise an error where applying a tree would fail, never end, or contradict itself."""
    for holds, fault in (
        (_equally_long, "its fields are not equally long"),
        (_is_tree, "its nodes do not form a tree"),
        (_asks_what_is_there, "its questions are not all there"),
        (_adds_up, "the rows of its nodes do not add up"),
        (_has_possible_persons, "its persons are not those of its rows"),
        (_has_curve, "its baseline is not a curve"),
        (
            lambda tree: tree.objective.are_possible(tree.sums.T, tree.weight, tree.n_events),
            "no rows have the sums of its nodes",
        ),
        (_predicts, "a leaf's hazard is out of all proportion"),
        (_counts_at_risk, "its at-risk counts are not those of its leaves"),
        (_follows_up, "its last times are not those of its rows"),
    ):
        if not holds(tree):
            raise _not_whole(fault)
    for fault in tree.outcome.faults():
        raise _not_whole(fault)
    if not _has_leaf_curves(tree):
        raise _not_whole("its leaves have no curves of the kind that it says")
    if len(theta) != tree.n_nodes or not close(theta, tree.theta):
        raise _not_whole("theta is not what the sums of its nodes give")
    require_one_kind(tree.cuts)


def _not_whole(fault: str) -> ValueError:
    return ValueError(f"This is not a whole tree: {fault}.")


def _equally_long(tree: Tree) -> bool:
    lengths = {len(getattr(tree, name)) for name in ("sums", *(_NODES.keys() - {"theta"}))}
    if tree.factor is not None:
        lengths.add(tree.factor.size)
    return len(lengths) == 1 and tree.column.size > 0


def _is_tree(tree: Tree) -> bool:
    """Tell whether nodes are in preorder: then every node but the root has one parent above it."""
    pending = [(0, 0)]
    for node in range(tree.n_nodes):
        if not pending:
            return False
        expected, depth = pending.pop()
        if expected != node or depth > MOST_QUESTIONS:
            return False
        children = int(tree.left[node]), int(tree.right[node])
        if children != (-1, -1):
            pending += [(child, depth + 1) for child in reversed(children)]
    return not pending


def _asks_what_is_there(tree: Tree) -> bool:
    inner = ~tree.is_leaf
    cut, column = tree.cut[inner], tree.column[inner]
    if (tree.cut[~inner] != -1).any() or (tree.column[~inner] != -1).any():
        return False
    if ((cut < 0) | (cut >= len(tree.cuts))).any():
        return False
    return bool(np.array_equal([tree.cuts[position].column for position in cut], column))


def _adds_up(tree: Tree) -> bool:
    inner = np.flatnonzero(~tree.is_leaf)

    def sides(name: str) -> NDArray[Any]:
        values = getattr(tree, name)
        return np.array((values[inner], values[tree.left[inner]] + values[tree.right[inner]]))

    return (
        all(np.array_equal(*sides(name)) for name in ("n_samples", "n_events"))
        and all(close(*sides(name)) for name in ("weight", "sums"))
        and bool((tree.n_events <= tree.n_samples).all())
    )


def _has_possible_persons(tree: Tree) -> bool:
    """Tell whether nodes can have so many persons: one may be on both sides of a split."""
    if tree.n_persons is None:
        return True
    if tree.n_persons.shape != tree.n_samples.shape:
        return False
    inner, n_persons = np.flatnonzero(~tree.is_leaf), tree.n_persons.astype(np.int64)
    left, right = n_persons[tree.left[inner]], n_persons[tree.right[inner]]
    return (
        bool(((n_persons > 0) & (n_persons <= tree.n_samples)).all())
        and bool((n_persons[inner] <= left + right).all())
        and bool((n_persons[inner] >= np.maximum(left, right)).all())
    )


def close(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Tell whether numbers of a file are equal up to rounding."""
    return bool(np.allclose(one, other, rtol=_ROUNDING, atol=0.0))


def _has_curve(tree: Tree) -> bool:
    times, hazard = tree.baseline.times, tree.baseline.cumulative_hazard
    return (
        times.size > 0
        and times.shape == hazard.shape
        and bool((np.diff(times) > 0).all())
        and bool((np.diff(hazard) >= 0).all())
        # No more than all of those at risk die.
        and bool((tree.baseline.hazard <= 1 + _ROUNDING).all())
        and bool(times[-1] >= 1e-100)
    )


def _predicts(tree: Tree) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(tree.prediction * tree.baseline.cumulative_hazard[-1]).all())


def _counts_at_risk(tree: Tree) -> bool:
    return len(tree.risk) in (0, tree.n_leaves) and all(
        are_possible_counts(counts, tree, int(leaf))
        and close(counts.deaths.sum(dtype=np.float64), tree.events[leaf])
        for counts, leaf in zip(tree.risk, tree.leaves, strict=False)
    )


def are_possible_counts(counts: AtRiskCounts, tree: Tree, leaf: int) -> bool:
    return (
        counts.step.shape == counts.at_risk.shape == counts.deaths.shape
        and counts.round_at_risk.shape == round_times(tree.last_event).shape
        and bool((counts.step < tree.event_times.size).all())
        and bool((np.diff(counts.step.astype(np.int64)) > 0).all())
        and all(map(_is_weight_or_none, (counts.at_risk, counts.deaths)))
        and bool((counts.deaths <= counts.at_risk).all())
        and bool((counts.at_risk <= (1 + _ROUNDING) * tree.weight[leaf]).all())
    )


def _is_weight_or_none(values: NDArray[Any]) -> bool:
    """Tell whether all weights are zero or large enough for products of two."""
    return bool(((values == 0) | (values >= _positive_weight.least)).all())


def _follows_up(tree: Tree) -> bool:
    last = tree.last_time
    return last >= tree.last_event and all(
        bool((np.diff(counts.censored) > 0).all())
        and counts.censored.size <= CENSORED_PLACES
        and bool((counts.censored <= counts.last_time).all())
        and (counts.last_time <= last or not counts.of_all_times)
        and counts.of_all_times == bool(np.isfinite(last))
        for counts in tree.risk
    )


def _has_leaf_curves(tree: Tree) -> bool:
    if tree.leaf_curve == "baseline":
        return True
    shrunk = tree.leaf_curve == "shrunk" and tree.objective.shrinkage > 0
    all_times = shrunk or tree.leaf_curve == "breslow"
    return bool(tree.risk) and (not all_times or all(leaf.of_all_times for leaf in tree.risk))

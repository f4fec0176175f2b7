"""Risk groups in a model file: plain values that JSON can hold, and their checks."""

from __future__ import annotations

from typing import Any

from surtree._support.json_file import Number, list_of, optional, record, text
from surtree.outcomes.risk_groups import RiskGroups
from surtree.tree.at_risk import at_risk_counts, read_counts, save_counts
from surtree.tree.tree import Tree
from surtree.tree.validate import BY_CAUSE, RISK, are_possible_counts

_count = Number("a whole number, zero or more", 0, 2**31 - 1, whole=True)
_number = optional(Number("a finite number"))
_held_out = record({"rows": _count, "events": _count, **RISK}, also=BY_CAUSE)

risk_groups_format = record(
    {
        "names": list_of(text),
        "group_of_leaf": list_of(_count),
        "reference": _count,
        "losses": list_of(_number),
        "errors": list_of(_number),
        "n_folds": _count,
        "held_out": list_of(_held_out),
    }
)


def save_risk_groups(groups: RiskGroups | None, tree: Tree) -> dict[str, Any] | None:
    """Return the groups as plain values; an error says that they are of another tree."""
    if groups is None:
        return None
    if groups.tree is not tree and groups.tree.to_dict() != tree.to_dict():
        raise ValueError("The risk groups are those of another tree: form them of this model.")
    return {
        "names": list(groups.names),
        "group_of_leaf": list(groups.group_of_leaf),
        "reference": groups.reference,
        "losses": list(groups.losses),
        "errors": list(groups.errors),
        "n_folds": groups.n_folds,
        "held_out": [
            {"rows": n_rows, "events": n_events, **save_counts(counts)}
            for n_rows, n_events, counts in groups.held_out_rows
        ],
    }


def read_risk_groups(saved: dict[str, Any] | None, tree: Tree) -> RiskGroups | None:
    """Return what `save_risk_groups` wrote, of the right form."""
    if saved is None:
        return None
    names, group_of_leaf, held_out = (
        tuple(saved[name]) for name in ("names", "group_of_leaf", "held_out")
    )
    counts = at_risk_counts(
        read_counts({name: part for name, part in one.items() if name not in ("rows", "events")})
        for one in held_out
    )
    n_causes = len(tree.baseline.of_cause)
    sound = (
        len(set(names)) == len(names)
        and len(group_of_leaf) == tree.n_leaves
        and set(group_of_leaf) == set(range(len(names)))
        and saved["reference"] < len(names)
        and len(saved["losses"]) == len(saved["errors"])
        and len(held_out) in (0, len(names))
        and all(are_possible_counts(one, tree, 0) for one in counts)
        and all(one.by_cause.shape == (n_causes, one.step.size * bool(n_causes)) for one in counts)
    )
    if not sound:
        raise ValueError("its risk groups are not those of its tree")
    return RiskGroups(
        tree,
        names,
        group_of_leaf,
        saved["reference"],
        tuple(saved["losses"]),
        tuple(saved["errors"]),
        saved["n_folds"],
        tuple((one["rows"], one["events"], two) for one, two in zip(held_out, counts, strict=True)),
    )

"""What all exports share: names of columns, categories of a cut, lines of a leaf."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np

from surtree._support.parameters import LeafCurveKind
from surtree.averages.points import PointsTable
from surtree.cuts.cut import Cut
from surtree.tree.leaf_curve import events_note, theta_text
from surtree.tree.resolve import last_step, renamed, renamed_cuts, tree_of
from surtree.tree.tree import Tree


def named_tree(model: Any, feature_names: Sequence[str] | None = None) -> Tree:
    tree = tree_of(model)
    if feature_names is None:
        return tree
    names = list(map(str, feature_names))
    needed = int(tree.column.max(initial=-1)) + 1
    if len(names) < needed:
        raise ValueError(
            f"feature_names has {len(names)} names, but the tree asks about column {needed - 1} "
            "(counted from 0): give a name for each column of the training table."
        )
    return renamed(tree, names)


def membership(cut: Cut) -> tuple[bool, tuple[Any, ...]] | None:
    """Return the categories for which the answer to a question is yes."""
    if cut.known is None:
        return None if cut.categories is None else (not cut.negated, cut.categories)
    listed = cut.categories or ()
    no, yes = (listed, cut.others) if cut.negated else (cut.others, listed)
    return (False, no) if cut.missing or cut.categories is None else (True, yes)


def leaf_lines(tree: Tree, leaf: int) -> tuple[str, ...]:
    group = tree.outcome.group(leaf)
    figures = tree.outcome.printed_columns([group])
    return (
        group.name,
        *(column.phrase(0) for column in figures if not column.is_count),
        *tree.outcome.count_lines(group),
        *([group.note] if group.note == "few events" else []),
    )


LeafValue = Literal["leaf", "risk", "median", "effect"]
LEAF_VALUES: tuple[LeafValue, ...] = get_args(LeafValue)

Scalar = bool | int | float | str | None


def leaf_values(
    tree: Tree,
    value: LeafValue | Mapping[int, Any],
    leaf_curve: LeafCurveKind | None,
    cause: int | None = None,
) -> dict[int, Scalar]:
    if cause is not None and value != "risk":
        raise ValueError('A cause has a risk: it goes with value="risk".')
    leaves = tree.leaves.tolist()
    if isinstance(value, Mapping):
        absent = [leaf for leaf in leaves if leaf not in value]
        if absent:
            raise ValueError(f"value has nothing for the leaves {absent}: give each leaf a value.")
        return {leaf: _scalar(value[leaf]) for leaf in leaves}
    if value not in LEAF_VALUES:
        raise ValueError(
            f"value must be one of {LEAF_VALUES}, or a mapping of leaves to values; got {value!r}."
        )
    if value not in tree.outcome.value_names:
        raise ValueError(
            f"value={value!r} is of another kind of outcome, or not kept: this tree has "
            f"{', '.join(map(repr, tree.outcome.value_names))}."
        )
    return dict(tree.outcome.leaf_values(value, leaf_curve, cause))


def leaf_comments(tree: Tree, value: LeafValue | Mapping[int, Any]) -> dict[int, str]:
    """Return the note beside the value of a leaf that is an estimate from few events."""
    if value not in ("risk", "median", "effect") or tree.outcome.is_stacked:
        return {}
    comments = {leaf: events_note(int(tree.n_events[leaf])) for leaf in tree.leaves.tolist()}
    if value == "risk":
        for leaf, comment in comments.items():
            if tree.n_events[leaf] == 0:
                comments[leaf] = f"{comment}: {theta_text(tree, leaf, '.3g')}"
    return {leaf: comment for leaf, comment in comments.items() if comment}


def value_title(
    tree: Tree,
    value: LeafValue | Mapping[int, Any],
    leaf_curve: LeafCurveKind | None,
    cause: int | None = None,
) -> str:
    """Return what the values of leaves are, in words; of a median, which curve it is read off."""
    if isinstance(value, Mapping):
        return "value"
    return tree.outcome.value_title(value, leaf_curve, cause)


def _scalar(value: Any) -> Scalar:
    plain = value.item() if isinstance(value, np.generic) else value
    if not isinstance(plain, Scalar):
        raise TypeError(f"The value of a leaf is a number, a text or None; got {value!r}.")
    if isinstance(plain, float) and not math.isfinite(plain):
        raise ValueError(f"The value of a leaf is finite; got {plain!r}: None stands for unknown.")
    return plain


Decisions = list[tuple[list[tuple[Cut, int]], int]]


def card_of(model: Any) -> PointsTable | None:
    """Return the score card that a model, or the last step of a pipeline, is; None for others."""
    last = last_step(model).model
    return last if isinstance(last, PointsTable) else None


def points_program(
    card: PointsTable,
    value: Any,
    feature_names: Sequence[str] | None,
    write: Callable[[Decisions, tuple[float, float] | None], str],
) -> str:
    """Return a card as a program; a risk has its logarithm without points, and of a point."""
    if value not in ("leaf", "risk"):
        raise ValueError(
            'Of a score card, value is "leaf" (the default) for the sum of its points, or "risk"; '
            f"got {value!r}."
        )
    decisions = card.decisions_
    if feature_names is not None:
        names = list(map(str, feature_names))
        decisions = [
            ([(cut, n) for cut, (_, n) in zip(_renamed(asked, names), asked, strict=True)], rest)
            for asked, rest in decisions
        ]
    zero, ten = (math.log(risk) for risk in card.risk_of([0, 10]).tolist())
    return write(decisions, (zero, (ten - zero) / 10) if value == "risk" else None)


def _renamed(asked: list[tuple[Cut, int]], names: list[str]) -> tuple[Cut, ...]:
    return renamed_cuts([cut for cut, _ in asked], names)

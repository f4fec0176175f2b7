"""A tree as the source of a Python function."""

from __future__ import annotations

import keyword
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from surtree._support.parameters import LeafCurveKind
from surtree.cuts.cut import Cut, numbers_of
from surtree.export._tree import (
    Decisions,
    LeafValue,
    card_of,
    leaf_comments,
    leaf_values,
    membership,
    named_tree,
    points_program,
    value_title,
)
from surtree.words.quoting import python_docstring, python_literal

_INDENT = "    "

_HEAD = '''\
def {name}(row=(), /, **values):
    """Return the {noun} of a row.

    A row is a mapping of columns to values, keyword arguments, or both. A value is missing where
    it is None or NaN, and so is a text of blanks or a category that training never had.
    """
    row = dict(row, **values)

    def missing(value):
        if isinstance(value, str):
            return not value.strip(" ")
        return value is None or type(value).__name__ == "NAType" or value != value
'''

_TEXT = """
    def text(value):
        return None if missing(value) else str(value).strip(" ")
"""

# Where some categories are the texts of numbers, these numbers are listed beside the texts.
_TEXT_OR_NUMBER = """
    def text(value):
        if missing(value):
            return None
        if not isinstance(value, str):
            try:
                return float(value)
            except (TypeError, ValueError):
                pass
        return str(value).strip(" ")
"""


def export_python(
    model: Any,
    *,
    value: LeafValue | Mapping[int, Any] = "leaf",
    feature_names: Sequence[str] | None = None,
    leaf_curve: LeafCurveKind | None = None,
    cause: int | None = None,
    name: str = "predict",
) -> str:
    """Return the source of a Python function that needs nothing but Python.

    Parameters
    ----------
    model : fitted estimator or Tree
        A model of this package, a pipeline that ends in one, or its ``tree_``. Of a `PointsTable`,
        the function returns the sum of its points, with ``value="risk"`` the relative hazard.
    value : {"leaf", "risk", "median", "effect"} or mapping, default="leaf"
        What the function returns: the number of the leaf, as `SurTree.apply` does; the hazard
        relative to the baseline, as `SurTree.predict`; the median survival, None where it is not
        reached; of a model of effects, the hazard ratio of its two arms; or, from a mapping of
        leaves, a number or a text of your own.
    feature_names : sequence of str, optional
        What the columns of the training table are called in the rows, if not the same.
    leaf_curve : {"baseline", "kaplan-meier", "shrunk", "breslow"}, optional
        Which curve the median is read off; by default the one that the model predicts with.
    cause : int, optional
        Of a model of competing risks, the cause whose risk is given; by default its main cause.
    name : str, default="predict"
        What the function is called.

    Examples
    --------
    >>> from surtree import SurTree
    >>> from surtree.datasets import load_gbsg2
    >>> from surtree.export import export_python
    >>> model = SurTree(max_depth=1).fit(*load_gbsg2())
    >>> namespace = {}
    >>> exec(export_python(model, value="median"), namespace)
    >>> namespace["predict"](positive_nodes=5)
    1059.0
    """
    if not name.isidentifier() or keyword.iskeyword(name):
        raise ValueError(f"name must be the name of a function; got {name!r}.")
    card = card_of(model)
    if card is not None:
        return points_program(card, value, feature_names, partial(_points_python, name=name))
    tree = named_tree(model, feature_names)
    values = leaf_values(tree, value, leaf_curve, cause)
    comments = leaf_comments(tree, value)

    def lines(node: int, indent: str) -> Iterator[str]:
        if tree.is_leaf[node]:
            comment = f"  # {comments[node]}" if node in comments else ""
            yield f"{indent}return {python_literal(values[node])}{comment}"
            return
        yield f"{indent}if {_condition(tree.question(node))}:"
        yield from lines(int(tree.right[node]), indent + _INDENT)
        yield from lines(int(tree.left[node]), indent)

    noun = python_docstring(value_title(tree, value, leaf_curve, cause))
    return "\n".join((_head(name, noun, tree.cuts), *lines(0, _INDENT))) + "\n"


def _head(name: str, noun: str, cuts: Sequence[Cut]) -> str:
    """Return the beginning of a function, with what its questions need."""
    head = _HEAD.format(name=name, noun=noun)
    if any(cut.on_text for cut in cuts):
        head += _TEXT_OR_NUMBER if any(map(_numbers, cuts)) else _TEXT
    return head


def _points_python(decisions: Decisions, risk: tuple[float, float] | None, *, name: str) -> str:
    """Return a function that adds up points; of a risk, the exponential of the sum."""
    cuts = [cut for asked, _ in decisions for cut, _ in asked]
    lines = [_head(name, "points" if risk is None else "risk", cuts), f"{_INDENT}total = 0"]
    for asked, rest in decisions:
        for position, (cut, points) in enumerate(asked):
            lines += [
                f"{_INDENT}{'elif' if position else 'if'} {_condition(cut)}:",
                f"{_INDENT * 2}total += {points}",
            ]
        lines += [f"{_INDENT}else:", f"{_INDENT * 2}total += {rest}"]
    if risk is None:
        return "\n".join((*lines, f"{_INDENT}return total")) + "\n"
    lines.append(f"{_INDENT}return {math.e!r} ** ({risk[0]!r} + {risk[1]!r} * total)")
    return "\n".join(lines) + "\n"


def _condition(cut: Cut) -> str:
    cell = f"row[{cut.name!r}]"
    comparison = _comparison(cut, f"text({cell})" if cut.on_text else cell)
    if comparison is None:
        return f"missing({cell})"
    if cut.on_text and cut.known is not None:
        # The text of a missing value is None, which is like a category that training never had.
        return comparison
    if cut.missing:
        return f"missing({cell}) or {comparison}"
    return f"not missing({cell}) and {comparison}"


def _comparison(cut: Cut, cell: str) -> str | None:
    if cut.threshold is not None:
        return f"float({cell}) > {cut.threshold!r}"
    members = membership(cut)
    if members is None:
        return None
    inside, categories = members
    listed = [*categories, *_numbers(cut, categories)]
    literals = ", ".join(map(python_literal, listed)) + ("," if len(listed) == 1 else "")
    return f"{cell} {'in' if inside else 'not in'} ({literals})"


def _numbers(cut: Cut, categories: tuple[Any, ...] | None = None) -> list[float]:
    """Return the numbers that `apply` takes for these categories, by default for all known."""
    if not cut.on_text:
        return []
    asked = numbers_of(cut.categories or ())
    if categories is None:
        return sorted(asked | numbers_of(cut.known or ()))
    # A number that is the text of a listed category and of another, as 1 and 1.0, is listed.
    return sorted(asked if categories == cut.categories else numbers_of(categories) - asked)

"""A tree as an SQL expression."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from surtree._support.parameters import LeafCurveKind
from surtree.cuts.cut import Cut
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
from surtree.words.quoting import sql_comment, sql_name, sql_text

# Up to here a whole number is the same in every numeric type of a database.
_WHOLE = 2**24

Truths = tuple[str, str]


def export_sql(
    model: Any,
    *,
    value: LeafValue | Mapping[int, Any] = "leaf",
    feature_names: Sequence[str] | None = None,
    leaf_curve: LeafCurveKind | None = None,
    cause: int | None = None,
) -> str:
    """Return a tree as a CASE expression, for use in a query over a table with its columns.

    Parameters
    ----------
    model : fitted estimator or Tree
        A model of this package, a pipeline that ends in one, or its ``tree_``. Of a `PointsTable`,
        the sum of its points; with ``value="risk"`` the hazard relative to the baseline.
    value : {"leaf", "risk", "median", "effect"} or mapping, default="leaf"
        What the expression gives: the number of the leaf, as `SurTree.apply` does; the hazard
        relative to the baseline, as `SurTree.predict`; the median survival, NULL where it is not
        reached; of a model of effects, the hazard ratio of its two arms; or, from a mapping of
        leaves, a number or a text of your own.
    feature_names : sequence of str, optional
        What the columns of the training table are called in the database, if not the same.
    leaf_curve : {"baseline", "kaplan-meier", "shrunk", "breslow"}, optional
        Which curve the median is read off; by default the one that the model predicts with.
    cause : int, optional
        Of a model of competing risks, the cause whose risk is given; by default its main cause.

    Returns
    -------
    str
        Standard SQL: names in double quotes, texts in single quotes.

    Notes
    -----
    A missing value is NULL, and goes where the tree sends missing values; turn NaN into NULL
    first. So does a category that the training column did not have. Texts are compared without
    the blanks (spaces) at their ends, by TRIM, and a text of nothing else is a missing value.
    Tabs and line breaks count, in the tree as in SQL; the TRIM of a few databases, DuckDB among
    them, takes other spaces of Unicode off too. Texts are compared as the database does, which in
    MySQL and SQL Server may ignore case.
    A backslash is written so that databases in which it is an escape read it as a character.
    Whole numbers beyond 2**53 are compared exactly, where the tree has rounded them. Some versions
    of SQLite read about one literal in five thousand one unit in the last place too low or high.

    Examples
    --------
    >>> from surtree import SurTree
    >>> from surtree.datasets import load_gbsg2
    >>> from surtree.export import export_sql
    >>> model = SurTree(max_depth=1).fit(*load_gbsg2())
    >>> print(export_sql(model, value={1: "low", 2: "high"}))
    CASE
      WHEN "positive_nodes" > 3 THEN 'high'
      ELSE 'low'
    END
    """
    card = card_of(model)
    if card is not None:
        return points_program(card, value, feature_names, _points_sql)
    tree = named_tree(model, feature_names)
    values = leaf_values(tree, value, leaf_curve, cause)
    comments = leaf_comments(tree, value)
    truths = _truths(tree.cuts)

    def written(leaf: int) -> str:
        comment = f" {sql_comment(comments[leaf])}" if leaf in comments else ""
        return f"{_literal(values[leaf], truths)}{comment}"

    def expression(node: int, indent: str) -> str:
        if tree.is_leaf[node]:
            return written(node)
        lines = ["CASE"]
        # If the answer is no, the next WHEN is tried.
        while not tree.is_leaf[node]:
            condition = _condition(tree.question(node), truths)
            yes = expression(int(tree.right[node]), f"{indent}    ")
            gap = f"\n{indent}    " if yes.startswith("CASE\n") else " "
            lines.append(f"{indent}  WHEN {condition} THEN{gap}{yes}")
            node = int(tree.left[node])
        return "\n".join((*lines, f"{indent}  ELSE {written(node)}", f"{indent}END"))

    title = value_title(tree, value, leaf_curve, cause)
    # What a name says by itself needs no comment.
    title = "" if title in ("value", "leaf", "risk") else f"{sql_comment(title)}\n"
    return title + expression(0, "")


def _condition(cut: Cut, truths: Truths) -> str:
    """Return what holds where the answer is yes; a comparison with NULL is not true."""
    if not cut.name:
        raise ValueError(
            f"Column {cut.column} (counted from 0) has an empty name, and SQL has no such column: "
            "pass feature_names."
        )
    name = sql_name(cut.name)
    comparison = _comparison(cut, f"TRIM({name})" if cut.on_text else name, truths)
    if comparison is None:
        return f"{name} IS NULL"
    return f"{comparison} OR {name} IS NULL" if cut.missing else comparison


def _comparison(cut: Cut, cell: str, truths: Truths) -> str | None:
    if cut.threshold is not None:
        return f"{cell} > {_literal(cut.threshold, truths)}"
    members = membership(cut)
    if members is None:
        return None
    inside, categories = members
    listed = [_literal(category, truths) for category in categories]
    if len(listed) == 1:
        return f"{cell} {'=' if inside else '<>'} {listed[0]}"
    return f"{cell} {'IN' if inside else 'NOT IN'} ({', '.join(listed)})"


def _points_sql(decisions: Decisions, risk: tuple[float, float] | None) -> str:
    """Return the sum of a CASE for each column; of a risk, the exponential of it."""
    truths = _truths(cut for asked, _ in decisions for cut, _ in asked)
    terms = []
    for asked, rest in decisions:
        whens = (f"    WHEN {_condition(cut, truths)} THEN {points}" for cut, points in asked)
        terms.append("\n".join(("CASE", *whens, f"    ELSE {rest}", "  END")))
    total = "\n  + ".join(terms) or "0"
    if risk is None:
        return f"(\n  {total}\n)"
    return f"EXP({risk[0]!r} + {risk[1]!r} * (\n  {total}\n))"


def _truths(cuts: Iterable[Cut]) -> Truths:
    """Return how false and true are written; SQLite takes these words for columns of that name."""
    names = {cut.name.lower() for cut in cuts}
    return ("(1 = 0)", "(1 = 1)") if names & {"false", "true"} else ("FALSE", "TRUE")


def _literal(value: bool | int | float | str | None, truths: Truths) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return truths[value]
    if isinstance(value, str):
        return sql_text(value)
    if not math.isfinite(value):
        raise ValueError(f"SQL has no number for the category {value!r}.")
    if value == int(value) and abs(value) <= _WHOLE:
        return str(int(value))
    # With an exponent a literal is a double; without it, it would be a decimal number, and rounded
    # to the type of the column.
    text = repr(value)
    return text if isinstance(value, int) or "e" in text else f"{text}e0"

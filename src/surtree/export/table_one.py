"""Table 1 of a paper: who the rows are, by leaf, risk group, arm or any labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from surtree.data.landmark import read_event_or_cause
from surtree.data.named import RowInputs, require_columns
from surtree.data.persons import read_labels
from surtree.data.table import Column, read_table
from surtree.data.target import read_weights
from surtree.export._written import PageFormat, written
from surtree.summary.labels import read_labels as read_names
from surtree.tree.resolve import tree_of
from surtree.words.numbers import number, plural

Group = tuple[str, NDArray[np.bool_]]


def export_table_one(
    groups: Any,
    X: Any,
    y: Any = None,
    sample_weight: ArrayLike | None = None,
    *,
    format: PageFormat = "markdown",
    columns: Sequence[str] | None = None,
    labels: Mapping[str, str] | None = None,
    units: Mapping[str, str] | None = None,
) -> str | bytes:
    """Return what the rows of each group are like: table 1 of a paper.

    Numbers have their median and quartiles; categories, and columns of 0 and 1, how many rows have
    them, and the share of rows with a value. No p-values: leaves were chosen to differ, and arms
    of a trial are drawn by lot.

    Parameters
    ----------
    groups : fitted model, or array-like of shape (n_rows,)
        A tree, whose leaves are the groups; or a label of each row, such as its arm or risk group.
    X : data frame or array
        The rows.
    y : optional
        Their outcome, as in `SurTree.fit` or `CompetingRisksTree.fit`: adds events, and leaves out,
        with a note, rows that a fit leaves out.
    sample_weight : array-like of shape (n_rows,), optional
        Weights, of which only zero matters here: such rows are left out. Rows are counted.
    format : {"markdown", "latex", "docx"}, default="markdown"
        "docx" is a Word document, as bytes.
    columns : sequence of str, optional
        Which columns are shown, in this order; by default all.
    labels, units : mapping of str to str, optional
        What columns are called, and what they are counted in.

    Examples
    --------
    >>> from surtree.datasets import load_gbsg2
    >>> from surtree.export import export_table_one
    >>> X, y = load_gbsg2()
    >>> print(export_table_one(X["hormone_therapy"], X[["age", "menopause"]], y))
    |  | all | no | yes |
    | --- | --- | --- | --- |
    | rows | 686 | 440 | 246 |
    | events | 299 (44%) | 205 (47%) | 94 (38%) |
    | age | 53 (46 to 61) | 50 (45 to 59) | 58 (50 to 63) |
    | menopause |  |  |  |
    | - post | 396 (58%) | 209 (48%) | 187 (76%) |
    | - pre | 290 (42%) | 231 (52%) | 59 (24%) |
    <BLANKLINE>
    Numbers: median (quartiles); others: rows (share of those with a value).
    <BLANKLINE>
    """
    given = RowInputs(X, y, sample_weight)
    table = read_table(BaseEstimator(), X, reset=True)
    weight = read_weights(sample_weight, table.n_rows)
    left_out = {"of weight zero": weight == 0}
    events: tuple[Group, ...] = ()
    if y is not None:
        target = read_event_or_cause(given.in_memory("export_table_one"))
        left_out["censored at time zero"] = target.censored_at_zero & (weight > 0)
        events = (("events", target.event),)
        if target.causes:
            events = tuple((f"events of cause {one}", target.cause == one) for one in target.causes)
    kept = ~np.any(list(left_out.values()), axis=0)
    parts = [("all", kept), *((name, own & kept) for name, own in _groups(groups, X, table.n_rows))]
    names = read_names(labels, units)
    lines = [["rows", *(str(int(own.sum())) for _, own in parts)]]
    lines += [[what, *(_share(had, own) for _, own in parts)] for what, had in events]
    shown = table.names if columns is None else tuple(columns)
    require_columns(shown, table.names)
    for index in map(table.names.index, shown):
        column = table.column(index)
        name, unit = names.name(column.name), names.unit(column.name)
        lines += _lines(column, f"{name}, {unit}" if unit else name, parts)
    gone = [
        f"{plural(int(rows.sum()), 'row')} {why}" for why, rows in left_out.items() if rows.any()
    ]
    note = "Numbers: median (quartiles); others: rows (share of those with a value)."
    if gone:
        note += f" Of {plural(table.n_rows, 'row')}, left out: {', '.join(gone)}."
    return written(format, ["", *(name for name, _ in parts)], lines, note)


def _groups(groups: Any, X: Any, n_rows: int) -> Iterator[Group]:
    if hasattr(groups, "tree_"):
        leaf, tree = groups.apply(X), tree_of(groups)
        for node, name in tree.leaf_names.items():
            yield f"leaf {name}", leaf == node
        return
    labels = read_labels("groups", groups, n_rows).astype(str)
    for label in np.unique(labels).tolist():
        yield label, labels == label


def _lines(column: Column, name: str, parts: list[Group]) -> Iterator[list[str]]:
    known = ~column.missing
    is_indicator = set(np.unique(column.values[known])) <= {0, 1}
    if column.kind == "numeric" and not is_indicator:
        yield [name, *(_quartiles(column.values[own & known]) for _, own in parts)]
    elif column.kind != "categorical":
        yield [name, *(_share(column.values == 1, own & known) for _, own in parts)]
    else:
        yield [name, *[""] * len(parts)]
        for code, category in enumerate(column.categories):
            had = column.values == code
            if had.any():
                yield [f"- {category}", *(_share(had, own & known) for _, own in parts)]
    if column.has_missing:
        yield ["- missing", *(_share(~known, own) for _, own in parts)]


def _quartiles(values: NDArray[Any]) -> str:
    if not values.size:
        return "-"
    low, middle, high = (number(float(one), 3) for one in np.quantile(values, (0.25, 0.5, 0.75)))
    return f"{middle} ({low} to {high})"


def _share(had: NDArray[np.bool_], own: NDArray[np.bool_]) -> str:
    n_rows, n_had = int(own.sum()), int((had & own).sum())
    return f"{n_had} ({n_had / n_rows:.0%})" if n_rows else "0"

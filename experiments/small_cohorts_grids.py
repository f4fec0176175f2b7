"""Which shrinkages to choose from, on the page of the small cohorts."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from experiments.cohort_comparison import (
    METRICS,
    WITH,
    WITHOUT,
    cells,
    compare,
    groups_of,
    methods_of,
)
from experiments.cohort_methods import GRIDS
from experiments.page import table
from surtree import SurTreeCV

# The tables that were looked at before other shrinkages to choose from were thought of.
_LOOKED_AT = ("Aids2", "Dialysis", "Framingham", "UnempDur", "acath")
_NOT_LOOKED_AT = "real, not looked at"


def grids(small: pd.DataFrame, full: pd.DataFrame) -> list[str]:
    """Return what other shrinkages to choose from are worth, beside the default ones."""
    parts = {
        **{f"{kind}, {n:,} rows": part for (kind, n), part in small.groupby(["kind", "rows"])},
        "all small": small,
        _NOT_LOOKED_AT: _not_looked_at(small),
        "whole tables": full,
    }
    found = [
        {"measure": metric, "rows": name, "choosing from": grid}
        | counted(compare(part, metric, grid, WITH))
        for metric in METRICS
        for name, part in parts.items()
        for grid in GRIDS
        if grid in set(part["method"])
    ]
    names = ", ".join(f"`{name}` from {numbers(grid)}" for name, grid in GRIDS.items())
    return [
        f"SurTreeCV chooses from {numbers(SurTreeCV().shrinkage)} by default; {names}. Each "
        "against the default, over tables: `better` counts those on which the other choice is "
        "ahead. The default was chosen by this page, after all of its rows were seen: at first it "
        "had 0 among its values and missed two of the bars above. So these rows cannot confirm it; "
        "other draws can, in [small-cohorts-again](small-cohorts-again.md). The idea came from the "
        "first five real tables, where the worst losses were those of trees for which 0 was "
        "chosen: the others have lines of their own.",
        "",
        *test_table(found),
        "",
        "Each, and the default, against trees without shrinkage:",
        "",
        *test_table(_grids_against_none(small, full)),
        "",
        "The least mean Brier score of a cell: " + ", ".join(_least(small)) + ".",
        "",
    ]


def _not_looked_at(small: pd.DataFrame) -> pd.DataFrame:
    return small[(small["kind"] == "real") & ~small["table"].isin(_LOOKED_AT)]


def _grids_against_none(small: pd.DataFrame, full: pd.DataFrame) -> list[dict[str, object]]:
    return [
        {"measure": metric, "tables": group, "choosing from": grid}
        | counted(compare(part, metric, grid, WITHOUT))
        for metric in METRICS
        for group, part in (
            *groups_of(small).items(),
            (_NOT_LOOKED_AT, _not_looked_at(small)),
            ("whole", full),
        )
        for grid in (WITH, *GRIDS)
        if grid in set(part["method"])
    ]


def _least(small: pd.DataFrame) -> list[str]:
    brier = cells(small, "ib")
    return [
        f"{method} {brier[method].min():.3f} ({brier[method].idxmin()})"
        for method in (WITH, WITHOUT, *GRIDS)
        if method in brier
    ]


def numbers(values: Sequence[float]) -> str:
    """Return numbers in brackets."""
    return "(" + ", ".join(f"{value:g}" for value in values) + ")"


def chosen(rows: pd.DataFrame) -> list[str]:
    """Return how often each shrinkage was chosen, and how large the trees are."""
    rows = rows[rows["method"].isin((WITH, WITHOUT, *GRIDS))]
    rows = rows.assign(rows=rows["rows"].where(rows["kind"] != "full", "all"))
    split = rows[(rows["splits"] > 0) & (rows["method"] != WITHOUT)]
    by_kind = split.groupby(["method", "kind", "rows"], sort=False)["shrinkage"]
    shares = by_kind.value_counts(normalize=True).unstack().sort_index(axis=1)
    shares.columns = [f"a = {a:g}" for a in shares.columns]
    splits = rows.groupby(["kind", "rows", "method"], sort=False)["splits"].mean().unstack()
    single = rows.assign(single=rows["splits"] == 0)
    single = single.groupby(["kind", "rows", "method"], sort=False)["single"].mean().unstack()
    return [
        "How often each shrinkage was chosen, of the trees with a split:",
        "",
        *table(shares.reset_index(), 2),
        "",
        "Mean number of splits:",
        "",
        *table(splits[methods_of(rows)].reset_index(), 2),
        "",
        "Share of trees without a split:",
        "",
        *table(single[methods_of(rows)].reset_index(), 2),
        "",
    ]


def counted(found: dict[str, object]) -> dict[str, object]:
    """Return a comparison with the number of tables under a name of its own."""
    return {"number": found["tables"]} | {
        name: value for name, value in found.items() if name != "tables"
    }


def test_table(found: Sequence[dict[str, object]]) -> list[str]:
    """Return comparisons as the lines of a table."""
    return table(pd.DataFrame(found), 4)

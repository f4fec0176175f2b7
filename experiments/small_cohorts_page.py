"""The page of the small cohorts: what shrinkage is worth, and which curve a leaf should have."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from experiments.cohort_methods import COHORT_METHODS, GRIDS
from experiments.comparison import signed_rank_tests
from experiments.forecast import CURVES, brier_column
from experiments.page import table
from experiments.small_cohorts import DEPTH
from experiments.task import Status
from surtree import SurTree, SurTreeCV

# What they are called, and whether more of it is better.
METRICS = {
    "c": ("Harrell's C", True),
    "ib": ("Normalised integrated Brier score", True),
    "loss": ("Held-out loss per row (lower is better)", False),
}
WITH, WITHOUT = "surtree", "no shrinkage"
# The bars that this page checks: a p-value, and tables of all of the real ones.
LEVEL, ENOUGH = 0.01, 9
# The curves of a method that are not the default of this package's trees.
_OWN_CURVE = {"scikit-survival": "kaplan-meier"}
# Columns that tell cells apart: a table of synthetic rows is its share of censored ones.
_CELL = ["kind", "censoring", "rows"]
_DRAW = ["kind", "table", "rows", "draw", "depth"]
_GROUPS = {"real": ("real",), "synthetic": ("synthetic",), "both": ("real", "synthetic")}


def page(rows: pd.DataFrame, folder: Path) -> list[str]:
    """Return the page.

    Parameters
    ----------
    rows : data frame
        All rows.
    folder : Path
        Not used: there are no figures.
    """
    failed = rows[rows["status"] != Status.DONE]
    rows = _with_own_brier(rows[rows["status"] == Status.DONE])
    # Draws that were not run with and without shrinkage do not count.
    pairs = rows["method"].isin((WITH, WITHOUT)).astype(int)
    pairs = pairs.groupby([rows[name] for name in _DRAW]).transform("sum")
    rows = rows[pairs == 2]
    main = rows[rows["depth"] == min(DEPTH, rows["depth"].max())]
    small, full = main[main["kind"] != "full"], main[main["kind"] == "full"]
    beside = small[~small["method"].isin(GRIDS)]
    lines = [
        "## What it shows",
        "",
        *_bars(beside, full),
        "",
        "## What was done",
        "",
        *_about(beside),
        "",
        *_failures(failed),
        "## Means",
        "",
    ]
    for metric, (title, _) in METRICS.items():
        lines += [f"### {title}", "", *table(_cells(beside, metric), 3), ""]
    lines += ["## Tests", "", *_tests(beside), "## Curves of leaves", "", *_curves(small, full)]
    lines += ["## Shrinkages to choose from", "", *_grids(small, full), *_chosen(main)]
    lines += ["## Whole tables", "", *_whole(full)]
    lines += _other_depths(rows[~rows["depth"].isin(main["depth"])])
    seconds = small.groupby(["rows", "method"])["seconds"].median().unstack()
    lines += [
        "## Seconds",
        "",
        "Medians of a tuned fit.",
        "",
        *table(seconds[_methods(small)].reset_index(), 2),
    ]
    return lines


def paired_means(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return the mean of a metric by table and method.

    A real table is one, whatever was drawn from it; so is each tree that synthetic rows come from.

    Parameters
    ----------
    rows : data frame
        Those of some sizes and kinds.
    metric : str
        The column.
    """
    tree = rows["draw"].where(rows["kind"] == "synthetic", -1)
    means = rows.groupby(["kind", "table", tree, "method"])[metric].mean().unstack()
    return means[_methods(rows)]


def compare(rows: pd.DataFrame, metric: str, one: str, other: str) -> dict[str, object]:
    """Return how often one method is better than another over tables, and a signed-rank test.

    Parameters
    ----------
    rows : data frame
        Those of some sizes and kinds.
    metric : str
        One of METRICS.
    one, other : str
        The methods.
    """
    both = rows[rows["method"].isin((one, other))]
    # Draws that only one of them has do not count.
    have = both.groupby(_DRAW)["method"].transform("nunique")
    means = paired_means(both[have == 2], metric).reindex(columns=[one, other])
    sign = 1 if METRICS[metric][1] else -1
    ahead = (sign * (means[one] - means[other])).round(6)
    (test,) = signed_rank_tests(means).to_dict("records")
    return {
        "tables": len(means),
        "better": int((ahead > 0).sum()),
        "equal": int((ahead == 0).sum()),
        "worse": int((ahead < 0).sum()),
        "mean difference": test["mean difference"],
        "p-value": test["p-value"],
    }


def _with_own_brier(rows: pd.DataFrame) -> pd.DataFrame:
    """Add the Brier score by the curves that each method predicts with."""
    default = SurTree().leaf_curve
    own = rows[brier_column(default)]
    for method, kind in _OWN_CURVE.items():
        own = own.where(rows["method"] != method, rows[brier_column(kind)])
    censoring = rows["table"].where(rows["kind"] == "synthetic", "")
    return rows.assign(ib=own, censoring=censoring)


def _methods(rows: pd.DataFrame) -> list[str]:
    return [method for method in COHORT_METHODS if method in set(rows["method"])]


def _groups(rows: pd.DataFrame) -> dict[str, tuple[str, ...]]:
    """Return the groups of kinds of tables that all have rows."""
    there = set(rows["kind"])
    return {name: kinds for name, kinds in _GROUPS.items() if there.issuperset(kinds)}


def _cells(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return the mean of each cell and method."""
    means = rows.groupby([*_CELL, "method"])[metric].mean().unstack()[_methods(rows)]
    return _named(means)


def _named(means: pd.DataFrame) -> pd.DataFrame:
    """Return cells with a name each, in place of their index."""
    names = [_cell_name(*key) for key in means.index]
    return means.reset_index(drop=True).assign(cell=names)[["cell", *means.columns]]


def _cell_name(kind: str, censoring: str, rows: int) -> str:
    return f"{' '.join(text for text in (kind, censoring) if text)}, {rows:,} rows"


def _bars(small: pd.DataFrame, full: pd.DataFrame) -> list[str]:
    """Say for each bar whether it is met, with its numbers."""
    lines = [
        f'"With" is SurTreeCV as it comes, which chooses shrinkage with the size; "without" is the '
        f"same with `shrinkage=0.0`. A bar is met where with is better than without at p < {LEVEL} "
        "(two-sided Wilcoxon signed-rank test over tables).",
        "",
    ]
    for group, kinds in _groups(small).items():
        part = small[small["kind"].isin(kinds)]
        for metric, (title, more_is_better) in METRICS.items():
            found = compare(part, metric, WITH, WITHOUT)
            ahead = (found["mean difference"] > 0) == more_is_better
            is_met = ahead and found["p-value"] < LEVEL
            name = "both kinds of tables" if group == "both" else f"{group} tables"
            lines.append(f"- {_verdict(is_met)}: {title}, {name}: {_in_words(found)}.")
    cells = _cells(small, "ib").set_index("cell")[WITH]
    below = cells[cells < 0]
    lines.append(
        f"- {_verdict(below.empty)}: a mean Brier score of at least 0 in every cell: "
        + (f"the least is {cells.min():.3f}" if below.empty else f"not in {_list(below)}")
        + f" ({len(cells)} cells, curves of kind `{SurTree().leaf_curve}`)."
    )
    if not full.empty:
        found = compare(full, "loss", WITH, WITHOUT)
        lines.append(
            f"- {_verdict(found['better'] >= ENOUGH)}: whole tables, held-out loss better on at "
            f"least {ENOUGH}: {_in_words(found)}."
        )
    others = [method for method in _methods(small) if method not in (WITH, WITHOUT)]
    lines += ["", "Beside the other methods, on both kinds of tables:", ""]
    for other in others:
        texts = []
        for metric in METRICS:
            found = compare(small, metric, WITH, other)
            if found["tables"] == 0:
                continue
            name = {"c": "C", "ib": "Brier score", "loss": "loss"}[metric]
            texts.append(
                f"{name} {found['mean difference']:+.3f} ({found['better']} better, "
                f"{found['worse']} worse, {_p(found)})"
            )
        lines.append(f"- against {other}: {'; '.join(texts)}.")
    return lines


def _verdict(is_met: bool) -> str:
    return "met" if is_met else "**missed**"


def _in_words(found: dict[str, object]) -> str:
    return (
        f"better on {found['better']} of {found['tables']}, worse on {found['worse']}, mean "
        f"difference {found['mean difference']:+.4f}, {_p(found)}"
    )


def _p(found: dict[str, object]) -> str:
    p_value = found["p-value"]
    return f"p = {p_value:.2g}" if p_value >= 1e-4 else "p < 0.0001"


def _list(cells: pd.Series) -> str:
    return "; ".join(f"{name} ({value:.3f})" for name, value in cells.items())


def _about(rows: pd.DataFrame) -> list[str]:
    draws = rows.groupby("method")["draw"].nunique()
    fewer = ", ".join(f"{name} {n}" for name, n in draws.items() if n < draws.max())
    return [
        f"- Real: the paper's tables, training rows drawn at random with the share of events of "
        f"all rows, {draws.max()} times; the rest, up to {rows['test_rows'].max():,} rows of it, "
        "is the test part. Synthetic: as many trees for each share of censored rows, each with "
        f"{rows['test_rows'].max():,} test rows."
        + (f" Fewer draws, since they take long: {fewer}." if fewer else ""),
        f"- Trees of depth up to {rows['depth'].max()}. Every method is tuned on the same folds: "
        "ten, or five where there are fewer than 30 training events. SurTree, greedy trees, local "
        "search and Cox by the held-out loss; CTree and scikit-survival by C, as in `real-d3`.",
        "- Methods see the columns as they are; SurTree cuts them at ten quantiles. `cox` is a "
        "ridge Cox model of our own on standardised columns, its penalty tuned; "
        "scikit-survival's tree is judged by its leaves.",
        "- C is that of the predicted risk. The loss is that of the relative risks, without any "
        "penalty, by the baseline hazard of the training rows; those of Cox are scaled so that "
        "training rows have as many events as are expected. The Brier score is that of a method's "
        f"own curves: of this package's trees the default (`{SurTree().leaf_curve}`), of "
        "scikit-survival's Kaplan-Meier in each leaf, of Cox Breslow's. Its censoring weights and "
        "the curve that it is compared with come from the few training rows.",
        "- Tests are over tables: means over draws and sizes first. A synthetic table is a tree "
        "with a share of censored rows, so that there are 30; real tables are 15.",
    ]


def _failures(failed: pd.DataFrame) -> list[str]:
    if failed.empty:
        return []
    counts = failed.groupby(["kind", "table", "rows", "method", "message"]).size()
    return ["Runs that failed:", "", *table(counts.reset_index(name="draws")), ""]


def _tests(rows: pd.DataFrame) -> list[str]:
    lines = [
        "SurTree with shrinkage against each of the others, by tables. `better` counts the tables "
        "on which it is ahead; the difference is its mean less the other's.",
        "",
    ]
    others = [method for method in _methods(rows) if method != WITH]
    for metric, (title, _) in METRICS.items():
        found = [
            {"tables of": group, "against": other}
            | compare(rows[rows["kind"].isin(kinds)], metric, WITH, other)
            for group, kinds in _groups(rows).items()
            for other in others
        ]
        lines += [f"### {title}, tested", "", *_test_table(found), ""]
    found = []
    for metric in METRICS:
        for key, part in rows.groupby(["kind", "rows"]):
            name = f"{key[0]}, {key[1]:,} rows"
            found.append({"measure": metric, "cell": name} | compare(part, metric, WITH, WITHOUT))
    return [*lines, "### With against without, by size", "", *_test_table(found), ""]


def _test_table(found: Sequence[dict[str, object]]) -> list[str]:
    return table(pd.DataFrame(found), 4)


def _kinds(rows: pd.DataFrame) -> list[str]:
    return [kind for kind in CURVES if rows[brier_column(kind)].notna().any()]


def _curves(small: pd.DataFrame, full: pd.DataFrame) -> list[str]:
    """Return Brier scores by the kind of curve, for trees with and without shrinkage."""
    ours = small[small["method"].isin((WITH, WITHOUT))]
    kinds = _kinds(ours)
    columns = {brier_column(kind): kind for kind in kinds}
    means = ours.groupby([*_CELL, "method"])[[*columns]].mean().unstack()
    means.columns = [f"{_short(method)}, {columns[column]}" for column, method in means.columns]
    frame = _named(means)
    frame.loc[len(frame)] = {"cell": "**mean of cells**", **means.mean()}
    whole = full[full["method"].isin((WITH, WITHOUT))]
    if not whole.empty:
        of_whole = whole.groupby("method")[[*columns]].mean()
        row = {
            f"{_short(method)}, {kind}": of_whole.loc[method, column]
            for method in of_whole.index
            for column, kind in columns.items()
        }
        frame.loc[len(frame)] = {"cell": "**whole tables**", **row}
    negative = (means < 0).sum()
    counts = ", ".join(f"{name}: {count}" for name, count in negative.items())
    lines = [
        "Normalised integrated Brier score of the same trees by the kind of curve in their leaves.",
        f"Cells with a mean below 0, of {len(means)}: {counts}.",
        "",
        *table(frame, 4),
        "",
        "Curves of trees with shrinkage, kind against kind, over tables:",
        "",
    ]
    found = []
    for group, part in (("small cohorts", small), ("whole tables", full)):
        part = part[part["method"] == WITH]
        by_kind = pd.concat(
            [part.assign(method=kind, ib=part[column]) for column, kind in columns.items()]
        )
        if part.empty:
            continue
        tree = by_kind["draw"].where(by_kind["kind"] == "synthetic", -1)
        scores = by_kind.groupby(["kind", "table", tree, "method"])["ib"].mean().unstack()
        tests = signed_rank_tests(scores[kinds])
        tests.insert(0, "rows", group)
        ahead = [
            int((scores[one] > scores[other]).sum())
            for one, other in zip(tests["one"], tests["other"], strict=True)
        ]
        tests.insert(4, "one is better", ahead)
        found.append(tests)
    others = small[~small["method"].isin((WITH, WITHOUT, *GRIDS))]
    columns.pop(brier_column("shrunk"), None)
    frame = others.groupby("method")[[*columns]].mean().rename(columns=columns)
    frame = frame.loc[_methods(others)]
    return [
        *lines,
        *table(pd.concat(found), 4),
        "",
        "The same of the other methods, means of all small cohorts. They have no shrinkage, and "
        "their `shrunk` curve is `kaplan-meier`.",
        "",
        *table(frame.reset_index(), 4),
        "",
    ]


def _short(method: str) -> str:
    return {WITH: "with", WITHOUT: "without"}[method]


def _grids(small: pd.DataFrame, full: pd.DataFrame) -> list[str]:
    """Return what other shrinkages to choose from are worth, beside the default ones."""
    grids = [method for method in _methods(small) if method in GRIDS]
    found = [
        {"measure": metric, "rows": name, "choosing from": grid}
        | compare(part, metric, grid, other=WITH)
        for metric in METRICS
        for name, part in (
            *((f"{kind} {rows}", part) for (kind, rows), part in small.groupby(["kind", "rows"])),
            ("all small", small),
            ("whole tables", full),
        )
        for grid in grids
        if not part.empty
    ]
    names = ", ".join(f"`{name}` from {_numbers(grid)}" for name, grid in GRIDS.items())
    return [
        f"SurTreeCV chooses from {_numbers(SurTreeCV().shrinkage)} by default; {names}. Each "
        "against the default, by tables: `better` counts those on which the other choice is ahead.",
        "",
        *_test_table(found),
        "",
    ]


def _numbers(values: Sequence[float]) -> str:
    return "(" + ", ".join(f"{value:g}" for value in values) + ")"


def _chosen(rows: pd.DataFrame) -> list[str]:
    """Return how often each shrinkage was chosen."""
    lines = []
    for method in (WITH, *GRIDS):
        part = rows[(rows["method"] == method) & (rows["splits"] > 0)]
        if part.empty:
            continue
        key = [part["kind"], part["rows"].where(part["kind"] != "full", "all")]
        shares = part.groupby([*key, "shrinkage"]).size().unstack(fill_value=0)
        shares = shares.div(shares.sum(axis=1), axis=0)
        shares.columns = [f"a = {a:g}" for a in shares.columns]
        lines += [
            f"Share of the trees of `{method}` with each shrinkage, of those with a split:",
            "",
            *table(shares.reset_index(), 2),
            "",
        ]
    alone = rows[rows["method"].isin((WITH, WITHOUT, *GRIDS))]
    splits = alone.assign(single=alone["splits"] == 0).groupby(["kind", "rows", "method"])
    sizes = splits.agg(splits=("splits", "mean"), single=("single", "mean")).unstack()
    sizes.columns = [
        f"{'splits' if name == 'splits' else 'no split'}, {method}"
        for name, method in sizes.columns
    ]
    sizes = sizes.reset_index()
    sizes["rows"] = sizes["rows"].where(sizes["kind"] != "full", "all")
    return [
        *lines,
        "Mean number of splits, and share of trees without one:",
        "",
        *table(sizes, 2),
        "",
    ]


def _whole(full: pd.DataFrame) -> list[str]:
    """Return whole tables, with and without shrinkage."""
    if full.empty:
        return ["Not run.", ""]
    lines = [
        f"The real tables whole, means over the five folds of the protocol `clean`, depth up to "
        f"{full['depth'].max()}.",
        "",
    ]
    frames = []
    for metric in METRICS:
        means = full.pivot_table(index="table", columns="method", values=metric, sort=False)
        means = means[_methods(full)]
        frames.append(means.add_prefix(f"{ {'c': 'C', 'ib': 'Brier', 'loss': 'loss'}[metric] }, "))
    frame = pd.concat(frames, axis=1)
    frame.loc["**mean**"] = frame.mean()
    found = [
        {"measure": metric, "against": other} | compare(full, metric, WITH, other)
        for metric in METRICS
        for other in _methods(full)
        if other != WITH
    ]
    return [*lines, *table(frame.reset_index(), 4), "", *_test_table(found), ""]


def _other_depths(rows: pd.DataFrame) -> list[str]:
    lines = []
    for depth, part in rows.groupby("depth"):
        lines += [f"## Depth up to {depth}", ""]
        for kind, of_kind in part.groupby(part["kind"] == "full"):
            found = [
                {"measure": metric, "against": other} | compare(of_kind, metric, WITH, other)
                for metric in METRICS
                for other in _methods(of_kind)
                if other != WITH
            ]
            name = "Whole tables" if kind else "Small cohorts, both kinds of tables"
            lines += [f"{name}:", "", *_test_table(found), ""]
    return lines

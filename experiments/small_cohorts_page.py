"""The page of the small cohorts: what shrinkage is worth, and which curve a leaf should have."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from experiments.cohort_comparison import (
    METRICS,
    PEER,
    SAME_CURVES,
    WITH,
    WITHOUT,
    by_curve,
    cells,
    compare,
    groups_of,
    methods_of,
    prepare,
    with_same_curves,
)
from experiments.cohort_methods import GRIDS
from experiments.forecast import PRIORS, brier_column
from experiments.page import table
from experiments.small_cohorts import DEPTH
from experiments.small_cohorts_grids import chosen, counted, grids, numbers, test_table
from experiments.task import Status
from surtree import SurTree

# The bars that this page checks: a p-value, and tables of all of the real ones.
LEVEL, ENOUGH = 0.01, 9
_SHORT = {"c": "C", "ib": "Brier score", "loss": "loss"}


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
    rows = prepare(rows[rows["status"] == Status.DONE])
    main = rows[rows["depth"] == min(DEPTH, rows["depth"].max())]
    small, full = main[main["kind"] != "full"], main[main["kind"] == "full"]
    # Other shrinkages to choose from have a section of their own.
    beside = small[~small["method"].isin(GRIDS)]
    lines = ["## What it shows", "", *_bars(beside, full), "", *_others(beside), ""]
    lines += [*_better(small, full), ""]
    lines += ["## What was done", "", *_about(beside), "", *_failures(failed), "## Means", ""]
    for metric, (title, _) in METRICS.items():
        means = cells(beside, metric)[methods_of(beside)]
        if metric == "ib":
            means.insert(1, SAME_CURVES, cells(with_same_curves(beside), metric)[SAME_CURVES])
        lines += [f"### {title}", "", *table(means.reset_index(), 3), ""]
    lines += ["## Tests", "", *_tests(beside), "## Curves of leaves", "", *_curves(small, full)]
    lines += ["## Shrinkages to choose from", "", *grids(small, full), *chosen(main)]
    lines += ["## Whole tables", "", *_whole(full)]
    lines += _other_depths(rows[~rows["depth"].isin(main["depth"])])
    lines += ["## Seconds of a tuned fit", "", "Medians.", ""]
    seconds = small.groupby(["rows", "method"])["seconds"].median().unstack()
    return [*lines, *table(seconds[methods_of(small)].reset_index(), 2)]


def _bars(small: pd.DataFrame, full: pd.DataFrame) -> list[str]:
    """Say for each bar whether it is met, with its numbers."""
    lines = [
        '"With" is SurTreeCV as it comes, which chooses shrinkage with the size; "without" is the '
        f"same with `shrinkage=0.0`. A bar is met where with is better than without at p < {LEVEL} "
        "(two-sided Wilcoxon signed-rank test over tables).",
        "",
    ]
    for group, part in groups_of(small).items():
        name = "both kinds of tables" if group == "both" else f"{group} tables"
        for metric, (title, more_is_better) in METRICS.items():
            found = compare(part, metric, WITH, WITHOUT)
            is_ahead = (found["mean difference"] > 0) == more_is_better
            is_met = is_ahead and found["p-value"] < LEVEL
            lines.append(f"- {_verdict(is_met)}: {title}, {name}: {_in_words(found)}.")
    brier = cells(small, "ib")[WITH]
    below = brier[brier < 0]
    said = "; ".join(f"{name} ({value:.3f})" for name, value in below.items())
    lines.append(
        f"- {_verdict(below.empty)}: a mean Brier score of at least 0 in every cell: "
        + (f"the least is {brier.min():.3f}" if below.empty else f"not in {said}")
        + f" ({len(brier)} cells, curves of kind `{SurTree().leaf_curve}`)."
    )
    if not full.empty:
        found = compare(full, "loss", WITH, WITHOUT)
        lines.append(
            f"- {_verdict(found['better'] >= ENOUGH)}: whole tables, held-out loss better on at "
            f"least {ENOUGH}: {_in_words(found)}."
        )
    return lines


def _others(small: pd.DataFrame) -> list[str]:
    """Say how trees with shrinkage do beside each other method, by kind of table."""
    lines = ["SurTree with shrinkage beside the other methods:", ""]
    for other in methods_of(small):
        if other in (WITH, WITHOUT):
            continue
        for kind, part in small.groupby("kind", sort=False):
            found = {metric: compare(part, metric, WITH, other) for metric in METRICS}
            texts = [
                f"{_SHORT[metric]} {test['mean difference']:+.3f} ({test['better']} better, "
                f"{test['worse']} worse, {_p(test)})"
                for metric, test in found.items()
            ]
            lines.append(f"- against {other}, {kind} tables: {'; '.join(texts)}.")
            if other == PEER:
                same = pd.concat([with_same_curves(part), part[part["method"] == other]])
                found = compare(same, "ib", SAME_CURVES, other)
                lines.append(
                    f"- the same with Kaplan-Meier leaves in both, {kind} tables: Brier score "
                    f"{_in_words(found)}. The line above compares curves too, not trees alone."
                )
    return lines


def _better(small: pd.DataFrame, full: pd.DataFrame) -> list[str]:
    """Say what other shrinkages to choose from, and other curves, would change."""
    lines = ["Other shrinkages to choose from, and other curves of the same trees:", ""]
    brier = cells(small, "ib")
    for grid in (grid for grid in GRIDS if grid in brier):
        real = compare(small[small["kind"] == "real"], "ib", grid, WITHOUT)
        loss = compare(small, "loss", grid, WITH)
        text = (
            f"- choosing from {numbers(GRIDS[grid])}: Brier score on real tables "
            f"{_in_words(real)}; the least mean of a cell {brier[grid].min():.3f}; loss against "
            f"the default {_in_words(loss)}"
        )
        if grid in set(full["method"]):
            text += f"; whole tables, loss {_in_words(compare(full, 'loss', grid, WITHOUT))}"
        lines.append(f"{text}.")
    scores, whole = by_curve(small), by_curve(full)
    means, of_whole = cells(scores, "ib"), whole.groupby("method")["ib"].mean()
    for name in (name for name in scores["method"].unique() if name.startswith("with,")):
        text = f"- curves `{name.removeprefix('with, ')}`: Brier score {means[name].mean():.3f} "
        text += f"(mean of cells), {means[name].min():.3f} in the worst cell"
        if name in of_whole:
            text += f", {of_whole[name]:.3f} on whole tables"
        lines.append(f"{text}.")
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


def _about(rows: pd.DataFrame) -> list[str]:
    draws = rows.groupby("method")["draw"].nunique()
    fewer = ", ".join(f"{name} {n}" for name, n in draws.items() if n < draws.max())
    test_rows = f"{rows['test_rows'].max():,}"
    few = rows[rows["folds"] < rows["folds"].max()]
    return [
        f"- Real: the paper's tables, training rows drawn at random with the share of events of "
        f"all rows, {draws.max()} times; the rest, up to {test_rows} rows of it, is the test part. "
        f"Synthetic: {draws.max()} trees for each share of censored rows and size, each with "
        f"{test_rows} test rows." + (f" Fewer draws: {fewer}." if fewer else ""),
        f"- Trees of depth up to {rows['depth'].max()}. Every method is tuned on the same folds: "
        f"ten, or five where there are fewer than 30 training events ({len(few) / len(rows):.0%} "
        "of the rows). SurTree, greedy trees, local search and Cox by the held-out loss; CTree and "
        "scikit-survival by C, as in [real-d3](real-d3.md).",
        "- Methods see the columns as they are; SurTree cuts them at ten quantiles. `cox` is a "
        "ridge Cox model of our own on standardised columns, its penalty tuned too.",
        "- C is that of the predicted risk. The loss is that of the relative risks, without any "
        "penalty, by the baseline hazard of the training rows; those of Cox are scaled so that "
        "training rows have as many events as are expected. The Brier score is that of a method's "
        f"own curves: of this package's trees the default (`{SurTree().leaf_curve}`), of "
        "scikit-survival's tree Kaplan-Meier, of Cox Breslow's; a column of its own has this "
        "package's tree with Kaplan-Meier leaves, to be read beside scikit-survival's. Its "
        "censoring weights and the curve that it is compared with come from the training rows, few "
        "as they are.",
        "- Tests are over tables: means over draws and sizes first. Of synthetic rows, a tree with "
        "a share of censored rows is a table; the same ten trees are behind every share, so that "
        "these tables are less than independent. A mean of losses is ruled by a few draws in which "
        "a method is sure and wrong; counts and tests are not.",
    ]


def _failures(failed: pd.DataFrame) -> list[str]:
    if failed.empty:
        return []
    counts = failed.groupby(["kind", "table", "rows", "method", "message"]).size()
    return ["Runs that failed:", "", *table(counts.reset_index(name="draws")), ""]


def _tests(rows: pd.DataFrame) -> list[str]:
    lines = [
        "SurTree with shrinkage against each of the others, over tables. `better` counts the "
        "tables on which it is ahead; the difference is its mean less the other's.",
        "",
    ]
    for metric, (title, _) in METRICS.items():
        found = [
            {"tables": group, "against": other, **counted(compare(part, metric, WITH, other))}
            for group, part in groups_of(rows).items()
            for other in methods_of(rows)
            if other != WITH
        ]
        lines += [f"### {title}, tested", "", *test_table(found), ""]
    found = [
        {"measure": metric, "cell": f"{kind}, {n:,} rows"}
        | counted(compare(part, metric, WITH, WITHOUT))
        for metric in METRICS
        for (kind, n), part in rows.groupby(["kind", "rows"])
    ]
    return [*lines, "### With against without, by size", "", *test_table(found), ""]


def _curves(small: pd.DataFrame, full: pd.DataFrame) -> list[str]:
    """Return Brier scores by the kind of curve, for trees with and without shrinkage."""
    scores, whole = by_curve(small), by_curve(full)
    names = list(scores["method"].unique())
    means = cells(scores, "ib")[names]
    counts = ", ".join(f"{name}: {count}" for name, count in (means < 0).sum().items())
    means.loc["**mean of cells**"] = means.mean()
    if not whole.empty:
        means.loc["**whole tables**"] = whole.groupby("method")["ib"].mean()
    today = f"without, {SurTree().leaf_curve}"
    with_shrinkage = [name for name in names if name.startswith("with,")]
    default = f"with, {SurTree().leaf_curve}"
    pairs = [(one, default) for one in with_shrinkage if one != default]
    pairs += [(one, today) for one in with_shrinkage]
    found = [
        {"tables": group, "one": one, "other": other} | counted(compare(part, "ib", one, other))
        for group, part in (*groups_of(scores).items(), ("whole", whole))
        for one, other in pairs
        if not part.empty
    ]
    others = small[~small["method"].isin((WITH, WITHOUT, *GRIDS))]
    kinds = {brier_column(kind): kind for kind in ("baseline", "kaplan-meier")}
    of_others = others.groupby("method")[[*kinds]].mean().rename(columns=kinds)
    return [
        "Normalised integrated Brier score of the same trees by the kind of curve in their leaves. "
        "`shrunk` has a prior of as many rows as the shrinkage of the tree, none where that is 0; "
        f"{' and '.join(f'`{kind}`' for kind in PRIORS)} have a prior of so many rows, whatever "
        "the shrinkage (`experiments/prior_curves.py`; 10 and 20 were chosen after a look "
        f"at a part of these rows). Cells with a mean below 0: {counts}.",
        "",
        *table(means.reset_index(), 4),
        "",
        "Kind against kind, over tables; `better` counts those on which the first is ahead:",
        "",
        *test_table(found),
        "",
        "The same of the other methods, means of all small cohorts. They have no shrinkage, so "
        "that a curve shrunk by it is Kaplan-Meier's.",
        "",
        *table(of_others.loc[methods_of(others)].reset_index(), 4),
        "",
    ]


def _whole(full: pd.DataFrame) -> list[str]:
    """Return whole tables, with and without shrinkage."""
    if full.empty:
        return ["Not run.", ""]
    lines = [
        "The real tables whole, means over the folds of the protocol `clean`, depth up to "
        f"{full['depth'].max()}.",
        "",
    ]
    for metric, (title, _) in METRICS.items():
        means = full.pivot_table(index="table", columns="method", values=metric, sort=False)
        means = means[methods_of(full)]
        means.loc["**mean**"] = means.mean()
        lines += [f"### {title}, whole tables", "", *table(means.reset_index(), 4), ""]
    return [*lines, *test_table(_against(full)), ""]


def _against(rows: pd.DataFrame) -> list[dict[str, object]]:
    return [
        {"measure": metric, "against": other} | counted(compare(rows, metric, WITH, other))
        for metric in METRICS
        for other in methods_of(rows)
        if other != WITH
    ]


def _other_depths(rows: pd.DataFrame) -> list[str]:
    lines = []
    for (depth, is_full), part in rows.groupby(["depth", rows["kind"] == "full"]):
        name = "whole tables" if is_full else "small cohorts"
        lines += [f"## Depth up to {depth}, {name}", "", *test_table(_against(part)), ""]
    return lines

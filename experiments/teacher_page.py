"""The page of the teacher: whether trees that a bag teaches are better at the same size."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from experiments.comparison import signed_rank_tests
from experiments.page import p_text, table
from experiments.teacher import DECIDES, SEEDS, SETTINGS, SHARE, SHARES, SPLITS

# The bar: on so many tables at some size, at this level.
ENOUGH, LEVEL = 10, 0.05
N_TESTS = len(SETTINGS) * len(SPLITS) * (len(SHARES) - 1)
# Differences of less are none: the same tree.
_SAME = 1e-9


def page(rows: pd.DataFrame, folder: Path) -> list[str]:
    """Return the page.

    Parameters
    ----------
    rows : data frame
        All rows.
    folder : Path
        Not used: there are no figures.
    """
    lines = ["## What it shows", "", *_verdict(rows), "", "## What was done", "", *_about(rows), ""]
    lines += ["## All comparisons", "", *_all_comparisons(rows)]
    lines += ["## By table", "", f"Means over folds; {_in_words(*DECIDES)}, share {SHARE:g}.", ""]
    decisive = _of(rows, *DECIDES)
    for title, name, digits in (("Held-out loss", "loss", 4), ("Harrell's C", "c", 3)):
        lines += [f"### {title}", "", *_by_table(decisive, name, digits), ""]
    return lines[:-1]


def compare(rows: pd.DataFrame, column: str, share: float) -> dict[str, object]:
    """Return on how many tables taught trees are better and worse, and a signed-rank test.

    Parameters
    ----------
    rows : data frame
        Those of one depth and shrinkage.
    column : str
        A loss or a C, of a size.
    share : float
        How much the teacher counts.
    """
    means = rows.groupby(["table", "share"])[column].mean().unstack()[[share, 0.0]]
    ahead = means[share] - means[0.0]
    if column.startswith("loss"):
        ahead = -ahead
    means = means.mask(ahead.abs() < _SAME, means[0.0], axis=0)
    (test,) = signed_rank_tests(means).to_dict("records")
    return {
        "better": int((ahead > _SAME).sum()),
        "worse": int((ahead < -_SAME).sum()),
        "mean difference": test["mean difference"],
        "p-value": test["p-value"],
    }


def _verdict(rows: pd.DataFrame) -> list[str]:
    part = _of(rows, *DECIDES)
    found = {splits: compare(part, f"loss_{splits}", SHARE) for splits in SPLITS}
    is_met = any(map(_passes, found.values()))
    lines = [
        f"{'Met' if is_met else '**Missed**'}: taught trees have a smaller held-out loss on at "
        f"least {ENOUGH} of {part['table'].nunique()} tables at some size, p < {LEVEL:g} "
        f"({_in_words(*DECIDES)}, share {SHARE:g}, which were chosen on folds of another seed):",
        "",
    ]
    lines += [
        f"- {splits} splits: better on {test['better']}, worse on {test['worse']}, mean difference "
        f"{test['mean difference']:+.4f}, {p_text(test['p-value'])}; C "
        f"{compare(part, f'c_{splits}', SHARE)['mean difference']:+.4f} "
        f"({p_text(compare(part, f'c_{splits}', SHARE)['p-value'])})"
        for splits, test in found.items()
    ]
    others = [
        f"{_in_words(*setting)}, {splits} splits, share {share:g}"
        for setting in SETTINGS
        for splits in SPLITS
        for share in SHARES[1:]
        if _passes(compare(_of(rows, *setting), f"loss_{splits}", share))
    ]
    return [
        *lines,
        "",
        f"Of all {N_TESTS} comparisons below, {len(others)} would pass"
        + (f" ({'; '.join(others)})" if others else "")
        + "; by chance alone one or two of so many have p < 0.05.",
    ]


def _passes(test: dict[str, object]) -> bool:
    return test["better"] >= ENOUGH and test["p-value"] < LEVEL and test["mean difference"] < 0


def _about(rows: pd.DataFrame) -> list[str]:
    trees = rows["trees"].max()
    folds = rows.groupby("table")[["seed", "fold"]].apply(lambda part: len(part.drop_duplicates()))
    return [
        f"- {folds.max()} folds of each table (five, of each of the seeds "
        f"{', '.join(map(str, SEEDS))}), which nothing was chosen on.",
        f"- The teacher is a bag of {trees} optimal trees of the training rows: what its trees "
        "say of rows that they have not seen (`oob_risk_`). The events of a row in the search are "
        "`(1 - share) E + share theta H`, with the teacher's theta; the search is the same, and "
        "the leaves of the tree that it finds are filled with the events that rows have.",
        "- A share of 0 is the plain optimum of the same depth, splits and shrinkage. Trees may "
        "have fewer splits where more gain nothing.",
        "- Differences are means over tables, below zero where taught trees have less. Tests are "
        "two-sided Wilcoxon signed-rank tests over tables, of means over folds.",
    ]


def _all_comparisons(rows: pd.DataFrame) -> list[str]:
    lines = []
    for depth, shrinkage in SETTINGS:
        part = _of(rows, depth, shrinkage)
        tests = [
            {
                "splits": splits,
                "share": share,
                **{
                    f"{name} {what}": value
                    for name in ("loss", "c")
                    for what, value in compare(part, f"{name}_{splits}", share).items()
                },
            }
            for splits in SPLITS
            for share in SHARES[1:]
        ]
        title = _in_words(depth, shrinkage)
        lines += [f"### {title[0].upper()}{title[1:]}", "", *table(pd.DataFrame(tests), 4), ""]
    return lines


def _by_table(rows: pd.DataFrame, name: str, digits: int) -> list[str]:
    columns = {}
    for splits in SPLITS:
        means = rows.groupby(["table", "share"])[f"{name}_{splits}"].mean().unstack()
        columns[f"{splits} splits"] = means[0.0]
        columns[f"{splits} splits, taught"] = means[SHARE]
    return table(pd.DataFrame(columns).reset_index(), digits)


def _of(rows: pd.DataFrame, depth: int, shrinkage: float) -> pd.DataFrame:
    return rows[(rows["depth"] == depth) & (rows["shrinkage"] == shrinkage)]


def _in_words(depth: int, shrinkage: float) -> str:
    return f"depth {depth}, {f'shrinkage {shrinkage:g}' if shrinkage else 'no shrinkage'}"

"""The page on hazard ratios, bands and curves of leaves and arms."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from experiments.leaf_curves import CURVES
from experiments.leaf_designs import N_NOISE
from experiments.leaf_truth import TRUTH_ROWS
from experiments.leaf_variants import CAUSES, SHRINKAGE, SHRUNK, STEP
from experiments.page import table
from experiments.sampled_rows import WEIGHTS

_KEYS = ["leaves", "design", "rows"]


def page(rows: pd.DataFrame, folder: Path) -> list[str]:
    """Return the page.

    Parameters
    ----------
    rows : data frame
        All rows.
    folder : Path
        Not used: the page has no figure.
    """
    simulated = rows[rows["kind"].isin(["leaves", "arms"])]
    n_tables = int(simulated.groupby(["kind", *_KEYS]).size().min())
    error = np.sqrt(0.05 * 0.95 / n_tables)
    return [
        f"Simulated tables, {n_tables} of each kind, with known truth. Four groups are made of two "
        "columns of 0 and 1, with hazards 1, 2, 4 and 8 (or all equal). *Given*: the tree sees "
        "only these two columns, so that its leaves are the groups, and are not chosen. *Fitted*: "
        f"it also sees {N_NOISE} columns of noise, and is found by `SurTree(max_depth=2)`. Hazards "
        "are proportional, or times are lognormal, or ratios end at time 0.3; of these, the true "
        "hazard ratio is what a Cox model finds in 60,000 rows of the same leaves.",
        "",
        f"The standard error of a coverage of 95% is at most {error:.3f} in a line (less, as a "
        "table has several leaves); of lines together it is less.",
        "",
        *_ratios(rows[rows["kind"] == "leaves"]),
        *_variants(rows[rows["kind"] == "variants"]),
        *_arms(rows[rows["kind"] == "arms"]),
        *_bands(rows[rows["kind"] == "leaves"]),
        *_errors(rows[rows["kind"] == "leaves"]),
        *_real(rows[rows["kind"] == "real"]),
        *_choice(),
    ]


def _means(rows: pd.DataFrame, columns: dict[str, str]) -> pd.DataFrame:
    return rows.groupby(_KEYS)[list(columns)].mean().rename(columns=columns).reset_index()


def _with_ratios(rows: pd.DataFrame, columns: dict[str, str]) -> pd.DataFrame:
    """Return means, of which those of logarithms are ratios."""
    known = rows.dropna(subset=["log_true", "log_cox", "log_theta"])
    ratios = {"log_true": "true ratio", "log_cox": "hazard ratio", "log_theta": "ratio of thetas"}
    means = _means(known, ratios)
    means[list(ratios.values())] = np.exp(means[list(ratios.values())])
    return _means(rows, columns).merge(means, on=_KEYS, how="left")


def _pooled(rows: pd.DataFrame) -> str:
    shares = rows.groupby("leaves")["ratio_covered"]
    said = [
        f"{share:.1%} (standard error {shares.sem(ddof=0)[leaves]:.1%}) of {leaves}"
        for leaves, share in shares.mean().items()
    ]
    return " and ".join(said)


def _ratios(rows: pd.DataFrame) -> list[str]:
    # Only where leaves differ is one of them the highest and another the lowest.
    frame = _with_ratios(
        rows, {"ratio_covered": "95% limits cover", "theta_covered": "theta's limits cover"}
    )
    null = frame["design"] == "no effect"
    frame.loc[null, ["true ratio", "hazard ratio", "ratio of thetas"]] = np.nan
    given = rows[rows["leaves"] == "given"]
    theta = given.groupby(["design", "rows"])["theta_covered"].mean()
    everywhere, effect = _pooled(rows), rows[rows["design"] != "no effect"]
    return [
        "## Hazard ratios of leaves",
        "",
        "`leaf_hazard_ratios` against the largest leaf, and `theta_limits`. The last three columns "
        "are of the leaf of highest risk over that of lowest risk (geometric means).",
        "",
        *table(frame, 3),
        "",
        f"Over all lines, limits of hazard ratios hold the truth in {everywhere} leaves; without "
        f"the design of no effect, in {_pooled(effect)} ones. A fitted tree takes the leaves that "
        "differ most: where there is nothing to find, most of its limits are wrong. Limits take "
        "the tree as given. Those of theta are conservative where leaves are given: they cover in "
        f"{theta.min():.1%} to {theta.max():.1%} of leaves.",
        "",
    ]


def _variants(rows: pd.DataFrame) -> list[str]:
    n_tables = int(rows.groupby(_KEYS).size().min())
    columns = {"ratio_covered": "95% limits cover", "theta_covered": "theta's limits cover"}
    parts = [
        part.groupby(["design", "rows"], sort=False)[list(columns)]
        .mean()
        .rename(columns={name: f"{leaves}: {text}" for name, text in columns.items()})
        for leaves, part in rows.groupby("leaves", sort=False)
    ]
    effects = rows[~rows["design"].str.contains("no effect|second")]
    effects = effects.dropna(subset=["log_true", "log_cox"])
    given = effects[effects["leaves"] == "given"].groupby(["design", "rows"], sort=False)
    means = np.exp(given[["log_true", "log_cox"]].mean())
    means.columns = ["true ratio", "hazard ratio"]
    frame = pd.concat([*parts, means], axis=1).reset_index()
    return [
        "## Hazard ratios with weights, with shrinkage and of causes",
        "",
        f"The same groups, {n_tables} tables of each kind (the standard error of a coverage of 95% "
        f"is at most {np.sqrt(0.05 * 0.95 / n_tables):.3f}). The last two columns are of given "
        f"leaves, that of highest risk over that of lowest. The truth is that of {TRUTH_ROWS:,} "
        "persons without sampling or weights.",
        "",
        *(f"- *{name}*: {what}." for name, what in WEIGHTS.items()),
        f"- *{SHRUNK}*: `SurTree(max_depth=2, shrinkage={SHRINKAGE:g})`, no weights.",
        "- *first*, *second of two causes*: `CompetingRisksTree(max_depth=2)`. The hazards of the "
        "first cause are 1, 2, 4 and 8, that of the second is 1 in all groups.",
        "",
        f"Steps of merged rows are {STEP:g}, and their number of rows is that of persons.",
        "",
        *table(frame, 3),
        "",
        *_variant_words(rows),
    ]


def _variant_words(rows: pd.DataFrame) -> list[str]:
    """Return how often limits hold the truth over all lines of a kind, and what follows."""
    is_null, is_given = rows["design"].str.endswith("no effect"), rows["leaves"] == "given"
    what = rows["design"].str.rsplit(", ", n=1).str[0].replace(dict.fromkeys(CAUSES, "a cause"))
    given = rows.loc[is_given, "ratio_covered"].groupby(what[is_given], sort=False)
    frame = pd.DataFrame({"given": given.mean(), "standard error": given.sem(ddof=0)})
    for name, part in (("effects", ~is_null), ("no effect", is_null)):
        frame[f"fitted, {name}"] = (
            rows["ratio_covered"].where(~is_given & part).groupby(what).mean()
        )
    return [
        "Limits of hazard ratios hold the truth, over all lines of a kind, in these shares of "
        "leaves:",
        "",
        *table(frame.rename_axis("kind").reset_index(), 3),
        "",
        "So they hold with shrinkage, of a cause, and where a weight is a number of persons. They "
        "are too narrow where it is not: a weight of four counts as four persons, of whom one was "
        "seen. Weights with mean one lessen this and do not end it. The ratios themselves are "
        "right. A robust variance takes the rows: use R's `coxph(..., robust = TRUE)` with the "
        "leaf of each row. (With frequency weights noise is of 0 and 1, so that a fitted tree has "
        "fewer questions to choose from.)",
        "",
    ]


def _arms(rows: pd.DataFrame) -> list[str]:
    frame = _with_ratios(rows, {"ratio_covered": "95% limits cover"})
    return [
        "## Hazard ratios of arms",
        "",
        "Trials with a prognostic column of 0 and 1 and noise. Given: the leaves are the two "
        "values of that column. Fitted: `EffectTree(max_depth=1)`. The effect is the same in all "
        "rows, so that a fitted tree has nothing to find. Ratios are means over the two leaves.",
        "",
        *table(frame, 3),
        "",
        f"Over all lines, limits hold the truth in {_pooled(rows)} leaves.",
        "",
    ]


def _bands(rows: pd.DataFrame) -> list[str]:
    frame = _means(rows, {f"band_{kind}": kind for kind in CURVES})
    return [
        "## Bands of curves",
        "",
        "How often the 95% band of a leaf's curve holds the true survival of its rows, at their "
        "true median; leaves whose band has no limits there are left out. The band of a baseline "
        "curve is the uncertainty of theta only.",
        "",
        *table(frame, 3),
        "",
    ]


def _errors(rows: pd.DataFrame) -> list[str]:
    frame = _means(rows, {f"error_{kind}": kind for kind in CURVES})
    frame[list(CURVES)] *= 1000
    return [
        "## Error of curves",
        "",
        "Mean squared difference between the predicted and the true survival of rows, times 1000.",
        "",
        *table(frame, 2),
        "",
    ]


def _real(rows: pd.DataFrame) -> list[str]:
    names = {f"brier_{kind}": kind for kind in CURVES}
    frame = rows.groupby("design")[["n_train", *names]].mean().rename(columns=names).reset_index()
    frame["n_train"] = frame["n_train"].astype(int)
    gain = frame["breslow"] - frame["baseline"]
    best, worst = frame["design"][gain.idxmax()], frame["design"][gain.idxmin()]
    mean = frame[list(CURVES)].mean()
    return [
        "## Held-out rows of real tables",
        "",
        f"`SurTreeCV(max_depth=3)` on up to 500 rows, the rest held out (5,000 at most), "
        f"{int(rows.groupby('design').size().min())} divisions of each of {len(frame)} tables: the "
        "normalised integrated Brier score, higher is better. (flchain has a column that tells the "
        "event; it is kept as the paper has it.)",
        "",
        *table(frame.rename(columns={"design": "table", "n_train": "rows"}), 4),
        "",
        f"Means: {', '.join(f'{kind} {mean[kind]:.4f}' for kind in CURVES)}. Breslow curves are "
        f"better than baseline curves on {int((gain > 0).sum())} of {len(gain)} tables; the median "
        f"difference is {gain.median():+.4f}, the largest are {gain.max():+.4f} ({best}) and "
        f"{gain.min():+.4f} ({worst}).",
        "",
    ]


def _choice() -> list[str]:
    return [
        "## The default",
        "",
        '`leaf_curve="baseline"` stays the default: on held-out rows of most real tables it is '
        "level with Breslow curves or a little better, as its curves are drawn towards that of all "
        "rows. Its band is called what it is, the uncertainty of theta only, and does not cover. "
        'Whoever reports survival with a band takes `"kaplan-meier"`, whose band covers in all '
        'designs if leaves are given, or `"breslow"` where hazards are proportional: its curves '
        "have the smallest error there, and its band covers; where they are not, it does not.",
        "",
    ]

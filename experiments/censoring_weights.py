"""Scores that are weighed against censoring and late entry, beside those of the whole data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.experiment import Measures
from experiments.page import table
from experiments.task import Status
from surtree.metrics import (
    brier_score,
    concordance_index_censored,
    concordance_index_ipcw,
    cumulative_dynamic_auc,
    normalized_integrated_brier_score,
)
from surtree.survival.step_function import StepFunction

N_PERSONS = 800
N_TABLES = 200
HORIZON = 6.0
INTERVAL = (2.0, 10.0)
DESIGNS = {
    "months": "times in whole months, all who are left are censored in the 14th",
    "two causes, months": "the same with two causes; the concordance is that of Wolbers",
    "late entry": "entry uniform up to 5, one third at zero; censoring on its own clock",
    "late entry, study end": "the same, but followed for 6 to 8 after the entry",
    "late entry, lognormal": "as the first, with lognormal times whose effect fades",
    "weights": "rows are sampled by a column, and weighed by the inverse of the chance",
    "late entry by column": "who has a high risk enters later: the assumption is broken",
}


@dataclass(frozen=True)
class WeightsCase:
    """One simulated table."""

    design: str
    persons: int
    number: int


def cases(quick: bool) -> list[WeightsCase]:
    """Return all cases; the quick ones are two tables of each design."""
    n_tables = 2 if quick else N_TABLES
    sizes = [(design, N_PERSONS) for design in DESIGNS]
    # What small tables are off must vanish in large ones.
    sizes += [] if quick else [("late entry, lognormal", 4 * N_PERSONS)]
    return [WeightsCase(*size, number) for size in sizes for number in range(n_tables)]


@dataclass(frozen=True, eq=False)
class Persons:
    """What happens to persons, and what is seen of it."""

    x: np.ndarray
    cause: np.ndarray
    time: np.ndarray
    entry: np.ndarray
    end: np.ndarray
    weight: np.ndarray
    seen: np.ndarray


def draw(case: WeightsCase) -> Persons:
    """Draw persons, of whom some are never seen."""
    rng = np.random.default_rng([31, list(DESIGNS).index(case.design), case.persons, case.number])
    n, design = case.persons, case.design
    x = np.round(rng.normal(size=n), 1)
    time = rng.exponential(8 * np.exp(-0.8 * x))
    if "lognormal" in design:
        time = np.exp(2 - 0.6 * x * (rng.uniform(size=n) < 0.7) + 0.7 * rng.normal(size=n))
    entry, end = np.zeros(n), rng.uniform(2, 25, n)
    chance = np.ones(n)
    if "months" in design:
        time, end = np.ceil(time), np.minimum(np.ceil(rng.uniform(0, 25, n)), 14.0)
    if "late entry" in design:
        entry = np.where(rng.uniform(size=n) < 1 / 3, 0.0, rng.uniform(0, 5, n))
        if "column" in design:
            entry = np.where(x > 0.5, entry, entry / 4)
        end = entry + rng.uniform(6, 8, n) if "study end" in design else np.maximum(end, entry)
    if design == "weights":
        chance = np.where(x > 0, 0.8, 0.2)
    seen = (entry < np.minimum(time, end)) & (rng.uniform(size=n) < chance)
    cause = np.where(rng.uniform(size=n) < 0.6, 1, 2) if "two" in design else np.ones(n, dtype=int)
    return Persons(x, cause, time, entry, end, 1 / chance, seen)


def measure(case: WeightsCase) -> Measures:
    """Score the same predictions on what was seen, with and without weights, and on everything."""
    persons = draw(case)
    rows = persons.seen
    time = np.minimum(persons.time, persons.end)[rows]
    cause = np.where(persons.time <= persons.end, persons.cause, 0)[rows]
    found: Measures = {"seen": int(rows.sum()), "censored": float((cause == 0).mean())}
    x, weight = persons.x[rows], persons.weight[rows]
    late = persons.entry[rows] if persons.entry.any() else None
    uneven = weight if case.design == "weights" else None
    whole = _scores(persons.x, persons.cause, persons.time, case, None, None)
    ours = _scores(x, cause, time, case, late, uneven)
    # What is left if entry times and weights are ignored; of the rest, Harrell's C.
    plain = _scores(x, cause, time, case, None, None)
    for name, truth in whole.items():
        found |= {f"{name}_whole": truth, name: ours[name], f"{name}_ignored": plain[name]}
    return found | {"status": str(Status.DONE)}


def _scores(
    x: np.ndarray,
    cause: np.ndarray,
    time: np.ndarray,
    case: WeightsCase,
    entry: np.ndarray | None,
    weight: np.ndarray | None,
) -> dict[str, float]:
    """Return all scores of one prediction, which is too extreme on purpose."""
    if "two causes" in case.design:
        y = cause, time
        return {"uno": concordance_index_ipcw(y, y, x, cause=1, tau=INTERVAL[1]).cindex}
    steps = np.arange(0.0, 26.0, 0.5)
    curves = {
        value: StepFunction(steps, np.exp(-steps / 8 * np.exp(1.2 * value)), before=1.0)
        for value in np.unique(x)
    }
    survival = [curves[value] for value in x]
    y = cause > 0, time
    given = {"sample_weight": weight, "train_weight": weight, "entry": entry, "train_entry": entry}
    return {
        "brier": float(brier_score(y, y, survival, [HORIZON], **given)[0]),
        "saved": normalized_integrated_brier_score(y, y, survival, interval=INTERVAL, **given),
        "uno": concordance_index_ipcw(y, y, x, tau=INTERVAL[1], **given).cindex,
        "auc": float(cumulative_dynamic_auc(y, y, x, [HORIZON], **given)[0][0]),
        "harrell": concordance_index_censored(*y, x, entry=entry, sample_weight=weight).cindex,
    }


NAMES = {
    "brier": "Brier score",
    "saved": "Brier score saved",
    "uno": "Uno's C",
    "auc": "AUC",
    "harrell": "Harrell's C",
}


def page(rows: pd.DataFrame, folder: Path) -> list[str]:
    """Return the page.

    Parameters
    ----------
    rows : data frame
        All rows.
    folder : Path
        Not used: the page has no figure.
    """
    differences = _differences(rows)
    weighed = (differences["score"] != "Harrell's C") & (differences["design"] != list(DESIGNS)[-1])
    kept = differences[weighed].copy()
    kept["apart"] = (kept["difference"] / kept["error"]).abs()
    counted = rows[rows["persons"] == N_PERSONS].groupby("design", sort=False)
    n_tables = int(counted.size().min())
    designs = pd.DataFrame(
        {
            "design": list(DESIGNS),
            "": list(DESIGNS.values()),
            "seen": [counted.get_group(name)["seen"].mean() for name in DESIGNS],
            "censored": [counted.get_group(name)["censored"].mean() for name in DESIGNS],
        }
    )
    return [
        f"{n_tables} simulated tables of each design, {N_PERSONS} persons each (of one design also "
        f"{4 * N_PERSONS}), of whom some are never seen. One fixed prediction, which is too "
        "extreme, is scored on the rows that are seen, and on everybody, followed to the event. "
        "Scores weigh rows as `surtree.metrics.brier_score` says.",
        "",
        *table(designs, {"seen": 0, "censored": 2}),
        "",
        "Mean over tables of the score of the rows that are seen less that of everybody; its "
        "standard error; and the same where entry times and weights are ignored.",
        "",
        *table(differences, {"everybody": 3, "difference": 4, "error": 4, "ignored": 4}),
        "",
        "The designs but the last keep what the weights assume. Among their "
        f"{len(kept)} scores that are weighed, {int((kept['apart'] > 2).sum())} differ by more "
        "than two standard errors (one in twenty would by chance); the most is "
        f"{_most(kept)}. In the last design entry depends on the column, and no weight of the "
        "rows alone can mend that. Harrell's C is not weighed against censoring: it estimates "
        "something else than the C of everybody.",
        "",
        f"Uno's and Wolbers' C count events before {INTERVAL[1]:g}, the Brier score saved is "
        f"integrated from {INTERVAL[0]:g} to {INTERVAL[1]:g}; the Brier score and the AUC are "
        f"those at {HORIZON:g}.",
        "",
    ]


def _most(kept: pd.DataFrame) -> str:
    """Return the difference that is the most standard errors from zero, in words."""
    one = kept.loc[kept["apart"].idxmax()]
    return (
        f"{one['difference']:.4f} (standard error {one['error']:.4f}), of the {one['score']} in "
        f"'{one['design']}' with {one['persons']} persons"
    )


def _differences(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each design and score."""
    lines = []
    for (design, persons), group in rows.groupby(["design", "persons"], sort=False):
        for name, words in NAMES.items():
            if group.get(name) is None or group[name].isna().all():
                continue
            whole = group[f"{name}_whole"]
            difference = group[name] - whole
            wolbers = name == "uno" and "two causes" in str(design)
            lines.append(
                {
                    "design": design,
                    "persons": persons,
                    "score": "Wolbers' C" if wolbers else words,
                    "everybody": whole.mean(),
                    "difference": difference.mean(),
                    "error": difference.std(ddof=1) / np.sqrt(len(difference)),
                    "ignored": (group[f"{name}_ignored"] - whole).mean(),
                }
            )
    return pd.DataFrame(lines)

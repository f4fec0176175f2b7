"""Whether limits of `validate` and `evaluate` cover for competing risks and treatment effects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.experiment import Measures
from experiments.page import table
from experiments.task import Status
from surtree import CompetingRisksTree, EffectTree, Evaluation, evaluate, validate
from surtree.validation.verdict import prediction_verdicts

DESIGNS = ("causes", "causes, nothing", "arms", "arms, one effect for all")
VERBS = {"evaluate": (0.95, 120, 200), "validate": (0.9, 40, 60)}  # level, tables, samples
N_ROWS, FAR_ROWS, HORIZON = 300, 4_000, 0.7

_OF_CAUSE = ("concordance", "concordance_ipcw", "brier", f"calibration_at_{HORIZON:g}")
_NAMES = (
    *("leaf ratio", "leaf curve"),
    *(f"cause_{cause}_{name}" for cause in (1, 2) for name in _OF_CAUSE),
    *(*_OF_CAUSE, "calibration_slope", "c_for_benefit", f"effect_calibration_at_{HORIZON:g}"),
)


@dataclass(frozen=True)
class OutcomeCase:
    """One table of rows."""

    verb: str
    design: str
    number: int
    far_rows: int = FAR_ROWS


def cases(quick: bool) -> list[OutcomeCase]:
    """Return all cases; the quick ones are one small table of each kind."""
    if quick:
        return [OutcomeCase(verb, design, 0, 500) for verb in VERBS for design in DESIGNS]
    most = max(n_tables for _, n_tables, _ in VERBS.values())
    return [
        OutcomeCase(verb, design, number)
        for number in range(most)
        for verb, (_, n_tables, _) in VERBS.items()
        for design in DESIGNS
        if number < n_tables
    ]


def draw(design: str, n: int, seed: list[int]) -> dict[str, Any]:
    """Return the arguments of a verb: columns, outcome, and of a trial the arms."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    high, other = (X["a"] > 0).to_numpy(), (X["b"] > 0).to_numpy()
    end = rng.exponential(2.0, n)
    if design.startswith("causes"):
        tells = design == "causes"
        first = rng.exponential(1 / np.exp(tells * (0.8 * high + 0.4 * other)))
        second = rng.exponential(2 / np.exp(tells * 0.8 * ~other))
        time = np.minimum(np.minimum(first, second), end)
        return {"X": X, "y": (np.where(time == first, 1, np.where(time == second, 2, 0)), time)}
    arm = rng.permutation(np.arange(n) % 2)
    effect = np.where(high, -0.9, 0.3) if design == "arms" else -0.4
    time = rng.exponential(1 / np.exp(0.4 * other + effect * arm))
    return {"X": X, "y": (time <= end, np.minimum(time, end)), "treatment": arm}


def model_of(design: str) -> CompetingRisksTree | EffectTree:
    """Return the model that is validated, or evaluated once it is fitted."""
    return CompetingRisksTree(2) if design.startswith("causes") else EffectTree(2, objective="both")


def measure(case: OutcomeCase) -> Measures:
    """Compare the limits of a verb with figures of many more rows."""
    level, _, n_samples = VERBS[case.verb]
    place = DESIGNS.index(case.design)
    rows = draw(case.design, N_ROWS, [31, place, case.number])
    how = {"level": level, "n_bootstraps": n_samples, "horizons": [HORIZON]}
    # All rows have all columns.
    result: Measures = {f"{what} {name}": np.nan for name in _NAMES for what in ("covers", "off")}
    result["verdicts"] = np.nan
    if case.verb == "validate":
        model = model_of(case.design).fit(**rows)
        validation = validate(model_of(case.design), **rows, **how, random_state=case.number)
        measures, truth = validation.measures, _far(model, case)
        verdicts = prediction_verdicts(validation, None, 1)
        result["verdicts"] = sum(verdict.is_good for verdict in verdicts)
    else:
        model, truth = _fitted(case.design, case.far_rows)
        evaluation = evaluate(model, **rows, **how, random_state=case.number)
        measures = evaluation.measures
        true = {(leaf.leaf, leaf.channel): leaf for leaf in truth.leaves}
        result |= {
            "covers leaf ratio": _mean(
                _inside(true[one.leaf, one.channel].ratio, one.lower, one.upper)
                for one in evaluation.leaves
            ),
            "covers leaf curve": _mean(
                _inside(
                    true[one.leaf, one.channel].observed[0],
                    one.observed_lower[0],
                    one.observed_upper[0],
                )
                for one in evaluation.leaves
            ),
        }
    for one in (one for one in measures if one.name in _NAMES):
        far = truth[one.name].value
        result[f"covers {one.name}"] = _inside(far, one.lower, one.upper)
        result[f"off {one.name}"] = one.value - far
    return result | {"status": str(Status.DONE)}


@cache
def _fitted(design: str, far_rows: int) -> tuple[Any, Evaluation]:
    """Return the one model of a design that is evaluated, and its figures in many rows."""
    model = model_of(design).fit(**draw(design, 2 * N_ROWS, [32, DESIGNS.index(design)]))
    return model, _far(model, OutcomeCase("evaluate", design, 0, 2 * far_rows))


def _far(model: Any, case: OutcomeCase) -> Evaluation:
    rows = draw(case.design, case.far_rows, [33, DESIGNS.index(case.design), case.number])
    return evaluate(model, **rows, horizons=[HORIZON], n_bootstraps=1)


def _inside(truth: float, lower: float, upper: float) -> float:
    return float(lower <= truth <= upper) if np.isfinite([lower, upper, truth]).all() else np.nan


def _mean(values: Iterable[float]) -> float:
    known = [value for value in values if np.isfinite(value)]
    return float(np.mean(known)) if known else np.nan


def page(rows: pd.DataFrame, folder: Path) -> Sequence[str]:
    """Return the page.

    Parameters
    ----------
    rows : data frame
        All rows.
    folder : Path
        Not used: there are no figures.
    """
    lines = [
        "## What was done",
        "",
        f"Tables of {N_ROWS} rows: *causes*, two causes that two columns tell apart; *arms*, a "
        "trial in which one column tells whom the treatment helps; and both where columns tell "
        "nothing of that. `evaluate`: one tree of depth two, fitted on "
        f"{2 * N_ROWS} other rows, on fresh tables; the truth is its figures in {2 * FAR_ROWS:,} "
        "rows. `validate`: a tree of depth two by the .632+ rule; the truth is the figures of the "
        f'tree of all rows in {FAR_ROWS:,} new rows. Trees of arms are of the objective "both". '
        "Designs, samples and levels were fixed before any was run; the number of tables was set "
        "by the time that there was, before any result was added up.",
    ]
    for verb, (level, _, n_samples) in VERBS.items():
        own = rows[rows["verb"] == verb]
        n_tables = own.groupby("design", sort=False).size()
        error = np.sqrt(level * (1 - level) / n_tables.min())
        lines += [
            "",
            f"## {verb}",
            "",
            f"Share of limits of nominal {level:.0%} ({n_samples} samples) that hold the truth, "
            f"over {n_tables.min()} tables a line (Monte Carlo error {error:.2f}), and by how much "
            "values are above it on average.",
        ]
        for kind in ("causes", "arms"):
            part = own[own["design"].str.startswith(kind)]
            part = part.dropna(axis=1, how="all")
            for what in ("covers ", "off "):
                columns = [name for name in part if name.startswith(what)]
                if not columns:
                    continue
                means = part.groupby("design", sort=False)[columns].mean().T
                means.index.name = "limits hold the truth" if what == "covers " else "value - truth"
                means.index = means.index.str.removeprefix(what)
                lines += ["", *table(means.reset_index(), 3)]
    noise = rows[(rows["verb"] == "validate") & (rows["design"] == "causes, nothing")]
    good = rows[(rows["verb"] == "validate") & (rows["design"] == "causes")]
    lines += [
        "",
        "## Verdicts",
        "",
        f"A verdict for each of two causes: on noise {int(noise['verdicts'].sum())} of "
        f"{2 * len(noise)} are that the tree predicts better than none; where columns tell causes "
        f"apart, {int(good['verdicts'].sum())} of {2 * len(good)}.",
    ]
    return lines

"""The paper's small figure: how theta bends a survival curve."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.experiment import Measures
from experiments.figures import figure
from experiments.page import table
from surtree.data.target import read_target
from surtree.datasets import load_gbsg2
from surtree.survival.baseline import Baseline, nelson_aalen
from surtree.survival.kaplan_meier import median_time

THETAS = (0.5, 1.0, 2.0)
_DAYS_A_YEAR = 365.25


@dataclass(frozen=True)
class ThetaCase:
    """One theta."""

    theta: float


def cases(quick: bool) -> list[ThetaCase]:
    """Return the paper's three, which are quick anyway."""
    return [ThetaCase(theta) for theta in THETAS]


@cache
def _baseline() -> Baseline:
    _, y = load_gbsg2(backend="pandas")
    return nelson_aalen(read_target(y, len(y)), np.ones(len(y)))


def measure(case: ThetaCase) -> Measures:
    """Return the years after which half of the rows of a leaf with this theta had the event."""
    baseline = _baseline()
    median = median_time(baseline.times, baseline.survival(case.theta))
    return {"median_years": median / _DAYS_A_YEAR, "status": "done"}


def page(rows: pd.DataFrame, folder: Path) -> list[str]:
    """Return the page, and save the figure.

    Parameters
    ----------
    rows : data frame
        A row for each theta.
    folder : Path
        Where the figure goes.
    """
    baseline = _baseline()
    years = np.append(0.0, baseline.times) / _DAYS_A_YEAR
    with figure(folder / "theta.svg", 1, 1, size=(4.6, 3.0)) as axes:
        ax = axes[0][0]
        for theta, colour in zip(rows["theta"], ("#009E73", "#000000", "#D55E00"), strict=True):
            survival = np.append(1.0, baseline.survival(theta))
            ax.step(years, survival, where="post", color=colour)
            ax.annotate(
                f"theta = {theta:g}",
                (years[-1], survival[-1]),
                xytext=(4, 0),
                textcoords="offset points",
                color=colour,
                va="center",
            )
        ax.set_ylim(0, 1.02)
        ax.set_xlim(0, years[-1] * 1.25)
        ax.set_xlabel("years")
        ax.set_ylabel("survival")
    return [
        "A leaf has one number, theta: its hazard is theta times the hazard of all rows together, "
        "so that survival is the baseline's to the power of theta. The baseline is that of the "
        "German breast cancer study.",
        "",
        "![Three survival curves with theta one half, one and two](theta.svg)",
        "",
        *table(rows[["theta", "median_years"]].replace(np.inf, np.nan), 1),
    ]

"""The real tables beside the paper's description of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from experiments.experiment import Measures
from experiments.facts import paper_tables
from experiments.page import table
from experiments.tables import REAL_TABLES, binary, real_table


@dataclass(frozen=True)
class PreparationCase:
    """One table."""

    table: str


def cases(quick: bool) -> list[PreparationCase]:
    """Return all tables."""
    return [PreparationCase(name) for name in (REAL_TABLES[4:6] if quick else REAL_TABLES)]


def measure(case: PreparationCase) -> Measures:
    """Count rows, censored rows, columns and cuts, and rows that no cut tells apart."""
    from importlib.metadata import version

    loaded = real_table(case.table)
    cut = binary(loaded.X)
    return {
        "rows": len(loaded.y),
        "censored": 100 * float(1 - loaded.y["event"].mean()),
        "columns": loaded.X.shape[1],
        "cuts": cut.shape[1],
        "distinct_rows": len(pd.DataFrame(cut).drop_duplicates()),
        "distinct_times": len(set(loaded.y["time"])),
        "survset": version("SurvSet"),
        "status": "done",
    }


def page(rows: pd.DataFrame, folder: Path) -> list[str]:
    """Return the page.

    Parameters
    ----------
    rows : data frame
        A row for each table.
    folder : Path
        Not used: there are no figures.
    """
    frame = rows.drop(columns=["status", "version", "cores", "survset"])
    described = paper_tables().loc[rows["table"]]
    differing = []
    for column in ("rows", "censored", "columns", "cuts"):
        paper = described[column].to_numpy()
        frame.insert(frame.columns.get_loc(column) + 1, f"paper's {column}", paper)
        differing += list(rows["table"][(rows[column].round(1) != paper).to_numpy()])
    verdict = (
        "Every number is the paper's."
        if not differing
        else f"Not as in the paper: {', '.join(dict.fromkeys(differing))}."
    )
    versions = ", ".join(sorted(rows["survset"].unique()))
    return [
        f"The tables are those of SurvSet {versions}. {verdict} Two things it takes:",
        "",
        "- SurvSet 0.2.6: later versions code some labels otherwise, and their hdfail is another "
        "table. The `experiments` extra asks for this version.",
        "- categories that are written as numbers must be read as numbers, with thresholds instead "
        "of indicators, as happened to the authors, who kept their tables as text.",
        "",
        "Rows with a missing value are left out; `distinct_rows` are those that the cuts can tell "
        "apart.",
        "",
        *table(frame, 1),
    ]

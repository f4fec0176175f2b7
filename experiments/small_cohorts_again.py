"""The page that confirms what shrinkage is worth, on draws that nothing was chosen on."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from experiments.cohort_comparison import METRICS, WITH, WITHOUT, cells, compare, groups_of, prepare
from experiments.page import table
from experiments.task import Status


def page(rows: pd.DataFrame, folder: Path) -> list[str]:
    """Return the page.

    Parameters
    ----------
    rows : data frame
        All rows.
    folder : Path
        Not used: there are no figures.
    """
    rows = prepare(rows[rows["status"] == Status.DONE])
    small, whole = rows[rows["kind"] != "full"], rows[rows["kind"] == "full"]
    tests = [
        {"measure": title, "tables": group}
        | {"number" if name == "tables" else name: value for name, value in found.items()}
        for group, part in (*groups_of(small).items(), ("whole tables", whole))
        if not part.empty
        for metric, (title, _) in METRICS.items()
        for found in [compare(part, metric, WITH, WITHOUT)]
    ]
    brier = cells(small, "ib")
    least = ", ".join(f"{method} {brier[method].min():.3f}" for method in brier)
    return [
        "The shrinkages that SurTreeCV chooses from, 1, 3 and 10, were chosen after the rows of "
        "[small-cohorts](small-cohorts.md) were seen. Here they are tried on other draws of the "
        "same tables (another seed; of synthetic tables, other trees), which nothing was chosen "
        f"on. `{WITH}` is SurTreeCV as it comes, `{WITHOUT}` the same with `shrinkage=0.0`; the "
        "difference is the first less the second.",
        "",
        *table(pd.DataFrame(tests), 4),
        "",
        "Mean reduction of the Brier score by cell (kind of table and number of rows). The least "
        "of each "
        f"method: {least}.",
        "",
        *table(brier.reset_index(), 3),
        "",
    ]

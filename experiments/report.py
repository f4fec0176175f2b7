"""Pages and figures from the rows that there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from experiments.experiment import Experiment
from experiments.page import provenance
from experiments.store import read_rows


def write_pages(
    experiments: Mapping[str, Experiment], names: Sequence[str], folder: Path, *, quick: bool
) -> None:
    """Write the page of each experiment that has rows, and its figures.

    Parameters
    ----------
    experiments : mapping
        All experiments.
    names : sequence of str
        Those to report.
    folder : Path
        Where the rows are, and the pages go.
    quick : bool
        Whether the rows are those of the small version.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        experiment = experiments[name]
        rows_of = experiment.rows_of or (name,)
        parts = [read_rows(folder / f"{source}.csv") for source in rows_of]
        rows = pd.concat([part for part in parts if not part.empty] or parts[:1])
        lines = [f"# {experiment.title[0].upper()}{experiment.title[1:]}", ""]
        lines += provenance(name, rows_of, rows, quick)
        if not rows.empty:
            lines += ["", *experiment.page(rows.reset_index(drop=True), folder)]
        (folder / f"{name}.md").write_text("\n".join(lines) + "\n")

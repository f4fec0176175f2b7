"""Pages and figures from the rows that there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from experiments.experiment import Case, Experiment
from experiments.page import adjusted, provenance
from experiments.store import Store, read_rows


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
        lines += _not_run(experiments, rows_of, folder, quick)
        if not rows.empty:
            lines += ["", *adjusted(experiment.page(rows.reset_index(drop=True), folder))]
        (folder / f"{name}.md").write_text("\n".join(lines) + "\n")


def _not_run(
    experiments: Mapping[str, Experiment], rows_of: Sequence[str], folder: Path, quick: bool
) -> list[str]:
    """Return a line that counts the cases without a row, by method where they have one."""
    missing: Counter[str] = Counter()
    n_cases = 0
    for source in rows_of:
        cases = list(experiments[source].cases(quick))
        n_cases += len(cases)
        store = Store(folder / f"{source}.csv", type(cases[0]))
        missing.update(_kind(case) for case in store.missing(cases, retry=False))
    if not missing:
        return []
    counts = ", ".join(f"{kind} {count}" for kind, count in missing.items())
    return [f"Of {n_cases} cases, {missing.total()} were not run: {counts}."]


def _kind(case: Case) -> str:
    protocol = getattr(case, "protocol", "")
    method = getattr(case, "method", getattr(case, "solver", ""))
    return " ".join(text for text in (method, protocol and f"({protocol})") if text) or "others"

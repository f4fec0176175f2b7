"""The rows behind the pages of results, as files to download."""

from __future__ import annotations

from pathlib import Path

RESULTS = Path(__file__).parents[1] / "results"


def rows() -> str:
    """Return links to the CSV files of docs/results, from a page in another folder of docs."""
    names = sorted(path.name for path in RESULTS.glob("*.csv"))
    return ", ".join(f"[{name}](../results/{name})" for name in names) + "."

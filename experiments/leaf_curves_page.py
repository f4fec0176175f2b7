"""The page of the experiment on leaf curves."""

from __future__ import annotations

from pathlib import Path

import pandas as pd


def page(rows: pd.DataFrame, folder: Path) -> list[str]:
    """Return the page."""
    return []

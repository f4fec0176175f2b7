"""What an experiment is: typed cases in, one tidy row a case out, and a page made of the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

# A frozen data class whose fields are the first columns of a row, and tell it from other rows.
Case = Any
Measures = dict[str, object]


@dataclass(frozen=True)
class Experiment:
    """One experiment of the paper.

    Parameters
    ----------
    title : str
        What it shows, in a line.
    cases : callable
        From whether it is quick to all cases, in the order of the rows.
    measure : callable
        From a case to the other columns of its row. It runs in any process, at any time, and says
        the same each time, seconds apart.
    page : callable
        From the rows and a folder, into which it may save figures, to the text of the page.
    rows_of : tuple of str
        Whose rows the page is made of, where not its own.
    pilot_of : callable
        From a case to another one, or to None. Where that one ran out of time this one would too,
        and it is not tried.
    """

    title: str
    page: Callable[[pd.DataFrame, Path], Sequence[str]]
    cases: Callable[[bool], Sequence[Case]] = lambda quick: ()
    measure: Callable[[Case], Measures] | None = None
    rows_of: tuple[str, ...] = ()
    pilot_of: Callable[[Case], Case | None] = lambda case: None

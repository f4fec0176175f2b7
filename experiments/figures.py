"""How figures look, and how they are saved: the same rows always give the same file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

# Colours that most people can tell apart (Okabe and Ito), and a marker for those who cannot.
STYLES: dict[str, tuple[str, str]] = {
    "surtree": ("#0072B2", "o"),
    "pystreed": ("#D55E00", "s"),
    "local search": ("#009E73", "^"),
    "ctree": ("#E69F00", "v"),
    "greedy": ("#56B4E9", "D"),
    "scikit-survival": ("#CC79A7", "P"),
    "osst": ("#666666", "X"),
}

_LOOK = {
    "svg.hashsalt": "surtree",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "legend.frameon": False,
}


@contextmanager
def figure(path: Path, rows: int, columns: int, **options: object) -> Iterator[list[list[Axes]]]:
    """Give axes to draw on, and save them as SVG in the end.

    Parameters
    ----------
    path : Path
        The file.
    rows, columns : int
        How many axes there are.
    **options : object
        For `matplotlib.figure.Figure.subplots`; ``size`` is inches of each of the axes.
    """
    width, height = options.pop("size", (3.2, 2.6))
    with mpl.rc_context(_LOOK):
        drawing = Figure(figsize=(width * columns, height * rows), layout="constrained")
        yield drawing.subplots(rows, columns, squeeze=False, **options)
        drawing.savefig(path, metadata={"Date": None})

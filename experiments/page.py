"""Markdown: tables, and the lines that say where the numbers of a page come from."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pandas as pd

from experiments.comparison import P_VALUE, holm

_MARK = re.compile(r"\{holm ([^}]*)\}")


def table(frame: pd.DataFrame, digits: int | dict[str, int] = 3) -> list[str]:
    """Return a data frame as the lines of a Markdown table; its index is left out.

    Beside p-values there are marks, which `adjusted` replaces.

    Parameters
    ----------
    frame : data frame
        The cells. What is missing becomes a dash.
    digits : int or dict
        The decimals of numbers that are not whole, for all columns or by column.
    """
    if P_VALUE in frame:
        frame = frame.assign(Holm=[_mark(p_value) for p_value in frame[P_VALUE]])
    header = "| " + " | ".join(str(name) for name in frame.columns) + " |"
    rule = "|" + "---|" * frame.shape[1]
    places = digits if isinstance(digits, dict) else dict.fromkeys(frame.columns, digits)
    lines = [
        "| "
        + " | ".join(
            _cell(value, places.get(name, 3))
            for name, value in zip(frame.columns, row, strict=True)
        )
        + " |"
        for row in frame.itertuples(index=False, name=None)
    ]
    return [header, rule, *lines]


def p_text(p_value: float) -> str:
    """Return a p-value for a sentence, with a mark that `adjusted` replaces."""
    text = f"p = {p_value:.2g}" if p_value >= 1e-4 else "p < 0.0001"
    return f"{text}, Holm {_mark(p_value)}"


def _mark(p_value: float) -> str:
    return f"{{holm {p_value!r}}}"


def adjusted(lines: Sequence[str]) -> list[str]:
    """Return a page with p-values adjusted for all of its tests, and with their number.

    Parameters
    ----------
    lines : sequence of str
        The page, with marks.
    """
    text = "\n".join(lines)
    marks = pd.Series(_MARK.findall(text), dtype=object).astype(float)
    if marks.empty:
        return list(lines)
    values = iter(holm(marks))
    text = _MARK.sub(lambda _: f"{next(values):.4f}", text)
    return [
        *text.split("\n"),
        "",
        f"This page has {len(marks)} two-sided Wilcoxon signed-rank tests over tables of data, "
        "some of them of the same rows. `Holm` is the p-value adjusted for all of them; p-values "
        "without it are descriptive.",
    ]


def _cell(value: object, places: int) -> str:
    if isinstance(value, float):
        return "-" if value != value else f"{value:.{places}f}"
    return "-" if value is None else str(value)


def provenance(name: str, rows_of: Sequence[str], rows: pd.DataFrame, quick: bool) -> list[str]:
    """Return the lines that say by which command, version and machine the rows were made.

    Parameters
    ----------
    name : str
        The name of the experiment.
    rows_of : sequence of str
        Whose rows they are.
    rows : data frame
        The rows, with columns ``version``, ``cores`` and, where runs can fail, ``status``.
    quick : bool
        Whether they are those of the small version.
    """
    flag = " --quick" if quick else ""
    command = f"`python -m experiments run {' '.join(rows_of)}{flag}`"
    lines = [f"Made by {command} and `python -m experiments report {name}{flag}`"]
    if rows.empty:
        return [*lines, "", "There are no rows yet."]
    versions = ", ".join(sorted(rows["version"].astype(str).unique()))
    cores = ", ".join(str(cores) for cores in sorted(rows["cores"].unique()))
    lines[0] += (
        f" (surtree {versions}, a machine of {cores} cores that was busy with other work; seconds "
        "are those of the processor, one thread; compare them within a page)."
    )
    if "status" in rows:
        counts = rows["status"].value_counts()
        text = ", ".join(f"{count} {status}" for status, count in counts.items())
        lines.append(f"{len(rows)} rows: {text}. All of them are in the CSV file beside this page.")
    return lines

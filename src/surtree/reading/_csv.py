"""The cells of a CSV file as texts: what stands between them, and lines that are not as others."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path

import polars as pl

from surtree.reading._sheet import Sheet
from surtree.reading.errors import UserError, failures, note
from surtree.words.numbers import plural

# The first one is preferred where two fit: cells hold commas more often than others.
SEPARATORS = ";\t|,"
SEPARATOR_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "blanks"}

_LONGEST_HEADER = 2**20
_LINES_LOOKED_AT = 100


def read_csv(path: Path, text: str, separator: str | None) -> tuple[Sheet, str]:
    """Return the cells of a CSV file, and what stands between them."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        raise UserError(f"{path} is empty: it has nothing but blanks and line breaks")
    first_line, _, rest = text.partition("\n")
    # Excel writes and reads a line of its own that names the separator.
    if first_line.lower().startswith("sep=") and len(first_line) == len("sep=") + 1:
        separator, text = separator or first_line[-1], rest
    separator = separator or _find_separator(text)
    text = _from_header(text, separator)
    header = _header(path, text, separator)
    n_lines, others = _scan(path, text, separator, len(header))
    filled = [(line, cells) for line, cells in others if any(cell.strip() for cell in cells)]
    if n_lines == len(others) and _has_row_names([cells for _, cells in filled], len(header)):
        header, text = ["", *header], separator + text
    else:
        _check_lengths(path, filled, separator, len(header))
    return Sheet(path, header, _cells(path, text, separator, len(header), n_lines)), separator


def _find_separator(text: str) -> str:
    """Return the mark that cuts most of the first lines into as many cells as the header."""
    beginning = "\n".join(text[:_LONGEST_HEADER].split("\n")[:_LINES_LOOKED_AT])

    def fit(mark: str) -> tuple[float, int]:
        try:
            lines = [line for line in csv.reader(StringIO(beginning), delimiter=mark) if line]
        except csv.Error:
            return 0.0, 0
        width = len(lines[0]) if lines else 0
        if width < 2:
            return 0.0, 0
        return sum(len(line) == width for line in lines) / len(lines), width

    best = max(SEPARATORS, key=fit)
    return best if fit(best)[1] else ","


def _from_header(text: str, separator: str) -> str:
    """Drop lines without content at the beginning."""
    while text:
        line, _, rest = text.partition("\n")
        if line.strip(f" \t{separator}"):
            return text
        text = rest
    return text


def _header(path: Path, text: str, separator: str) -> list[str]:
    beginning = StringIO(text[:_LONGEST_HEADER], newline="")
    with failures(csv.Error, about=f"cannot read the names in {path}: "):
        return next(csv.reader(beginning, delimiter=separator))


def _scan(
    path: Path, text: str, separator: str, width: int
) -> tuple[int, list[tuple[int, list[str]]]]:
    """Return how many lines are below the header, and those that are not as long as it.

    A line that is not as long as the header has its number and its cells.
    """
    if '"' not in text:  # the common case, and fast
        lines = text.removesuffix("\n").split("\n")
        odd = [index for index, line in enumerate(lines) if line.count(separator) != width - 1]
        return len(lines) - 1, [(index + 1, lines[index].split(separator)) for index in odd]
    others, n_lines = [], -1
    reader = csv.reader(StringIO(text, newline=""), delimiter=separator)
    with failures(csv.Error, about=f"cannot read {path}: "):
        for cells in reader:
            n_lines += 1
            if len(cells) != width:
                others.append((reader.line_num, cells))
    return n_lines, others


def _has_row_names(lines: list[list[str]], width: int) -> bool:
    """Return whether every line has a cell more than the header: R writes row names so."""
    longer = all(len(cells) == width + 1 for cells in lines)
    return longer and any(cells[-1].strip() for cells in lines)


def _check_lengths(
    path: Path, others: list[tuple[int, list[str]]], separator: str, width: int
) -> None:
    """Refuse lines with more cells than the header, and note those with fewer."""
    longer = [
        (line, cells) for line, cells in others if any(cell.strip() for cell in cells[width:])
    ]
    if longer:
        line, cells = longer[0]
        more = f" (and {len(longer) - 1} lines more)" if len(longer) > 1 else ""
        raise UserError(
            f"line {line} of {path} has {len(cells)} cells, and the header has {width}{more}: put "
            f"cells that hold a {separator!r} in quotation marks, or see whether a line is broken"
        )
    shorter = [line for line, cells in others if len(cells) < width]
    if shorter:
        note(
            f"{plural(len(shorter), 'line')} of {path} with fewer cells than the header "
            f"(the first is line {shorter[0]}): what is lacking is read as missing"
        )


def _cells(path: Path, text: str, separator: str, width: int, n_lines: int) -> pl.DataFrame:
    names = [str(index) for index in range(width)]
    try:
        cells = pl.read_csv(
            text.encode(),
            separator=separator,
            has_header=False,
            schema=dict.fromkeys(names, pl.String),
            infer_schema=False,
            truncate_ragged_lines=True,
        )
    except pl.exceptions.ComputeError:
        cells = None
    if cells is not None and len(cells) == n_lines + 1:
        return cells.slice(1)
    # polars is strict about quotation marks inside of cells.
    with failures(csv.Error, about=f"cannot read {path}: "):
        lines = list(csv.reader(StringIO(text, newline=""), delimiter=separator))[1:]
    rows = [[*line[:width], *[None] * (width - len(line))] for line in lines]
    return pl.DataFrame(rows, dict.fromkeys(names, pl.String), orient="row")

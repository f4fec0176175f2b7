"""The cells of a CSV file as texts: what stands between them, and lines that are not as others."""

from __future__ import annotations

import csv
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from dataclasses import dataclass
from importlib.util import find_spec
from io import StringIO
from pathlib import Path

import polars as pl

from surtree.reading.errors import Format, UserError, failures, note
from surtree.reading.numbers import DATE, numbers
from surtree.words.numbers import plural


@dataclass(frozen=True)
class Sheet:
    """The first line of a file, and the cells below it."""

    path: Path  # the file, for messages
    header: list[str]  # the cells of the first line
    cells: pl.DataFrame  # the other lines, all of them texts

    def named(self) -> pl.DataFrame:
        """Return the cells below their names, without blank lines and row names."""
        names = [" ".join(name.strip().strip('"').split()) for name in self.header]
        self._require_header(names)
        cells = self._without_blank_lines()
        kept = [index for index, name in enumerate(names) if name or _has_cells(cells, index)]
        if kept and not names[kept[0]] and _all_differ(cells, kept[0]):
            note(f"the first column of {self.path} has no name: row names, left out")
            del kept[0]
        names = [names[index] for index in kept]
        for name, count in Counter(names).items():
            if not name:
                title = "" if any(names[1:]) else "; if the first line is a title, delete it"
                raise UserError(
                    f"{plural(count, 'column')} of {self.path} "
                    f"{'has' if count == 1 else 'have'} no name: give each a name of its own{title}"
                )
            if count > 1:
                raise UserError(
                    f"{count} columns of {self.path} are called {name!r}: give each a name of its "
                    "own"
                )
        columns = cells.get_columns()
        return pl.DataFrame(
            [columns[index].alias(name) for index, name in zip(kept, names, strict=True)]
        )

    def _require_header(self, names: list[str]) -> None:
        present = pl.Series([name for name in names if name], dtype=pl.String)
        is_data = numbers(present).is_not_null() | present.str.contains(DATE)
        if len(present) and is_data.all():
            shown = ", ".join(map(repr, present.head(3)))
            raise UserError(
                f"the first line of {self.path} holds data and no names ({shown}): put a line with "
                "the names of the columns above it"
            )

    def _without_blank_lines(self) -> pl.DataFrame:
        """Drop lines without content, with a note that counts them."""
        # An empty line is a missing value of a single column.
        if self.cells.width == 1:
            return self.cells
        blank = pl.all_horizontal(pl.all().fill_null("").str.strip_chars() == "")
        kept = self.cells.filter(~blank)
        n_left_out = len(self.cells) - len(kept)
        if n_left_out:
            note(f"{plural(n_left_out, 'blank line')} of {self.path} left out")
        return kept


def _has_cells(cells: pl.DataFrame, index: int) -> bool:
    column = cells.to_series(index)
    return bool((column.fill_null("").str.strip_chars() != "").any())


def _all_differ(cells: pl.DataFrame, index: int) -> bool:
    column = cells.to_series(index)
    return column.null_count() == 0 and column.n_unique() == len(column)


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


_BEGINNING = 1000
_BY_ZEROS = ("utf-16-le", "utf-16-be")
_NO_TEXT = "{} is no text: a table is a CSV, Parquet or Excel file"


def decode(path: Path, source: bytes, form: Format) -> tuple[str, str]:
    """Return the text of a file and what its encoding is called, which is empty for UTF-8."""
    encoding = form.encoding or _by_zeros_and_marks(source)
    if encoding is not None:
        text = _decoded(path, source, encoding, form)
        return text, "" if encoding == "utf-8-sig" else encoding.upper()
    try:
        return source.decode("utf-8-sig"), ""
    except UnicodeDecodeError as error:
        first = error.start
    # Windows writes it in Western Europe and America; programs of today write UTF-8.
    text = _decoded(path, source, "cp1252", form)
    line = source.count(b"\n", 0, first) + 1
    return text, f"Windows-1252, as byte {source[first]:#x} in line {line} is not UTF-8"


def _by_zeros_and_marks(source: bytes) -> str | None:
    """Return the encoding that a mark at the beginning names, or where the zeros are."""
    if source.startswith(BOM_UTF8):
        return "utf-8-sig"
    if source.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return "utf-16"
    # Text in two bytes a character has zeros in it, which no other text has.
    beginning = source[:_BEGINNING]
    even, odd = beginning[::2].count(0), beginning[1::2].count(0)
    if not even and not odd:
        return None
    return "utf-16-le" if odd > even else "utf-16-be"


def _decoded(path: Path, source: bytes, encoding: str, form: Format) -> str:
    try:
        text = source.decode(encoding)
    except UnicodeError as error:
        if encoding in _BY_ZEROS and 0 in source[:_BEGINNING]:
            raise UserError(_NO_TEXT.format(path)) from None
        name = "Windows-1252" if encoding == "cp1252" else encoding.upper()
        raise UserError(
            f"{path} is not {name} ({_fault(error, source)}): say which encoding it has, as in "
            f'{form.option("encoding", "latin-1")}, or save it as "CSV UTF-8"'
        ) from None
    if "\0" in text[:_BEGINNING]:
        raise UserError(_NO_TEXT.format(path))
    return text.removeprefix("\ufeff")


def _fault(error: UnicodeError, source: bytes) -> str:
    if not isinstance(error, UnicodeDecodeError) or error.start >= len(source):
        return str(error)
    line = source.count(b"\n", 0, error.start) + 1
    return f"byte {source[error.start]:#x} in line {line}"


WORKBOOKS = (".xlsx", ".xlsm")


def read_workbook(path: Path, form: Format) -> Sheet:
    """Return the cells of a sheet, by its name, or of the first one."""
    if find_spec("fastexcel") is None:
        raise UserError(
            f"{path} is an Excel workbook, and reading these needs fastexcel, which is not "
            'installed: pip install "surtree[excel]", or save the sheet as CSV'
        )
    import fastexcel

    sheet = form.sheet
    try:
        workbook = fastexcel.read_excel(path)
        names = workbook.sheet_names
        if sheet is not None and sheet not in names:
            raise UserError(f"{path} has no sheet {sheet!r}: there are {', '.join(names)}")
        chosen = names[0] if sheet is None else sheet
        # Cells are texts, as in a CSV file: a column may hold numbers and notes.
        cells = workbook.load_sheet(chosen, header_row=None, dtypes="string").to_polars()
    except fastexcel.FastExcelError as error:
        raise UserError(f"cannot read {path}: {str(error).splitlines()[0]}") from None
    if sheet is None and len(names) > 1:
        note(
            f"sheet {chosen!r} of {path} is read, of {', '.join(names)}; {form.option('sheet')} "
            "names another"
        )
    while len(cells) and not any(cells.row(0)):
        cells = cells.slice(1)
    if not len(cells):
        raise UserError(f"sheet {chosen!r} of {path} is empty")
    return Sheet(path, [cell or "" for cell in cells.row(0)], cells.slice(1))

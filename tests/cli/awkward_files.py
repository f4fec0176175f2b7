"""Forty awkward files, each with what the command line decides about it.

``python tests/cli/awkward_files.py DIRECTORY`` writes them, to be looked at.
"""

from __future__ import annotations

import datetime
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import xlsxwriter

N_ROWS = 40
DAYS = [10 + 7 * row for row in range(N_ROWS)]
DIED = [int(row % 3 > 0) for row in range(N_ROWS)]
AGE = [30 + (row * 13) % 50 for row in range(N_ROWS)]
DOSE = [0.5 + (row * 7) % 20 / 4 for row in range(N_ROWS)]
SEX = ["männlich" if row % 2 else "weiblich" for row in range(N_ROWS)]
TABLE = {"days": DAYS, "died": DIED, "age": AGE, "dose": DOSE, "sex": SEX}
KINDS = {"days": "time", "died": "event", "age": "number", "dose": "number", "sex": "category"}


@dataclass(frozen=True)
class Awkward:
    """A file, and what becomes of it.

    Parameters
    ----------
    name : str
        What it is called.
    content : bytes or callable
        What is in it, or a function that writes it to a path.
    says : tuple of str
        What standard error says, beside the table; all of it if the file is refused.
    kinds : dict of str to str, optional
        The columns that are read, and what they are; None if the file is refused.
    values : dict of str to list
        What some columns hold.
    options : tuple of str
        What the user says.
    """

    name: str
    content: bytes | Callable[[Path], None]
    says: tuple[str, ...] = ()
    kinds: dict[str, str] | None = field(default_factory=lambda: dict(KINDS))
    values: dict[str, list] = field(default_factory=dict)
    options: tuple[str, ...] = ()

    def write(self, directory: Path) -> Path:
        path = directory / self.name
        if callable(self.content):
            self.content(path)
        else:
            path.write_bytes(self.content)
        return path


def comma(number: float) -> str:
    return str(number).replace(".", ",")


def table(separator=",", decimal=".", quote="", ending="\n", **others) -> str:
    """Return the table as text, with other columns, or others instead of its own."""
    columns = {name: cells for name, cells in (TABLE | others).items() if cells is not None}

    def cell(value) -> str:
        text = str(value)
        if isinstance(value, float) and decimal == ",":
            text = comma(value)
        return f"{quote}{text}{quote}"

    lines = [columns, *zip(*columns.values(), strict=True)]
    return ending.join(separator.join(map(cell, line)) for line in lines) + ending


def kinds(**others) -> dict[str, str]:
    return {name: kind for name, kind in (KINDS | others).items() if kind is not None}


def workbook(**sheets) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        book = xlsxwriter.Workbook(path)
        date = book.add_format({"num_format": "dd.mm.yyyy"})
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for place, row in enumerate(rows):
                for column, value in enumerate(row):
                    if isinstance(value, datetime.date):
                        sheet.write_datetime(place, column, value, date)
                    elif value is not None:
                        sheet.write(place, column, value)
        book.close()

    return write


def rows(**others) -> list[list]:
    columns = TABLE | others
    return [list(columns), *map(list, zip(*columns.values(), strict=True))]


COMMAS = [1.5 + row for row in range(N_ROWS)]
THOUSANDS = [1000 + 37 * row for row in range(N_ROWS)]
CODES = [f"P{row * row:05}" for row in range(N_ROWS)]
SENTENCES = [f"patient felt {'well' if row % 2 else 'ill'} on day {row % 30}" for row in range(40)]
A_DAY = datetime.date(2020, 1, 1)
DATES = [A_DAY + datetime.timedelta(days=row * 11 % 300) for row in range(N_ROWS)]
NEARLY = ["ca. 20" if row == 3 else ">50" if row == 9 else str(AGE[row]) for row in range(N_ROWS)]
STATUS = ["J" if died else "N" for died in DIED]

GERMAN = table(
    ";",
    ",",
    ending="\r\n",
    died=STATUS,
    Größe=[1.5 + row % 40 / 100 for row in range(N_ROWS)],
    **{"Pat-ID": CODES, "Aufnahme": [day.strftime("%d.%m.%Y") for day in DATES]},
).encode("cp1252")


def dated(form: str) -> bytes:
    return table(seen=[day.strftime(form) for day in DATES]).encode()


FILES = [
    # Encodings.
    Awkward("utf-8.csv", table().encode(), values={"sex": SEX, "dose": DOSE}),
    Awkward("utf-8-mark.csv", table().encode("utf-8-sig"), values={"days": DAYS}),
    Awkward(
        "utf-16.csv",
        table("\t").encode("utf-16"),
        ("UTF-16; separated by tabs",),
        values={"sex": SEX},
    ),
    Awkward("utf-16-le.csv", table().encode("utf-16-le"), ("UTF-16-LE",), values={"sex": SEX}),
    Awkward("utf-16-be.csv", table().encode("utf-16-be"), ("UTF-16-BE",), values={"sex": SEX}),
    Awkward(
        "windows-1252.csv",
        table().encode("cp1252"),
        ("read as Windows-1252, as byte 0xe4 in line 3 is not UTF-8",),
        values={"sex": SEX},
    ),
    Awkward(
        "mac-roman.csv",
        table().encode("mac-roman"),
        values={"sex": SEX},
        options=("--encoding", "mac-roman"),
    ),
    Awkward(
        "wrongly-named.csv",
        table().encode("cp1252"),
        ("is not UTF-8 (byte 0xe4 in line 3): say which encoding it has",),
        None,
        options=("--encoding", "utf-8"),
    ),
    # Separators, decimal marks and other ways to write numbers.
    Awkward("semicolons.csv", table(";").encode(), ("separated by semicolons",)),
    Awkward("bars.txt", table("|").encode(), ("separated by bars",), values={"dose": DOSE}),
    Awkward("excel-line.csv", f"sep=;\n{table(';')}".encode(), ("separated by semicolons",)),
    Awkward("german.csv", table(";", ",").encode(), ("decimal commas",), values={"dose": DOSE}),
    Awkward(
        "german-thousands.csv",
        table(";", ",", income=[f"{n:,}".replace(",", ".") for n in THOUSANDS]).encode(),
        ("decimal commas", "thousands: 1.000 is 1000"),
        kinds(income="number"),
        {"income": THOUSANDS, "dose": DOSE},
    ),
    Awkward(
        "commas-and-points.csv",
        table(";", weight=[comma(number) for number in COMMAS]).encode(),
        ("decimal commas: 1,5 is 1.5",),
        kinds(weight="number"),
        {"weight": COMMAS, "dose": DOSE},
    ),
    Awkward(
        "thousand-or-fraction.csv",
        table(";", dose=[f"{n:,}" for n in THOUSANDS]).encode(),
        ("column 'dose' holds '1,000', which may be a thousand or a fraction: say --decimal . or",),
        None,
    ),
    Awkward(
        "thousand-by-option.csv",
        table(";", dose=[f"{n:,}" for n in THOUSANDS]).encode(),
        says=("separated by semicolons", "thousands: 1,000 is 1000"),
        values={"dose": THOUSANDS},
        options=("--decimal", "."),
    ),
    Awkward(
        "fraction-by-option.csv",
        table(";", dose=[f"{n:,}" for n in THOUSANDS]).encode(),
        says=("separated by semicolons", "decimal commas: 1,000 is 1"),
        values={"dose": [number / 1000 for number in THOUSANDS]},
        options=("--decimal", ","),
    ),
    Awkward(
        "quoted-commas.csv",
        table(",", ",", '"').encode(),
        (
            "column 'dose': cells such as '0,5' are numbers with another decimal mark: say "
            "--decimal , to read them; --type dose=categorical keeps the texts",
        ),
        None,
    ),
    Awkward(
        "quoted-commas-by-option.csv",
        table(",", ",", '"').encode(),
        says=("column 'dose': decimal commas: 0,5 is 0.5",),
        values={"dose": DOSE, "age": AGE},
        options=("--decimal", ","),
    ),
    Awkward(
        "english-thousands.csv",
        table(quote='"', income=[f"{n:,}.50" for n in THOUSANDS]).encode(),
        ("thousands: 1,000.50 is 1000.5",),
        kinds(income="number"),
        {"income": [number + 0.5 for number in THOUSANDS]},
    ),
    Awkward(
        "blanks-between-thousands.csv",
        table(income=[f"{n:,}".replace(",", "\u202f") for n in THOUSANDS]).encode(),
        ("thousands: 1\u202f000 is 1000",),
        kinds(income="number"),
        {"income": THOUSANDS},
    ),
    Awkward(
        "percent.csv",
        table(share=[f"{age} %" for age in AGE], minus=[f"\u2212{age}" for age in AGE]).encode(),
        ("column 'share': percent signs\n",),
        kinds(share="number", minus="number"),
        {"share": AGE, "minus": [-age for age in AGE]},
    ),
    Awkward(
        "missing.csv",
        table(
            age=["." if row == 1 else "#NV" if row == 2 else AGE[row] for row in range(N_ROWS)],
            dose=["-" if row == 1 else "  " if row == 2 else DOSE[row] for row in range(N_ROWS)],
        ).encode(),
        values={
            "age": [None if row in (1, 2) else AGE[row] for row in range(N_ROWS)],
            "dose": [None if row in (1, 2) else DOSE[row] for row in range(N_ROWS)],
        },
        options=("--missing", "-"),
    ),
    # Lines.
    Awkward(
        "empty-lines.csv",
        f"\n{table()},,,,\n\n , ,,,\n".encode(),
        ("3 blank lines of",),
        values={"days": DAYS},
    ),
    Awkward("line-ends.csv", table(ending="\r").encode(), values={"days": DAYS, "sex": SEX}),
    Awkward(
        "line-breaks.csv",
        table(
            quote='"', **{"stage\n(first)": ["a\nb" if row % 2 else "c" for row in range(40)]}
        ).encode(),
        kinds=kinds(**{"stage (first)": "category"}),
        values={"stage (first)": ["a\nb" if row % 2 else "c" for row in range(40)]},
    ),
    Awkward(
        "inches.csv",
        table(size=['5" pipe' if row % 2 else '"6"" pipe"' for row in range(40)]).encode(),
        kinds=kinds(size="category"),
        values={"size": ['5" pipe' if row % 2 else '6" pipe' for row in range(40)]},
    ),
    Awkward(
        "separators-at-the-end.csv",
        table(";").replace("\n", ";;\n").encode(),
        ("semicolons",),
        values={"sex": SEX},
    ),
    Awkward(
        "separators-below-the-header.csv",
        table(";").replace("\n", ";\n").replace(";\n", "\n", 1).encode(),
        ("semicolons",),
        values={"days": DAYS, "sex": SEX},
    ),
    Awkward(
        "quoted-after-a-blank.csv",
        table(", ", quote='"').encode(),
        values={"age": AGE, "dose": DOSE, "sex": SEX},
    ),
    Awkward(
        "too-short.csv",
        table(stage=["a"] * N_ROWS).replace(",weiblich,a\n", "\n", 2).encode(),
        ("2 lines of", "fewer cells than the header (the first is line 2): what is lacking is"),
        kinds(stage="category"),
        {"sex": [None, "männlich", None, *SEX[3:]]},
    ),
    Awkward(
        "too-long.csv",
        table().replace(",0.5,", ",0,5,", 1).encode(),
        (
            "line 2 of",
            "has 6 cells, and the header has 5: put cells that hold a ',' in quotation",
        ),
        None,
    ),
    Awkward(
        "row-names-of-r.txt",
        "\n".join(
            f'"{row}" {line}' if row else line for row, line in enumerate(table(" ").splitlines())
        ).encode(),
        ("the first column of", "has no name: row names, left out"),
        values={"days": DAYS},
        options=("--separator", " "),
    ),
    Awkward(
        "row-names-of-pandas.csv",
        "\n".join(
            f"{row - 1 if row else ''},{line}" for row, line in enumerate(table().splitlines())
        ).encode(),
        ("the first column of", "has no name: row names, left out"),
        values={"days": DAYS},
    ),
    # Headers.
    Awkward(
        "no-header.csv",
        "".join(f"{a},{b},{c}\n" for a, b, c in zip(DAYS, DIED, AGE, strict=True)).encode(),
        (
            "the first line of",
            "holds data and no names ('10', '0', '30'): put a line with the names",
        ),
        None,
    ),
    Awkward(
        "title.csv",
        f"Our patients,,,,\n{table()}".encode(),
        ("4 columns of", "have no name: give each a name of its own; if the first line is a title"),
        None,
    ),
    Awkward(
        "same-names.csv",
        table().replace("dose", "age", 1).encode(),
        ("2 columns of", "are called 'age': give each a name of its own"),
        None,
    ),
    # Columns that no tree should ask about.
    Awkward(
        "nearly-numeric.csv",
        table(age=NEARLY).encode(),
        (
            "column 'age': 2 of 40 cells are not numbers: 'ca. 20', '>50': correct them, or count "
            "them as missing (--missing 'ca. 20' --missing '>50'); --type age=categorical keeps",
        ),
        None,
    ),
    Awkward(
        "an-id.csv",
        table(code=CODES, patient_id=[row * row + 7 for row in range(N_ROWS)]).encode(),
        (
            "column 'code': left out: a different value in nearly every row, as an id has "
            "(--columns or --type COLUMN=categorical keeps a column that is left out)",
            "column 'patient_id': left out: a different value",
        ),
        kinds(code="id", patient_id="id"),
    ),
    Awkward(
        "an-id-by-option.csv",
        table(code=CODES).encode(),
        kinds=kinds(code="category"),
        values={"code": CODES},
        options=("--type", "code=categorical"),
    ),
    Awkward(
        "iso-dates.csv",
        dated("%Y-%m-%d"),
        ("column 'seen': left out: dates or times of day",),
        kinds(seen="date"),
    ),
    Awkward("german-dates.csv", dated("%d.%m.%Y"), ("left out: dates",), kinds(seen="date")),
    Awkward("american-dates.csv", dated("%m/%d/%Y"), ("left out: dates",), kinds(seen="date")),
    Awkward(
        "sentences.csv",
        table(note=SENTENCES).encode(),
        ("column 'note': left out: sentences",),
        kinds(note="free text"),
    ),
    Awkward(
        "a-leak.csv",
        table(follow=[day / 7 for day in DAYS], autopsy=["x" if d else "" for d in DIED]).encode(),
        (
            "column 'follow' all but tells the time (rank correlation 1.000): if it is known only",
            "column 'autopsy' tells in every row whether the event happened: if it is known only",
        ),
        kinds(follow="number", autopsy="category"),
    ),
    # The target.
    Awkward(
        "no-event.csv",
        table(died=["" if row == 5 else DIED[row] for row in range(N_ROWS)]).encode(),
        ("column 'died' has no value in 1 of 40 rows: --drop-incomplete leaves such rows out",),
        None,
    ),
    Awkward(
        "no-event-by-option.csv",
        table(died=["" if row == 5 else DIED[row] for row in range(N_ROWS)]).encode(),
        ("1 of 40 rows lack a value of days, died, and are left out",),
        values={"days": DAYS[:5] + DAYS[6:]},
        options=("--drop-incomplete",),
    ),
    Awkward(
        "two-texts.csv",
        table(died=["tot" if died else "lebt" for died in DIED]).encode(),
        ("column 'died' holds lebt, tot: say which value is the event, as in --event died=tot",),
        None,
    ),
    Awkward(
        "two-letters.csv",
        table(died=["A" if died else "B" for died in DIED]).encode(),
        ("say which value is the event, as in --event died=A or --event died=B",),
        None,
    ),
    Awkward(
        "codes-of-r.csv",
        table(died=[1 + died for died in DIED]).encode(),
        ("as in --event died=2, if they are codes as in R, where 2 is the event",),
        None,
    ),
    Awkward(
        "dates-as-times.csv",
        table(days=DATES).encode(),
        ("column 'days' holds dates such as '2020-01-01', not numbers: --time START..END counts",),
        None,
    ),
    # Workbooks and other files.
    Awkward(
        "workbook.xlsx",
        workbook(
            Patients=[[], *rows(seen=DATES, age=[*AGE[:3], None, *AGE[4:]]), [], []], Notes=[["x"]]
        ),
        (
            "sheet 'Patients' of",
            "is read, of Patients, Notes; --sheet names another",
            "column 'seen': left out: dates",
        ),
        kinds(seen="date"),
        {"age": [*AGE[:3], None, *AGE[4:]], "dose": DOSE, "sex": SEX},
    ),
    Awkward(
        "second-sheet.xlsx",
        workbook(Notes=[["x"]], Patients=rows()),
        values={"dose": DOSE},
        options=("--sheet", "Patients"),
    ),
    Awkward(
        "commas-in-a-workbook.xlsx",
        workbook(Patients=rows(weight=[comma(number) for number in COMMAS])),
        ("decimal commas: 1,5 is 1.5",),
        kinds(weight="number"),
        {"weight": COMMAS, "dose": DOSE},
    ),
    Awkward(
        "points-and-commas-in-a-workbook.xlsx",
        workbook(
            Patients=rows(
                dose=[1.125 + row for row in range(N_ROWS)],
                weight=[
                    number if place % 3 else comma(number) for place, number in enumerate(COMMAS)
                ],
            )
        ),
        ("decimal commas: 1,5 is 1.5",),
        kinds(weight="number"),
        {"weight": COMMAS, "dose": [1.125 + row for row in range(N_ROWS)]},
    ),
    Awkward(
        "nearly-numeric.xlsx",
        workbook(Patients=rows(age=["ca. 20", *AGE[1:]])),
        ("column 'age': 1 of 40 cells are not numbers: 'ca. 20'",),
        None,
    ),
    Awkward(
        "no-sheet.xlsx",
        workbook(A=rows()),
        ("has no sheet 'B': there are A",),
        None,
        options=("--sheet", "B"),
    ),
    Awkward(
        "old.xls",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
        ("before 2007 (.xls): save it as .xlsx",),
        None,
    ),
    Awkward(
        "workbook.csv",
        workbook(A=rows()),
        ("a workbook is read if its name ends with .xlsx",),
        None,
    ),
    Awkward(
        "packed.csv.gz", b"\x1f\x8b\x08" + bytes(40), ("is compressed: unpack it first",), None
    ),
    Awkward("bytes.csv", bytes(range(256)) * 8, ("is no text: a table is a CSV",), None),
    # All at once, as Excel in Germany writes it.
    Awkward(
        "patienten.csv",
        GERMAN + b";;;;;;;\r\n;;;;;;;\r\n",
        (
            "2 blank lines of",
            "is read as Windows-1252, as byte 0xf6 in line 1 is not UTF-8; separated by "
            "semicolons; decimal commas",
            "column 'Pat-ID': left out: a different value",
            "column 'Aufnahme': left out: dates",
        ),
        kinds(**{"Größe": "number", "Pat-ID": "id", "Aufnahme": "date"}),
        {"Größe": [1.5 + row % 40 / 100 for row in range(N_ROWS)], "sex": SEX},
    ),
]


if __name__ == "__main__":
    directory = Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    for awkward in FILES:
        print(awkward.write(directory))

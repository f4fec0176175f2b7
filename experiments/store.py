"""Rows in a CSV file: written one by one as they come, found again by their case."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.experiment import Case, Measures
from surtree import __version__

Row = dict[str, Any]


class Store:
    """The rows of one experiment.

    Parameters
    ----------
    path : Path
        The file.
    case_type : type
        The class of the cases.
    """

    def __init__(self, path: Path, case_type: type) -> None:
        self._path = path
        self._keys = [field.name for field in fields(case_type)]
        self._rows = _read(path)

    def missing(self, cases: Sequence[Case], retry: bool) -> list[Case]:
        """Return the cases that have no row yet; on request also those that failed."""
        there = {
            self._key(row) for row in self._rows if not (retry and row.get("status") != "done")
        }
        return [case for case in cases if self._key(asdict(case)) not in there]

    def find(self, case: Case) -> Measures | None:
        """Return what the row of a case says beside the case, if it has a row."""
        key = self._key(asdict(case))
        row = next((row for row in self._rows if self._key(row) == key), None)
        own = {*self._keys, "version", "cores"}
        return row and {name: value for name, value in row.items() if name not in own}

    def add(self, case: Case, measures: Measures) -> None:
        """Keep a row, in the place of an earlier one of the same case."""
        row = asdict(case) | measures | {"version": __version__, "cores": os.cpu_count()}
        row = {name: _text(value) for name, value in row.items()}
        key = self._key(row)
        again = any(self._key(old) == key for old in self._rows)
        self._rows = [old for old in self._rows if self._key(old) != key] + [row]
        if again or not self._path.exists():
            self._write()
        else:
            with self._path.open("a", newline="") as file:
                # In the order of the file, which an older program may have made.
                csv.DictWriter(file, list(self._rows[0]), lineterminator="\n").writerow(row)

    def sort(self, cases: Sequence[Case]) -> None:
        """Put the rows in the order of the cases, whatever the order they came in."""
        place = {self._key(asdict(case)): place for place, case in enumerate(cases)}
        self._rows.sort(key=lambda row: place.get(self._key(row), len(place)))
        self._write()

    def _write(self) -> None:
        if not self._rows:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(self._rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(self._rows)

    def _key(self, row: Row) -> tuple[str, ...]:
        return tuple(_text(row[name]) for name in self._keys)


def read_rows(path: Path) -> pd.DataFrame:
    """Return the rows of a file with numbers as numbers; none where there is no file."""
    if not path.exists():
        return pd.DataFrame()
    return pd.read_csv(path, keep_default_na=False, na_values=[""])


def _read(path: Path) -> list[Row]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def _text(value: object) -> str:
    if isinstance(value, float):
        # Six decimals: more would be noise in a score, and in seconds.
        return "" if value != value else f"{value:.6f}"
    return str(value)

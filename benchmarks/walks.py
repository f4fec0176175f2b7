"""How far a call walks through the house: files, functions, and changes of file and of room.

``python -m benchmarks.walks`` prints a row for each verb, on GBSG2. A call and a return that lead
to another file, or room, are a change each.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

import polars as pl

import surtree
from surtree.datasets import load_gbsg2

ROOT = str(Path(surtree.__file__).parent) + os.sep


def walk(call: Callable[[], Any]) -> tuple[int, int, int, int, int]:
    """Return the files, functions, changes of file and of room, and rooms of a call."""
    call()  # what is imported late is there
    functions: set[tuple[str, str]] = set()
    path: list[str] = []

    def look(frame: FrameType, event: str, _: object) -> None:
        here = frame if event == "call" else frame.f_back
        if event not in ("call", "return") or here is None:
            return
        name = here.f_code.co_filename
        if name.startswith(ROOT):
            path.append(name.removeprefix(ROOT))
            if event == "call":
                functions.add((path[-1], here.f_code.co_name))

    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
    rooms = [Path(file).parts[0] for file in path]

    def changes(places: list[str]) -> int:
        return sum(one != other for one, other in pairwise(places))

    files = {file for file, _ in functions}
    n_rooms = len({Path(file).parts[0] for file in files})
    return len(files), len(functions), changes(path), changes(rooms), n_rooms


def main() -> None:
    warnings.simplefilter("ignore")
    X, y = load_gbsg2()
    model = surtree.SurTree(max_depth=2).fit(X, y)
    with TemporaryDirectory() as folder:
        rows = f"{folder}/rows.parquet"
        table = pl.from_pandas(X.assign(event=y["event"], time=y["time"]))
        table.write_parquet(rows)
        verbs: dict[str, Callable[[], Any]] = {
            "fit": lambda: surtree.SurTree(max_depth=2).fit(X, y),
            "fit, cross-validated": lambda: surtree.SurTreeCV(max_depth=2, cv=3).fit(X, y),
            "fit from Parquet": lambda: surtree.SurTree(max_depth=2).fit(rows, ("event", "time")),
            "survival functions": lambda: model.predict_survival_function(X),
            "report": lambda: surtree.write_report(model, f"{folder}/report.html"),
        }
        print("verb | files | functions | changes of file | changes of room | rooms")
        for name, call in verbs.items():
            print(" | ".join(map(str, (name, *walk(call)))))


if __name__ == "__main__":
    main()

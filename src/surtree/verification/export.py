"""A claim in a folder: the program, the rows as whole numbers, and the file of the model."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

from surtree._support.writing import write_text
from surtree.cuts.cut import Cut


def program_text() -> str:
    """Return the source of the second program."""
    file = resources.files("surtree.verification").joinpath("program.py")
    return file.read_text(encoding="utf-8")


def write_claim(claim: dict[str, Any], rows: dict[str, Any], folder: Path) -> None:
    """Write all that a stranger needs: ``python verify.py`` in the folder repeats the check."""
    folder.mkdir(parents=True, exist_ok=True)
    # How the whole numbers of the rows are to be read, in words.
    known = claim["known"]
    words = [
        Cut.from_dict({**cut, "known": known.get(str(cut["column"]))}).rule for cut in claim["cuts"]
    ]
    plain = {**claim, "questions": words, "below": None}
    columns = {name: rows[name] for name in ("time", "cause", "arm", "entry", "weight", "leaf")}
    columns |= {f"column_{number}": codes for number, codes in rows["codes"].items()}
    cells = zip(*(values.tolist() for values in columns.values()), strict=True)
    lines = [",".join(columns), *(",".join(map(_number_text, line)) for line in cells)]
    write_text(folder / "verify.py", program_text())
    write_text(folder / "claim.json", json.dumps(plain, ensure_ascii=False) + "\n")
    write_text(folder / "data.csv", "\n".join(lines) + "\n")


def _number_text(number: float) -> str:
    """Return a number with all its digits, a whole one as such."""
    return str(int(number)) if number == int(number) else repr(number)

"""The claim of a model, and its rows as whole numbers: what the second program takes."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.json_file import digest, parse_json
from surtree._support.writing import write_text
from surtree.averages.taught import TaughtTree
from surtree.cuts.cut import Cut
from surtree.data.named import RowInputs
from surtree.data.table import Column
from surtree.estimators.model_file import model_dict
from surtree.estimators.tree import SurTree
from surtree.fitting.row_digest import outcomes
from surtree.loading import load
from surtree.tree.rows import find_leaves
from surtree.verification._columns import encode

Claim = dict[str, Any]
ClaimedRows = dict[str, Any]

# A question that no row answers with yes, for a file that has none: the program asks some.
NOTHING: dict[str, Any] = dict.fromkeys(("threshold", "categories", "seen"))
NOTHING |= {"column": 0, "name": "", "negated": False, "missing": True}


def read_claim(model: Any) -> tuple[Claim, SurTree, bool]:
    """Return the claim of a model or a file, the model, and whether the file was edited."""
    is_edited, saved = False, None
    if isinstance(model, str | Path):
        saved, model = parse_json(Path(model)), load(model)
    model = getattr(model, "best_estimator_", model)
    if not isinstance(model, SurTree):
        raise ValueError(
            f"verify is for models of one optimal tree, SurTree, CompetingRisksTree and "
            f"EffectTree, and not for {type(model).__name__}."
        )
    if isinstance(model, TaughtTree):
        raise ValueError(
            "A taught tree is proven to be the nearest to its teacher, and files do not keep the "
            "teacher: there is nothing that a second program could confirm."
        )
    if model.kept_ is not None:
        raise ValueError(
            "The tree of this model was chosen by hand, and is no optimum that a second program "
            "could confirm: verify the model that it was kept from."
        )
    if model.tree_.n_persons is not None:
        raise ValueError(
            "This model was fitted with an id: the program does not know start-stop rows of "
            "persons yet."
        )
    if saved is None or saved["version"] == 1:
        saved = model_dict(model)
    else:
        stated = saved.pop("digest", None)
        is_edited = stated != digest(saved)
    claim: Claim = json.loads(json.dumps(saved))
    return claim, model, is_edited or model.status_ == "edited"


def read_claimed_rows(claim: Claim, model: SurTree, given: RowInputs) -> ClaimedRows:
    """Return the rows that count, with columns as whole numbers by the claim."""
    rows = model._read_rows(given)
    present = rows.present
    columns = sorted({cut["column"] for cut in claim["cuts"]})
    target = rows.target.take(present)
    cause, arm, time, entry = (np.asarray(part, dtype=float) for part in outcomes(target))
    raw = {column: _raw(rows.table.column(column), present) for column in columns}
    if claim["cuts"] == [NOTHING]:
        raw = {0: np.zeros(time.size)}
    return {
        "codes": {column: encode(claim, column, values) for column, values in raw.items()},
        "raw": raw,
        "index": np.flatnonzero(present),
        "cause": cause,
        "arm": arm,
        "time": time,
        "entry": entry,
        "weight": rows.weight[present],
        "leaf": find_leaves(model.tree_, rows.table)[present],
    }


def _raw(column: Column, present: NDArray[np.bool_]) -> NDArray[Any]:
    """Return a column as the table has it: numbers, or labels with None where missing."""
    if column.kind != "categorical":
        return column.values[present]
    labels = np.array([*column.categories, None], dtype=object)
    return np.asarray(labels[column.values[present]])


def program_text() -> str:
    """Return the source of the second program."""
    file = resources.files("surtree.verification").joinpath("program.py")
    return file.read_text(encoding="utf-8")


def write_claim(claim: Claim, rows: ClaimedRows, folder: Path) -> None:
    """Write all that a stranger needs: ``python verify.py`` in the folder repeats the check."""
    folder.mkdir(parents=True, exist_ok=True)
    # The rules say in words how the whole numbers of the rows are to be read.
    known = claim["known"]
    rules = [
        Cut.from_dict({**cut, "known": known.get(str(cut["column"]))}).rule for cut in claim["cuts"]
    ]
    plain = {**claim, "questions": rules, "below": None}
    columns = {name: rows[name] for name in ("time", "cause", "arm", "entry", "weight", "leaf")}
    columns |= {f"column_{number}": codes for number, codes in rows["codes"].items()}
    cells = zip(*(values.tolist() for values in columns.values()), strict=True)
    lines = [",".join(columns), *(",".join(map(_number_text, row)) for row in cells)]
    write_text(folder / "verify.py", program_text())
    write_text(folder / "claim.json", json.dumps(plain, ensure_ascii=False) + "\n")
    write_text(folder / "data.csv", "\n".join(lines) + "\n")


def _number_text(number: float) -> str:
    """Return a number with all its digits, a whole one as such."""
    return str(int(number)) if number == int(number) else repr(number)

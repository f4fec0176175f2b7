"""The claim of a model, and its rows as whole numbers: what the second program takes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.compiled import Hashes
from surtree._support.json_file import digest, parse_json
from surtree._support.writing import write_text
from surtree.averages.taught import TaughtTree
from surtree.cuts.cut import Cut
from surtree.data.named import RowInputs
from surtree.data.table import Column
from surtree.estimators.model_file import model_dict
from surtree.estimators.tree import SurTree
from surtree.fitting.conditions import has_conditions
from surtree.fitting.row_digest import cells_of, digest_of, hash_rows, outcomes
from surtree.loading import load
from surtree.tree.rows import find_leaves
from surtree.verification._columns import claim_name, edges, encode
from surtree.words.numbers import plural

Claim = dict[str, Any]
ClaimedRows = dict[str, Any]

# A question that no row answers with yes, for a file that has none: the program asks some.
NOTHING: dict[str, Any] = dict.fromkeys(("threshold", "categories", "seen"))
NOTHING |= {"column": 0, "name": "", "negated": False, "missing": True}
_OUTCOME = ("cause", "arm", "time", "entry", "weight")
_SUMS = 5  # numbers before the cells
_WORD = 2**64


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
    if has_conditions(model):
        raise ValueError(
            "This model was fitted with monotone or max_columns: the program does not know these "
            "conditions yet."
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


def other_rows_text(claim: Claim, rows: ClaimedRows) -> str:
    """Return in a sentence how rows differ from those of the fit, as far as the sketch tells."""
    kept, n_rows = claim["rows"], len(rows["time"])
    hashes = hash_rows(_parts(rows))
    only_fit, only_here = _peel(kept, hashes)
    fewer = "" if kept[0] == n_rows else f", which had {kept[0]}"
    if not only_here:
        if only_fit:
            absent = plural(len(only_fit), "row")
            return f"the table has {n_rows} rows, and lacks {absent} of the fit{fewer}"
        return f"the {n_rows} rows of the table are not those of the fit{fewer}"
    first = int(np.flatnonzero(np.isin(hashes, np.array(only_here, dtype=np.uint64)))[0])
    text = f"{len(only_here)} of {n_rows} rows are not those of the fit{fewer}"
    change = next(_changes(claim, rows, first, only_fit), "")
    where = f"the first is row {int(rows['index'][first])}, counted from 0"
    return f"{text}; {where}{change and f': {change}'}"


def _parts(rows: ClaimedRows) -> list[NDArray[Any]]:
    return [*rows["codes"].values(), *(rows[name] for name in _OUTCOME)]


def _peel(kept: list[int], hashes: Hashes) -> tuple[list[int], list[int]]:
    """Return the hashes of rows of the fit alone, and of these rows alone; none if too many."""
    here = digest_of(hashes)
    if len(kept) != len(here):
        return [], []
    differences = [one - other for one, other in zip(kept[_SUMS:], here[_SUMS:], strict=True)]
    half = len(differences) // 2
    counts, totals = differences[:half], [total % _WORD for total in differences[half:]]
    alone: dict[int, list[int]] = {1: [], -1: []}
    pending = [cell for cell in range(half) if abs(counts[cell]) == 1]
    # A sketch tells fewer rows than it has cells: more of them are chance, and might never end.
    while pending and sum(map(len, alone.values())) <= half:
        cell = pending.pop()
        sign = counts[cell]
        if abs(sign) != 1:
            continue
        name = sign * totals[cell] % _WORD
        cells = cells_of(np.array([name], dtype=np.uint64))[:, 0].tolist()
        if cell not in cells:  # several rows are in the cell
            continue
        alone[sign].append(name)
        for each in cells:
            counts[each] -= sign
            totals[each] = (totals[each] - sign * name) % _WORD
        pending += cells
    return ([], []) if any(counts) or any(totals) else (alone[1], alone[-1])


def _changes(claim: Claim, rows: ClaimedRows, row: int, absent: list[int]) -> Iterator[str]:
    """Yield how a row becomes one of the fit if one of its values is another."""
    parts = _parts(rows)
    columns = list(rows["codes"])
    for number, values in enumerate(parts):
        others = np.unique(np.append(values, [-1.0, 0.0, 1.0, *claim["baseline"]["times"]]))
        if number < len(columns):
            others = np.arange(-1.0, np.max(values) + 2 + len(edges(claim, columns[number])))
        tried = [np.full(others.size, part[row]) for part in parts]
        tried[number] = others
        for other in others[np.isin(hash_rows(tried), np.array(absent, dtype=np.uint64))]:
            if number >= len(columns):
                yield f"{_OUTCOME[number - len(columns)]} {values[row]:g}, not {other:g}"
            else:
                column = columns[number]
                value, was = rows["raw"][column][row], _code_text(claim, column, int(other))
                yield f"{claim_name(claim, column)} {_value_text(value)}, not {was}"


def _value_text(value: Any) -> str:
    if isinstance(value, float):
        return "missing" if value != value else f"{value:g}"
    return "missing" if value is None else str(value)


def _code_text(claim: Claim, column: int, code: int) -> str:
    """Return in words what a whole number stands for."""
    if code < 0:
        return "missing"
    known, above = claim["known"].get(str(column)), edges(claim, column)
    if known is not None:
        return str(known[code])
    lower = f"above {above[code - 1]:g}" if code > 0 else ""
    upper = f"up to {above[code]:g}" if code < len(above) else ""
    return " and ".join(text for text in (lower, upper) if text) or "a value"

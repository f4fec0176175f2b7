"""Names and categories that could be read as something else, and categories never seen before."""

from __future__ import annotations

import json
import math
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa

from fuzz.checks import require
from fuzz.family import is_refusal
from fuzz.tables import Rng, chance, draw_target, pick
from surtree import SurTree, Tree, write_report
from surtree.export import (
    export_dot,
    export_json,
    export_mermaid,
    export_python,
    export_sql,
    export_text,
)


def _has_surrogate(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


# In a page, none of these may become a tag <evil> or an attribute onevil.
EVIL = (
    "</script><evil>", "<evil onload=1>", '" onevil="1', "' onevil='1", "<!-- <evil>", "]]><evil>",
    "&lt;evil&gt;", "&amp;", "'; DROP TABLE rows; --", '"; DROP TABLE rows; --', "it's", '"', "'",
    "\\", "back\\slash", "a\\'b", "\\n", "line\nbreak", "carriage\rreturn", "tab\tbed", "a\x0bb",
    "\u2028", "a\u2029b", "\u202eright to left", "\u200bzero width", "a\u0301", "\ufeffmark",
    "\U0001f600", "\U0001f469\u200d\U0001f52c", "名前", "ß", "SS", "x" * 3000, "", " ",
    "a  b", "a b", " a", "a ",
    "NULL", "null", "None", "nan", "inf", "True", "1", "1.0", "-0", "1e5", "row", "select", "from",
    "{brace}", "${x}", "%s", "$1", "?", ":name", "`tick`", "[b]", "a]b[c", "x > 3 or missing",
    "is missing", "not a", "one of a, b", "a, b", "#", "--", "/*", "*/", ";", "f(x)", "__class__",
    "lambda", "def", "'''", '"""', "\x7f", "\x01", "\ud800", "a\udfffb", "nul\0nul",
)  # fmt: skip

# pandas takes no surrogates in names and in levels of a categorical.
ENCODABLE = [text for text in EVIL if not _has_surrogate(text)]

# What cannot be written at all, and how it may be refused.
_ZERO, _SURROGATE = "the character 0", "half of a character"
_BACKSLASH = "has a backslash at its end or before a quotation mark"


@dataclass(frozen=True)
class Words:
    """A table whose names and categories are words, the type of each column, and a fitted tree."""

    X: pd.DataFrame
    types: dict[str, pa.DataType]
    model: SurTree


def names(rng: Rng) -> None:
    """Injected names and categories: exports agree with ``apply``, pages are escaped, files load.

    SQL refuses the character 0 and names with a backslash that could be an escape, and files
    refuse surrogates, which no encoding has.
    """
    words = _draw(rng, lambda: pick(rng, ENCODABLE), lambda: pick(rng, EVIL))
    X = _around_thresholds(words)
    _check_python(words, X)
    _check_sql(words, X)
    tree = words.model.tree_
    for write in (export_text, export_dot, export_mermaid, str):
        write(tree)
    _check_json(words)
    with TemporaryDirectory() as directory:
        _check_file(words, Path(directory) / "model.json")
        _check_page(words, pick(rng, EVIL), Path(directory) / "page.html")


def unseen(rng: Rng) -> None:
    """Categories that training never had are missing values: in Python, exported Python and SQL.

    One warning names the column, the category and the number of rows.
    """
    levels = ["a", "b", "c", "d", "I", "II", "III"]
    words = _draw(rng, lambda: f"name {rng.integers(9)}", lambda: pick(rng, levels))
    never = pick(rng, ["never", "iii", "A", "0", "", "NULL"])
    X = words.X.astype(object)
    texts = [name for name, kind in words.types.items() if kind == pa.string()]
    for name in texts:
        X[name] = X[name].where(rng.random(len(X)) < 0.5, never)
    asked = X.copy()
    for name in texts:
        asked[name] = asked[name].where(asked[name] != never, None)
    expected = words.model.apply(asked)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = words.model.apply(X)
    require(bool((found == expected).all()), f"{never!r}: leaves {found}, missing {expected}")
    matters = {cut.name for cut in words.model.tree_.cuts} & set(texts) if never else ()
    n_rows = {name: n for name in matters if (n := int((X[name] == never).sum()))}
    require(len(told) == bool(n_rows), f"{len(told)} warnings of {never!r} in {n_rows}")
    for name, n in n_rows.items():
        said = str(told[0].message)
        require(f"{never!r} in {n} row" in said and repr(name) in said, f"{said!r} of {n_rows}")
    _check_python(words, X, expected)
    _check_sql(words, X, expected)


def _draw(rng: Rng, name: Callable[[], str], category: Callable[[], str]) -> Words:
    n = int(rng.integers(6, 40))
    columns: dict[str, Any] = {}
    types: dict[str, pa.DataType] = {}
    for _ in range(int(rng.integers(1, 5))):
        called = name()
        # Databases do not tell names apart by case.
        if called.casefold() in map(str.casefold, columns):
            continue
        kind = pick(rng, ["text", "text", "text", "number", "boolean", "ordered", "codes"])
        if kind in ("text", "ordered"):
            levels = list(dict.fromkeys(category() for _ in range(pick(rng, [2, 3, 5, 14]))))
            values: Any = [pick(rng, levels) for _ in range(n)]
        elif kind == "number":
            values = rng.normal(size=n).round(pick(rng, [0, 2, 12])).tolist()
        elif kind == "boolean":
            values = (rng.random(n) < 0.5).tolist()
        else:
            values = rng.integers(0, 5, n).tolist()
        if chance(rng, 0.3):
            values = [None if chance(rng, 0.2) else value for value in values]
        if kind == "ordered":
            levels = [level for level in levels if level and not _has_surrogate(level)] or ["a"]
            values = [value if value in levels else None for value in values]
            values = pd.Categorical(values, categories=levels, ordered=True)
        elif kind == "codes":
            values = pd.Categorical(values)
        elif kind == "number":
            values = pd.Series(values, dtype=float)
        else:
            values = pd.Series(values, dtype=object)
        columns[called] = values
        types[called] = {"number": pa.float64(), "boolean": pa.bool_(), "codes": pa.int64()}.get(
            kind, pa.string()
        )
    X = pd.DataFrame(columns)
    model = SurTree(pick(rng, [1, 2, 3]), max_categories=pick(rng, [3, 10]), min_support=0)
    return Words(X, types, model.fit(X, draw_target(rng, n)))


def _around_thresholds(words: Words) -> pd.DataFrame:
    """Return the table, and rows whose numbers are the thresholds or next to them."""
    X = words.X.copy()
    for cut in words.model.tree_.cuts:
        if cut.threshold is None:
            continue
        for value in (cut.threshold, *(math.nextafter(cut.threshold, to) for to in (-9e9, 9e9))):
            row = X.iloc[[0]].copy()
            row[cut.name] = value
            X = pd.concat([X, row], ignore_index=True)
    return X


def _leaves(words: Words, X: pd.DataFrame) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of categories that were never seen
        return words.model.apply(X)


def _cells(words: Words, X: pd.DataFrame) -> dict[str, list[Any]]:
    """Return the cells of each column as a database holds them."""
    return {
        name: [None if pd.isna(cell) else cell for cell in X[name].astype(object)]
        for name in words.types
    }


def _check_python(words: Words, X: pd.DataFrame, expected: np.ndarray | None = None) -> None:
    expected = _leaves(words, X) if expected is None else expected
    namespace: dict[str, Any] = {}
    exec(export_python(words.model), namespace)
    cells = _cells(words, X)
    rows = [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]
    found = [namespace["predict"](row) for row in rows]
    require(found == expected.tolist(), f"Python {found}, apply {expected.tolist()}")


@cache
def _database() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(":memory:")


def _check_sql(words: Words, X: pd.DataFrame, expected: np.ndarray | None = None) -> None:
    expected = _leaves(words, X) if expected is None else expected
    texts = _texts(words, X)
    if any(_has_surrogate(text) for text in texts) or "" in words.types:
        return  # no column of a database can hold or be called so
    refusals = [_ZERO] * _any_zero(texts)
    refusals += [_BACKSLASH] * any(re.search(r'\\("|\Z)', name) for name in words.types)
    sql = _unless_refused(lambda: export_sql(words.model), refusals)
    if sql is None or any("\0" in name for name in words.types):
        return
    arrow = pa.table(
        {name: pa.array(cells, words.types[name]) for name, cells in _cells(words, X).items()}
    )
    _database().register("rows", arrow)
    found = [leaf for (leaf,) in _database().sql(f"SELECT {sql} FROM rows").fetchall()]
    require(found == expected.tolist(), f"SQL {found}, apply {expected.tolist()}\n{sql}")


def _check_json(words: Words) -> None:
    tree = words.model.tree_
    refusals = [_SURROGATE] * any(map(_has_surrogate, _texts(words, words.X)))
    read = _unless_refused(lambda: Tree.from_dict(json.loads(export_json(tree))), refusals)
    require(read is None or read == tree, "JSON is another tree")


def _check_file(words: Words, path: Path) -> None:
    path.write_text("old", encoding="utf-8")
    refusals = [_SURROGATE] * any(map(_has_surrogate, _texts(words, words.X)))
    try:
        words.model.save(path)
    except ValueError as error:
        require(
            path.read_text(encoding="utf-8") == "old", "a failed save lost the old file:", error
        )
        if not is_refusal(error, refusals):
            raise
        return
    loaded = SurTree.load(path)
    require(loaded.tree_ == words.model.tree_, "a loaded tree is another")
    require(loaded.feature_names_in_.tolist() == list(words.types), "loaded names are others")
    require(bool((loaded.apply(words.X) == words.model.apply(words.X)).all()), "loaded leaves")


class _Tags(HTMLParser):
    """Looks for tags and attributes that text has become."""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = [name for name in (tag, *(name for name, _ in attributes)) if "evil" in name]
        require(not found, "text became markup:", found)


def _check_page(words: Words, title: str, path: Path) -> None:
    texts = [*_texts(words, words.X), title]
    refusals = [_SURROGATE] * any(map(_has_surrogate, texts))

    def write() -> Path:
        return write_report(words.model, path, title=title, time_unit=title[:20])

    if _unless_refused(write, refusals) is None:
        return
    page = path.read_text(encoding="utf-8")
    _Tags().feed(page)
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    require(data is not None, "the page has no data")
    json.loads(data.group(1))


def _unless_refused(action: Callable[[], Any], refusals: Sequence[str]) -> Any:
    """Return what an action returns, or None where it is refused as it may be."""
    try:
        return action()
    except ValueError as error:
        if not is_refusal(error, refusals):
            raise
        return None


def _texts(words: Words, X: pd.DataFrame) -> list[str]:
    """Return all names and all texts of a table."""
    texts = list(words.types)
    for name in words.types:
        texts += [cell for cell in X[name].astype(object) if isinstance(cell, str)]
        if isinstance(X[name].dtype, pd.CategoricalDtype):
            texts += [level for level in X[name].cat.categories if isinstance(level, str)]
    return texts


def _any_zero(texts: list[str]) -> bool:
    return any("\0" in text for text in texts)

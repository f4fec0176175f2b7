"""Model files of strangers with any text in any name, label, category and unit: it stays text."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
import sqlite3
import warnings
from collections.abc import Callable
from contextlib import closing
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import parquet
from typer.testing import CliRunner

from fuzz.checks import require
from fuzz.families.words import EVIL
from fuzz.family import is_refusal
from fuzz.tables import Rng, chance, pick
from surtree import CompetingRisksTree, EffectTree, SurTree, SurTreeCV, validate, write_report
from surtree.cli._app import app
from surtree.export import (
    export_dot,
    export_leaves,
    export_mermaid,
    export_methods,
    export_onnx,
    export_python,
    export_sql,
    export_text,
)

# What texts are made of, beside those of the other family: code, and what ends its surroundings.
_FRAGMENTS = (
    *EVIL, 'raise SystemExit("ran")', '"""\n    raise SystemExit("ran")\n    """',
    "'''\nraise SystemExit('ran')\n'''", "\nraise SystemExit('ran')\n", '")', "')", "\\'", '\\"',
    "\\\\'", "{0}", "{{", "}}", "%(x)s", "%%", "$$", "$\\frac{", "*/*/", "/*/", "-->", "<!--",
    "-- ", "\r\n", "\x1b[2J", "\x1b]0;title\x07", "\x9b31m", "\u061c", "\u200f", "\u2066", "\u2069",
    "'||(select 1)||'", "x' OR '1'='1", "<svg onload=evil()>", "javascript:evil()",
    "</style><evil>", "=cmd()", "+1", "@x", "-1", "_x", "#35;", "&#60;evil&#62;", "|", "\n\n", "`",
    "$(evil)", "a" * 400, "~", "^", "=", "true", "FALSE", "rowid", "rows",
)  # fmt: skip
# Characters that a terminal or a reader of lines takes for something else.
_UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
# What SQL cannot hold, and ONNX has no name for.
_REFUSALS = ("the character 0", "has a backslash at its end", "has an empty name", "both called")

# What is replaced in the files of some models.
_NAMES = ("column_0", "column_1", "column_2")
_CATEGORIES = ("category_0", "category_1", "category_2")
_ARMS = ("arm_0", "arm_1")
_UNIT = "unit_0"
_CALLS = {"dict", "isinstance", "type", "float", "str", "text", "missing", "strip"}

Texts = dict[str, str]


def labels(rng: Rng) -> None:
    """Any text in a model file, in a title and in labels: every export, page, plot and command.

    Python has no code but that of the tree, SQL runs in two databases, ONNX in its runtime, and all
    find the leaves of ``apply``. Pages have no elements and attributes but their own, pictures are
    well-formed, and no line is longer or shorter by a text.
    """
    kind = pick(rng, ["plain", "plain", "causes", "arms", "arms"])
    drawn: Texts = {}
    for placeholder in (*_NAMES, *_CATEGORIES, *_ARMS, _UNIT):
        drawn[placeholder] = _text(rng) if chance(rng, 0.6) else placeholder
    with TemporaryDirectory() as directory:
        path = Path(directory) / "model.json"
        saved = json.loads(_file(kind))
        path.write_text(json.dumps(_renamed(saved, drawn)), encoding="utf-8")
        model = _loaded(kind, path, drawn)
        if model is None:
            return
        try:
            _check_leaves(model, drawn)
            _check_values(model)
            _check_texts(model, kind)
            _check_pages(model, kind, rng, Path(directory))
            _check_commands(model, drawn, rng, path)
            if chance(rng, 0.05):
                _check_plots(model, _text(rng))
        except Exception as error:
            error.add_note(f"{kind}: {drawn!r}")
            raise


def _text(rng: Rng) -> str:
    return "".join(pick(rng, _FRAGMENTS) for _ in range(pick(rng, [1, 1, 2, 3])))


_TYPES: dict[str, Any] = {"plain": SurTree, "causes": CompetingRisksTree, "arms": EffectTree}


@cache
def _table() -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    n = 150
    X = pd.DataFrame(
        {
            _NAMES[0]: rng.choice(_CATEGORIES, n),
            _NAMES[1]: rng.integers(0, 2, n).astype(float),
            _NAMES[2]: rng.random(n) < 0.5,
        }
    )
    X.loc[rng.random(n) < 0.1, _NAMES[1]] = None
    cause = rng.integers(0, 3, n)
    good = (X[_NAMES[0]] == _CATEGORIES[1]) * 1 + X[_NAMES[2]] * 2 + (X[_NAMES[1]] > 0) * 3
    in_arm = np.arange(n) % 2 == 0
    return X, cause, np.exp(np.where(in_arm, good, -good)) * (1 + rng.random(n) / 10)


@cache
def _file(kind: str) -> str:
    """Return the file of a model that asks about all columns, with everything that files keep."""
    X, cause, time = _table()
    y = (cause > 0, time)
    options: dict[str, Any] = {"max_depth": 3, "min_support": 0.0, "category_cuts": "one"}
    with TemporaryDirectory() as directory, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind == "plain":
            search = SurTreeCV(3, cv=3, min_support=0.0, shrinkage=(0.0,)).fit(X, y)
            model = SurTree(**options).fit(X, y)
            model.held_out_, model.sizes_ = search.held_out_, search.best_estimator_.sizes_
            model.validation_ = validate(SurTree(**options), X, y, n_bootstraps=5)
        elif kind == "causes":
            model = CompetingRisksTree(**options).fit(X, (cause, time))
        else:
            arm = np.where(np.arange(len(X)) % 2, *_ARMS)
            model = EffectTree(**options).fit(X, y, arm)
        model.time_unit_ = _UNIT
        path = Path(directory) / "model.json"
        model.save(path)
        require(len({cut.name for cut in model.tree_.cuts}) == len(_NAMES), "not all are asked")
        return path.read_text(encoding="utf-8")


def _renamed(value: Any, drawn: Texts) -> Any:
    """Return parsed JSON with texts in place of others."""
    if isinstance(value, dict):
        return {drawn.get(name, name): _renamed(item, drawn) for name, item in value.items()}
    if isinstance(value, list):
        return [_renamed(item, drawn) for item in value]
    return drawn.get(value, value) if isinstance(value, str) else value


def _loaded(kind: str, path: Path, drawn: Texts) -> Any:
    """Return the model of a file, or None where it is refused with one line, as some must be."""
    try:
        model = _TYPES[kind].load(path)
    except ValueError as error:
        require(is_refusal(error, (re.escape(str(path)),)), "refused otherwise:", repr(error))
        parts = [[drawn[name] for name in group] for group in (_NAMES, _CATEGORIES, _ARMS)]
        twice = any(len(set(part)) < len(part) for part in parts)
        halves = any("\ud800" <= sign <= "\udfff" for text in drawn.values() for sign in text)
        blanks = any(
            drawn[name].strip(" ") != drawn[name] or not drawn[name] for name in _CATEGORIES
        )
        require(twice or halves or blanks, "refused without a reason:", str(error))
        return None
    return model


def _rows(model: Any, drawn: Texts) -> tuple[pd.DataFrame, list[int]]:
    """Return rows with the texts, and their leaves."""
    X = _table()[0].astype({_NAMES[0]: object})
    X[_NAMES[0]] = [drawn[category] for category in X[_NAMES[0]]]
    X.columns = [drawn[name] for name in X.columns]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # categories that blanks make others
        return X, model.apply(X).tolist()


def _check_leaves(model: Any, drawn: Texts) -> None:
    X, expected = _rows(model, drawn)
    cells = {name: [None if pd.isna(cell) else cell for cell in X[name]] for name in X}
    source = export_python(model)
    _require_only_the_tree(source)
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    rows = [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]
    leaves = [namespace["predict"](row) for row in rows]
    require(leaves == expected, f"Python {leaves}, apply {expected}\n{source}")
    _check_onnx(model, cells, expected)
    sql = _unless_refused(lambda: export_sql(model))
    folded = {name.casefold() for name in cells}  # databases do not tell them apart
    if sql is None or len(folded) < len(cells) or any("\0" in name or not name for name in cells):
        return
    types = (pa.string(), pa.float64(), pa.bool_())
    table = pa.table(
        {
            name: pa.array(column, kind)
            for (name, column), kind in zip(cells.items(), types, strict=True)
        }
    )
    with duckdb.connect(":memory:") as connection:
        connection.register("rows", table)
        leaves = [leaf for (leaf,) in connection.sql(f"SELECT {sql} FROM rows").fetchall()]
    # DuckDB's TRIM takes other spaces of Unicode off, too, as the documentation says.
    plain = all(drawn[name].strip() == drawn[name].strip(" ") for name in _CATEGORIES)
    require(leaves == expected or not plain, f"DuckDB {leaves}, apply {expected}\n{sql}")
    with closing(sqlite3.connect(":memory:")) as connection:
        names = ", ".join('"{}"'.format(name.replace('"', '""')) for name in cells)
        connection.execute(f"CREATE TABLE rows ({names})")
        connection.executemany(
            "INSERT INTO rows VALUES (?, ?, ?)", zip(*cells.values(), strict=True)
        )
        leaves = [leaf for (leaf,) in connection.execute(f"SELECT {sql} FROM rows")]
    require(leaves == expected, f"SQLite {leaves}, apply {expected}\n{sql}")


def _require_only_the_tree(source: str) -> None:
    """Require that the source is one function, which calls nothing but what it always calls."""
    module = ast.parse(source)
    require([type(part) for part in module.body] == [ast.FunctionDef], "not one function:", source)
    for node in ast.walk(module):
        require(not isinstance(node, ast.Import | ast.ImportFrom | ast.Raise), "code:", source)
        if isinstance(node, ast.Call):
            called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr  # type: ignore[attr-defined]
            require(called in _CALLS, "calls", called)


def _check_onnx(model: Any, cells: dict[str, list[Any]], expected: list[int]) -> None:
    import onnxruntime

    exported = _unless_refused(lambda: export_onnx(model, value=["leaf", "risk"]))
    if exported is None:
        return
    require(not _UNSEEN.search(exported.doc_string), "description", repr(exported.doc_string))
    session = onnxruntime.InferenceSession(exported.SerializeToString())
    given = {}
    for one in session.get_inputs():
        column = cells[one.name]
        if one.type == "tensor(string)":
            given[one.name] = np.array([[cell or ""] for cell in column], dtype=object)
        else:
            given[one.name] = np.array([[np.nan if c is None else float(c)] for c in column])
    leaves = session.run(None, given)[0].ravel().tolist()
    require(leaves == expected, f"ONNX {leaves}, apply {expected}")


def _check_values(model: Any) -> None:
    """Check the code of other values, whose titles name arms."""
    values = ["risk", "median"] if model.tree_.arms is None else ["effect"]
    for value in values:
        source = export_python(model, value=value)  # type: ignore[arg-type]
        _require_only_the_tree(source)
        sql = _unless_refused(lambda value=value: export_sql(model, value=value))
        title = sql.partition("CASE\n")[0] if sql else ""
        require(len(re.findall(r"/[*]|[*]/", title)) in (0, 2), "comment", repr(title))


def _methods(model: Any) -> str:
    """Return the methods but for references: an edited file has no scores that need them."""
    return "\n\n".join(export_methods(model).split("\n\n")[:2])


def _check_texts(model: Any, kind: str) -> None:
    """Compare the lines of texts, and the cells of tables, with those of the model as it was."""
    plain = _plain(kind)
    writers: list[Callable[[Any], str]] = [
        *(str, export_text, export_dot, export_mermaid, lambda one: export_leaves(one, units={}))
    ]
    texts = [write(model.tree_) for write in writers] + [_methods(model)]
    others = [write(plain.tree_) for write in writers] + [_methods(plain)]
    for text, other in zip(texts, others, strict=True):
        require(not _UNSEEN.search(text), "unseen characters:", repr(text))
        require(len(text.splitlines()) == len(other.splitlines()), "lines of", repr(text))
    string = r'"(?:[^"\\]|\\.)*"'
    for line in texts[2].splitlines()[3:-1]:
        shape = rf"  \d+( -> \d+)? \[label={string}(, style=solid)?\]"
        require(bool(re.fullmatch(shape, line)), "dot:", line)
    for line in texts[3].splitlines()[1:]:
        shape = r'  n\d+(\["[^"]*"\]|\("[^"]*"\)| -- (no|yes) --> n\d+)'
        require(bool(re.fullmatch(shape, line)), "Mermaid:", line)
        require(set(re.findall(r"<[^>]*>", line)) <= {"<br>"}, "Mermaid:", line)
    for line, other in zip(texts[4].splitlines(), others[4].splitlines(), strict=True):
        bars, expected = (len(re.findall(r"(?<!\\)(?:\\\\)*\|", one)) for one in (line, other))
        require(bars == expected, "Markdown:", line)
    rows = list(csv.reader(io.StringIO(export_leaves(model, "csv"), newline="")))
    width = export_leaves(plain, "csv").splitlines()[0].count(",") + 1
    require({len(row) for row in rows} == {width}, "CSV:", rows)


@cache
def _plain(kind: str) -> Any:
    with TemporaryDirectory() as directory:
        path = Path(directory) / "model.json"
        path.write_text(_file(kind), encoding="utf-8")
        return _TYPES[kind].load(path)


class _Tags(HTMLParser):
    """Collects tags and their attributes, and how many scripts there are."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.marks: set[tuple[str, str]] = set()
        self.n_scripts = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.marks |= {(tag, ""), *((tag, name) for name, _ in attributes)}
        self.n_scripts += tag == "script"


def _check_pages(model: Any, kind: str, rng: Rng, directory: Path) -> None:
    page = directory / "page.html"
    texts = [_encodable(_text(rng)) for _ in range(4)]
    known = _known_marks()
    names = {cut.name: texts[2] for cut in model.tree_.cuts}
    write_report(
        model,
        page,
        title=texts[0],
        time_unit=pick(rng, [None, texts[1]]),
        labels=pick(rng, [None, names]),
        units=pick(rng, [None, dict.fromkeys(names, texts[3])]),
    )
    content = page.read_text(encoding="utf-8")
    for html in (content, model._repr_html_(), model.tree_._repr_html_()):
        found = _Tags(html)
        require(found.marks <= known, "text became markup:", found.marks - known, texts)
        require(found.n_scripts == (2 if html is content else 0), "scripts:", found.n_scripts)
        require(not _UNSEEN.search(html), "unseen:", repr(_UNSEEN.findall(html)), texts)
    (data,) = re.findall(r'id="data">(.*?)</script>', content, re.DOTALL)
    json.loads(data)


def _encodable(text: str) -> str:
    return "".join(sign for sign in text if not "\ud800" <= sign <= "\udfff")


@cache
def _known_marks() -> frozenset[tuple[str, str]]:
    """Return the tags and attributes of pages whose texts are plain."""
    known: set[tuple[str, str]] = set()
    with TemporaryDirectory() as directory:
        for kind in _TYPES:
            model = _plain(kind)
            page = write_report(model, Path(directory) / "p.html", units={_NAMES[1]: "mm"})
            known |= (
                _Tags(page.read_text(encoding="utf-8")).marks | _Tags(model._repr_html_()).marks
            )
    # Long texts may be broken, and what many choices are is a list.
    return frozenset(known | {("wbr", "")})


def _check_commands(model: Any, drawn: Texts, rng: Rng, path: Path) -> None:
    X, expected = _rows(model, drawn)
    data, out = path.with_name("rows.parquet"), path.with_name("out.xlsx")
    table = pa.table({name: pa.array(X[name].where(X[name].notna(), None)) for name in X})
    parquet.write_table(table, data)
    whole, target = path.with_name("whole.parquet"), ("--time", "time to it", "--event", "it was")
    _, cause, time = _table()
    table = table.append_column(target[1], pa.array(time))
    parquet.write_table(table.append_column(target[3], pa.array(cause > 0)), whole)
    style = pick(rng, ["tree", "text", "dot", "mermaid", "sql", "python", "json", "csv", "methods"])
    commands: list[tuple[Any, ...]] = [
        ("show", path, "--format", style),
        ("path", path),
        ("predict", path, data, "--json"),
        ("predict", path, data, "--output", out),
        ("columns", whole),
        ("fit", whole, *target, "--no-tune", "--max-depth", 1),
    ]
    for command in [commands[0], pick(rng, commands[1:])]:
        result = CliRunner().invoke(app, [str(part) for part in command])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        said = result.stderr
        require(result.exit_code in (0, 1), command, result.output)
        require(not _UNSEEN.search(said), "unseen:", command, repr(said))
        if result.exit_code == 1:
            reasons = (*_REFUSALS, "32,767", "polars takes for a pattern", "no column is left")
            require(any(reason in said for reason in reasons), "refused:", command, said)
            continue
        if style not in ("sql", "csv", "json", "python") or command[0] != "show":
            require(not _UNSEEN.search(result.stdout), "unseen:", command, repr(result.stdout))
        if "--json" in command:
            leaves = [row["leaf"] for row in json.loads(result.stdout)["predictions"]]
            require(leaves == expected, f"predict {leaves}, apply {expected}")


def _check_plots(model: Any, text: str) -> None:
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot

    from surtree.plot import plot_channels, plot_curves, plot_tree

    several = plot_channels if model.tree_.outcome.is_several else plot_curves
    names = {cut.name: text for cut in model.tree_.cuts}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # letters that the font does not have
        for plot in (plot_tree, several):
            plot(model, time_unit=text, labels=names, units=names).figure.canvas.draw()
            pyplot.close("all")


def _unless_refused(action: Callable[[], Any]) -> Any:
    try:
        return action()
    except ValueError as error:
        if not is_refusal(error, _REFUSALS):
            raise
        return None

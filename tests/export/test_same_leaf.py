"""SQL, Python and ONNX decide as the tree does, for every row of tables as odd as tables are."""

from __future__ import annotations

import contextlib
import sqlite3
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
import onnxruntime
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from surtree import SurTree, Tree
from surtree.export import export_onnx, export_python, export_sql

NAMES = (
    "age", "it's", '"quoted"', "two words", "a]b[c", "select", "naïve 名前", "x > 3 or missing",
    "line\nbreak", "back\\slash", "semi;colon--", "{brace}", "row", "%s", "'; DROP TABLE rows; --",
)  # fmt: skip
# What training never had counts as missing; that there is a warning is tested elsewhere.
pytestmark = pytest.mark.filterwarnings("ignore::surtree.UnseenCategoryWarning")

LEVELS = ("a", "it's", 'say "hi"', "名前", "ß", "", " ", "NULL", "back\\slash", "3", "None", "-- x")
NUMBERS = (
    0.0, -0.0, 1.0, 0.1 + 0.2, 0.3, np.nextafter(1.0, 2.0), 1 / 3, np.nextafter(1 / 3, 1.0), -2.5,
    1e300, -1e300, 1e-300, 5e-324, 123456789.125, float(2**53), float(2**24 + 1), 33554435.0,
)  # fmt: skip
TYPES = {"number": pa.float64(), "boolean": pa.bool_(), "nominal": pa.string()}
TYPES |= {"ordered": TYPES["nominal"], "codes": pa.int64()}


@dataclass(frozen=True)
class Odd:
    """A table to fit, and rows of the same columns to predict, some of them never seen before."""

    kinds: dict[str, str]
    train: dict[str, list[Any]]
    test: dict[str, list[Any]]
    time: list[float]

    def frame(self, cells: dict[str, list[Any]]) -> pd.DataFrame:
        columns = {}
        for name, kind in self.kinds.items():
            if kind == "number":
                columns[name] = pd.Series(cells[name], dtype=float)
            elif kind in ("ordered", "codes"):
                levels = LEVELS if kind == "ordered" else range(12)
                columns[name] = pd.Categorical(
                    cells[name], categories=levels, ordered=kind == "ordered"
                )
            else:
                columns[name] = pd.Series(cells[name], dtype=object)
        return pd.DataFrame(columns)


def cells(kind: str, *, seen: bool) -> st.SearchStrategy[Any]:
    if kind == "number":
        return st.sampled_from(NUMBERS) | st.floats(allow_nan=False, allow_infinity=False)
    if kind == "boolean":
        return st.booleans()
    if kind == "codes":
        return st.integers(0, 4 if seen else 11)
    levels = st.sampled_from(LEVELS[: 5 if seen else None])
    if kind == "ordered":  # whose type lists all levels
        return levels
    padded = st.tuples(
        st.sampled_from(("", " ", "   ", "\t", "\n ")), levels, st.sampled_from((" ", ""))
    )
    return levels | padded.map("".join)


@st.composite
def odd_tables(draw: st.DrawFn) -> Odd:
    n_train, n_test = draw(st.integers(4, 24)), draw(st.integers(1, 12))
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True))
    kinds = {name: draw(st.sampled_from(list(TYPES))) for name in names}
    train, test = {}, {}
    for name, kind in kinds.items():
        present = cells(kind, seen=True)
        column = present | st.none() if draw(st.booleans()) else present
        train[name] = draw(st.lists(column, min_size=n_train, max_size=n_train))
        later = cells(kind, seen=False) | st.none()
        test[name] = draw(st.lists(later, min_size=n_test, max_size=n_test))
    time = draw(st.permutations([float(k + 1) for k in range(n_train)]))
    return Odd(kinds, train, test, time)


def fit(table: Odd) -> SurTree:
    # Both ways to ask about categories, whatever else was drawn.
    cuts = "subsets" if len(table.time) % 2 else "one"
    most = 5 if cuts == "subsets" else 3
    model = SurTree(3, n_thresholds=4, max_categories=most, min_support=0.0, category_cuts=cuts)
    return model.fit(table.frame(table.train), np.array(table.time))


def at_the_thresholds(tree: Tree, table: Odd) -> dict[str, list[Any]]:
    """Return test rows, and for each threshold rows with it and with the numbers next to it."""
    rows = {name: list(column) for name, column in table.test.items()}
    for cut in tree.cuts:
        if cut.threshold is None:
            continue
        for value in (cut.threshold, *np.nextafter(cut.threshold, [-np.inf, np.inf]).tolist()):
            if np.isfinite(value):
                for name, column in rows.items():
                    column.append(value if name == cut.name else column[0])
    return rows


@settings(max_examples=80, deadline=None)
@given(odd_tables())
def test_python_gives_the_same_leaf(table):
    model = fit(table)
    namespace: dict[str, Any] = {}
    exec(export_python(model.tree_), namespace)
    for rows in (table.train, at_the_thresholds(model.tree_, table)):
        expected = model.apply(table.frame(rows)).tolist()
        mappings = [dict(zip(rows, row, strict=True)) for row in zip(*rows.values(), strict=True)]
        assert [namespace["predict"](row) for row in mappings] == expected
        assert [namespace["predict"](**row) for row in mappings] == expected


@settings(max_examples=60, deadline=None)
@given(odd_tables())
def test_sql_gives_the_same_leaf_in_duckdb(table):
    model = fit(table)
    rows = at_the_thresholds(model.tree_, table)
    arrow = pa.table({name: pa.array(rows[name], TYPES[table.kinds[name]]) for name in rows})
    with duckdb.connect(":memory:") as connection:
        connection.register("rows", arrow)
        found = connection.sql(f"SELECT {export_sql(model.tree_)} FROM rows").fetchall()
    assert [leaf for (leaf,) in found] == model.apply(table.frame(rows)).tolist()


@settings(max_examples=60, deadline=None)
@given(odd_tables())
def test_sql_gives_the_same_leaf_in_sqlite(table):
    model = fit(table)
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        # Old versions of SQLite read some literals wrongly, whoever writes them.
        for cut in model.tree_.cuts:
            if cut.threshold is not None:
                (read,) = connection.execute(f"SELECT {cut.threshold!r}").fetchone()
                assume(read == cut.threshold)
        rows = at_the_thresholds(model.tree_, table)
        columns = ", ".join('"{}"'.format(name.replace('"', '""')) for name in rows)
        connection.execute(f"CREATE TABLE rows ({columns})")
        marks = ", ".join("?" * len(rows))
        connection.executemany(
            f"INSERT INTO rows VALUES ({marks})", zip(*rows.values(), strict=True)
        )
        found = connection.execute(f"SELECT {export_sql(model.tree_)} FROM rows").fetchall()
    assert [leaf for (leaf,) in found] == model.apply(table.frame(rows)).tolist()


def onnx_cells(kind: str, column: list[Any]) -> np.ndarray:
    """Return a column as a runtime takes it: NaN and the empty text are missing."""
    if kind in ("nominal", "ordered"):
        filled = ["" if cell is None else cell for cell in column]
        return np.array(filled, dtype=object).reshape(-1, 1)
    return np.array([[np.nan if cell is None else float(cell)] for cell in column])


@settings(max_examples=80, deadline=None)
@given(odd_tables())
def test_onnx_gives_the_same_leaf(table):
    model = fit(table)
    exported = export_onnx(model.tree_, value=["leaf", "risk"])
    session = onnxruntime.InferenceSession(exported.SerializeToString())
    asked = {one.name for one in session.get_inputs()}
    assert asked == {cut.name for cut in model.tree_.cuts}
    for rows in (table.train, at_the_thresholds(model.tree_, table)):
        frame = table.frame(rows)
        cells = {name: onnx_cells(table.kinds[name], rows[name]) for name in asked}
        leaf, risk = session.run(None, cells)
        n_rows = len(frame) if asked else 1
        assert leaf.ravel().tolist() == model.apply(frame)[:n_rows].tolist()
        assert risk.ravel().tolist() == model.predict(frame)[:n_rows].tolist()


def test_a_column_of_single_precision_is_compared_in_double():
    # 0.1 is not a float of single precision: the one next to it is larger.
    tenth = np.float32(0.1)
    X = np.array([[0.05], [tenth], [0.3], [0.4]])
    tree = SurTree(max_depth=1, min_support=0).fit(X, [4.0, 3.0, 2.0, 1.0]).tree_
    (cut,) = tree.cuts
    tree = Tree.from_dict(
        {**tree.to_dict(), "cuts": [{**cut.to_dict(), "threshold": 0.1}]},
    )
    with duckdb.connect(":memory:") as connection:
        query = f"SELECT {export_sql(tree)} FROM (SELECT 0.1::FLOAT AS x0)"
        ((leaf,),) = connection.sql(query).fetchall()
    namespace: dict[str, Any] = {}
    exec(export_python(tree), namespace)
    assert leaf == namespace["predict"](x0=tenth) == tree.right[0]


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, np.float64("nan"), pd.NaT])
def test_python_knows_every_kind_of_missing_value(missing):
    X = pd.DataFrame({"x": [1.0, 2.0, None, None, 3.0, 4.0]})
    model = SurTree(max_depth=2, min_support=0).fit(X, [6.0, 5.0, 1.0, 1.5, 4.0, 3.0])
    namespace: dict[str, Any] = {}
    exec(export_python(model.tree_), namespace)
    (expected,) = model.apply(pd.DataFrame({"x": [np.nan]}))
    assert namespace["predict"](x=missing) == expected


def test_categories_that_are_no_texts_are_known_by_their_text():
    X = pd.DataFrame({"span": pd.cut([1.0, 2.0, 6.0, 7.0, 11.0, 12.0], [0, 5, 10, 15])})
    model = SurTree(max_depth=2, min_support=0).fit(X, [6.0, 5.0, 1.0, 1.5, 4.0, 3.0])
    namespace: dict[str, Any] = {}
    exec(export_python(model.tree_), namespace)
    assert [namespace["predict"](span=span) for span in X["span"]] == model.apply(X).tolist()


@pytest.mark.parametrize("levels", [("1", "2", "3"), ("1", "1.0", "2"), ("1", "2.50", "b", "inf")])
def test_python_takes_a_number_for_the_text_that_it_was_trained_on_as_apply_does(levels):
    X = pd.DataFrame({"grade": list(levels) * 4})
    for time in (range(len(X)), [-ord(level[-1]) for level in X["grade"]]):
        y = np.array(time, dtype=float) - min(time) + 1
        model = SurTree(max_depth=2, min_support=0, category_cuts="subsets").fit(X, y)
        namespace: dict[str, Any] = {}
        exec(export_python(model), namespace)
        for grade in (2.0, 2, np.float32(2.5), 1.0, True, 4.0):
            (expected,) = model.apply(pd.DataFrame({"grade": [grade]}))
            assert namespace["predict"](grade=grade) == expected
        rows = X.to_dict("records")
        assert [namespace["predict"](row) for row in rows] == model.apply(X).tolist()


@pytest.mark.parametrize("missing", [True, False])
@pytest.mark.parametrize("negated", [True, False])
def test_a_number_that_is_the_text_of_two_categories_is_the_one_that_is_asked_about(
    missing, negated
):
    X = pd.DataFrame({"grade": ["1", "1.0", "2"] * 4})
    tree = SurTree(max_depth=1, min_support=0).fit(X, [1.0, 5.0, 9.0] * 4).tree_
    cut = {**tree.cuts[0].to_dict(), "categories": ["1"], "missing": missing, "negated": negated}
    tree = Tree.from_dict({**tree.to_dict(), "cuts": [cut]})
    assert len(tree.cuts[0].known) == 3
    namespace: dict[str, Any] = {}
    exec(export_python(tree), namespace)
    for grade in (1.0, 2, 7, "1", "1.0", None):
        (expected,) = tree.apply(pd.DataFrame({"grade": [grade]}))
        assert namespace["predict"](grade=grade) == expected


@pytest.mark.parametrize("name", ["true", "False", "flag"])
def test_sql_asks_a_column_that_is_called_as_a_truth_value(name):
    X = pd.DataFrame({name: [True, True, False, False]})
    model = SurTree(max_depth=1, min_support=0).fit(X, [1.0, 2.0, 8.0, 9.0])
    expected = model.apply(X).tolist()
    sql = f"SELECT {export_sql(model)} FROM rows"
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f'CREATE TABLE rows ("{name}")')
        connection.executemany("INSERT INTO rows VALUES (?)", X.to_numpy().tolist())
        assert [leaf for (leaf,) in connection.execute(sql)] == expected
    with duckdb.connect(":memory:") as connection:
        connection.register("rows", pa.table({name: X[name]}))
        assert [leaf for (leaf,) in connection.sql(sql).fetchall()] == expected

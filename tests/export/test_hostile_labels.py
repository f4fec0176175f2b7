"""Texts of the user stay text in every language that they are written in."""

from __future__ import annotations

import csv
import io
import json
import re
import sqlite3
from html.parser import HTMLParser
from typing import Any

import duckdb
import numpy as np
import onnxruntime
import pytest

from fuzz.families import FAMILIES
from fuzz.family import run_case
from surtree import CompetingRisksTree, EffectTree, SurTree, write_report
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
from surtree.words.quoting import (
    csv_text,
    dot_text,
    html_text,
    markdown_text,
    mermaid_text,
    pattern_text,
    printable,
    python_docstring,
    script_json,
    sql_comment,
    terminal_json,
    terminal_text,
)

CODE = 'b"""\n    ran.append(1)\n    """'
HOSTILE = (
    CODE, "b\\", 'b"', "b'''", "{brace} %s ${x}", "z */ (select 'injected') /*", "z /* nested", "*",
    "*/*/", "--> --", "a\nb", "a\rb", "a\u2028b", "\x1b[2J", "\x9b2J", "\u202egnp.exe", "a\0b",
    "</script><evil onload=1>", "' onevil='1", "$x_1$", "$\\frac{$", "_hidden", "=1+1", "|", "a`b`",
)  # fmt: skip
UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def trial(label: str) -> EffectTree:
    """Return a model whose second arm is called like this."""
    rng = np.random.default_rng(0)
    n = 120
    arm = np.where(np.arange(n) % 2, "a", "b").astype(object)
    arm[arm == "b"] = label
    X = np.column_stack([rng.integers(0, 2, n)])
    y = rng.random(n) < 0.8, rng.exponential(size=n) * np.where((arm == "a") ^ (X[:, 0] > 0), 1, 4)
    return EffectTree(max_depth=1, reference="a").fit(X, y, arm)


@pytest.fixture(params=HOSTILE, ids=ascii)
def label(request) -> str:
    return request.param


@pytest.fixture
def model(label) -> EffectTree:
    return trial(label)


def test_the_label_of_an_arm_is_not_run_by_exported_python(model):
    ran: list[int] = []
    namespace: dict[str, Any] = {"ran": ran}
    exec(export_python(model, value="effect"), namespace)
    ratios = {effect.leaf: effect.ratio for effect in model.effects_}
    for x, leaf in zip((0, 1), model.tree_.leaves, strict=True):
        assert namespace["predict"](x0=x) == ratios[leaf]
    assert ran == []
    assert printable(str(model.arms_[1])) in namespace["predict"].__doc__


def test_the_label_of_an_arm_stays_in_the_comment_of_exported_sql(model):
    sql = export_sql(model, value="effect")
    assert not UNSEEN.search(sql.replace("\n", ""))
    expected = [effect.ratio for effect in model.effects_]
    query = f"SELECT {sql} FROM (SELECT 0 AS x0 UNION ALL SELECT 1 AS x0) AS t ORDER BY x0"
    with duckdb.connect(":memory:") as connection:
        assert [row[0] for row in connection.sql(query).fetchall()] == expected
    assert [row[0] for row in sqlite3.connect(":memory:").execute(query).fetchall()] == expected
    # Some databases have comments within comments: neither begins nor ends there.
    assert len(re.findall(r"/[*]|[*]/", sql)) == 2


def test_a_label_neither_breaks_a_line_nor_controls_a_terminal(model):
    texts = [str(model.tree_), *map(str, model.effects_), export_text(model), export_methods(model)]
    texts += [export_dot(model), export_mermaid(model), export_leaves(model)]
    for text in texts:
        assert not UNSEEN.search(text.replace("\n", ""))
    plain = trial("b")
    for write in (str, export_text, export_dot, export_mermaid, export_leaves, export_methods):
        one, other = (write(m if write in (export_methods,) else m.tree_) for m in (model, plain))
        assert len(one.split("\n")) == len(other.split("\n"))


def test_a_label_stays_within_its_string_in_pictures(model):
    string = r'"(?:[^"\\]|\\.)*"'
    for line in export_dot(model).splitlines()[3:-1]:
        assert re.fullmatch(rf"  \d+( -> \d+)? \[label={string}(, style=solid)?\]", line)
    for line in export_mermaid(model).splitlines()[1:]:
        assert re.fullmatch(r'  n\d+(\["[^"]*"\]|\("[^"]*"\)| -- (no|yes) --> n\d+)', line)
        assert set(re.findall(r"<[^>]*>", line)) <= {"<br>"}


def test_a_label_stays_in_its_cell(model, label):
    rows = list(csv.reader(io.StringIO(export_leaves(model, "csv"), newline="")))
    assert {len(row) for row in rows} == {len(rows[0])}
    assert f"rows_{printable(label)}" in rows[0]
    for line in export_leaves(model).splitlines()[:4]:
        cells = re.split(r"(?<!\\)(?:\\\\)*\|", line)
        assert len(cells) == len(re.split(r"\|", export_leaves(trial("b")).splitlines()[0]))


class Tags(HTMLParser):
    """Collects all tags with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, tuple[str, ...]]] = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, tuple(name for name, _ in attributes)))


def test_a_page_has_the_same_elements_whatever_its_texts_are(model, label, tmp_path):
    pages = []
    for one, text in ((model, label), (trial("b"), "b")):
        page = tmp_path / "page.html"
        write_report(one, page, title=text, time_unit=text, labels={"x0": text}, units={"x0": text})
        # Where a long word may be broken depends on its letters.
        pages.append(page.read_text(encoding="utf-8").replace("<wbr>", ""))
        assert not UNSEEN.search(pages[-1].replace("\n", "").replace("\t", ""))
        (data,) = re.findall(r'id="data">(.*?)</script>', pages[-1], re.DOTALL)
        json.loads(data)
    assert Tags(pages[0]).found == Tags(pages[1]).found


def test_an_onnx_model_takes_any_label(model):
    exported = export_onnx(model, value=["effect", "leaf"])
    session = onnxruntime.InferenceSession(exported.SerializeToString())
    ratios, leaves = session.run(None, {"x0": np.array([[0.0], [1.0]])})
    assert leaves.ravel().tolist() == model.tree_.leaves.tolist()
    assert ratios.ravel().tolist() == [effect.ratio for effect in model.effects_]
    assert not UNSEEN.search(exported.doc_string.replace("\n", ""))


def test_plots_draw_any_label(model, label):
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot

    from surtree.plot import plot_channels, plot_tree

    for plot in (plot_channels, plot_tree):
        ax = plot(model, time_unit=label, labels={"x0": label}, units={"x0": label})
        ax.figure.canvas.draw()
        if plot is plot_channels:
            legend = [text.get_text() for text in ax.get_legend().get_texts()]
            assert legend == ["a", printable(label)]
        pyplot.close("all")


def test_plots_draw_any_name_of_a_cause(label):
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot

    from surtree.plot import plot_channels

    X, cause = np.arange(40).reshape(-1, 1) % 2, np.arange(40) % 3
    model = CompetingRisksTree(max_depth=1).fit(X, (cause, 1.0 + np.arange(40)))
    ax = plot_channels(model, names={1: label}, time_unit=label)
    ax.figure.canvas.draw()
    assert ax.get_legend().get_texts()[0].get_text() == printable(label)
    pyplot.close("all")


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_each_language_keeps_a_text(text):
    assert eval(f'"""{python_docstring(text)}"""') == printable(text)
    assert sql_comment(text)[2:-2].count("*/") == 0
    assert json.loads(script_json([text])) == json.loads(terminal_json([text])) == [text]
    assert not set("<>&") & set(script_json([text]))
    assert not UNSEEN.search(terminal_json([text]).replace("\n", ""))
    assert re.fullmatch(pattern_text(text), text, re.DOTALL)
    assert not UNSEEN.search(terminal_text(text).replace("\n", ""))
    assert not set('<>"') & set(html_text(text))
    for write in (dot_text, mermaid_text, markdown_text):
        assert not UNSEEN.search(write(text))
    assert not csv_text(text).startswith(("=", "+", "-", "@"))


@pytest.mark.parametrize(
    "names",
    [["risk", "risk_output", "leaf"], ["surtree/question0", "surtree/risk/1", "surtree_/leaf/0"]],
)
def test_a_column_may_be_called_as_an_output_or_as_a_part_of_an_onnx_model(names):
    X = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)] * 5, dtype=float)
    time = 1 + X @ [10, 5, 2] + np.arange(len(X)) / 100
    model = SurTree(max_depth=3, min_support=0).fit(X, time)
    exported = export_onnx(model, value=["risk", "leaf"], feature_names=names)
    session = onnxruntime.InferenceSession(exported.SerializeToString())
    risk, leaf = session.run(None, {name: X[:, [k]] for k, name in enumerate(names)})
    assert leaf.ravel().tolist() == model.apply(X).tolist()
    assert risk.ravel().tolist() == model.predict(X).tolist()


def test_half_of_a_character_in_a_name_is_refused_by_onnx_in_words():
    model = SurTree(max_depth=1).fit([[0], [0], [1], [1]], [4.0, 3.0, 2.0, 1.0])
    with pytest.raises(ValueError, match="has half of a character"):
        export_onnx(model, feature_names=["a\ud800"])


@pytest.mark.parametrize("number", range(8))
def test_a_model_file_with_any_texts_is_safe_in_every_use(number):
    (family,) = (family for family in FAMILIES if family.name == "labels")
    outcome = run_case(family, 28, number)
    assert outcome.verdict == "compared", outcome.text

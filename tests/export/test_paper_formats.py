"""Table 1, the checklist, Word and LaTeX: what they count, and that programs can read them."""

import io
import re
import zipfile
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from surtree import CompetingRisksTree, EffectTree, SurTree, sample_size, validate
from surtree.cli._app import app
from surtree.datasets import load_gbsg2, load_melanoma, load_rossi
from surtree.export import export_leaves, export_table_one, export_tripod

X, Y = load_gbsg2(backend="pandas")
MODEL = SurTree(max_depth=2).fit(X, Y)


def cells(markdown):
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return rows[0], {row[0]: row[1:] for row in rows[2:]}


def word_rows(content):
    with zipfile.ZipFile(io.BytesIO(content)) as package:
        assert package.testzip() is None
        names = set(package.namelist())
        root = ElementTree.fromstring(package.read("word/document.xml"))
        for part in ("[Content_Types].xml", "_rels/.rels"):
            ElementTree.fromstring(package.read(part))
    assert names == {"[Content_Types].xml", "_rels/.rels", "word/document.xml"}
    space = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
    return [
        ["".join(cell.itertext()) for cell in row.iter(f"{space}tc")]
        for row in root.iter(f"{space}tr")
    ]


def test_table_one_counts_leaves():
    head, rows = cells(export_table_one(MODEL, X, Y, units={"age": "years"}))
    assert head == ["", "all", *(f"leaf {name}" for name in MODEL.tree_.leaf_names.values())]
    leaf = MODEL.apply(X)
    assert rows["rows"] == ["686", *(str((leaf == one).sum()) for one in MODEL.tree_.leaves)]
    own = X["age"][leaf == MODEL.tree_.leaves[0]]
    low, middle, high = np.quantile(own, [0.25, 0.5, 0.75])
    assert rows["age, years"][1] == f"{middle:.3g} ({low:.3g} to {high:.3g})"
    _, few = cells(export_table_one(MODEL, X, Y, columns=["tumor_size", "age"]))
    assert [*few] == ["rows", "events", "tumor_size", "age"]
    with pytest.raises(ValueError, match="no column 'agee'"):
        export_table_one(MODEL, X, Y, columns=["agee"])
    n_post = (X["menopause"] == "post").sum()
    assert rows["- post"][0] == f"{n_post} ({n_post / 686:.0%})"


def test_table_one_says_who_is_missing_and_left_out():
    frame = pd.DataFrame({"x": [1.0, np.nan, 3.0, 4.0, 5.0], "g": ["a", None, "b", "b", "b"]})
    frame["old"] = [1, 0, 1, 1, 0]
    y = ([True, True, False, True, True], [1.0, 2.0, 0.0, 4.0, 5.0])
    text = export_table_one(["u", "u", "u", "v", "v"], frame, y, sample_weight=[1, 1, 1, 1, 0])
    head, rows = cells(text)
    assert head == ["", "all", "u", "v"]
    assert rows["rows"] == ["3", "2", "1"]
    assert rows["events"] == ["3 (100%)", "2 (100%)", "1 (100%)"]
    assert rows["x"] == ["2.5 (1.75 to 3.25)", "1 (1 to 1)", "4 (4 to 4)"]
    assert rows["- missing"] == ["1 (33%)", "1 (50%)", "0 (0%)"]
    assert rows["old"] == ["2 (67%)", "1 (50%)", "1 (100%)"]
    assert rows["- a"] == ["1 (50%)", "1 (100%)", "0 (0%)"]
    gone = "Of 5 rows, left out: 1 row of weight zero, 1 row censored at time zero."
    assert gone in text


def test_table_one_has_events_of_each_cause():
    rows, y = load_melanoma()
    table = cells(export_table_one(rows["ulcer"], rows, y))[1]
    assert table["events of cause 1"][0] == "57 (28%)"
    assert table["events of cause 2"][0] == "14 (7%)"


def test_word_and_latex_have_the_cells_of_markdown():
    _, rows = cells(export_leaves(MODEL))
    word = word_rows(export_leaves(MODEL, "docx"))
    assert [line[1:4] for line in word[1:]] == [cells_[:3] for cells_ in rows.values()]
    assert export_leaves(MODEL, "docx") == export_leaves(MODEL, "docx")
    latex = export_leaves(MODEL, "latex")
    assert latex.count(r" \\") == len(rows) + 1
    assert r"progesterone\_receptor $>$" in latex
    assert not re.search(r"(?<!\\)[%&_](?! )", latex.split("\n", 1)[1].replace(" & ", ""))


def test_word_keeps_hostile_texts_apart():
    frame = pd.DataFrame({"<b>&\"'": [1.0, 2.0], "a\x00b": [1.0, 2.0]})
    content = export_table_one(["</w:t>", "]]>"], frame, format="docx")
    assert word_rows(content)[0][2:] == ["</w:t>", "]]>"]


def test_the_checklist_has_all_items_and_what_the_model_knows():
    _, rows = cells(export_tripod(MODEL))
    assert len(rows) == 52
    assert rows["17"][1] == "(authors)"
    assert rows["21"][1] == "686 rows, 299 events."
    assert "299 events, 99.7 for each of 3 questions asked; 52 candidate" in rows["10"][1]
    assert "none has a smaller loss" in rows["12c"][1]
    assert rows["23a"][1] == "How well the tree predicts new data was not assessed."
    model = SurTree(max_depth=1).fit(X, Y)
    model.validation_ = validate(model, X, Y, n_bootstraps=20)
    _, rows = cells(export_tripod(model))
    assert "AUC at 646" in rows["23a"][1]
    assert "Austin" in rows["12e"][1]


@pytest.mark.parametrize("kind", ["causes", "arms"])
def test_the_checklist_knows_other_outcomes(kind):
    if kind == "causes":
        model = CompetingRisksTree(max_depth=1).fit(*load_melanoma())
        assert "Cumulative incidence" in cells(export_tripod(model))[1]["15"][1]
    else:
        rows, y = load_rossi()
        model = EffectTree(max_depth=1).fit(rows, y, rows.pop("financial_aid"))
        assert "arm yes" in cells(export_tripod(model))[1]["20a"][1]


def test_riley_is_that_of_pmsampsize():
    # The worked example of the package and of the paper: three criteria, of which the first counts.
    size = sample_size(30, r2=0.051, rate=0.065, mean_follow_up=2.07, horizon=2)
    assert (size.shrinkage, size.optimism, size.n, size.events) == (5143, 1039, 5143, 692)
    # At the size of the third criterion the upper limit is 0.05 above the risk.
    risk = 1 - np.exp(-0.065 * 2)
    upper = 0.065 + 1.959964 * np.sqrt(0.065 / (2.07 * size.precision))
    assert 1 - np.exp(-upper * 2) - risk == pytest.approx(0.05, abs=2e-4)
    with pytest.raises(ValueError, match="r2 must be above zero and below"):
        sample_size(5, r2=0.9, rate=0.1, mean_follow_up=1, horizon=1)
    with pytest.raises(ValueError, match="rate must be above zero"):
        sample_size(5, r2=0.1, rate=0, mean_follow_up=1, horizon=1)


def test_the_command_line_writes_them(tmp_path):
    MODEL.save(tmp_path / "model.json")

    def show(*options, code=0):
        arguments = ["show", str(tmp_path / "model.json"), *map(str, options)]
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == code, result.output
        return result.output

    assert "toprule" in show("--format", "latex", "--restricted-mean", 1000)
    assert "TRIPOD+AI" in show("--format", "tripod")
    for style in ("docx", "tripod"):
        show("--format", style, "-o", tmp_path / f"{style}.docx")
        assert len(word_rows((tmp_path / f"{style}.docx").read_bytes())) > 4
    assert "is for a file" in show("--format", "docx", code=2)
    assert "--restricted-mean goes with" in show("--restricted-mean", 10, code=2)

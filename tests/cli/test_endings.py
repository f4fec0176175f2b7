"""Files are what their names end with, in every command and in every function that writes one."""

from __future__ import annotations

import json
import typing
from datetime import date, datetime

import numpy as np
import polars as pl
import pytest
from target import TARGET, UNTUNED

from surtree import CompetingRisksTree, SurTree, SurTreeBayes, SurTreeCV, write_report
from surtree.cli._app import app
from surtree.cli._outputs import workbook_bytes
from surtree.cli._show import _ENDINGS as SHOWN
from surtree.datasets import load_gbsg2, load_lung
from surtree.reading.table import read_file

# What each file must begin with; None is JSON, and "" is some text.
JSON, HTML, TEXT = None, b"<!doctype html>", b""
TABLES = {
    ".csv": b"leaf,risk,median\n",
    ".xlsx": b"PK\x03\x04",
    ".parquet": b"PAR1",
    ".pq": b"PAR1",
}
PRICES = TABLES | {".csv": b"path,node,column,question"}
NEAR = TABLES | {".csv": b"name,share,best_with"}
FIGURES = {".pdf": b"%PDF", ".svg": b"<?xml", ".png": b"\x89PNG"}
PAGES = {".html": HTML, ".htm": HTML}
SHOW = {
    ("show", "output", style): dict.fromkeys(endings, JSON if style == "json" else TEXT)
    for style, endings in SHOWN.items()
}
# By command, parameter and variant: what it writes, by ending.
OUTPUTS = {
    ("fit", "model", ""): {".json": JSON},
    ("fit", "report", ""): PAGES,
    ("columns", "report", ""): PAGES,
    ("predict", "output", ""): TABLES,
    ("report", "output", ""): PAGES,
    ("questions", "output", ""): PRICES,
    ("questions", "report", ""): PAGES,
    ("near", "output", ""): NEAR,
    ("plot", "output", ""): FIGURES,
    **SHOW,
}
INPUTS = {"data", "labels", "r_tree", "directory"}
FOLDERS = {("verify", "export")}
OTHERS = (".pkl", ".pdf", ".docx", ".xlsx", ".html", ".json", ".gz", ".csv", ".parquet", ".tsv")


@pytest.fixture
def command(files):
    """Return the arguments of a command that writes to a file."""

    def arguments(key, path, *, model="m.json", data="lung.csv"):
        name, parameter, style = key
        option = f"--{parameter}"
        if name in ("fit", "columns"):
            more = UNTUNED if name == "fit" else (*TARGET, "--no-first")
            return name, files / data, *more, "--max-depth", 1, option, path
        of_rows = name in ("questions", "near")
        given = [files / data] if of_rows or name == "predict" else []
        given += TARGET if of_rows else ()
        chosen = ["--format", style] if style else []
        return name, files / model, *given, *chosen, option, path

    return arguments


def test_every_path_of_every_command_is_in_this_table():
    for info in app.registered_commands:
        name = info.name or info.callback.__name__
        for parameter, kind in typing.get_type_hints(info.callback).items():
            is_read = parameter in INPUTS or (parameter == "model" and name != "fit")
            if "Path" in str(kind) and not is_read and (name, parameter) not in FOLDERS:
                assert (name, parameter) in {key[:2] for key in OUTPUTS}


@pytest.mark.parametrize(
    ("key", "ending"), [(key, ending) for key, endings in OUTPUTS.items() for ending in endings]
)
def test_a_file_is_what_its_ending_says(surtree, files, lung, command, key, ending):
    SurTree(max_depth=1).fit(*load_lung()).save(files / "m.json")
    path = files.directory / f"out{ending}"
    surtree(*command(key, path))
    begins = OUTPUTS[key][ending]
    if begins is JSON:
        json.loads(path.read_text())
    else:
        assert path.read_bytes().lower().startswith(begins.lower())
    capital = files.directory / f"OUT{ending.upper()}"
    surtree(*command(key, capital))
    assert capital.stat().st_size > 0


@pytest.mark.parametrize(
    ("key", "ending"),
    [(key, ending) for key, known in OUTPUTS.items() for ending in OTHERS if ending not in known],
)
def test_an_ending_that_is_not_written_is_refused_before_anything_is_read(
    surtree, files, command, key, ending
):
    path = files.directory / f"out{ending}"
    result = surtree(*command(key, path, model="absent.json", data="absent.csv"), code=1)
    (line,) = result.stderr.splitlines()
    assert f"--{key[1]} {path} must end with {next(iter(OUTPUTS[key]))}" in line
    assert not path.exists()


@pytest.mark.parametrize("key", [key for key in OUTPUTS if key[0] != "plot"])
def test_a_name_without_an_ending_says_nothing_wrong(surtree, files, command, key):
    SurTree(max_depth=1).fit(*load_lung()).save(files / "m.json")
    surtree(*command(key, files.directory / "out"))
    assert (files.directory / "out").stat().st_size > 0


@pytest.mark.parametrize("name", ["model.pkl", "model.joblib", "model.html", "model.json.gz"])
def test_a_model_is_not_saved_under_a_name_that_says_something_else(tmp_path, name):
    X, y = load_lung()
    for model in (SurTree(1), SurTreeCV(1, cv=2), SurTreeBayes(1, 2)):
        with pytest.raises(ValueError, match=r"must end with .json: a model is written as JSON"):
            model.fit(X, y).save(tmp_path / name)
    causes = CompetingRisksTree(max_depth=1).fit(X, (y["event"].astype(int), y["time"]))
    with pytest.raises(ValueError, match=r"must end with .json"):
        causes.save(str(tmp_path / name))
    assert list(tmp_path.iterdir()) == []


def test_a_report_is_not_written_as_a_pdf(tmp_path):
    model = SurTree(1).fit(*load_lung())
    with pytest.raises(ValueError, match=r"x.pdf must end with .html or .htm: a report is written"):
        write_report(model, tmp_path / "x.pdf")
    assert list(tmp_path.iterdir()) == []


def test_a_median_that_is_not_reached_is_empty_in_every_file(surtree, files, gbsg2):
    fitted = SurTree(max_depth=2).fit(*load_gbsg2())
    fitted.save(files / "g.json")
    gbsg2.to_csv(files.csv, index=False)
    gbsg2.to_parquet(files.directory / "rows.parquet")
    expected = np.isinf(fitted.predict_median(load_gbsg2()[0])).tolist()
    assert any(expected)
    for name in ("out.csv", "out.parquet", "out.xlsx"):
        surtree("predict", files / "g.json", files.csv, "--output", files / name)
        medians = read_file(files.directory / name).frame["median"]
        assert medians.is_null().to_list() == expected
    pattern = files.directory / "row*.parquet"
    surtree("predict", files / "g.json", pattern, "--output", files / "s.csv")
    assert (files.directory / "s.csv").read_text() == (files.directory / "out.csv").read_text()
    text = surtree("predict", files / "g.json", files.csv).stdout
    assert text == (files.directory / "out.csv").read_text()
    assert "inf" not in text
    rows = json.loads(surtree("predict", files / "g.json", files.csv, "--json").stdout)
    assert [row["median"] is None for row in rows["predictions"]] == expected


class TestWorkbooks:
    def test_cells_are_read_again_as_they_were(self, tmp_path):
        frame = pl.DataFrame(
            {
                "text": ["=1+1", "http://x.y", " 007", "a\nb"],
                "number": [0.1, None, 1e300, -3.0],
                "whole": [12345678901234567, 2, None, 4],
                "truth": [True, False, None, True],
                "day": [date(2024, 2, 29), None, date(1850, 1, 1), date(2000, 1, 1)],
                "moment": [datetime(2024, 2, 29, 12, 30)] * 4,
                "Text": ["same name but for case"] * 4,
            }
        )
        path = tmp_path / "table.xlsx"
        path.write_bytes(workbook_bytes(frame))
        read = read_file(path).texts
        assert read["text"].to_list() == frame["text"].to_list()
        assert read["whole"].to_list() == ["12345678901234567", "2", None, "4"]
        assert read["number"].cast(pl.Float64).to_list() == frame["number"].to_list()
        assert read["day"].to_list()[2] == "1850-01-01"
        assert read["day"].to_list()[0].startswith("2024-02-29")
        assert read.columns == frame.columns

    def test_ids_are_kept(self, surtree, files, lung):
        SurTree(max_depth=1).fit(*load_lung()).save(files / "m.json")
        lung.assign(id=[f"=P{k}" for k in range(len(lung))]).to_csv(files.csv, index=False)
        out = files.directory / "p.xlsx"
        surtree("predict", files / "m.json", files.csv, "--keep", "id", "--output", out)
        frame = read_file(out).frame
        assert frame.columns == ["id", "leaf", "risk", "median"]
        assert frame["id"].to_list()[:2] == ["=P0", "=P1"]

    def test_without_the_package_one_line_says_what_to_install(self, surtree, files, monkeypatch):
        SurTree(max_depth=1).fit(*load_lung()).save(files / "m.json")
        monkeypatch.setattr("surtree.cli._outputs.find_spec", lambda name: None)
        out = files.directory / "p.xlsx"
        result = surtree("predict", files / "m.json", files.csv, "--output", out, code=1)
        assert len(result.stderr.splitlines()) == 1
        assert 'pip install "surtree[excel]"' in result.stderr
        assert not out.exists()

    def test_a_table_that_is_streamed_is_not_written_as_one(self, surtree, files):
        SurTree(max_depth=1).fit(*load_lung()).save(files / "m.json")
        out = files.directory / "p.xlsx"
        result = surtree("predict", files / "m.json", files.directory, "--output", out, code=1)
        assert "let it end with .csv or .parquet" in result.stderr

    @pytest.mark.parametrize(
        ("frame", "message"),
        [
            (pl.DataFrame({"x": [0]}).select(pl.repeat(0, 2**20)), "at most 1,048,575 rows"),
            (pl.DataFrame({"x": ["a" * 40_000]}), "at most 32,767 characters"),
        ],
    )
    def test_what_a_workbook_cannot_hold_is_refused(self, frame, message):
        with pytest.raises(Exception, match=message):
            workbook_bytes(frame)

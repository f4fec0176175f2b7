"""``surtree plot``, and what ``surtree show`` writes for papers."""

import csv
import io
import json
import re
import zlib

import onnxruntime
import pytest

from surtree import CompetingRisksTree, EffectTree, SurTree, SurTreeCV, validate
from surtree.datasets import load_gbsg2, load_melanoma, load_rossi


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Files of a tuned and validated model, of causes, and of arms."""
    folder = tmp_path_factory.mktemp("models")
    X, y = load_gbsg2()
    tuned = SurTreeCV(max_depth=2, cv=2, shrinkage=1.0).fit(X, y)
    tuned.validation_ = validate(tuned, X, y, n_bootstraps=5)
    tuned.save(folder / "tuned.json")
    SurTree(max_depth=0).fit(X, y).save(folder / "leaf.json")
    CompetingRisksTree(max_depth=1).fit(*load_melanoma()).save(folder / "causes.json")
    X, y = load_rossi()
    treatment = X.pop("financial_aid")
    EffectTree(max_depth=1).fit(X, y, treatment=treatment).save(folder / "arms.json")
    return folder


def page_of(pdf):
    """Return what is drawn on the page of a PDF, and the names of its fonts."""
    parts = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL)
    drawn = []
    for part in parts:
        try:
            drawn.append(zlib.decompress(part))
        except zlib.error:
            continue
    return max(drawn, key=len), set(re.findall(rb"/BaseFont /(\S+)", pdf))


@pytest.mark.parametrize("model", ["tuned", "leaf", "causes", "arms"])
@pytest.mark.parametrize("what", ["tree", "curves"])
def test_a_figure_is_a_page_of_fonts_and_lines(surtree, models, tmp_path, model, what):
    figure = tmp_path / "figure.pdf"
    result = surtree("plot", models / f"{model}.json", "-o", figure, "--what", what)
    assert result.stdout.strip() == str(figure)
    content = figure.read_bytes()
    assert content.startswith(b"%PDF")
    drawn, fonts = page_of(content)
    assert fonts
    assert b"/Type3" not in content  # which journals refuse
    assert drawn.count(b" l\n") > 20  # lines, not pixels
    assert b"/Subtype /Image" not in content
    surtree("plot", models / f"{model}.json", "-o", tmp_path / "again.pdf", "--what", what)
    assert (tmp_path / "again.pdf").read_bytes() == content


@pytest.mark.parametrize("what", ["sizes", "calibration", "decision", "stability"])
def test_what_tuning_and_validation_found_is_drawn(surtree, models, tmp_path, what):
    figure = tmp_path / "figure.svg"
    surtree("plot", models / "tuned.json", "-o", figure, "--what", what, "--size", "9x7cm")
    text = figure.read_text()
    width = float(re.search(r'width="([\d.]+)pt"', text).group(1))
    assert width == pytest.approx(9 / 2.54 * 72, abs=0.01)


def test_options_of_a_figure(surtree, models, tmp_path):
    labels = tmp_path / "labels.csv"
    labels.write_text("column,label,unit\npositive_nodes,nodes found,\n")
    figure = tmp_path / "figure.svg"
    arguments = ("plot", models / "tuned.json", "-o", figure, "--time-unit", "days", "--grey")
    surtree(*arguments, "--labels", labels, "--font-size", "7", "--curve", "kaplan-meier")
    text = figure.read_text()
    assert "<!-- nodes found" in text
    assert "time (days)" in text
    colours = set(re.findall(r"(?:stroke|fill): (#[0-9a-f]{6})", text))
    assert colours
    assert all(colour[1:3] == colour[3:5] == colour[5:7] for colour in colours)  # shades of grey
    png = tmp_path / "figure.png"
    result = surtree("plot", models / "leaf.json", "-o", png, "--dpi", "50", "--json")
    assert json.loads(result.stdout) == {"figure": str(png)}
    assert png.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        ("tuned", ["-o", "figure.doc"], "must end with .pdf, .svg or .png"),
        ("tuned", ["-o", "no/such/figure.pdf"], "there is no directory"),
        ("leaf", ["-o", "figure.pdf", "--what", "sizes"], "was not tuned"),
        ("leaf", ["-o", "figure.pdf", "--what", "calibration"], "was not validated"),
        ("tuned", ["-o", "figure.pdf", "--dpi", "100"], "--dpi has no effect"),
        ("tuned", ["-o", "f.pdf", "--what", "sizes", "--time-unit", "d"], "--time-unit has no"),
        ("arms", ["-o", "figure.pdf", "--grey"], "--grey has no effect"),
    ],
)
def test_what_cannot_be_drawn_is_said_in_a_line(surtree, models, model, options, message):
    result = surtree("plot", models / f"{model}.json", *options, code=1)
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_figure_never_replaces_its_model(surtree, models):
    before = (models / "leaf.json").read_bytes()
    link = models / "leaf.pdf"
    link.symlink_to(models / "leaf.json")
    result = surtree("plot", models / "leaf.json", "-o", link, code=1)
    assert "would overwrite the model" in result.stderr
    assert (models / "leaf.json").read_bytes() == before


@pytest.mark.parametrize("size", ["7", "0x5", "axb", "7x5x3", "7x5km", "1.2.3x4"])
def test_a_size_is_a_width_and_a_height(surtree, models, size):
    result = surtree("plot", models / "leaf.json", "-o", "f.pdf", "--size", size, code=2)
    assert "width and a height" in result.stderr.replace("\n", " ")


def test_leaves_as_a_table(surtree, models, tmp_path):
    file = tmp_path / "leaves.csv"
    surtree("show", models / "tuned.json", "--format", "csv", "--horizons", "365,730", "-o", file)
    rows = list(csv.DictReader(io.StringIO(file.read_text())))
    assert len(rows) == SurTree.load(models / "tuned.json").tree_.n_leaves
    assert {"survival_365", "survival_730"} <= rows[0].keys()
    result = surtree("show", models / "tuned.json", "--format", "markdown", "--time-unit", "days")
    assert result.stdout.startswith("| leaf | group |")
    assert "median survival, days" in result.stdout
    smaller = surtree("show", models / "tuned.json", "--format", "csv", "--splits", "1").stdout
    assert len(smaller.splitlines()) == 3


def test_methods_are_written(surtree, models):
    said = surtree("show", models / "tuned.json", "--format", "methods", "--time-unit", "days")
    assert "none has a smaller loss on these rows" in said.stdout
    assert "Internal validation by 5 bootstrap samples" in said.stdout
    result = surtree("show", models / "tuned.json", "--format", "methods", "--splits", "1", code=1)
    assert "leave --splits out" in result.stderr


@pytest.mark.parametrize(
    "options",
    [["--horizons", "365"], ["--time-unit", "days"], ["--format", "sql", "--labels", "labels.csv"]],
)
def test_options_without_effect_are_refused(surtree, models, options):
    surtree("show", models / "leaf.json", *options, code=2)


def test_onnx_is_a_file(surtree, models, tmp_path):
    file = tmp_path / "model.onnx"
    arguments = ("show", models / "tuned.json", "--format", "onnx")
    surtree(*arguments, "-o", file)
    session = onnxruntime.InferenceSession(file.read_bytes())
    assert [one.name for one in session.get_outputs()] == ["risk"]
    surtree(*arguments, "-o", file, "--value", "survival", "--horizons", "365,730")
    session = onnxruntime.InferenceSession(file.read_bytes())
    assert [(one.name, one.shape[1]) for one in session.get_outputs()] == [("survival", 2)]
    surtree(*arguments, code=2)
    surtree("show", models / "tuned.json", "--format", "sql", "--value", "survival", code=2)
    result = surtree(*arguments, "-o", file, "--value", "survival", code=1)
    assert "times are missing" in result.stderr

"""The examples run, and find what their text says."""

import runpy
from pathlib import Path

import matplotlib as mpl
import pytest

from surtree import SurTree

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run an example in a directory of its own; return what it has named."""
    monkeypatch.chdir(tmp_path)
    before = mpl.get_backend()
    mpl.use("agg")
    yield lambda name: runpy.run_path(str(EXAMPLES / name))
    mpl.pyplot.close("all")
    mpl.use(before)


def test_clinical(run, tmp_path, capsys):
    names = run("clinical.py")
    model = names["model"]
    assert (model.status_, model.tree_.n_splits) == ("optimal", 5)
    assert names["comparison"].missed > 0.05
    assert SurTree.load("clinical-model.json").tree_ == model.tree_
    assert {path.name for path in tmp_path.glob("clinical-*")} == {
        "clinical-curves.png",
        "clinical-model.json",
        "clinical-report.html",
        "clinical-sizes.png",
        "clinical-tree.png",
    }
    assert "costliest of its questions is 'tumor_size > 12'" in capsys.readouterr().out


def test_machines(run, tmp_path):
    names = run("machines.py")
    tree = names["model"].tree_
    # The table is made by these questions.
    assert [cut.name for cut in tree.cuts] == ["supplier", "vibration_mm_s", "around_the_clock"]
    assert tree.cuts[tree.cut[0]].threshold == pytest.approx(4.5, abs=0.2)
    assert tree.n_splits == 3
    assert names["plan"]["risk"].tolist() == [tree.theta[tree.leaves].max()] * 5
    assert (tmp_path / "machines-curves.png").stat().st_size > 0


def test_trial(run, tmp_path, capsys):
    names = run("trial.py")
    assert not names["model"].heterogeneity_.is_evidence
    assert {path.name for path in tmp_path.glob("trial-*")} == {
        "trial-report.html",
        "trial-tree.png",
    }
    assert "No evidence that the effect differs" in capsys.readouterr().out


def test_causes(run, tmp_path, capsys):
    names = run("causes.py")
    model = names["model"]
    assert (model.status_, model.gap_) == ("optimal", 0.0)
    assert {path.name for path in tmp_path.glob("causes-*")} == {
        "causes-incidence.png",
        "causes-model.json",
        "causes-report.html",
    }
    said = capsys.readouterr().out
    assert "melanoma ['37%', '18%']" in said
    assert "other causes ['26%', '7%']" in said

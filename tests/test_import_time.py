"""What `import surtree` must not import: it takes long, or may not be installed."""

import json
import subprocess
import sys

import pytest

import surtree
import surtree.model_selection

# Beside what scikit-learn itself imports, which differs from version to version.
HEAVY = {
    "dask",
    "matplotlib",
    "onnx",
    "onnxruntime",
    "pandas",
    "polars",
    "pyarrow",
    "rich",
    "scipy.stats",
    "sklearn.metrics",
    "sklearn.model_selection",
    "sklearn.pipeline",
    "sklearn.preprocessing",
    "surtree.cli",
    "surtree.export",
    "surtree.plot",
    "surtree.reading",
    "surtree.report",
    "typer",
}


def imported(statement):
    """Return the modules that a new process has after a statement."""
    code = f"{statement}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    return set(json.loads(subprocess.check_output([sys.executable, "-c", code], text=True)))


@pytest.fixture(scope="module")
def of_sklearn():
    return imported("import sklearn")


@pytest.mark.parametrize(
    "statement", ["import surtree", "from surtree import SurTree, SurTreeCV, EffectTree"]
)
def test_import_leaves_heavy_modules_alone(statement, of_sklearn):
    assert (imported(statement) - of_sklearn) & HEAVY == set()


def test_what_comes_late_is_found(of_sklearn):
    found = imported("import surtree; surtree.write_report; surtree.EventStratifiedKFold")
    assert {"surtree.report", "sklearn.model_selection"} <= found


@pytest.mark.parametrize("package", [surtree, surtree.model_selection])
def test_late_names_are_listed(package):
    assert set(package.__all__) <= set(dir(package))
    with pytest.raises(AttributeError, match=f"module '{package.__name__}' has no attribute 'x'"):
        package.x  # noqa: B018


def test_rooms_are_there_without_an_import_of_their_own():
    found = imported("import surtree; surtree.datasets.load_gbsg2; surtree.export.export_text")
    assert {"surtree.datasets", "surtree.export"} <= found

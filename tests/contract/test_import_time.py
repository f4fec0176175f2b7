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


# One process: what each statement has imported by then.
STEPS = {
    "sklearn": "import sklearn",
    "surtree": "import surtree",
    "estimators": "from surtree import SurTree, SurTreeCV, EffectTree",
    "late names": "surtree.write_report; surtree.EventStratifiedKFold",
    "rooms": "surtree.datasets.load_gbsg2; surtree.export.export_text",
}


@pytest.fixture(scope="module")
def imported():
    """The modules that a new process has after each step."""
    code = "\n".join(
        f"{statement}\nmodules[{name!r}] = sorted(sys.modules)" for name, statement in STEPS.items()
    )
    code = f"import json, sys\nmodules = {{}}\n{code}\nprint(json.dumps(modules))"
    output = subprocess.check_output([sys.executable, "-c", code], text=True)
    return {name: set(modules) for name, modules in json.loads(output).items()}


@pytest.mark.parametrize("step", ["surtree", "estimators"])
def test_import_leaves_heavy_modules_alone(step, imported):
    assert (imported[step] - imported["sklearn"]) & HEAVY == set()


def test_a_fit_imports_no_room_that_it_does_not_need(imported):
    rooms = {"averages", "effects", "model_selection", "questions", "verification"}
    assert not {f"surtree.{room}" for room in rooms} & imported["surtree"]


def test_what_comes_late_is_found(imported):
    assert not {"surtree.report", "surtree.datasets"} & imported["estimators"]
    assert {"surtree.report", "sklearn.model_selection"} <= imported["late names"]


def test_rooms_are_there_without_an_import_of_their_own(imported):
    assert {"surtree.datasets", "surtree.export"} <= imported["rooms"]


@pytest.mark.parametrize("package", [surtree, surtree.model_selection])
def test_late_names_are_listed(package):
    assert set(package.__all__) <= set(dir(package))
    with pytest.raises(AttributeError, match=f"module '{package.__name__}' has no attribute 'x'"):
        package.x  # noqa: B018

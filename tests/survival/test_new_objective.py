"""A new objective is a struct and a class: here two files of ``tests/objective``, nothing else."""

import os
import subprocess
import sys
from pathlib import Path

import nanobind
import pytest

ROOT = Path(__file__).parents[2]
OBJECTIVE = ROOT / "tests" / "objective"
# The core of this build in place of the one that is installed.
RUN = """
import importlib.util, sys, pytest
spec = importlib.util.spec_from_file_location("surtree._core", sys.argv[1])
core = importlib.util.module_from_spec(spec)
sys.modules["surtree._core"] = core
spec.loader.exec_module(core)
from surtree.solver.core import _core
assert _core is core
sys.exit(pytest.main([*sys.argv[2:]]))
"""


@pytest.fixture
def core(tmp_path):
    """Build the core with the objective of the test."""
    configure = ["-S", ROOT, "-B", tmp_path, "-G", "Ninja"]
    configure += [f"-DSURTREE_TEST_OBJECTIVE={OBJECTIVE / 'squared_error.hpp'}"]
    configure += ["-DCMAKE_CXX_FLAGS_RELEASE=-O1"]  # it compiles sooner
    configure += [f"-Dnanobind_DIR={nanobind.cmake_dir()}", f"-DPython_EXECUTABLE={sys.executable}"]
    for arguments in (configure, ["--build", tmp_path, "--target", "_core"]):
        done = subprocess.run(["cmake", *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    (built,) = tmp_path.glob("_core.*")
    return built


@pytest.mark.compiles
def test_an_objective_of_two_files_is_solved_like_any_other(core):
    arguments = ["-q", "-p", "no:cacheprovider", "-o", "addopts=", OBJECTIVE / "checks.py"]
    done = subprocess.run(
        [sys.executable, "-c", RUN, core, *arguments],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr

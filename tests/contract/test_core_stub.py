"""The types of the compiled core are checked in, so that mypy needs no compiler."""

import ast
from pathlib import Path

from nanobind.stubgen import main

import surtree

STUB = Path(surtree.__file__).with_name("_core.pyi")


def test_the_stub_has_the_types_of_the_compiled_core(tmp_path):
    """If this fails, ``make stub`` writes the stub anew."""
    made = tmp_path / "_core.pyi"
    main(["-q", "-D", "-m", "surtree._core", "-o", str(made)])
    assert ast.unparse(ast.parse(STUB.read_text())) == ast.unparse(ast.parse(made.read_text()))

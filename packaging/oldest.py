"""Print the least versions that pyproject.toml declares, as requirements for pip.

    python packaging/oldest.py > oldest.txt

Of what users install: the run-time dependencies and the extras; and of what the tests need that
run with these versions (`make test-oldest`).
"""

from __future__ import annotations

import re
import sys
import tomllib
from itertools import chain
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"
# Extras of users; the others are for developers.
EXTRAS = ("plot", "cli", "excel", "onnx")
# Of the developers' extras, what the tests of `make test-oldest` import.
TESTS = (
    "duckdb",
    "hypothesis",
    "onnxruntime",
    "pandas",
    "pyarrow",
    "pytest",
    "pytest-xdist",
    "xlsxwriter",
)

_DECLARED = re.compile(r"(?P<name>[\w-]+)(?:\[[\w,-]+\])?>=(?P<version>[\w.]+)(?:;.*)?")


def main() -> None:
    """Print a line for each package."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    declared = dict(map(_read, chain(project["dependencies"], *extras.values())))
    wanted = chain(project["dependencies"], *(extras[name] for name in EXTRAS))
    names = [*(_read(requirement)[0] for requirement in wanted), *TESTS]
    for name in sorted(set(names) - {project["name"]}):
        if not declared.get(name):
            sys.exit(f"pyproject.toml declares no least version of {name}: write {name}>=...")
        print(f"{name}=={declared[name]}")


def _read(requirement: str) -> tuple[str, str]:
    """Return the name of a package, and its least version: nothing where there is none."""
    stated = _DECLARED.fullmatch(requirement.replace(" ", ""))
    if stated is None:
        return re.split(r"[\[=<>;~!\s]", requirement, maxsplit=1)[0], ""
    return stated["name"], stated["version"]


if __name__ == "__main__":
    main()

"""Print what an extra of pyproject.toml needs, without the package itself, as requirements for pip.

python packaging/extra.py lint > lint.txt
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"


def needs(extra: str, extras: dict[str, list[str]]) -> set[str]:
    """Return the packages of an extra and of the extras that it names."""
    packages: set[str] = set()
    for package in extras[extra]:
        others = re.fullmatch(r"surtree\[([\w,]+)\]", package)
        if others is None:
            packages.add(package)
            continue
        for other in others[1].split(","):
            packages |= needs(other, extras)
    return packages


def main() -> None:
    """Print a line for each package, those of every user among them."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    packages = needs(sys.argv[1], project["optional-dependencies"])
    print(*sorted(packages | set(project["dependencies"])), sep="\n")


if __name__ == "__main__":
    main()

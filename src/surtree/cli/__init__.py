"""The command line ``surtree``."""

from __future__ import annotations

import sys
from importlib.util import find_spec

_NEEDED = ("typer", "rich", "polars")


def main() -> None:
    """Run the command line, or say what to install for it."""
    absent = [name for name in _NEEDED if find_spec(name) is None]
    if absent:
        sys.exit(
            f"surtree: the command line needs {' and '.join(absent)}, which is not installed: "
            'pip install "surtree[cli]"'
        )
    from surtree.cli._app import app

    app(prog_name="surtree")

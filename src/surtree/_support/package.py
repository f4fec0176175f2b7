"""The package itself: its version, names that it imports late, and whose line a warning names."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

VERSION = version("surtree")
_PACKAGE = str(Path(__file__).parents[1])


def late_names(
    package: str, public: list[str], homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and the ``__dir__`` of a package with names that come late."""

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(homes[name])
        return module if homes[name] == f"{package}.{name}" else getattr(module, name)

    def names() -> list[str]:
        return sorted({*public, *homes, *vars(import_module(package))})

    return get, names


def user_level() -> int:
    """Return the ``stacklevel`` of `warnings.warn` for the first caller outside of the package."""
    frame = sys._getframe(1)
    level = 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
        level += 1
    return level

"""Whose line a warning names: the user's, however deep in the package it is found out."""

from __future__ import annotations

import sys
from pathlib import Path

_PACKAGE = str(Path(__file__).parents[1])


def user_level() -> int:
    """Return the ``stacklevel`` of `warnings.warn` for the first caller outside of the package."""
    frame = sys._getframe(1)
    level = 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
        level += 1
    return level

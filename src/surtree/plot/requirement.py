"""Matplotlib, which only pictures need."""

from __future__ import annotations

from importlib.util import find_spec


def require_matplotlib() -> None:
    """Raise an error that names the remedy where matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        raise ImportError(
            'Plots need matplotlib, which is not installed: pip install "surtree[plot]".'
        )

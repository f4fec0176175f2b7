"""How results show themselves at a prompt and in a notebook: never all of their numbers."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from surtree.words.quoting import html_text

# Longer lists and texts are only counted.
_MOST = 4
_LONGEST = 60


class Printed:
    """A dataclass with a line for a prompt, in place of its arrays, and HTML as it is printed."""

    def __repr__(self) -> str:
        shown = (field.name for field in fields(self) if field.repr)  # type: ignore[arg-type]
        parts = (f"{name}={_short(getattr(self, name))}" for name in shown)
        return f"{type(self).__name__}({', '.join(parts)})"

    def _repr_html_(self) -> str:
        return f"<pre>{html_text(str(self))}</pre>"


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"<{' x '.join(map(str, value.shape))} numbers>"
    if isinstance(value, tuple | list) and len(value) > _MOST:
        return f"<{len(value)} items>"
    text = f"{value:.6g}" if isinstance(value, float) else repr(value)
    return text if len(text) <= _LONGEST else f"<{type(value).__name__}>"

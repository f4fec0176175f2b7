"""Sphinx extension: ``{made} module.function`` is Markdown that a function here returns."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class Made(SphinxDirective):
    """What a function returns, as a part of the page."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Call the function, and read what it returns as a part of the page."""
        module, name = self.arguments[0].rsplit(".", 1)
        text = getattr(import_module(module), name)()
        self.env.note_dependency(import_module(module).__file__ or "")
        return self.parse_text_to_nodes(text)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.add_directive("made", Made)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

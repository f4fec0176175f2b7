"""Sphinx extension: code of pages runs when the site is built, and what it shows is on the page.

The pages are those of ``executed_pages`` in ``conf.py``. What a block prints stands below it. Where
the page has a block without a language there already, for readers on a code host, it must be what
the code prints. Pictures are drawn, and HTML files that the code writes are beside the page. Code
that fails, and output that has changed, end the build.
"""

from __future__ import annotations

import posixpath
import shutil
import tempfile
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from docutils import nodes
from page_runner import PageError, PageRunner, Shown
from pygments.lexers.shell import BashLexer
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.transforms import SphinxTransform

RUN = ("python", "console")
# What a fence without a language becomes.
PLAIN = ("default", "none", "text")
# Files that pages write and link to: _files/<page>/<file>, pictures among them.
FILES = "_files"


class RunBlocks(SphinxTransform):
    """Runs the blocks of a page in their order, and adds what they show."""

    default_priority = 400

    def apply(self, **_: Any) -> None:
        """Run the page if it is one of those that are run."""
        page = self.env.docname
        if not any(fnmatch(page, pattern) for pattern in self.config.executed_pages):
            return
        blocks = [
            block
            for block in self.document.findall(nodes.literal_block)
            if block.get("language") in RUN
        ]
        with tempfile.TemporaryDirectory() as scratch:
            runner = PageRunner(Path(scratch), Path(self.app.srcdir) / "recipes" / "data")
            for number, block in enumerate(blocks):
                try:
                    shown = runner.run(block["language"], block.astext())
                    self.show(block, shown, f"{page}-{number}".replace("/", "-"))
                except PageError as error:
                    where = f"{self.env.doc2path(page)}:{block.line}"
                    raise ExtensionError(f"{where}: {error}") from error
            self.keep(Path(scratch), page)

    def show(self, block: nodes.literal_block, shown: Shown, name: str) -> None:
        """Add what a block has shown below it."""
        parent, place = block.parent, block.parent.index(block) + 1
        following = parent[place] if place < len(parent) else None
        if isinstance(following, nodes.literal_block) and following["language"] in PLAIN:
            if _lines(following.astext()) != _lines(shown.text):
                raise PageError(
                    f"the page says otherwise below this code:\n\n{block.astext()}\n\n"
                    f"It printed:\n\n{shown.text}"
                )
            following["classes"].append("output")
        elif shown.text.strip():
            text = "\n".join(_lines(shown.text))
            output = nodes.literal_block(text, text, language="text", classes=["output"])
            parent.insert(place, output)
            place += 1
        for number, picture in enumerate(shown.pictures):
            parent.insert(place + number, self.picture(picture, f"{name}-{number}.svg"))

    def picture(self, content: bytes, name: str) -> nodes.raw:
        """Write a picture, and return what shows it on the page."""
        folder = Path(self.app.outdir) / FILES
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
        at = posixpath.relpath(f"{FILES}/{name}", posixpath.dirname(self.env.docname) or ".")
        # Wide pictures are not squeezed into a phone: they scroll, and open on their own.
        html = (
            f'<div class="drawn"><a href="{at}"><img src="{at}" alt="What the code above draws" '
            'loading="lazy"></a></div>'
        )
        return nodes.raw("", html, format="html")

    def keep(self, scratch: Path, page: str) -> None:
        """Copy the HTML files that a page has written to where it can link to them."""
        folder = Path(self.app.outdir) / FILES / page
        for file in sorted(scratch.glob("*.html")):
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, folder)


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.add_config_value("executed_pages", [], "env", [list])
    app.add_transform(RunBlocks)
    app.add_lexer("console", BashLexer)  # commands, without a prompt and what they print
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

"""Runs the code of one page, block by block, as a reader would: in one session, in one folder."""

from __future__ import annotations

import ast
import contextlib
import io
import os
import shlex
import shutil
import subprocess
import sys
import traceback
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib as mpl

# Pictures of the same numbers are the same files.
mpl.use("agg")
mpl.rcParams["svg.hashsalt"] = "surtree"
# Lines of pages and of the tables of the command line; wider ones would be cut off.
WIDTH = 88


class PageError(Exception):
    """Code of a page that failed, with the block and what Python said."""


@dataclass
class Shown:
    """What a block has shown: the text that it printed, and the pictures that it drew."""

    text: str = ""
    pictures: list[bytes] = field(default_factory=list)


class PageRunner:
    """The session of a page: names live from block to block, files in a folder of the page.

    Parameters
    ----------
    folder : Path
        Where the code runs, and where the files are that it writes.
    data : Path
        Files that the code may read are copied from here.
    """

    def __init__(self, folder: Path, data: Path) -> None:
        self.folder = folder
        self.names: dict[str, Any] = {"__name__": "__main__"}
        for source in sorted(data.iterdir()):
            shutil.copy(source, folder)

    def run(self, language: str, code: str) -> Shown:
        """Run a block of Python, or of commands of ``surtree``, and return what it shows."""
        return self.run_python(code) if language == "python" else self.run_commands(code)

    def run_python(self, code: str) -> Shown:
        """Run Python as a notebook does: the value of a last expression is shown."""
        from matplotlib import pyplot

        printed = io.StringIO()
        try:
            with contextlib.chdir(self.folder), contextlib.redirect_stdout(printed):
                with warnings.catch_warnings():
                    warnings.simplefilter("error")  # a page shows no code that warns
                    value = _execute(code, self.names)
                figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
                # A function that draws returns axes, and the picture of them is shown.
                if value is not None and not figures:
                    print(repr(value))
        except Exception as error:
            lines = traceback.format_exception(error)
            raise PageError(f"this code failed:\n\n{code}\n\n{''.join(lines)}") from None
        shown = Shown(printed.getvalue(), [_svg(figure) for figure in figures])
        pyplot.close("all")
        return shown

    def run_commands(self, code: str) -> Shown:
        """Run commands, one a line; a backslash at its end continues a line."""
        shown = Shown()
        for line in code.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if not words:
                continue
            if words[0] != "surtree":
                raise PageError(f"this page can run no other command than surtree: {line}")
            done = subprocess.run(
                [sys.executable, "-m", *words],
                cwd=self.folder,
                env={**os.environ, "COLUMNS": str(WIDTH), "NO_COLOR": "1"},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                encoding="utf-8",
                check=False,
            )
            if done.returncode != 0:
                raise PageError(f"this command failed:\n\n{line}\n\n{done.stdout}")
            shown.text += done.stdout
        return shown


def _execute(code: str, names: dict[str, Any]) -> Any:
    """Run code, and return the value of its last statement if that is an expression."""
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<page>", "exec"), names)
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), "<page>", "eval"), names)


def _svg(figure: Any) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format="svg", bbox_inches="tight", metadata={"Date": None})
    return file.getvalue()

"""``surtree show``, ``path`` and ``report``: what a model looks like."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import typer

from surtree.cli import _options as options
from surtree.cli._console import failures, guarded, say, show, show_json
from surtree.cli._files import require_outputs
from surtree.cli._models import read_model, save_report, tree_of_size
from surtree.cli._page import read_page
from surtree.cli._summary import certificate, path_json, path_text
from surtree.export import (
    export_dot,
    export_json,
    export_mermaid,
    export_python,
    export_sql,
    export_text,
)
from surtree.export._values import LeafValue
from surtree.tree.tree import Tree

Style = Literal["tree", "text", "dot", "mermaid", "sql", "python", "json"]

_PLAIN: dict[str, Callable[[Tree], str]] = {
    "tree": str,
    "text": export_text,
    "dot": export_dot,
    "mermaid": export_mermaid,
    "json": export_json,
}
_WITH_VALUE = {"sql": export_sql, "python": export_python}


def show_model(
    model: options.ModelFile,
    style: Annotated[Style, typer.Option("--format", help="How the tree is written.")] = "tree",
    value: Annotated[
        LeafValue | None,
        typer.Option(help="What SQL and Python give for a row; by default its leaf."),
    ] = None,
    cause: Annotated[
        int | None,
        typer.Option(help="Of competing risks, the cause whose risk SQL and Python give."),
    ] = None,
    splits: Annotated[
        int | None, typer.Option(min=0, help="Show the best tree with at most N splits.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Write the tree of a model: drawn, as rules, dot, Mermaid, SQL, Python or JSON."""
    if value is not None and style not in _WITH_VALUE:
        raise typer.BadParameter("--value goes with --format sql and --format python")
    if cause is not None and value != "risk":
        raise typer.BadParameter("--cause goes with --value risk")
    with guarded():
        fitted = read_model(model)
        tree = tree_of_size(fitted, splits)
        if tree.leaf_curve != fitted.tree_.leaf_curve:
            kind = fitted.tree_.leaf_curve
            say(
                f"surtree: only the chosen tree keeps what its {kind} curves are made of: the "
                f"medians of this one are those of {tree.leaf_curve} curves"
            )
        with failures(ValueError):
            text = _written(tree, style, value or "leaf", cause)
        if json and style == "json":
            show(text)
        elif json:
            show_json({"format": style, "text": text})
        elif style == "tree" and tree is fitted.tree_:
            show(f"{text}\n\n{certificate(fitted)}")
        else:
            show(text.rstrip("\n"))


def _written(tree: Tree, style: Style, value: LeafValue, cause: int | None) -> str:
    if style in _PLAIN:
        return _PLAIN[style](tree)
    return _WITH_VALUE[style](tree, value=value, cause=cause)


def path(model: options.ModelFile, json: options.Json = False) -> None:
    """List the best tree of every size, all of them from one search."""
    with guarded():
        fitted = read_model(model)
        if json:
            show_json({"status": fitted.status_, "path": path_json(fitted)})
        else:
            show(path_text(fitted))


def report(
    model: options.ModelFile,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write it.")
    ] = Path("report.html"),
    title: options.Title = None,
    time_unit: options.TimeUnit = None,
    horizons: options.PageHorizons = None,
    labels: options.Labels = None,
    json: options.Json = False,
) -> None:
    """Write the report of a model: one HTML file with the tree, its curves and its certificate."""
    with guarded():
        require_outputs({"--output": output}, model=model, labels=labels)
        page = read_page(title, time_unit, horizons, labels)
        save_report(read_model(model), output, page)
        if json:
            show_json({"report": str(output)})
        else:
            show(str(output))

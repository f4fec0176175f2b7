"""``surtree show``, ``path`` and ``report``: what a model looks like."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal, cast

import typer

from surtree._support.endings import PAGE_FILE, FileKind
from surtree._support.writing import write_bytes, write_text
from surtree.cli import _options as options
from surtree.cli._console import UserError, failures, guarded, say, show, show_json, show_source
from surtree.cli._effects import known_effects
from surtree.cli._files import require_outputs
from surtree.cli._models import read_model, save_report, tree_of_size
from surtree.cli._page import Page, read_page
from surtree.cli._summary import certificate, path_json, path_text
from surtree.estimators.effects import EffectTree
from surtree.estimators.tree import SurTree
from surtree.export import (
    export_dot,
    export_json,
    export_leaves,
    export_mermaid,
    export_methods,
    export_onnx,
    export_python,
    export_sql,
    export_text,
)
from surtree.export._leaves import TableFormat
from surtree.export._onnx import OnnxValue
from surtree.export._values import LeafValue
from surtree.outcomes.effect_results import effects_warning
from surtree.tree.tree import Tree

Style = Literal[
    "tree",
    "text",
    "dot",
    "mermaid",
    "sql",
    "python",
    "onnx",
    "json",
    "csv",
    "markdown",
    "methods",
]

_PLAIN: dict[str, Callable[[Tree], str]] = {
    "tree": str,
    "text": export_text,
    "dot": export_dot,
    "mermaid": export_mermaid,
    "json": export_json,
}
_WITH_VALUE = {"sql": export_sql, "python": export_python}
_TABLES: tuple[TableFormat, ...] = ("csv", "markdown")
_FOR_PAPERS = (*_TABLES, "methods")
_ENDINGS: dict[Style, tuple[str, ...]] = {
    "tree": (".txt",),
    "text": (".txt",),
    "dot": (".dot", ".gv", ".txt"),
    "mermaid": (".mmd", ".mermaid", ".txt"),
    "sql": (".sql", ".txt"),
    "python": (".py", ".txt"),
    "onnx": (".onnx",),
    "json": (".json",),
    "csv": (".csv", ".txt"),
    "markdown": (".md", ".markdown", ".txt"),
    "methods": (".txt", ".md"),
}
_FOR_PROGRAMS = (*_WITH_VALUE, "csv", "json")
_AT_TIMES = ("survival", "incidence")


def show_model(
    model: options.ModelFile,
    style: Annotated[
        Style,
        typer.Option(
            "--format",
            help="How the tree is written; csv and markdown are tables of its leaves, methods is "
            "a paragraph about how it was found.",
        ),
    ] = "tree",
    value: Annotated[
        OnnxValue | None,
        typer.Option(
            help="What SQL, Python and ONNX give for a row: by default its leaf, with ONNX its "
            "risk. Survival and incidence, at --horizons, are for ONNX."
        ),
    ] = None,
    cause: Annotated[
        int | None,
        typer.Option(help="Of competing risks, the cause whose risk or incidence is given."),
    ] = None,
    horizons: options.TableHorizons = None,
    time_unit: options.FigureTimeUnit = None,
    labels: options.FigureLabels = None,
    splits: Annotated[
        int | None, typer.Option(min=0, help="Show the best tree with at most N splits.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Where to write it; else to standard output."
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Write the tree of a model: drawn, as rules, code or JSON, or as table and text of a paper."""
    if value is not None and style not in (*_WITH_VALUE, "onnx"):
        raise typer.BadParameter("--value goes with --format sql, python and onnx")
    if value in _AT_TIMES and style != "onnx":
        raise typer.BadParameter(f"--value {value} goes with --format onnx")
    if cause is not None and value not in ("risk", "incidence"):
        raise typer.BadParameter("--cause goes with --value risk, and with --value incidence")
    if horizons is not None and style not in _TABLES and value not in _AT_TIMES:
        raise typer.BadParameter(
            "--horizons goes with --format csv and markdown, and with --value survival and "
            "--value incidence"
        )
    if style == "onnx" and output is None:
        raise typer.BadParameter("--format onnx is for a file: say which, as in -o model.onnx")
    if (time_unit is not None or labels is not None) and style not in _FOR_PAPERS:
        raise typer.BadParameter(
            "--time-unit and --labels go with --format csv, --format markdown and --format methods"
        )
    if json and output is not None:
        raise typer.BadParameter("--json writes to standard output, --output to a file: give one")
    with guarded():
        written = FileKind(f"--format {style} writes no other", _ENDINGS[style])
        require_outputs({"--output": (output, written)}, model=model, labels=labels)
        fitted = read_model(model)
        tree = tree_of_size(fitted, splits)
        if tree.leaf_curve != fitted.tree_.leaf_curve:
            kind = fitted.tree_.leaf_curve
            say(
                f"surtree: only the chosen tree keeps what its {kind} curves are made of: the "
                f"medians of this one are those of {tree.leaf_curve} curves"
            )
        page = read_page("", time_unit, horizons, labels)
        with failures(ValueError):
            if style == "onnx":
                assert output is not None
                _write_onnx(tree, output, value or "risk", page.horizons, cause)
                return
            if style in _FOR_PAPERS:
                text = _for_paper(fitted, tree, style, page)
            else:
                text = _written(tree, style, cast(LeafValue, value or "leaf"), cause)
        if style == "tree" and tree is fitted.tree_ and not json:
            known = known_effects(fitted)
            text = "\n\n".join([text, certificate(fitted), *([known] if known else [])])
        if value == "effect" and isinstance(fitted, EffectTree):
            doubt = effects_warning(fitted.heterogeneity_)
            if doubt and fitted.tree_.n_leaves > 1:
                say(f"surtree: {doubt}")
        if output is not None:
            with failures(OSError, about=f"cannot write {output}: "):
                write_text(output, text.rstrip("\n") + "\n")
        elif json and style != "json":
            show_json({"format": style, "text": text})
        elif style in _FOR_PROGRAMS:
            show_source(text.rstrip("\n") + "\n")
        else:
            show(text.rstrip("\n"))


def _written(tree: Tree, style: Style, value: LeafValue, cause: int | None) -> str:
    if style in _PLAIN:
        return _PLAIN[style](tree)
    return _WITH_VALUE[style](tree, value=value, cause=cause)


def _write_onnx(
    tree: Tree, output: Path, value: OnnxValue, times: tuple[float, ...] | None, cause: int | None
) -> None:
    with failures(ImportError):
        content = export_onnx(tree, value=value, times=times, cause=cause).SerializeToString()
    with failures(OSError, about=f"cannot write {output}: "):
        write_bytes(output, content)


def _for_paper(model: SurTree, tree: Tree, style: Style, page: Page) -> str:
    """Return the table of leaves, or the paragraph about how the tree was found."""
    unit = page.time_unit or model.time_unit_
    if style == "methods":
        if tree is not model.tree_:
            raise UserError("methods are those of the chosen tree: leave --splits out")
        return export_methods(model, time_unit=unit, labels=page.labels)
    return export_leaves(
        model if tree is model.tree_ else tree,
        "csv" if style == "csv" else "markdown",
        horizons=page.horizons or model.horizons_,
        time_unit=unit,
        labels=page.labels,
        units=page.units,
    )


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
        require_outputs({"--output": (output, PAGE_FILE)}, model=model, labels=labels)
        page = read_page(title, time_unit, horizons, labels)
        save_report(read_model(model), output, page)
        if json:
            show_json({"report": str(output)})
        else:
            show(str(output))

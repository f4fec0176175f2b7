"""``surtree show``, ``path`` and ``report``: what a model looks like."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, cast

import typer

from surtree._support.writing import PAGE_FILE, FileKind, write_bytes, write_text
from surtree.averages.points import PointsTable
from surtree.cli import _options as options
from surtree.cli._command import Given, Take, command, option, refuse
from surtree.cli._console import Result, say, show_source
from surtree.cli._effects import known_effects
from surtree.cli._kinds import model_text
from surtree.cli._models import read_any_model, read_model, save_report
from surtree.cli._outputs import require_outputs
from surtree.cli._summary import certificate, path_json, path_text, teacher_text
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
    export_tripod,
)
from surtree.export._tree import LeafValue
from surtree.export._written import PageFormat
from surtree.export.leaves import TableFormat
from surtree.export.onnx import OnnxValue
from surtree.outcomes.effect_results import effects_warning
from surtree.reading.errors import UserError, failures
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
    "latex",
    "docx",
    "methods",
    "tripod",
]

_PLAIN: dict[str, Callable[[Tree], str]] = {
    "tree": str,
    "text": export_text,
    "dot": export_dot,
    "mermaid": export_mermaid,
    "json": export_json,
}
_WITH_VALUE = {"sql": export_sql, "python": export_python}
_TABLES: tuple[TableFormat, ...] = ("csv", "markdown", "latex", "docx")
_TABLE_FORMATS = "--format csv, markdown, latex and docx"
_FOR_PAPERS = (*_TABLES, "methods", "tripod")
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
    "latex": (".tex", ".txt"),
    "docx": (".docx",),
    "methods": (".txt", ".md"),
    "tripod": (".md", ".markdown", ".txt", ".tex", ".docx"),
}
_BY_ENDING: dict[str, PageFormat] = {".tex": "latex", ".docx": "docx"}
_FOR_PROGRAMS = (*_WITH_VALUE, "csv", "json")
_AT_TIMES = ("survival", "incidence")


@dataclass(frozen=True)
class ShowOptions:
    """What is written of a tree, and how."""

    style: Style = option(
        "How the tree is written; csv, markdown, latex and docx (Word) are tables of its leaves, "
        "methods is a paragraph about how it was found, tripod the TRIPOD+AI checklist.",
        "--format",
        default="tree",
    )
    value: OnnxValue | None = option(
        "What SQL, Python and ONNX give for a row: by default its leaf, with ONNX its risk. "
        "Survival and incidence, at --horizons, are for ONNX.",
    )
    cause: int | None = option("Of competing risks, the cause whose risk or incidence is given.")
    restricted_mean: float | None = option(
        "Add to a table of leaves the mean time without an event up to this time, and of a trial "
        "differences of arms and numbers needed to treat.",
        metavar="TIME",
    )
    splits: int | None = option("Show the best tree with at most N splits.", min=0)
    output: Path | None = option(
        "Where to write it; else to standard output.", "--output", "-o", metavar="FILE"
    )

    def require(self, given: Given, *, json: bool) -> None:
        """Refuse options that exclude each other, or would do nothing."""
        style, value = self.style, self.value
        refuse(
            {
                "--value goes with --format sql, python and onnx": (
                    value is not None and style not in (*_WITH_VALUE, "onnx")
                ),
                f"--value {value} goes with --format onnx": value in _AT_TIMES and style != "onnx",
                "--cause goes with --value risk, and with --value incidence": (
                    self.cause is not None and value not in ("risk", "incidence")
                ),
                f"--horizons goes with {_TABLE_FORMATS}, and with --value survival and --value "
                "incidence": (
                    "horizons" in given and style not in _TABLES and value not in _AT_TIMES
                ),
                f"--restricted-mean goes with {_TABLE_FORMATS}": (
                    self.restricted_mean is not None and style not in _TABLES
                ),
                f"--format {style} is for a file: say which, as in -o model.{style}": (
                    style in ("onnx", "docx") and self.output is None
                ),
                "--time-unit and --labels go with tables (--format csv, markdown, latex, docx), "
                "and with --format methods and tripod": bool({"time_unit", "labels"} & set(given))
                and style not in _FOR_PAPERS,
                "--json writes to standard output, --output to a file: give one": (
                    json and self.output is not None
                ),
            }
        )


@command
def show_model(
    given: Given,
    model: options.ModelFile,
    shown: ShowOptions,
    page: Annotated[options.PageOptions, Take("horizons time_unit labels")],
    json: options.Json = False,
) -> Result | None:
    """Write the tree of a model: drawn, as rules, code or JSON, or as table and text of a paper."""
    shown.require(given, json=json)
    style, output = shown.style, shown.output
    written = FileKind(f"--format {style} writes no other", _ENDINGS[style])
    require_outputs({"--output": (output, written)}, model=model, labels=page.labels)
    fitted = read_any_model(model)
    if isinstance(fitted, PointsTable):
        return _show_card(fitted, shown, json=json)
    if not isinstance(fitted, SurTree):
        raise UserError(
            f"{model} holds a {type(fitted).__name__}, which is no tree: surtree report shows it"
        )
    tree = _tree_of_size(fitted, shown.splits)
    with failures(ValueError):
        if style == "onnx":
            assert output is not None
            _write_onnx(tree, output, shown, page.horizons)
            return None
        text = _text(fitted, tree, shown, page.read())
    if isinstance(text, bytes):
        assert output is not None
        with failures(OSError, about=f"cannot write {output}: "):
            write_bytes(output, text)
        return None
    if style == "tree" and tree is fitted.tree_ and not json:
        text = "\n\n".join(
            filter(None, [text, teacher_text(fitted), certificate(fitted), known_effects(fitted)])
        )
    if shown.value == "effect" and fitted.tree_.outcome.judged_by == "effects":
        doubt = effects_warning(cast(EffectTree, fitted).heterogeneity_)
        if doubt and fitted.tree_.n_leaves > 1:
            say(doubt)
    if output is not None:
        with failures(OSError, about=f"cannot write {output}: "):
            write_text(output, text.rstrip("\n") + "\n")
        return None
    if style in _FOR_PROGRAMS and (style == "json" or not json):
        show_source(text.rstrip("\n") + "\n")
        return None
    return Result(text.rstrip("\n"), {"format": style, "text": text})


def _show_card(card: PointsTable, shown: ShowOptions, *, json: bool) -> Result | None:
    """Write a score card: as it is printed, or as a program."""
    style = shown.style
    if style not in ("tree", *_WITH_VALUE):
        raise UserError(f"--format {style} is of trees: a score card has tree, sql and python")
    with failures(ValueError):
        text = (
            model_text(card)
            if style == "tree"
            else _WITH_VALUE[style](card, value=cast(LeafValue, shown.value or "leaf"))
        )
    if shown.output is not None:
        with failures(OSError, about=f"cannot write {shown.output}: "):
            write_text(shown.output, text.rstrip("\n") + "\n")
        return None
    if style != "tree" and not json:
        show_source(text.rstrip("\n") + "\n")
        return None
    return Result(text.rstrip("\n"), {"format": style, "text": text})


def _tree_of_size(model: SurTree, splits: int | None) -> Tree:
    """Return the tree of a model, or its best tree with at most this number of splits."""
    if splits is None:
        return model.tree_
    tree = model.path_[min(splits, len(model.path_) - 1)].tree
    if tree.leaf_curve != model.tree_.leaf_curve:
        say(
            f"only the chosen tree keeps what its {model.tree_.leaf_curve} curves are made of: the "
            f"medians of this one are those of {tree.leaf_curve} curves"
        )
    return tree


def _text(model: SurTree, tree: Tree, shown: ShowOptions, page: options.Page) -> str | bytes:
    style = shown.style
    if style in _PLAIN:
        return _PLAIN[style](tree)
    if style in _WITH_VALUE:
        value = cast(LeafValue, shown.value or "leaf")
        return _WITH_VALUE[style](tree, value=value, cause=shown.cause)
    unit = page.time_unit or model.time_unit_
    if style in ("methods", "tripod"):
        if tree is not model.tree_:
            raise UserError(f"{style} is of the chosen tree: leave --splits out")
        if style == "methods":
            return export_methods(model, time_unit=unit, labels=page.labels)
        return export_tripod(model, _BY_ENDING.get(_ending(shown), "markdown"), time_unit=unit)
    table: str | bytes = export_leaves(
        model if tree is model.tree_ else tree,
        cast(TableFormat, style),
        horizons=page.horizons or model.horizons_,
        time_unit=unit,
        labels=page.labels,
        units=page.units,
        restricted_mean=shown.restricted_mean,
    )
    return table


def _ending(shown: ShowOptions) -> str:
    return "" if shown.output is None else shown.output.suffix.lower()


def _write_onnx(
    tree: Tree, output: Path, shown: ShowOptions, times: tuple[float, ...] | None
) -> None:
    with failures(ImportError):
        model = export_onnx(tree, value=shown.value or "risk", times=times, cause=shown.cause)
    with failures(OSError, about=f"cannot write {output}: "):
        write_bytes(output, model.SerializeToString())


@command
def path(model: options.ModelFile, json: options.Json = False) -> Result:
    """List the best tree of every size, all of them from one search."""
    fitted = read_model(model)
    return Result(path_text(fitted), {"status": fitted.status_, "path": path_json(fitted)})


@command
def report(
    model: options.ModelFile,
    page: options.PageOptions,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write it.")
    ] = Path("report.html"),
    json: options.Json = False,
) -> Result:
    """Write the report of a model: one HTML file with the tree, its curves and its certificate."""
    require_outputs({"--output": (output, PAGE_FILE)}, model=model, labels=page.labels)
    words = page.read()
    save_report(read_any_model(model), output, words)
    return Result(str(output), {"report": str(output)})

"""Models in and out of files, and their reports."""

from __future__ import annotations

from pathlib import Path

from surtree._support.status import WORDS
from surtree.cli._columns import text_columns
from surtree.cli._console import UserError, failures, say
from surtree.cli._files import DataFile, Format, read_table, require_file
from surtree.cli._page import Page
from surtree.estimators.tree import SurTree
from surtree.loading import load
from surtree.model_selection.cv import SurTreeCV
from surtree.report import write_report
from surtree.tree.tree import Tree


def read_model(path: Path) -> SurTree:
    """Read a model, or say why it cannot be read."""
    require_file(path)
    with failures(OSError, about=f"cannot read {path}: "), failures(ValueError):
        model = load(path)
    if not isinstance(model, SurTree):
        raise UserError(
            f"{path} holds a {type(model).__name__}, and the commands read models of one tree: "
            "surtree.load reads it in Python"
        )
    if model.status_ == "edited":
        say(f"surtree: {path}: {WORDS['edited'].clause}: its certificate is void")
    return model


def write_model(model: SurTree, path: Path) -> None:
    """Write a model, or say why it cannot be written."""
    with failures(OSError, about=f"cannot write {path}: "), failures(ValueError):
        model.save(path)


def save_report(model: SurTree | SurTreeCV, path: Path, page: Page) -> None:
    """Write the report of a model."""
    with failures(OSError, about=f"cannot write {path}: "), failures(ValueError):
        write_report(model, path, **vars(page))


def read_rows(path: Path, model: SurTree, form: Format) -> DataFile:
    """Read a table, with texts where a model was trained on texts."""
    return read_table(path, form, as_texts=text_columns(model))


def tree_of_size(model: SurTree, splits: int | None) -> Tree:
    """Return the tree of a model, or its best tree with at most this number of splits."""
    if splits is None:
        return model.tree_
    return model.path_[min(splits, len(model.path_) - 1)].tree

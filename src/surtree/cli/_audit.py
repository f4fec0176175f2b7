"""``surtree audit``: how far a tree is from the best one of its size."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from surtree.cli import _options as options
from surtree.cli._columns import conform
from surtree.cli._console import failures, guarded, show, show_json, warnings_said
from surtree.cli._files import Format, read_table
from surtree.cli._models import read_model, read_rows
from surtree.cli._survey import survey
from surtree.cli._survival import TargetColumns, read_survival
from surtree.cli._training import Asked, say_oddities
from surtree.cuts.categories import CategoryCuts
from surtree.cuts.encoder import Encoder
from surtree.questions.audit import audit_tree, default_encoder
from surtree.questions.audit_result import Audit, Optimum
from surtree.questions.r_tree import read_r_tree

ModelOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="The model to audit.", show_default=False)
]
Leaf = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Instead of a model: the column with the leaf of each row, from any other tool.",
    ),
]
RTreeOption = Annotated[
    Path | None,
    typer.Option(
        "--r-tree",
        metavar="FILE",
        help="Instead of a model: a tree of R, as docs/audits.md writes it.",
    ),
]
Thresholds = Annotated[
    int | None,
    typer.Option(
        "--n-thresholds",
        parser=options.read_n_thresholds,
        metavar="N|all",
        help="The most thresholds of a numeric column; by default those of the model, or all.",
        show_default=False,
    ),
]
CategoryCut = Annotated[
    CategoryCuts | None,
    typer.Option(
        help="Whether questions name one category or any set; by default as the model, or sets.",
        show_default=False,
    ),
]


def audit(
    data: options.Data,
    time: options.Time,
    event: options.Event,
    entry: options.Entry = None,
    weight: options.Weight = None,
    model: ModelOption = None,
    leaf: Leaf = None,
    r_tree: RTreeOption = None,
    columns: options.Columns = None,
    exclude: options.Exclude = None,
    types: options.Types = None,
    separator: options.Separator = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    sheet: options.SheetName = None,
    missing: options.Missing = None,
    drop_incomplete: options.DropIncomplete = False,
    zero_times: options.ZeroTime = "keep",
    max_depth: options.AuditDepth = None,
    n_thresholds: Thresholds = None,
    category_cuts: CategoryCut = None,
    time_limit: options.TimeLimit = 60.0,
    jobs: options.Jobs = None,
    json: options.Json = False,
) -> None:
    """Compare a tree with the best tree of its size, and say which question costs most."""
    if sum(given is not None for given in (model, leaf, r_tree)) != 1:
        raise typer.BadParameter("give one of --model, --leaf and --r-tree")
    if model is not None and (columns or exclude or types):
        raise typer.BadParameter(
            "--columns, --exclude and --type go with --leaf: a model knows its columns"
        )
    target = TargetColumns(
        time,
        event,
        entry=entry,
        weight=weight,
        leaf=leaf,
        drop_incomplete=drop_incomplete,
        zero_times=zero_times,
    )
    asked = Asked(columns, exclude, types)
    form = Format(separator, decimal, encoding, sheet, missing or ())
    with guarded():
        subject: Any
        if model is not None:
            subject = read_model(model)
            table = read_rows(data, subject, form)
        else:
            table = read_table(data, form, as_texts=asked.as_texts)
        frame = target.complete_rows(table.frame)
        survival = read_survival(frame, target)
        if leaf is not None:
            subject = frame[leaf].to_numpy()
        if r_tree is not None:
            with failures(ValueError, OSError):
                subject = read_r_tree(r_tree)
        if model is None:
            choice = asked.choose(frame, survival)
            X = choice.X
            say_oddities(survey(replace(table, frame=frame[list(choice.kinds)]), **choice.words))
        else:
            X = conform(frame, subject)
        with failures(ValueError, TypeError), warnings_said():
            found = audit_tree(
                subject,
                X,
                survival.y,
                survival.weight,
                survival.entry,
                max_depth=max_depth,
                encoder=_encoder(subject, n_thresholds, category_cuts),
                time_limit=time_limit,
                n_jobs=jobs,
            )
        if json:
            show_json(_json(found))
        else:
            show(str(found))


def _encoder(
    subject: Any, n_thresholds: int | None, category_cuts: CategoryCuts | None
) -> Encoder | None:
    """Return the questions that were asked for; None for those that the audit takes by itself."""
    if n_thresholds is None and category_cuts is None:
        return None
    encoder = default_encoder(subject)
    if n_thresholds is not None:
        encoder.set_params(n_thresholds=n_thresholds or None)
    if category_cuts is not None:
        encoder.set_params(category_cuts=category_cuts)
    return encoder


def _json(found: Audit) -> dict[str, Any]:
    return {
        "name": found.name,
        "loss": found.loss,
        "loss_of_a_single_leaf": found.leaf_loss,
        "splits": found.n_splits,
        "depth": found.depth,
        "gap": found.gap,
        "missed": found.missed,
        "same_depth": _optimum(found.same_depth),
        "same_size": _optimum(found.same_size),
        "notes": list(found.notes),
        "split_costs": [
            {"node": cost.node, "rule": cost.rule, "cost": cost.cost} for cost in found.split_costs
        ],
    }


def _optimum(optimum: Optimum | None) -> dict[str, Any] | None:
    if optimum is None:
        return None
    return {
        "max_depth": optimum.max_depth,
        "max_splits": optimum.max_splits,
        "loss": optimum.loss,
        "lower_bound": optimum.lower_bound,
    }

"""``surtree audit``: how far a tree is from the best one of its size."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from surtree._support.parameters import MAX_DEPTH
from surtree.cli import _options as options
from surtree.cli._command import Take, command, option, refuse
from surtree.cli._console import Result
from surtree.cli._models import read_model, read_outcomes
from surtree.cli._survival import read_survival
from surtree.cli._target import TargetColumns
from surtree.cli._training import Asked, say_oddities
from surtree.cuts.categories import CategoryCuts
from surtree.cuts.encoder import Encoder
from surtree.questions.audit import audit_tree, default_encoder
from surtree.questions.audit_result import Audit, Optimum
from surtree.questions.r_tree import read_r_tree
from surtree.reading.errors import failures
from surtree.reading.survey import survey
from surtree.reading.table import read_file


@dataclass(frozen=True)
class AuditOptions:
    """The tree to audit, and the trees that it is compared with."""

    model: Path | None = option("The model to audit.", metavar="FILE")
    r_tree: Path | None = option(
        "Instead of a model: a tree of R, as docs/audits.md writes it.", metavar="FILE"
    )
    max_depth: int | None = option(
        "The largest number of questions that a row is asked; by default 4, or as many as the "
        "model asks if that is more.",
        min=0,
        max=MAX_DEPTH,
        panel="Tree",
    )
    n_thresholds: int | None = option(
        "The most thresholds of a numeric column; by default those of the model, or all.",
        reads=options.read_n_thresholds,
        metavar="N|all",
        panel="Tree",
    )
    category_cuts: CategoryCuts | None = option(
        "Whether questions name one category or any set; by default as the model, or sets.",
        panel="Tree",
    )
    time_limit: float | None = option(
        "After so long the search ends with its best tree and a bound.",
        default=60.0,
        callback=options.read_seconds,
        metavar="SECONDS",
        panel="Search",
    )

    def encoder(self, tree: Any) -> Encoder | None:
        """Return the questions that were asked for; None for those that the audit takes itself."""
        if self.n_thresholds is None and self.category_cuts is None:
            return None
        encoder = default_encoder(tree)
        if self.n_thresholds is not None:
            encoder.set_params(n_thresholds=self.n_thresholds or None)
        if self.category_cuts is not None:
            encoder.set_params(category_cuts=self.category_cuts)
        return encoder


@command
def audit(
    data: options.Data,
    target: Annotated[
        TargetColumns,
        Take("time! event cause treatment entry weight id leaf drop_incomplete zero_times"),
    ],
    audited: AuditOptions,
    asked: Asked,
    form: options.FileOptions,
    search: Annotated[options.SearchOptions, Take("jobs")],
    json: options.Json = False,
) -> Result:
    """Compare a tree with the best tree of its size, and say which question costs most."""
    given = [one for one in (audited.model, target.leaf, audited.r_tree) if one is not None]
    refuse(
        {
            "give one of --model, --leaf and --r-tree": len(given) != 1,
            "--leaf and --r-tree are of one event: give --event alone": (
                audited.model is None
                and (target.event is None or bool(target.cause or target.treatment))
            ),
            "--columns, --exclude and --type go with --leaf: a model knows its columns": (
                audited.model is not None and any(vars(asked).values())
            ),
        }
    )
    tree: Any
    if audited.model is not None:
        tree = read_model(audited.model)
        X, survival = read_outcomes(data, tree, target, form)
    else:
        table = read_file(data, form, as_texts=asked.as_texts)
        frame = target.complete_rows(table.frame)
        survival = read_survival(frame, target)
        with failures(ValueError, OSError):
            if audited.r_tree is not None:
                tree = read_r_tree(audited.r_tree)
            else:
                tree = frame[str(target.leaf)].to_numpy()
        choice = asked.choose(frame, survival.columns)
        X = choice.X
        say_oddities(survey(replace(table, frame=frame[list(choice.kinds)]), **choice.words))
    with failures(ValueError, TypeError):
        result = audit_tree(
            tree,
            X,
            **survival.inputs,
            max_depth=audited.max_depth,
            encoder=audited.encoder(tree),
            time_limit=audited.time_limit,
            n_jobs=search.jobs,
        )
    return Result(str(result), _json(result))


def _json(result: Audit) -> dict[str, Any]:
    return {
        "name": result.name,
        "loss": result.loss,
        "loss_of_a_single_leaf": result.leaf_loss,
        "splits": result.n_splits,
        "depth": result.depth,
        "gap": result.gap,
        "missed": result.missed,
        "same_depth": _optimum(result.same_depth),
        "same_size": _optimum(result.same_size),
        "notes": result.notes,
        "split_costs": result.split_costs,
    }


def _optimum(optimum: Optimum | None) -> dict[str, Any] | None:
    names = ("max_depth", "max_splits", "loss", "lower_bound")
    return None if optimum is None else {name: getattr(optimum, name) for name in names}

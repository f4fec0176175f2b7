"""``surtree fit --kind``: taught trees, averages over all trees and score cards."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any, Literal

import numpy as np
import polars as pl
from sklearn.base import clone

from surtree.averages.bayes import SurTreeBayes
from surtree.averages.points import PointsTable
from surtree.averages.taught import TaughtTree
from surtree.averages.usual import usual_models
from surtree.cli._command import Given, option, refuse
from surtree.cli._console import plain
from surtree.cli._options import TreeOptions
from surtree.cli._progress import progress_bar
from surtree.cli._search import Fitted
from surtree.cli._summary import certificate, model_json, teacher_text, told
from surtree.cli._survival import Survival
from surtree.cli._validate import validated, validation_json
from surtree.reading.errors import failures
from surtree.validation import Comparison, compare
from surtree.validation.verdict import prediction_verdicts
from surtree.words.tables import text_table

Kind = Literal["tuned", "taught", "average", "points"]

_CLASSES: dict[str, type[Any]] = {
    "taught": TaughtTree,
    "average": SurTreeBayes,
    "points": PointsTable,
}
# What `usual_models` calls them.
_NAMES: dict[Kind, str] = {
    "tuned": "tuned tree",
    "taught": "taught tree",
    "average": "average over all trees",
    "points": "score card",
}
# Of tables up to this size the taught tree was ahead (docs/results/taught.md and survset.md).
_MOST_ROWS = 6_000
_TREE_OPTIONS = tuple(TreeOptions.__dataclass_fields__)


@dataclass(frozen=True)
class KindOptions:
    """Which model is fitted, and what it is compared with."""

    kind: Kind = option(
        "A tree of a tuned size; the tree that is nearest to the average over all trees; that "
        "average; or a score card. The taught tree predicted better than the tuned one on 15 of 15 "
        "real tables of 100 to 500 rows and on 30 of 35 others (docs/results/taught.md, "
        "survset.md), the average and the card better than both.",
        default="tuned",
    )
    compare: bool = option(
        "Fit the other kinds, a Cox model and one curve for all on the same ten folds, and say "
        "what each costs; the model and the report keep it.",
        "--compare",
        default=False,
    )

    def require(self, given: Given) -> None:
        """Refuse options that the kind does not have."""
        others = ("cause", "treatment", "tune", "folds", "rule", "memory_limit", "cause_name")
        parameters = () if self.kind == "tuned" else _parameters(self.kind)
        named = [given[name] for name in (*others, *_TREE_OPTIONS) if name in given]
        idle = [text for text in named if _field(text, given) not in parameters]
        refuse(
            {
                f"--kind {self.kind} has no {idle[0] if idle else ''}: leave it out": (
                    self.kind != "tuned" and bool(idle)
                ),
                "--compare is about one event of a table in memory: leave it out": (
                    self.compare and bool({"cause", "treatment", "memory_limit"} & set(given))
                ),
                "--time-limit is for trees: leave it out": (
                    self.kind == "points" and "time_limit" in given
                ),
            }
        )

    def model(self, given: Given, tree: TreeOptions, **engine: Any) -> Any:
        """Return the model that is asked for, before its fit."""
        known = _parameters(self.kind)
        asked = tree.parameters(tuned=False)
        chosen = {name: asked[name] for name in known if name in given and name in asked}
        return _CLASSES[self.kind](**chosen, **{k: v for k, v in engine.items() if k in known})

    def compared(self, X: pl.DataFrame, survival: Survival, max_depth: int) -> Comparison | None:
        """Return how models do on the same folds, if that is asked for."""
        if not self.compare:
            return None
        models = usual_models(_NAMES[self.kind], max_depth=max_depth)
        with progress_bar() as bar, failures(ValueError, TypeError):
            return compare(
                models,
                X,
                **survival.inputs,
                groups=survival.group,
                progress=bar.counting("Comparing ", "fits"),
            )

    def advice(self, given: Given, survival: Survival) -> str:
        """Return what is likely to predict better than a tuned tree, for who has not chosen."""
        is_chosen = {"kind", "compare", "cause", "treatment"} & set(given)
        if is_chosen or len(survival.y) > _MOST_ROWS:
            return ""
        return (
            "Most tables of 100 to 6,000 rows were predicted better by the tree of --kind taught; "
            "--compare says what it does on this one."
        )


def fit_kind(
    model: Any,
    X: pl.DataFrame,
    survival: Survival,
    n_bootstraps: int | None,
    horizons: tuple[float, ...] | None,
) -> Fitted:
    """Fit a model that is not tuned, and validate it if asked for."""
    start = perf_counter()
    with failures(ValueError, TypeError):
        model.fit(X, **survival.inputs)
    seconds = perf_counter() - start
    if n_bootstraps is not None:
        model.validation_ = validated(
            clone(model).set_params(n_jobs=None),
            X,
            survival,
            n_bootstraps=n_bootstraps,
            horizons=sorted(horizons) if horizons else None,
            n_jobs=model.n_jobs,
        )
    verdict = prediction_verdicts(model.validation_, None, 1, noun="model")[0]
    parts = (
        model_text(model, horizons),
        "" if model.validation_ is None else str(model.validation_),
        str(verdict),
    )
    content: dict[str, Any] = {"seconds": seconds, "stopped": False}
    content |= {"validation": validation_json(model.validation_), **kind_json(model)}
    return Fitted(model, **told(survival, X.columns, seconds, *parts, **content))


def model_text(model: Any, horizons: tuple[float, ...] | None = None) -> str:
    if isinstance(model, TaughtTree):
        parts = [str(model.tree_), teacher_text(model), certificate(model)]
        return "\n\n".join(parts)
    if isinstance(model, PointsTable):
        return f"{model.card_}\n\n{_scores(model, horizons)}"
    heading, rows = model._table()
    first = [(rule, f"{share:.1%}") for rule, share in list(model.first_questions_.items())[:5]]
    stages = f"{model.n_stages_} stages; no tree is drawn: --kind taught is the nearest tree"
    return "\n\n".join(
        [
            text_table([heading, *rows]),
            text_table([("first question", "probability"), *first]),
            stages,
        ]
    )


def kind_json(model: Any) -> dict[str, Any]:
    name = type(model).__name__
    if isinstance(model, TaughtTree):
        return {"kind": name, "explained": model.explained_.tolist(), **model_json(model)}
    if isinstance(model, PointsTable):
        card = [
            {"column": column.name, "values": list(column.labels), "points": list(column.points)}
            for column in model.card_
        ]
        return {"kind": name, "card": card, "most": model.card_.most}
    content: dict[str, Any] = plain(
        {
            "kind": name,
            "column_probability": model.column_probability_.tolist(),
            "first_questions": model.first_questions_,
            "stage_evidence": model.stage_evidence_.tolist(),
        }
    )
    return content


def _scores(model: PointsTable, horizons: tuple[float, ...] | None) -> str:
    """Return what sums of points mean: relative risk, and survival at some times."""
    most = model.card_.most
    totals = np.unique(np.linspace(0, most, 6).round().astype(int))
    end = float(model.unique_times_[-1])
    times = horizons or (float(f"{end / 4:.3g}"), float(f"{end / 2:.3g}"))
    survival = model.survival_of(totals, times=times)
    rows = [
        (str(k), f"{risk:.3g}", *(f"{share:.0%}" for share in row))
        for k, risk, row in zip(
            totals.tolist(), model.risk_of(totals).tolist(), survival.tolist(), strict=True
        )
    ]
    heading = ("points", "relative risk", *(f"survival at {time:g}" for time in times))
    return text_table([heading, *rows])


def _parameters(kind: str) -> frozenset[str]:
    return frozenset(_CLASSES[kind]().get_params(deep=False))


def _field(text: str, given: Given) -> str:
    return next(name for name, spelled in given.items() if spelled == text)

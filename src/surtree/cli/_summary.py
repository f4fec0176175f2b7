"""A fitted model in words, and in JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from surtree._support.status import VOID, WORDS
from surtree.cli._console import plain
from surtree.cli._survival import Survival
from surtree.estimators.tree import SurTree
from surtree.fitting.conditions import condition_texts
from surtree.model_selection.cv import SurTreeCV
from surtree.solver.verbose import is_nothing
from surtree.summary.findings import read_findings
from surtree.tree.leaf_curve import FEW_EVENTS, median_limits
from surtree.tree.resolve import cause_names_of
from surtree.validation.held_out import MEASURES, HeldOutScores
from surtree.validation.verdict import prediction_verdicts


def told(
    survival: Survival, columns: Sequence[str], seconds: float, /, *parts: str, **more: Any
) -> dict[str, Any]:
    """Return what there is to say of a fit, for a person and for a program."""
    size = f"{data_text(survival, len(columns))}, {seconds:.2f} s"
    content = {"rows": len(survival.y), "events": survival.n_events, "columns": list(columns)}
    return {"text": "\n\n".join(filter(None, [size, *parts])), "content": content | more}


def certificate(model: SurTree) -> str:
    prior = f" with shrinkage {model.shrinkage:g}" if model.shrinkage else ""
    line = WORDS[model.status_].line
    objective = model.tree_.objective
    if model.status_ == "optimal":
        line = f"optimal: no tree within these limits {objective.is_best}"
    if model.kept_ is not None:
        line = f"{WORDS['kept'].title}: {model.kept_}"
    if 0 < model.proven_depth_ < model.max_depth:
        line += f"; of depth {model.proven_depth_} the best trees are known"
    if model.free_loss_ is not None:
        line += f"; without {' and '.join(condition_texts(model))}: {model.free_loss_:.6g}"
    if model.receipt_ is not None:
        line += f"; confirmed by a second program on {model.receipt_.date}"
    proof = f"lower bound {model.lower_bound_:.6g}, gap {_gap_text(model.gap_)}"
    if model.status_ != "optimal" and is_nothing(model.lower_bound_, model.loss_):
        proof = "nothing proven" + ("" if model.status_ == "edited" else " yet about the whole")
    return f"{objective.loss_name} {model.loss_:.6g}{prior}, {proof} ({line})"


def teacher_text(model: SurTree) -> str:
    """Return, of a taught tree, what its size costs and buys as lines; empty for any other."""
    findings = read_findings(model)
    if findings.teaching is None:
        return ""
    sizes = ", ".join(f"{k} {share:.0%}" for k, share in enumerate(findings.explained))
    lines = [f"teacher: {findings.teaching.teacher}; explained by splits: {sizes}"]
    trained, plain = findings.teaching.training_loss, findings.teaching.plain_loss
    if trained is not None and plain is not None:
        lines.append(
            f"loss on these rows {trained:.6g} (in sample); the least of as many splits {plain:.6g}"
        )
    return "\n".join(lines)


def _gap_text(gap: float) -> str:
    """Return a gap in per cent; a positive one is never shown as zero."""
    return "below 0.01%" if 0 < gap < 0.0001 else f"{gap:.2%}"


def path_text(model: SurTree) -> str:
    """Return the best tree of every size, as a table."""
    rows = [("splits", "leaves", "depth", "loss", "lower bound", "gap", "")]
    for size in path_json(model):
        loss, bound = size["loss"], size["lower_bound"]
        gap = _gap_text((loss - bound) / loss if loss > 0 else 0.0)
        counts = (str(size[name]) for name in ("splits", "leaves", "depth"))
        rows.append((*counts, f"{loss:.6g}", f"{bound:.6g}", gap, "chosen" * size["chosen"]))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    table = ["  ".join(map(str.rjust, row, widths)).rstrip() for row in rows]
    void = ["", WORDS[model.status_].line] if model.status_ in VOID else []
    return "\n".join(table + void)


def path_json(model: SurTree) -> list[dict[str, Any]]:
    """Return the loss and the bound of every size."""
    return [
        {
            "splits": size.splits,
            "leaves": size.tree.n_leaves,
            "depth": size.tree.depth,
            "loss": size.loss,
            "lower_bound": size.lower_bound,
            "chosen": size.tree is model.tree_,
        }
        for size in model.path_
    ]


def model_json(model: SurTree) -> dict[str, Any]:
    """Return the certificate, the leaves and the path of a model."""
    tree = model.tree_
    content: dict[str, Any] = {
        "status": model.status_,
        "loss": model.loss_,
        "unpenalised_loss": model.unpenalised_loss_,
        "shrinkage": model.shrinkage,
        "lower_bound": model.lower_bound_,
        "gap": model.gap_,
        "proven_depth": model.proven_depth_,
        "splits": tree.n_splits,
        "depth": tree.depth,
        "leaf_curve": tree.leaf_curve,
        "last_time": tree.last_time,
        "leaves": [
            {
                "leaf": rule.leaf,
                "name": rule.name,
                "conditions": list(rule.conditions),
                "risk": rule.theta,
                "risk_limits": list(rule.theta_limits),
                "median": tree.median(rule.leaf),
                "median_limits": list(median_limits(tree, rule.leaf)),
                **({} if rule.n_persons is None else {"persons": rule.n_persons}),
                "rows": rule.n_samples,
                "events": rule.n_events,
                "few_events": rule.n_events < FEW_EVENTS,
                **tree.outcome.leaf_json(tree.outcome.group(rule.leaf)),
            }
            for rule in tree.rules()
        ],
        "path": path_json(model),
    }
    finite: dict[str, Any] = plain(content)
    return finite


def tuning_text(tuning: SurTreeCV) -> str:
    tried = ", ".join(f"{shrinkage:g}" for shrinkage in tuning.sizes_by_shrinkage_)
    chosen = f"shrinkage {tuning.sizes_.shrinkage:g}, chosen of {tried}"
    scores = "" if tuning.held_out_ is None else f"\n\n{tuning.held_out_}"
    return f"{chosen}\n\n{tuning.sizes_}{scores}"


def verdict_text(model: SurTree) -> str:
    """Return whether a model predicts new data better than no tree, as its page says it."""
    verdicts = prediction_verdicts(
        model.validation_, model.held_out_, model.tree_.n_splits, cause_names_of(model)
    )
    return "\n".join(map(str, verdicts))


def tuning_json(tuning: SurTreeCV | None) -> dict[str, Any] | None:
    if tuning is None:
        return None
    sizes, scores = tuning.sizes_, tuning.held_out_
    return {
        "scoring": sizes.scoring,
        "rule": sizes.rule,
        "folds": sizes.held_out.shape[1],
        "shrinkage": sizes.shrinkage,
        "held_out": None if scores is None else _held_out_json(scores),
        "chosen": sizes.chosen,
        "sizes": [
            {"max_depth": int(depth), "max_splits": int(splits), "mean": float(mean)}
            for depth, splits, mean in zip(
                sizes.max_depth, sizes.max_splits, sizes.mean, strict=True
            )
        ],
    }


def _held_out_json(scores: HeldOutScores) -> dict[str, Any]:
    causes = [{"cause": cause} | _measures(one) for cause, one in scores.of_cause.items()]
    measures = _measures(scores) | {"corrected": scores.corrected, "missing": scores.missing}
    return measures | {"causes": causes} if causes else measures


def _measures(scores: HeldOutScores) -> dict[str, Any]:
    return {
        name: {"mean": scores.mean(name), "standard_error": scores.standard_error(name)}
        for name in MEASURES
    }


def data_text(survival: Survival, n_columns: int) -> str:
    """Return how large a table is, as a line."""
    rows = f"{len(survival.y)} rows"
    if survival.id is not None:
        rows = f"{rows} of {len(set(survival.id.tolist()))} persons"
    return f"{rows}, {survival.n_events} events, {n_columns} columns"

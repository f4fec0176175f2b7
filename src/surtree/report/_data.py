"""The data of a page as JSON, for its script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surtree._support.types import Floats
from surtree.report._questionnaire import Field
from surtree.summary.figures import (
    median_in_words,
    median_limits_text,
    risk_in_words,
    risk_limits_text,
    risk_text,
)
from surtree.summary.findings import Findings
from surtree.summary.leaves import Leaf
from surtree.summary.steps import Band, visible_steps
from surtree.summary.survival_table import SurvivalAt
from surtree.summary.time import last_time
from surtree.summary.wording import median_text, number, rule_texts
from surtree.tree.tree import Tree

# Tolerances of the curves of a page; tables have the exact numbers.
CURVE, BAND = 0.004, 0.01


@dataclass(frozen=True)
class Shown:
    """What is drawn on a page."""

    leaves: tuple[Leaf, ...]  # the leaves of the tree, as they are drawn
    everyone: Leaf  # all rows together
    survival: Sequence[Sequence[SurvivalAt]]  # the survival of each leaf at a few times
    fields: list[Field]  # the questions
    level: float  # the level of confidence intervals


def page_data(findings: Findings, shown: Shown) -> dict[str, Any]:
    """Return the nodes, curves, questions and sizes of a page as plain lists and numbers."""
    tree = findings.tree
    end = last_time(tree, shown.leaves)
    everyone = shown.everyone
    return {
        "end": _short(end),
        "nodes": _nodes(findings, shown.fields),
        "leaves": {
            str(leaf.node): _leaf(leaf, findings, shown.level, end)
            | {"horizons": [_horizon(row, findings) for row in rows]}
            for leaf, rows in zip(shown.leaves, shown.survival, strict=True)
        },
        "everyone": _curve(everyone.times, everyone.survival, None)
        | {"median": median_text(everyone.median, 3), "last": _short(end)},
        "fields": [
            {"number": field.is_number, "seen": field.seen, "name": field.name}
            for field in shown.fields
        ],
        "sizes": [
            {"splits": size.splits, "loss": size.loss, "bound": size.lower_bound}
            for size in findings.sizes
        ],
        "splits": tree.n_splits,
        "weighted": tree.weighted,
        "level": f"{100 * shown.level:g}%",
        "scores": _scores(findings),
    }


def _nodes(findings: Findings, fields: list[Field]) -> list[dict[str, Any]]:
    tree = findings.tree
    place_of_column = {field.column: place for place, field in enumerate(fields)}
    nodes = []
    for node, rule in enumerate(rule_texts(tree, findings.labels)):
        known: dict[str, Any] = {
            "rule": rule,
            "rows": int(tree.n_samples[node]),
            "events": int(tree.n_events[node]),
            "weight": number(float(tree.weight[node]), 4),
            "risk": number(float(tree.theta[node]), 3),
        }
        if not tree.is_leaf[node]:
            known |= _question(tree, node, fields, place_of_column)
        nodes.append(known)
    return nodes


def _question(
    tree: Tree, node: int, fields: list[Field], place_of_column: dict[int, int]
) -> dict[str, Any]:
    cut = tree.cuts[int(tree.cut[node])]
    place = place_of_column[cut.column]
    asked: dict[str, Any] = {
        "left": int(tree.left[node]),
        "right": int(tree.right[node]),
        "field": place,
        "missing": tree.question(node).missing,
    }
    if cut.threshold is not None:
        return asked | {"threshold": cut.threshold}
    return asked | {"chosen": fields[place].chosen_by(cut)}


def _leaf(leaf: Leaf, findings: Findings, level: float, end: float) -> dict[str, Any]:
    unit = findings.time_unit or ""
    observed = None
    if leaf.observed is not None and findings.predicts_otherwise:
        observed = _curve(leaf.observed.times, leaf.observed.survival, None)
    return _curve(leaf.times, leaf.survival, leaf.band) | {
        "name": leaf.name,
        "colour": leaf.colour,
        "risk": risk_text(leaf),
        "riskLimits": risk_limits_text(leaf),
        "median": median_text(leaf.median, 3),
        "medianLimits": median_limits_text(leaf),
        "said": f"{risk_in_words(leaf, level)}; {median_in_words(leaf, level, unit)}.",
        "last": _short(min(leaf.last_time, end)),
        "observed": observed,
        "censored": [_short(time) for time in leaf.censored.tolist()],
        "few": leaf.few_events and not leaf.no_events,
        "none": leaf.no_events,
    }


def _curve(times: Floats, survival: Floats, band: Band | None) -> dict[str, Any]:
    steps = visible_steps(times, survival, band, (CURVE, BAND))
    return {
        "times": [_short(time) for time in steps.times.tolist()],
        "survival": steps.survival.round(4).tolist(),
        "lower": steps.lower.round(4).tolist() if steps.has_band else [],
        "upper": steps.upper.round(4).tolist() if steps.has_band else [],
    }


def _horizon(row: SurvivalAt, findings: Findings) -> dict[str, Any]:
    known: dict[str, Any] = {
        "time": number(row.time, 6),
        "survival": round(row.predicted, 4),
    }
    if row.observed is not None and findings.predicts_otherwise:
        known["observed"] = round(row.observed, 4)
    if row.limits is not None:
        lower, upper = row.limits
        known |= {"lower": round(lower, 4), "upper": round(upper, 4)}
    if row.at_risk:
        known["atRisk"] = row.at_risk
    return known


def _scores(findings: Findings) -> dict[str, Any] | None:
    scores = findings.scores
    if scores is None:
        return None
    sign = -1.0 if scores.scoring == "loss" else 1.0
    line = scores.of_depth(int(scores.max_depth[scores.chosen]))
    return {
        "scoring": scores.scoring,
        "depth": int(scores.max_depth[scores.chosen]),
        "splits": scores.max_splits[line].tolist(),
        "mean": (sign * scores.mean[line]).tolist(),
        "error": [None if np.isnan(e) else e for e in scores.standard_error[line].tolist()],
        "training": scores.training_loss[line].mean(axis=1).tolist() if sign < 0 else [],
        "chosen": int(scores.max_splits[scores.chosen]),
    }


def _short(time: float) -> float:
    return float(f"{time:.7g}")

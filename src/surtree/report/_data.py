"""The data of a page as JSON, for its script."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from surtree._types import Floats
from surtree.display.leaves import Leaf, at_risk
from surtree.display.wording import median_text, number, rule_texts
from surtree.report._findings import Findings
from surtree.report._questionnaire import Field
from surtree.report._steps import visible_steps
from surtree.survival.step_function import StepFunction
from surtree.tree.tree import Tree

# Tolerances of the curves of a page; tables have the exact numbers.
CURVE, BAND = 0.004, 0.01


def page_data(
    findings: Findings,
    leaves: tuple[Leaf, ...],
    everyone: Leaf,
    fields: list[Field],
    horizons: list[float],
) -> dict[str, Any]:
    """Return the nodes, curves, questions and sizes of a page as plain lists and numbers.

    Parameters
    ----------
    findings : Findings
        What the page shows.
    leaves : tuple of Leaf
        The leaves of the tree, as they are drawn.
    everyone : Leaf
        All rows together.
    fields : list of Field
        The questions.
    horizons : list of float
        The times for which survival is stated.
    """
    tree = findings.tree
    return {
        "end": _short(float(tree.baseline.times[-1])),
        "nodes": _nodes(tree, fields),
        "leaves": {
            str(leaf.node): _curve(leaf) | {"horizons": _horizons(tree, place, leaf, horizons)}
            for place, leaf in enumerate(leaves)
        },
        "everyone": _curve(everyone),
        "fields": [
            {"number": field.is_number, "seen": field.seen, "name": field.name} for field in fields
        ],
        "sizes": [
            {"splits": size.splits, "loss": size.loss, "bound": size.lower_bound}
            for size in findings.sizes
        ],
        "splits": tree.n_splits,
        "weighted": findings.weighted,
        "scores": _scores(findings),
    }


def embedded_json(data: dict[str, Any]) -> str:
    """Return data as JSON that may stand in a script element, whatever texts are in it."""
    text = json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _nodes(tree: Tree, fields: list[Field]) -> list[dict[str, Any]]:
    place_of_column = {field.column: place for place, field in enumerate(fields)}
    nodes = []
    for node, rule in enumerate(rule_texts(tree)):
        known: dict[str, Any] = {
            "rule": rule,
            "rows": int(tree.n_samples[node]),
            "events": int(tree.n_events[node]),
            "weight": number(float(tree.weight[node]), 4),
            "risk": number(float(tree.theta[node]), 3),
        }
        if not tree.is_leaf[node]:
            cut = tree.cuts[int(tree.cut[node])]
            place = place_of_column[cut.column]
            known |= {
                "left": int(tree.left[node]),
                "right": int(tree.right[node]),
                "field": place,
                "missing": tree.question(node).missing,
            }
            if cut.threshold is not None:
                known["threshold"] = cut.threshold
            else:
                known["chosen"] = fields[place].chosen_by(cut)
        nodes.append(known)
    return nodes


def _curve(leaf: Leaf) -> dict[str, Any]:
    steps = visible_steps(leaf, CURVE, BAND)
    no_band = leaf.band is None or bool(np.isnan(leaf.band[0]).all())
    return {
        "name": leaf.name,
        "colour": leaf.colour,
        "median": median_text(leaf.median, 3),
        "times": [_short(time) for time in steps.times.tolist()],
        "survival": steps.survival.round(4).tolist(),
        "lower": [] if no_band else steps.lower.round(4).tolist(),
        "upper": [] if no_band else steps.upper.round(4).tolist(),
        "last": _short(float(leaf.times[-1])) if leaf.times.size else 0.0,
    }


def _horizons(tree: Tree, place: int, leaf: Leaf, horizons: list[float]) -> list[dict[str, Any]]:
    def value_at(values: Floats) -> Floats:
        return np.round(StepFunction(leaf.times, values, 1.0)(horizons), 4)

    survival = value_at(leaf.survival)
    limits = [] if leaf.band is None else list(map(value_at, leaf.band))
    counts = np.full(len(horizons), np.nan)
    if tree.risk:
        counts = at_risk(tree, place, np.array(horizons))
    rows = []
    for position, horizon in enumerate(horizons):
        if horizon > leaf.last_time:
            break  # nobody of the leaf was observed then
        row: dict[str, Any] = {"time": number(horizon, 6), "survival": float(survival[position])}
        lower, upper = (float(limit[position]) for limit in limits) if limits else (np.nan,) * 2
        if np.isfinite(lower):
            row |= {"lower": lower, "upper": upper}
        if np.isfinite(counts[position]):
            row["atRisk"] = number(float(counts[position]), 3)
        rows.append(row)
    return rows


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

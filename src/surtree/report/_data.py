"""The data of a page as JSON, for its script."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from surtree.outcomes import GroupCurve, ObservedCurve
from surtree.outcomes.effect_results import CorrectedEffect
from surtree.report._explore import explorer_data
from surtree.report._questionnaire import Field
from surtree.report._shown import Shown, cell
from surtree.summary.figures import figure_in_words, visible_steps
from surtree.summary.findings import Findings
from surtree.summary.survival_table import SurvivalAt, time_label
from surtree.summary.wording import rule_texts
from surtree.tree.tree import Tree
from surtree.words.numbers import interval_text, median_text, number

# Tolerances of the curves of a page; tables have the exact numbers.
CURVE, BAND = 0.004, 0.01

# A figure with its name, and what stands below it.
_Figure = tuple[str, str, str]


def page_data(shown: Shown, fields: list[Field]) -> dict[str, Any]:
    """Return the nodes, curves, questions and sizes of a page as plain lists and numbers."""
    findings, tree, unit = shown.findings, shown.tree, shown.findings.time_unit
    return {
        "end": _short(shown.end),
        "nodes": _nodes(shown, fields),
        "leaves": {
            str(group.node): _leaf(shown, position) for position, group in enumerate(shown.groups)
        },
        "doubt": findings.doubt,
        "curveName": shown.outcome.curve_name,
        "stacked": shown.outcome.is_stacked,
        "everyone": _curve(shown.everyone) | {"last": _short(shown.end)},
        "fields": [
            {"number": field.is_number, "seen": field.seen, "name": field.name} for field in fields
        ],
        "sizes": _sizes(findings),
        "explains": bool(findings.explained),
        "splits": tree.n_splits,
        "level": f"{100 * shown.level:g}%",
        "limitsName": shown.limits_name,
        "scores": _scores(findings),
        "explorer": explorer_data(findings),
        "timeLabel": time_label(unit),
        "timeUnit": unit or "",
    }


def _sizes(findings: Findings) -> list[dict[str, float]]:
    """Return the loss of every size and its bound; of a taught tree, what it explains."""
    sizes = [(size.splits, size.loss, size.lower_bound) for size in findings.sizes]
    without = findings.sizes[0].loss if findings.explained else 0.0
    if without > 0:
        sizes = [(k, 1 - loss / without, 1 - bound / without) for k, loss, bound in sizes]
    return [{"splits": k, "loss": loss, "bound": bound} for k, loss, bound in sizes]


def _nodes(shown: Shown, fields: list[Field]) -> list[dict[str, Any]]:
    tree = shown.tree
    nodes = []
    for node, rule in enumerate(rule_texts(tree, shown.findings.labels, whole=True)):
        known: dict[str, Any] = {
            "rule": rule,
            "rows": int(tree.n_samples[node]),
            "events": int(tree.n_events[node]),
            "figures": _node_figures(shown, node),
        }
        if not tree.is_leaf[node]:
            known |= _question(tree, node, fields)
        nodes.append(known)
    return nodes


def _node_figures(shown: Shown, node: int) -> list[_Figure]:
    """Return the figures of a node; of a leaf with intervals."""
    tree, group = shown.tree, shown.outcome.group(node)
    weight = []
    if tree.weighted:
        weight = [("weight", number(float(tree.weight[node]), 4), "")]
    rows = ("rows", str(group.n_samples), "")
    if tree.is_leaf[node]:
        return [*_leaf_figures(shown, tree.leaves.tolist().index(node), rows), *weight]
    figures = [(shown.outcome.risk_name, number(group.theta, 3), "")]
    if node == 0:
        median = _with_unit(median_text(shown.everyone.median, 3), shown.everyone.median, shown)
        figures.append(("median survival", median, ""))
    return [*figures, rows, ("events", str(group.n_events), ""), *weight]


def _leaf_figures(shown: Shown, position: int, rows: _Figure) -> list[_Figure]:
    estimates: list[_Figure] = []
    counts: list[_Figure] = []
    for column in shown.columns:
        text, below = cell(column, position)
        if column.is_count:
            few = shown.groups[position].note == "few events" and not counts
            counts.append((column.heading, text, "few" if few else ""))
        elif column.is_printed:
            if column.is_time:
                text = _with_unit(text, column.values[position], shown)
            is_interval = below not in ("", "no events")
            estimates.append((column.heading, text, f"CI {below}" if is_interval else below))
    known = shown.stability.get(shown.groups[position].leaf)
    estimates += [
        (
            f"expected in new data{_arm(one, shown)}",
            number(one.corrected, 3),
            interval_text(one.limits),
        )
        for one in shown.corrected(position)
        if isfinite(one.corrected)
    ]
    if known is not None:
        counts.append(("in other samples", known.words, f"{known.jaccard:.0%} agreement"))
    return [*estimates, rows, *counts]


def _arm(effect: CorrectedEffect, shown: Shown) -> str:
    return f", {effect.arm}" if len(shown.outcome.channels) > 2 else ""


def _with_unit(text: str, time: float, shown: Shown) -> str:
    unit = shown.findings.time_unit
    return f"{text} {unit}" if unit and isfinite(time) else text


def _question(tree: Tree, node: int, fields: list[Field]) -> dict[str, Any]:
    cut = tree.cuts[int(tree.cut[node])]
    index = [field.column for field in fields].index(cut.column)
    question: dict[str, Any] = {
        "left": int(tree.left[node]),
        "right": int(tree.right[node]),
        "field": index,
        "missing": tree.question(node).missing,
    }
    if cut.threshold is not None:
        return question | {"threshold": cut.threshold}
    return question | {"chosen": fields[index].chosen_by(cut)}


def _leaf(shown: Shown, position: int) -> dict[str, Any]:
    group, curve, unit = shown.groups[position], shown.curves[position], shown.findings.time_unit
    otherwise = shown.findings.predicts_otherwise
    figures = [
        figure_in_words(column, position, shown.level, unit or "")
        for column in shown.columns
        if column.is_printed and not column.is_count
    ] + [
        f"expected in new data{_arm(one, shown)} {number(one.corrected, 3)}"
        for one in shown.corrected(position)
        if isfinite(one.corrected)
    ]
    observed = curve.observed if otherwise else None
    known = shown.stability.get(group.leaf)
    return _curve(curve) | {
        "name": group.name,
        "label": group.letters,
        "colour": curve.colour,
        "text": f"{'; '.join(figures)}.",
        "last": _short(min(curve.last_time, shown.end)),
        "observed": None if observed is None else _curve(observed, None),
        "censored": [_short(time) for time in curve.censored.tolist()],
        "limits": [] if known is None else np.round(known.limits, 4).tolist(),
        "again": "" if known is None else known.words,
        "parts": [_part(curve, shown) for curve in shown.parts[position]]
        if shown.outcome.is_several
        else [],
        "few": group.note == "few events",
        "none": group.note == "no events",
        "horizons": [_horizon(row, otherwise) for row in shown.survival[position]],
    }


def _part(curve: GroupCurve, shown: Shown) -> dict[str, Any]:
    """Return the curve of a cause or of an arm, with its values at some times."""
    band = None if shown.outcome.is_stacked else BAND
    times = [time for time in shown.times if time <= curve.last_time]
    return _curve(curve, band) | {
        "label": curve.channel.label,
        "colour": curve.colour,
        "last": _short(min(curve.last_time, shown.end)),
        "values": [_value(curve, time) for time in times],
    }


def _value(curve: GroupCurve, time: float) -> list[float]:
    """Return a share at a time, and its limits where they are known."""
    value, limits = curve.at(time)
    known = (value, *limits) if np.isfinite(limits).all() else (value,)
    return [round(one, 4) for one in known]


def _curve(curve: GroupCurve | ObservedCurve, band: float | None = BAND) -> dict[str, Any]:
    start = curve.start if isinstance(curve, GroupCurve) else 1.0
    steps = visible_steps(curve, CURVE, band, start)
    lower, upper = (np.empty(0),) * 2 if steps.band is None else steps.band
    return {
        "times": [_short(time) for time in steps.times.tolist()],
        "survival": steps.values.round(4).tolist(),
        "lower": lower.round(4).tolist(),
        "upper": upper.round(4).tolist(),
    }


def _horizon(row: SurvivalAt, otherwise: bool) -> dict[str, Any]:
    known: dict[str, Any] = {"time": number(row.time, 6), "survival": round(row.predicted, 4)}
    if isfinite(row.observed) and otherwise:
        known["observed"] = round(row.observed, 4)
    if np.isfinite(row.limits).all():
        known |= {"lower": round(row.limits[0], 4), "upper": round(row.limits[1], 4)}
    if row.at_risk:
        known["atRisk"] = row.at_risk
    return known


def _scores(findings: Findings) -> dict[str, Any] | None:
    scores = findings.scores
    if scores is None:
        return None
    sign = -1.0 if scores.scoring == "loss" else 1.0
    rows = scores.of_depth(int(scores.max_depth[scores.chosen]))
    return {
        "scoring": scores.scoring,
        "depth": int(scores.max_depth[scores.chosen]),
        "splits": scores.max_splits[rows].tolist(),
        "mean": (sign * scores.mean[rows]).tolist(),
        "error": [None if np.isnan(e) else e for e in scores.standard_error[rows].tolist()],
        "training": scores.training_loss[rows].mean(axis=1).tolist() if sign < 0 else [],
        "chosen": int(scores.max_splits[scores.chosen]),
    }


def _short(time: float) -> float:
    return float(f"{time:.7g}")

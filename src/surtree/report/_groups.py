"""All leaves in numbers: on paper, and for readers without a pointer."""

from __future__ import annotations

from collections.abc import Sequence

from surtree.report._tree import breakable
from surtree.summary.figures import (
    level_text,
    median_limits_text,
    risk_limits_text,
    risk_text,
)
from surtree.summary.findings import Findings
from surtree.summary.leaves import Leaf
from surtree.summary.survival_table import SurvivalAt
from surtree.summary.wording import leaf_texts, median_text, number
from surtree.tree.hazard_ratios import leaf_hazard_ratios, shows_ratios
from surtree.words.quoting import html_text as escape


def groups_html(
    findings: Findings,
    leaves: Sequence[Leaf],
    survival: Sequence[Sequence[SurvivalAt]],
    level: float,
) -> str:
    """Return the rules and figures of all leaves, and their survival at some times, as tables."""
    rules = leaf_texts(findings.tree, findings.labels)
    interval = level_text(level)
    ratios: list[str] = []
    if shows_ratios(findings.tree):
        ratios = [
            _with_limits(*one.text.removesuffix(")").split(" (", 1))
            for one in leaf_hazard_ratios(findings.tree, level=level)
        ]
    headings = (
        *("leaf", "who"),
        *([] if findings.tree.n_persons is None else ["persons"]),
        *("rows", "events"),
        f"relative risk ({interval})",
        *([f"hazard ratio ({interval})"] if ratios else []),
        f"median ({interval})",
    )
    body = "".join(
        "<tr>"
        f'<th scope="row"><span class="unit">leaf </span>{leaf.node}</th>'
        f"<td>{breakable(rules[leaf.node])}</td>"
        + "".join(
            f'<td data-heading="{escape(heading)}">{figure}</td>'
            for heading, figure in zip(headings[2:], _figures(leaf, ratio), strict=True)
        )
        + "</tr>"
        for leaf, ratio in zip(leaves, ratios or [""] * len(leaves), strict=True)
    )
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in headings)
    return (
        f'<table class="groups"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
        + _survival_html(leaves, survival, findings, interval)
    )


def _figures(leaf: Leaf, ratio: str) -> tuple[str, ...]:
    few = " (few)" if leaf.few_events and not leaf.no_events else ""
    return (
        *([] if leaf.n_persons is None else [str(leaf.n_persons)]),
        str(leaf.n_samples),
        f"{leaf.n_events}{few}",
        _with_limits(risk_text(leaf), risk_limits_text(leaf)),
        *([ratio] if ratio else []),
        _with_limits(median_text(leaf.median, 3), median_limits_text(leaf)),
    )


def _with_limits(figure: str, limits: str = "") -> str:
    return escape(figure) + (f"<small>({escape(limits)})</small>" if limits else "")


def _survival_html(
    leaves: Sequence[Leaf],
    survival: Sequence[Sequence[SurvivalAt]],
    findings: Findings,
    interval: str,
) -> str:
    times = sorted({row.time for rows in survival for row in rows})
    if not times:
        return ""
    head = "".join(f'<th scope="col">{number(time, 6)}</th>' for time in times)
    body = ""
    for leaf, rows in zip(leaves, survival, strict=True):
        at = {row.time: row for row in rows}
        cells = "".join(f"<td>{_cell(at.get(time), findings)}</td>" for time in times)
        if not rows:
            ended = f"last follow-up at {number(leaf.last_time, 4)}"
            cells = f'<td colspan="{len(times)}"><small>{ended}</small></td>'
        body += f'<tr><th scope="row">{leaf.node}</th>{cells}</tr>'
    observed = any(row.observed is not None for rows in survival for row in rows)
    what = f"as the tree predicts it ({interval})"
    below = ""
    if observed:
        seen = f"what was observed ({interval}) and " if findings.predicts_otherwise else ""
        below = f"; below it {seen}rows at risk"
    unit = f", time in {findings.time_unit}" if findings.time_unit else ""
    said = f"Survival {what}{below}{unit}. Empty where nobody is left at risk."
    if findings.tree.leaf_curve == "baseline":
        said += " Limits of predicted survival and of medians are the uncertainty of theta only."
    return (
        f'<p class="note">{escape(said)}</p><div class="scroll" tabindex="0" '
        'role="region" aria-label="Survival at some times"><table class="survival">'
        f'<thead><tr><th scope="col">leaf</th>{head}</tr></thead><tbody>{body}</tbody></table>'
        "</div>"
    )


def _cell(row: SurvivalAt | None, findings: Findings) -> str:
    if row is None:
        return ""
    parts = [f"<b>{row.predicted:.0%}</b>{_limits(row.limits)}"]
    if row.observed is not None and findings.predicts_otherwise:
        parts.append(f"<small>{row.observed:.0%}{_limits(row.observed_limits)}</small>")
    if row.at_risk:
        parts.append(f"<small>{row.at_risk} at risk</small>")
    return "".join(parts)


def _limits(limits: tuple[float, float] | None) -> str:
    return "" if limits is None else f" ({limits[0]:.0%} to {limits[1]:.0%})"

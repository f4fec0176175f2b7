"""Competing risks on the page: stacked cumulative incidence of each leaf, and its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from surtree._support.types import Floats
from surtree.outcomes.cause_figures import cause_events, cause_limits, causes_of
from surtree.outcomes.incidence import leaf_incidence, leaf_incidence_band
from surtree.outcomes.legacy import (
    cause_colours,
    cause_names,
    cause_text,
    causes_text,
    has_causes,
    stacked_incidence,
)
from surtree.report._chart import Axis, Chart
from surtree.report._tree import breakable
from surtree.summary.figures import level_text
from surtree.summary.findings import Findings
from surtree.summary.leaves import Leaf, time_label
from surtree.summary.wording import leaf_texts, number
from surtree.survival.step_function import StepFunction
from surtree.tree.tree import Tree
from surtree.words.quoting import html_text as escape

_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)


def causes_html(
    findings: Findings, leaves: Sequence[Leaf], times: Sequence[float], level: float
) -> str:
    """Return the section about the causes of a tree of competing risks; of others, nothing."""
    tree = findings.tree
    if not has_causes(tree):
        return ""
    names = cause_names(tree, findings.cause_names)
    told = [
        names[cause]
        for cause, weight in zip(causes_of(tree).causes, causes_of(tree).weights, strict=True)
        if weight > 0
    ]
    rules = leaf_texts(tree, findings.labels)
    figures = "".join(
        f"<figure>{_chart(findings, leaf.node)}<figcaption><b>Leaf {leaf.node}</b>: "
        f"{breakable(rules[leaf.node])}<br>{escape(causes_text(tree, leaf.node, names))}"
        "</figcaption></figure>"
        for leaf in leaves
    )
    return (
        '<section id="causes" aria-labelledby="causes-heading">'
        '<h2 id="causes-heading">The causes</h2>'
        '<p class="lead">The share of each group that has had an event of each cause by a time, '
        f"one on top of the other; the rest has had none. The tree was chosen to tell apart "
        f"{escape(_listed(told))}. Everywhere else on this page, but for figures of held-out "
        "rows, an event is one of any cause: survival is to be without any, and the relative risk "
        "is that of all causes together.</p>"
        f"{_legend(tree, names)}"
        f'<div class="charts">{figures}</div>'
        + _risks(tree, leaves, names, level)
        + _numbers(tree, leaves, names, times, level)
        + "</section>"
    )


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _legend(tree: Tree, names: Mapping[int, str]) -> str:
    swatches = "".join(
        f'<span style="white-space:nowrap"><i style="display:inline-block;width:.8em;height:.8em;'
        f'background:{colour};margin-right:.4em"></i>{escape(name)}</span> '
        for name, colour in zip(names.values(), cause_colours(tree), strict=True)
    )
    return f'<p class="note">{swatches}</p>'


def _chart(findings: Findings, leaf: int) -> str:
    tree = findings.tree
    end = float(tree.baseline.times[-1])
    power = 10.0 ** np.floor(np.log10(end))
    step = next(power * part for part in (0.2, 0.5, 1, 2) if end / (power * part) <= 5)
    ticks = [step * place for place in range(int(end / step) + 1)]
    chart = Chart(
        Axis(0.0, end, ticks, time_label(findings.time_unit), percent=False),
        Axis(0.0, 1.0, _SHARES, "cumulative incidence"),
        f"Cumulative incidence of each cause in leaf {leaf}",
    )
    times, stacked = stacked_incidence(tree, leaf)
    corners = np.repeat(times, 2)[1:]
    below: Floats = np.zeros(corners.size)
    for upper, colour in zip(stacked, cause_colours(tree), strict=True):
        edge = np.repeat(upper, 2)[:-1]
        chart.area(corners.tolist(), below.tolist(), edge.tolist(), colour)
        below = edge
    if times[-1] < end:
        chart.line([float(times[-1])] * 2, [0.0, 1.0], "ideal")
    return chart.svg()


def _risks(tree: Tree, leaves: Sequence[Leaf], names: Mapping[int, str], level: float) -> str:
    """Return the relative risk of each cause in each leaf, with its interval, as a table."""
    interval = level_text(level)
    head = "".join(
        f'<th scope="col">{escape(name)}: events</th>'
        f'<th scope="col">relative risk ({interval})</th>'
        for name in names.values()
    )
    body = "".join(
        f'<tr><th scope="row">{leaf.node}</th>'
        + "".join(
            f"<td>{cause_events(tree, cause)[leaf.node]:g}</td>"
            f"<td>{escape(cause_text(tree, leaf.node, cause, '.3g'))}"
            f"{_interval(cause_limits(tree, leaf.node, cause, level))}</td>"
            for cause in names
        )
        + "</tr>"
        for leaf in leaves
    )
    return _scrolling("Relative risk of each cause", f'<th scope="col">leaf</th>{head}', body)


def _interval(limits: tuple[float, float]) -> str:
    return f" <small>({number(limits[0], 2)} to {number(limits[1], 2)})</small>"


def _numbers(
    tree: Tree,
    leaves: Sequence[Leaf],
    names: Mapping[int, str],
    times: Sequence[float],
    level: float,
) -> str:
    """Return the cumulative incidence at some times, as a table."""
    shown = [time for time in times if time <= tree.baseline.last_time]
    if not shown:
        return ""
    head = "".join(f'<th scope="col">{number(time, 6)}</th>' for time in shown)
    body = ""
    for place, leaf in enumerate(leaves):
        for cause, name in names.items():
            curve = leaf_incidence(tree, cause)[place]
            band = leaf_incidence_band(tree, leaf.node, cause, level)
            cells = "".join(f"<td>{_cell(curve, band, leaf, time)}</td>" for time in shown)
            body += f'<tr><th scope="row">{leaf.node}: {escape(name)}</th>{cells}</tr>'
    said = f"Cumulative incidence ({level_text(level)}), as far as a group was followed up."
    return f'<p class="note">{said}</p>' + _scrolling(
        "Cumulative incidence at some times", f'<th scope="col">leaf: cause</th>{head}', body
    )


def _cell(
    curve: StepFunction, band: tuple[StepFunction, StepFunction], leaf: Leaf, time: float
) -> str:
    if time > min(leaf.last_time, band[0].domain[1]):
        return ""
    low, high = (float(limit(time)) for limit in band)
    limits = f" ({low:.0%} to {high:.0%})" if np.isfinite([low, high]).all() else ""
    return f"<b>{float(curve(time)):.0%}</b>{limits}"


def _scrolling(label: str, head: str, body: str) -> str:
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{label}">'
        f'<table class="survival"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    )

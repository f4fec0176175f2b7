"""Treatment effects: the curves of each arm in each leaf, hazard ratios, and numbers at risk."""

from __future__ import annotations

import numpy as np

from surtree.outcomes.arm_effects import arms_of, effects_of_leaf, interval_text, ratio_text
from surtree.outcomes.effect_results import effects_warning
from surtree.outcomes.legacy import arm_at_risk, arms_caption
from surtree.report._tree import breakable
from surtree.summary.arms import read_arm_leaves
from surtree.summary.findings import Findings
from surtree.summary.leaves import Leaf, time_label
from surtree.summary.steps import visible_steps
from surtree.summary.wording import leaf_texts, number
from surtree.words.quoting import html_text as escape

# The size of a picture, and the room for the labels of its axes.
_WIDTH, _HEIGHT, _LEFT, _BELOW, _ABOVE = 340.0, 170.0, 38.0, 34.0, 8.0
_MOST_TICKS = 6


def effects_html(findings: Findings, level: float) -> str:
    """Return a picture of the arms of each leaf with its hazard ratio; nothing without arms."""
    tree = findings.tree
    if tree.arms is None:
        return ""
    labels = tree.arms.names
    rules = leaf_texts(tree, findings.labels)
    keys = "".join(
        f'<span class="arm" style="--risk:{arm.colour}">{escape(label)}</span>'
        for arm, label in zip(read_arm_leaves(tree, int(tree.leaves[0])), labels, strict=True)
    )
    cards = "".join(_card(findings, leaf, rules[leaf], level) for leaf in tree.leaves.tolist())
    panels = f'<div class="cards">{cards}</div>'
    doubt = effects_warning(findings.heterogeneity) if tree.n_leaves > 1 else ""
    if doubt:
        # What may be chance is behind what says so.
        verdict = f'<p class="verdict" data-good="false">{escape(doubt)}</p>'
        panels = f"{verdict}<details><summary>The arms of each leaf</summary>{panels}</details>"
    return (
        '<div class="effects"><h3>What the treatment does in each leaf</h3>'
        f'<p class="note">Arms: {keys}; reference: {escape(str(labels[0]))}. '
        f"{escape(arms_caption(tree, None, level, ticks=False))}</p>"
        f"{panels}</div>"
    )


def verdict_html(findings: Findings) -> str:
    """Return whether effects differ at all, and how much in new data."""
    test, correction = findings.heterogeneity, findings.correction
    if test is None:
        heading = "Not tested: nothing is known about whether effects differ."
        text = (
            "A tree always finds leaves in which arms differ. Set model.heterogeneity_ = "
            "heterogeneity_test(model, X, y, treatment), and model.correction_ = "
            "correct_effects(model, X, y, treatment)."
        )
        return _verdict(heading, text, good=False)
    heading, *others = str(test).splitlines()
    said = _verdict(heading, " ".join(others), good=test.is_evidence)
    if correction is None:
        return said
    head = "".join(
        f'<th scope="col">{text}</th>'
        for text in ("leaf", "arm", "hazard ratio here", "expected in new data", "95% interval")
    )
    body = "".join(
        f'<tr><th scope="row">{one.leaf}</th><td>{escape(str(one.arm))}</td>'
        f"<td>{escape(ratio_text(one.ratio))}</td><td>{escape(ratio_text(one.corrected))}</td>"
        f"<td>{escape(interval_text(one.limits))}</td></tr>"
        for one in correction.leaves
    )
    return (
        f"{said}<p>{escape(correction.share_text)}</p>"
        f'<div class="scroll"><table class="stability"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _verdict(heading: str, text: str, *, good: bool) -> str:
    return (
        f'<p class="verdict" data-good="{str(good).lower()}"><strong>{escape(heading)}</strong> '
        f"{escape(text)}</p>"
    )


def _card(findings: Findings, leaf: int, rule: str, level: float) -> str:
    tree = findings.tree
    arms = read_arm_leaves(tree, leaf, level=level)
    effects = "".join(
        f"<p>hazard ratio, <b>{escape(effect.contrast)}: "
        f"{escape(ratio_text(effect.ratio))}</b> "
        f"<small>({100 * level:g}% CI {escape(interval_text(effect.limits))})</small></p>"
        for effect in effects_of_leaf(tree, leaf, level)
    )
    return (
        f"<figure><figcaption><b>leaf {leaf}</b> {breakable(rule)}</figcaption>"
        f"{effects}{_picture(findings, arms)}{_at_risk(findings, leaf)}</figure>"
    )


def _ticks(end: float) -> list[float]:
    """Return a few round times, all of them among those at which rows at risk are known."""
    power = 10.0 ** np.floor(np.log10(end / _MOST_TICKS))
    step = next(power * digit for digit in (1, 2, 5, 10) if power * digit >= end / _MOST_TICKS)
    return [float(f"{step * place:.12g}") for place in range(int(end / step + 1e-9) + 1)]


def _picture(findings: Findings, arms: tuple[Leaf, ...]) -> str:
    """Return the curves of the arms over time, as SVG."""
    end = float(findings.tree.baseline.times[-1])
    x_scale = (_WIDTH - _LEFT - 10) / end
    y_scale = _HEIGHT - _BELOW - _ABOVE
    bottom = _HEIGHT - _BELOW
    parts = [f'<path class="axis" d="M{_LEFT} {_ABOVE}V{bottom}H{_WIDTH - 10}"/>']
    for share in (0.0, 0.5, 1.0):
        y = bottom - share * y_scale
        parts.append(f'<text x="{_LEFT - 5}" y="{y + 4:g}" text-anchor="end">{share:.0%}</text>')
    for tick in _ticks(end):
        x = _LEFT + tick * x_scale
        text = escape(number(tick, 4))
        parts.append(f'<text x="{x:.1f}" y="{bottom + 14:g}" text-anchor="middle">{text}</text>')
    said = escape(time_label(findings.time_unit))
    middle = _LEFT + (_WIDTH - _LEFT) / 2
    parts.append(f'<text x="{middle:g}" y="{_HEIGHT - 4:g}" text-anchor="middle">{said}</text>')
    for arm in arms:
        steps = visible_steps(arm.times, arm.survival, arm.band, (0.004, 0.01))
        last = min(arm.last_time, end)

        def path(values: np.ndarray, times: np.ndarray, last: float = last) -> list[str]:
            shown = times <= last
            corners = [(0.0, 1.0)]
            for time, value in zip(times[shown], values[shown], strict=True):
                corners += [(time, corners[-1][1]), (time, value)]
            corners.append((last, corners[-1][1]))
            return [
                f"{_LEFT + time * x_scale:.1f} {bottom - value * y_scale:.1f}"
                for time, value in corners
            ]

        style = f'style="--risk:{escape(arm.colour)}"'
        if steps.has_band:
            upper, lower = (path(limit, steps.times) for limit in (steps.upper, steps.lower))
            area = "L".join([*upper, *reversed(lower)])
            parts.append(f'<path class="band" {style} d="M{area}Z"/>')
        line = "L".join(path(steps.survival, steps.times))
        parts.append(f'<path class="curve" {style} d="M{line}"/>')
    return (
        f'<svg class="plot" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" role="img" '
        f'aria-label="Survival of each arm over time">{"".join(parts)}</svg>'
    )


def _at_risk(findings: Findings, leaf: int) -> str:
    tree = findings.tree
    arms = arms_of(tree)
    ticks = _ticks(float(tree.baseline.times[-1]))
    head = "".join(f'<th scope="col">{escape(number(tick, 4))}</th>' for tick in ticks)
    body = "".join(
        f'<tr><th scope="row">{escape(label)}</th>'
        + "".join(
            f"<td>{escape(number(float(count), 4))}</td>"
            for count in arm_at_risk(tree, leaf, arm, np.array(ticks))
        )
        + f"<td>{arms.n_events[leaf, arm]}</td></tr>"
        for arm, label in enumerate(arms.names)
    )
    return (
        f'<table class="numbers"><thead><tr><th scope="col">at risk</th>{head}'
        f'<th scope="col">events</th></tr></thead><tbody>{body}</tbody></table>'
    )

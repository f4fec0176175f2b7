"""Draw the pictures of docs/search.md again: python docs/images/make_diagrams.py.

Their numbers are real: the German breast cancer study, computed here in NumPy. A picture has its
own colours for a light and a dark page.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from surtree import SurTree
from surtree.datasets import load_gbsg2

IMAGES = Path(__file__).parent
STYLE = """
svg { --paper: #ffffff; --ink: #1b1f24; --soft: #5a636d; --line: #c4ccd4; --blue: #2668a8;
  --warm: #bf4d2b; --tint: #e8f0f8; --heat: 38, 104, 168; }
@media (prefers-color-scheme: dark) { svg { --paper: #1a1c1e; --ink: #e4e6e8; --soft: #a3abb3;
  --line: #454b52; --blue: #7db8f0; --warm: #f0937a; --tint: #22303d; --heat: 125, 184, 240; } }
text { font: 13px "Segoe UI", Helvetica, Arial, sans-serif; fill: var(--ink); }
.soft { fill: var(--soft); } .small { font-size: 11.5px; } .bold { font-weight: 600; }
.blue { fill: var(--blue); } .warm { fill: var(--warm); }
.middle { text-anchor: middle; } .end { text-anchor: end; }
.box { fill: var(--tint); stroke: var(--line); }
.line { stroke: var(--soft); fill: none; stroke-width: 1.3; }
"""


class Drawing:
    """Shapes of an SVG picture, in the order in which they are drawn."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img" aria-label="{title}">',
            f"<style>{STYLE}</style>",
            f'<rect width="{width}" height="{height}" rx="8" style="fill: var(--paper)"/>',
        ]

    def text(self, x: float, y: float, text: str, kind: str = "") -> None:
        """Write a line of text."""
        escaped = text.replace("&", "&amp;").replace("<", "&lt;")
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}">{escaped}</text>')

    def rect(self, x: float, y: float, width: float, height: float, more: str) -> None:
        """Draw a rectangle; ``more`` are its other attributes."""
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" {more}/>'
        )

    def line(self, *points: tuple[float, float], more: str = 'class="line"') -> None:
        """Draw a line through points."""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" fill="none" {more}/>')

    def dot(self, x: float, y: float, radius: float, style: str) -> None:
        """Draw a disc."""
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" style="{style}"/>')

    def save(self, name: str) -> None:
        """Write the picture beside this program."""
        (IMAGES / name).write_text("\n".join([*self.parts, "</svg>\n"]), encoding="utf-8")


@dataclass(frozen=True)
class Rows:
    """Events and expected events of each row, the cuts of all columns, and which rows they hold."""

    event: np.ndarray
    hazard: np.ndarray
    cuts: list
    holds: np.ndarray

    def gain(self, rows: np.ndarray) -> float:
        """Return the gain of a leaf of these rows."""
        return float(_gain(self.event[rows].sum(), self.hazard[rows].sum()))

    def profile(self, rows: np.ndarray) -> list[float]:
        """Return the best gains with at most 0 and 1 splits."""
        splits = [
            self.gain(rows & side) + self.gain(rows & ~side)
            for side in self.holds.T
            if (rows & side).any() and (rows & ~side).any()
        ]
        return [self.gain(rows), max(splits)]


def _gain(events: np.ndarray, hazard: np.ndarray) -> np.ndarray:
    events, hazard = np.asarray(events, dtype=float), np.asarray(hazard, dtype=float)
    return np.where(events > 0, events * np.log(np.maximum(events, 1) / hazard), 0.0)


def _read(**parameters: object) -> tuple[Rows, object]:
    X, y = load_gbsg2(backend="pandas")
    model = SurTree(max_depth=1, **parameters).fit(X, y)
    hazard = np.maximum(model.tree_.baseline.at(y["time"]), model.tree_.baseline.floor)
    cuts = list(model.encoder_.cuts_)
    return Rows(y["event"], hazard, cuts, model.encoder_.transform(X).astype(bool)), X


def recurrence() -> None:
    """Draw how the profiles of two sides make that of their rows."""
    rows, _ = _read()
    place = next(k for k, cut in enumerate(rows.cuts) if cut.rule == "positive_nodes > 3")
    right = rows.holds[:, place]
    sides = [rows.profile(~right), rows.profile(right)]
    everyone = np.ones(len(right), dtype=bool)
    zero = abs(round(rows.gain(everyone), 9))  # as many events as expected: no gain
    joined = [
        zero,
        sides[0][0] + sides[1][0],
        max(sides[0][1] + sides[1][0], sides[0][0] + sides[1][1]),
        sides[0][1] + sides[1][1],
    ]
    how = [
        "a leaf",
        "0 + 0",
        "0 + 1" if sides[0][0] + sides[1][1] == joined[2] else "1 + 0",
        "1 + 1",
    ]

    drawing = Drawing(
        760, 400, "The profile of a set of rows is joined from those of its two sides"
    )
    drawing.rect(280, 18, 200, 40, 'rx="6" class="box"')
    drawing.text(380, 43, f"D: {len(right)} rows, depth 2", "middle bold")
    drawing.line((330, 58), (190, 96))
    drawing.line((430, 58), (570, 96))
    drawing.text(240, 72, "positive_nodes <= 3", "end soft small")
    drawing.text(520, 72, "positive_nodes > 3", "soft small")
    zero_line, scale = 120, 0.75  # of the bars: their place, and pixels for each unit of gain
    for side, x, mask in zip(sides, (60, 440), (~right, right), strict=True):
        drawing.rect(x, 96, 260, 112, 'rx="6" class="box"')
        drawing.text(x + 14, 118, f"{mask.sum()} rows, depth 1", "bold")
        drawing.text(x + 14, 138, "best gain with at most", "soft small")
        for k, gain in enumerate(side):
            top = 150 + 26 * k
            drawing.text(x + 14, top + 13, f"{k} split{'s' * (k != 1)}", "small")
            length = gain * scale
            drawing.rect(
                x + zero_line + min(length, 0), top, abs(length), 16,
                'rx="2" style="fill: var(--blue)"',
            )  # fmt: skip
            drawing.text(x + zero_line + 6 + max(length, 0), top + 13, f"{gain:.1f}", "small")
        drawing.line((x + zero_line, 147), (x + zero_line, 195))
    drawing.line((190, 208), (330, 244))
    drawing.line((570, 208), (430, 244))
    drawing.rect(170, 244, 420, 138, 'rx="6" class="box"')
    drawing.text(184, 266, "this cut: sums of one entry from each side", "bold")
    scale = 150 / max(joined)
    for k, gain in enumerate(joined):
        top = 276 + 25 * k
        drawing.text(184, top + 13, f"{k} split{'s' * (k != 1)}", "small")
        drawing.text(244, top + 13, how[k], "small soft")
        width = max(gain * scale, 1.5)
        drawing.rect(300, top, width, 16, 'rx="2" style="fill: var(--warm)"')
        drawing.text(308 + width, top + 13, f"{gain:.1f}", "small")
    drawing.text(606, 300, "The profile of D is the", "small soft")
    drawing.text(606, 317, "best of each line over", "small soft")
    drawing.text(606, 334, "all cuts: every size", "small soft")
    drawing.text(606, 351, "from one search.", "small soft")
    drawing.save("recurrence.svg")


def kernels() -> None:
    """Draw how one histogram over two columns has the leaves of every pair of their cuts."""
    rows, X = _read()
    names = ("positive_nodes", "progesterone_receptor")
    cuts = [sorted(cut.threshold for cut in rows.cuts if cut.name == name) for name in names]
    bins = [np.searchsorted(cut, X[name].to_numpy()) for name, cut in zip(names, cuts, strict=True)]
    shape = tuple(len(cut) + 1 for cut in cuts)
    events, hazard = np.zeros(shape), np.zeros(shape)
    np.add.at(events, tuple(bins), rows.event)
    np.add.at(hazard, tuple(bins), rows.hazard)
    at = cuts[0].index(3) + 1, cuts[1].index(26) + 1

    drawing = Drawing(760, 392, "A histogram over two columns, cut once in each, has four leaves")
    left, top, cell = 64, 60, 26
    drawing.text(left, 26, "one histogram for each pair of columns", "bold")
    drawing.text(left, 44, f"{len(X)} rows, each added once; shade: events", "small soft")
    for i in range(shape[0]):
        for j in range(shape[1]):
            shade = 0.06 + 0.9 * (events[i, j] / events.max()) ** 0.7 if events[i, j] else 0.02
            drawing.rect(
                left + cell * i, top + cell * (shape[1] - 1 - j), cell - 2, cell - 2,
                f'rx="2" style="fill: rgba(var(--heat), {shade:.2f})"',
            )  # fmt: skip
    width, height = cell * shape[0], cell * shape[1]
    a, b = left + cell * at[0] - 1, top + height - cell * at[1] - 1
    cut_line = 'style="stroke: var(--warm); stroke-width: 2.5"'
    drawing.line((a, top - 6), (a, top + height + 4), more=cut_line)
    drawing.line((left - 6, b), (left + width + 4, b), more=cut_line)
    drawing.text(a, top + height + 20, "positive_nodes > 3", "middle small warm")
    drawing.text(left + width / 2, top + height + 38, "bins of positive_nodes", "middle small soft")
    drawing.parts.append(
        f'<text transform="translate({left - 14},{top + height / 2}) rotate(-90)" '
        'class="middle small soft">bins of progesterone_receptor</text>'
    )
    x = left + width + 12
    drawing.text(x, b + 4, "progesterone", "small warm")
    drawing.text(x, b + 18, "_receptor > 26", "small warm")

    x, y = 472, 84
    drawing.text(x, 26, "four corner sums are four leaves", "bold")
    drawing.text(x, 44, "for every pair of cuts, without the rows", "small soft")
    quarters = [
        ("nodes <= 3, receptor > 26", np.s_[: at[0], at[1] :]),
        ("nodes > 3, receptor > 26", np.s_[at[0] :, at[1] :]),
        ("nodes <= 3, receptor <= 26", np.s_[: at[0], : at[1]]),
        ("nodes > 3, receptor <= 26", np.s_[at[0] :, : at[1]]),
    ]
    total = 0.0
    for column, label in ((x + 186, "E"), (x + 224, "H"), (x + 262, "gain")):
        drawing.text(column, 70, label, "end small soft")
    for k, (label, part) in enumerate(quarters):
        e, h = events[part].sum(), hazard[part].sum()
        gain = float(_gain(e, h))
        total += gain
        drawing.rect(x - 8, y - 8 + 30 * k, 284, 26, 'rx="4" class="box"')
        drawing.text(x, y + 10 + 30 * k, label, "small")
        for column, text in (
            (x + 186, f"{e:.0f}"),
            (x + 224, f"{h:.0f}"),
            (x + 262, f"{gain:.1f}"),
        ):
            drawing.text(column, y + 10 + 30 * k, text, "end small")
    drawing.text(x + 262, y + 136, f"together {total:.1f}", "end bold")
    lines = [
        "Depth two: for each root cut of one column, the best",
        "partner on its left and on its right may differ, so",
        "the histograms of all pairs are read side by side.",
        "Depth three: a histogram over three columns. The",
        "eight cells of three cuts serve each of the three",
        "as the root, so each gain is evaluated once.",
    ]
    for k, line in enumerate(lines):
        drawing.text(x - 8, y + 172 + 17 * k + 8 * (k > 2), line, "small soft")
    drawing.save("kernels.svg")


def _bisect(left: np.ndarray, right: np.ndarray) -> tuple[list[int], list[tuple[int, int]]]:
    """Return the cuts that are solved, and the intervals that are dropped by their bounds."""
    solved, dropped = [0, len(left) - 1], []
    best = min(left[k] + right[k] for k in solved)
    intervals = [(0, len(left) - 1)]
    while intervals:
        # The most promising one next.
        intervals.sort(key=lambda pair: -(left[pair[0]] + right[pair[1]]))
        low, high = intervals.pop()
        if left[low] + right[high] >= best:
            dropped.append((low, high))
            continue
        if high - low < 2:
            continue
        middle = (low + high) // 2
        solved.append(middle)
        best = min(best, left[middle] + right[middle])
        intervals += [(low, middle), (middle, high)]
    return solved, dropped


def bisection() -> None:
    """Draw how two solved cuts bound all cuts between them."""
    rows, X = _read(n_thresholds=None, min_support=0)
    value = X["progesterone_receptor"].to_numpy()
    thresholds = np.unique(value)[:-1]
    saturated = np.where(rows.event, -np.log(rows.hazard), 0.0)
    order = np.argsort(value, kind="stable")
    sums = np.cumsum([rows.event[order], rows.hazard[order], saturated[order]], axis=1)
    inside = sums[:, np.searchsorted(value[order], thresholds, side="right") - 1]
    outside = sums[:, -1:] - inside
    left = inside[2] - _gain(inside[0], inside[1])
    right = outside[2] - _gain(outside[0], outside[1])
    loss = left + right
    solved, dropped = _bisect(left, right)
    best = int(np.argmin(loss))

    drawing = Drawing(760, 400, "The loss of every threshold, and the few that are evaluated")
    x0, x1, y0, y1 = 62, 738, 346, 66
    bounds = {pair: left[pair[0]] + right[pair[1]] for pair in dropped}
    low, high = min([*bounds.values(), loss.min()]) - 2, loss.max() + 2
    across = lambda k: x0 + (x1 - x0) * k / (len(loss) - 1)  # noqa: E731
    up = lambda value: y0 + (y1 - y0) * (value - low) / (high - low)  # noqa: E731

    drawing.text(
        x0, 24, "one column, every threshold: two solved cuts bound all between them", "bold"
    )
    drawing.text(
        x0, 42,
        f"{len(solved)} of {len(loss)} thresholds of progesterone_receptor were evaluated "
        f"to prove the best one (> {thresholds[best]:g})",
        "small soft",
    )  # fmt: skip
    for pair, bound in bounds.items():
        a, b = across(pair[0]), across(pair[1])
        drawing.rect(a, up(bound), b - a, y0 - up(bound), 'style="fill: rgba(var(--heat), 0.13)"')
        drawing.line(
            (a, up(bound)), (b, up(bound)), more='style="stroke: var(--blue); stroke-width: 2"'
        )
    drawing.line(
        *((across(k), up(value)) for k, value in enumerate(loss)),
        more='style="stroke: var(--soft); stroke-width: 1; stroke-dasharray: 2 2"',
    )
    drawing.line(
        (x0, up(loss[best])), (x1, up(loss[best])),
        more='style="stroke: var(--warm); stroke-width: 1.2"',
    )  # fmt: skip
    for k in solved:
        drawing.dot(across(k), up(loss[k]), 3.2, "fill: var(--ink)")
    drawing.dot(across(best), up(loss[best]), 5, "fill: var(--warm)")
    drawing.line((x0, y1 - 6), (x0, y0), (x1, y0))
    for value in range(int(np.ceil(low / 5) * 5), int(high), 5):
        drawing.text(x0 - 8, up(value) + 4, str(value), "end small soft")
    drawing.parts.append(
        f'<text transform="translate(18,{(y0 + y1) / 2}) rotate(-90)" '
        'class="middle small soft">loss of one split</text>'
    )
    drawing.text(x1, y0 + 18, "thresholds, from low to high", "end small soft")
    keys = [
        (x0, "evaluated", lambda x, y: drawing.dot(x, y, 3.2, "fill: var(--ink)")),
        (x0 + 96, "all (not evaluated)", lambda x, y: drawing.line(
            (x - 8, y), (x + 6, y), more='style="stroke: var(--soft); stroke-dasharray: 2 2"')),
        (x0 + 246, "lower bound of an interval that was dropped", lambda x, y: drawing.line(
            (x - 8, y), (x + 6, y), more='style="stroke: var(--blue); stroke-width: 2"')),
    ]  # fmt: skip
    for x, label, mark in keys:
        mark(x + 8, y0 + 38)
        drawing.text(x + 20, y0 + 42, label, "small soft")
    drawing.save("bisection.svg")


if __name__ == "__main__":
    recurrence()
    kernels()
    bisection()

"""The tree as nested lists, which a style sheet draws and a screen reader reads."""

from __future__ import annotations

from surtree.report._sparkline import sparkline
from surtree.summary.figures import (
    median_in_words,
    median_limits_text,
    risk_in_words,
    risk_limits_text,
    risk_text,
)
from surtree.summary.labels import NO_BREAK_SPACE, Labels
from surtree.summary.leaves import Leaf
from surtree.summary.time import last_time
from surtree.summary.wording import counted_node, median_text, pieces, rule_texts
from surtree.tree.tree import Tree
from surtree.words.quoting import html_text as escape

HEADINGS = ("leaf", "survival", "relative risk", "median", "rows", "events")


def tree_html(
    tree: Tree,
    leaves: tuple[Leaf, ...],
    everyone: Leaf,
    level: float,
    labels: Labels,
    name: str = "The tree",
) -> str:
    """Return the tree as HTML: a list in a list for every split, a figure for every leaf."""
    drawing = _Drawing(tree, leaves, everyone, level, labels)
    return (
        '<div class="surtree-body"><div class="surtree-head" aria-hidden="true"><span></span>'
        + "".join(f"<span>{heading}</span>" for heading in HEADINGS)
        + f'</div><ul class="surtree-tree" role="tree" aria-label="{escape(name)}" '
        f'data-depth="{tree.depth}">{drawing.item(0, 1)}</ul></div>'
    )


def breakable(text: str) -> str:
    """Return a text as HTML with line break opportunities."""
    # No-break spaces within a piece keep, for example, a comparison and its number together.
    parts = [piece.rstrip().replace(" ", NO_BREAK_SPACE) for piece in pieces(text)]
    ends = [piece[len(part) :] for piece, part in zip(pieces(text), parts, strict=True)]
    return "<wbr>".join(escape(part + end) for part, end in zip(parts, ends, strict=True))


class _Drawing:
    def __init__(
        self,
        tree: Tree,
        leaves: tuple[Leaf, ...],
        everyone: Leaf,
        level: float,
        labels: Labels,
    ) -> None:
        self._tree = tree
        self._leaves = {leaf.node: leaf for leaf in leaves}
        self._everyone = everyone
        self._level = level
        self._end = last_time(tree, leaves)
        self._rules = rule_texts(tree, labels)
        self._whole_rules = {0: "all rows"}
        for node, cut in tree.worded_cuts.items():
            no, yes = labels.rules(cut)
            self._whole_rules[int(tree.left[node])] = no
            self._whole_rules[int(tree.right[node])] = yes

    def item(self, node: int, level: int) -> str:
        """Return a node and all below it."""
        leaf = self._leaves.get(node)
        inside = self._leaf(leaf) if leaf is not None else self._split(node)
        below = "".join(
            self.item(int(child), level + 1)
            for child in (self._tree.left[node], self._tree.right[node])
            if child >= 0
        )
        group = f'<ul role="group">{below}</ul>' if below else ""
        kind = "surtree-split"
        if leaf is not None:
            # Every other row is shaded, so that the eye finds from a rule to its curve.
            shaded = list(self._leaves).index(node) % 2 == 0
            kind = "surtree-leaf surtree-shaded" if shaded else "surtree-leaf"
        return (
            f'<li role="treeitem" class="{kind}" data-node="{node}" aria-level="{level}" '
            f'aria-label="{escape(self._label(node, leaf))}" tabindex="{0 if node == 0 else -1}">'
            f'<div class="surtree-node" title="{escape(self._whole_rules[node])}">'
            f'<span class="surtree-rule">{breakable(self._rules[node])}</span>{inside}</div>'
            f"{group}</li>"
        )

    def _split(self, node: int) -> str:
        rows = counted_node(self._tree, node)
        return f'<span class="surtree-counts">{rows}</span>'

    def _leaf(self, leaf: Leaf) -> str:
        few = "few" if leaf.few_events and not leaf.no_events else ""
        figures = (
            f'<b class="surtree-number">{leaf.node}</b>',
            sparkline(leaf, self._everyone, self._end),
            f'<i class="surtree-dot" style="--risk:{escape(leaf.colour)}"></i>'
            f"{escape(risk_text(leaf))}{_small(risk_limits_text(leaf))}",
            median_text(leaf.median, 3) + _small(median_limits_text(leaf)),
            _rows(leaf),
            str(leaf.n_events) + _small(few, "surtree-few"),
        )
        return "".join(
            f'<span class="surtree-figure" data-heading="{heading}">{figure}</span>'
            for heading, figure in zip(HEADINGS, figures, strict=True)
        )

    def _label(self, node: int, leaf: Leaf | None) -> str:
        rows = counted_node(self._tree, node)
        said = f"{self._whole_rules[node]}: {rows}"
        if leaf is None:
            return said
        return (
            f"{said}; {leaf.name}, {risk_in_words(leaf, self._level)}, "
            f"{median_in_words(leaf, self._level, '')}"
        )


def _small(text: str, kind: str = "") -> str:
    if not text:
        return ""
    marked = f' class="{kind}"' if kind else ""
    return f"<small{marked}>{escape(text)}</small>"


def _rows(leaf: Leaf) -> str:
    if leaf.n_persons is None:
        return str(leaf.n_samples)
    return f"{leaf.n_samples}{_small(f'of {leaf.n_persons}')}"

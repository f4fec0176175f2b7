"""The tree as nested lists, which a style sheet draws and a screen reader reads."""

from __future__ import annotations

from surtree.outcomes import counted
from surtree.report._chart import sparkline
from surtree.report._html import Markup, element, markup, small
from surtree.report._shown import Shown, cell
from surtree.summary.figures import figure_in_words, visible_steps
from surtree.summary.labels import NO_BREAK_SPACE
from surtree.summary.wording import pieces, question_texts, rule_texts


def tree_html(shown: Shown, name: str = "The tree") -> Markup:
    """Return the tree as HTML: a list in a list for every split, a figure for every leaf."""
    drawing = _Drawing(shown)
    head = (element("span", heading) for heading in ("", *drawing.headings))
    tree = element(
        "ul",
        drawing.item(0, 1),
        class_="surtree-tree",
        role="tree",
        aria_label=name,
        data_depth=str(shown.tree.depth),
    )
    # On a phone, "not reached" needs more room than a number.
    narrow = " ".join("5rem" if column.is_time else "4.1rem" for column in drawing.figures)
    widths = {
        "columns": len(drawing.figures) or 1,
        "narrow": narrow or "4.1rem",
        "counts": len(drawing.counts) or 1,
    }
    return element(
        "div",
        element("div", *head, class_="surtree-head", aria_hidden="true"),
        tree,
        class_="surtree-body",
        style=";".join(f"--surtree-{name}:{width}" for name, width in widths.items()),
    )


def breakable(text: str) -> Markup:
    """Return a text as HTML with line break opportunities."""
    # No-break spaces within a piece keep, for example, a comparison and its number together.
    broken = pieces(text)
    parts = [piece.rstrip().replace(" ", NO_BREAK_SPACE) for piece in broken]
    ends = [piece[len(part) :] for piece, part in zip(broken, parts, strict=True)]
    return Markup(
        element("wbr").join(markup(part + end) for part, end in zip(parts, ends, strict=True))
    )


class _Drawing:
    def __init__(self, shown: Shown) -> None:
        self._shown, self._tree, labels = shown, shown.tree, shown.findings.labels
        self._positions = {group.node: position for position, group in enumerate(shown.groups)}
        # The figures that there is room for: estimates, and after the rows what is counted.
        self.figures = [one for one in shown.columns if one.is_printed and not one.is_count]
        self.counts = [one for one in shown.columns if one.is_printed and one.is_count]
        headings = (column.heading for column in self.figures)
        counts = (column.heading for column in self.counts)
        curve = "survival" if not shown.outcome.is_stacked else "events"
        self.headings = ("leaf", curve, *headings, "rows", *counts)
        self._everyone = visible_steps(shown.everyone, 0.02)
        self._asked, self._answers = question_texts(shown.tree, labels)
        self._whole_rules = rule_texts(shown.tree, labels, whole=True)

    def item(self, node: int, level: int) -> Markup:
        """Return a node and all below it."""
        position = self._positions.get(node)
        if position is None:
            kind, inside = "surtree-split", self._split(node)
        else:
            # Every other leaf is shaded, so that the eye finds from a rule to its curve.
            kind = f"surtree-leaf{'' if position % 2 else ' surtree-shaded'}"
            inside = self._leaf(position)
        children = (int(self._tree.left[node]), int(self._tree.right[node]))
        below = [self.item(child, level + 1) for child in children if child >= 0]
        return element(
            "li",
            element(
                "div",
                element(
                    "span",
                    breakable(self._answers[node]),
                    None if position is None else self._again(node),
                    class_="surtree-rule",
                ),
                inside,
                class_="surtree-node",
                title=self._whole_rules[node],
            ),
            element("ul", *below, role="group") if below else None,
            role="treeitem",
            class_=kind,
            data_node=str(node),
            aria_level=str(level),
            aria_label=self._name(node, position),
            tabindex="0" if node == 0 else "-1",
        )

    def _split(self, node: int) -> Markup:
        """Return how many rows come to a split, and what it asks, which its answers leave out."""
        counts = element("span", counted(self._shown.outcome.group(node)), class_="surtree-counts")
        return markup(
            counts, element("span", breakable(self._asked[node]), "?", class_="surtree-asked")
        )

    def _again(self, node: int) -> Markup:
        """Return whether other samples find a group again, where they seldom do."""
        known = self._shown.stability.get(node)
        if known is None:
            return Markup()
        return small(f"{known.words} ({known.jaccard:.0%} agreement)", "surtree-again")

    def _leaf(self, position: int) -> Markup:
        shown = self._shown
        group, area = shown.groups[position], shown.outcome.is_stacked
        figures = [
            markup(shown.dot(column, position), _figure(*cell(column, position)))
            for column in self.figures
        ]
        persons = "" if group.n_persons is None else f"of {group.n_persons}"
        few = small("few" if group.note == "few events" else "", "surtree-few")
        counts = [markup(column.text(position)) for column in self.counts]
        if counts:
            counts[0] = markup(counts[0], few)
        cells = (
            element("b", group.letters, class_="surtree-number"),
            sparkline(shown.parts[position], self._everyone, shown.end, area=area),
            *figures,
            markup(str(group.n_samples), small(persons)),
            *counts,
        )
        return markup(
            *(
                element("span", figure, class_="surtree-figure", data_heading=heading)
                for heading, figure in zip(self.headings, cells, strict=True)
            )
        )

    def _name(self, node: int, position: int | None) -> str:
        group = self._shown.outcome.group(node)
        text = f"{self._whole_rules[node]}: {counted(group)}"
        if position is None:
            return text
        level = self._shown.level
        figures = (figure_in_words(column, position, level) for column in self.figures)
        return f"{text}; {', '.join([group.name, *figures])}"


def _figure(text: str, below: str) -> Markup:
    return markup(text, small(below))

"""The explorer of near-optimal trees: what every swap costs, for a script, and as a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any

from surtree.cuts.cut import Cut
from surtree.questions.swaps import MOVED, QuestionSwaps, Swap
from surtree.report._html import Markup, details, element, note, table
from surtree.summary.findings import Findings
from surtree.summary.labels import Labels
from surtree.tree.tree import Tree
from surtree.words.colour import risk_colours
from surtree.words.numbers import number

# The page has the swaps of these columns, the cheapest at each node, so that it stays small.
MOST_COLUMNS = 30


def explorer_html(findings: Findings) -> Markup:
    """Return the section of the explorer; nothing where no swaps are known."""
    swaps = findings.swaps
    if swaps is None:
        return Markup()
    unit = f" {findings.time_unit}" if findings.time_unit else ""
    at = f"{number(swaps.horizon, 6)}{unit}"
    return element(
        "section",
        element("h2", "Which tree do you believe?", id="explore-heading"),
        element(
            "p",
            "Other questions fit these rows almost as well. At every split each dot is a column, "
            "at the exact cost of asking about it there, with everything else chosen anew: the "
            "share of what the best tree explains that is lost. Choose a split, then a column.",
            class_="lead",
        ),
        element("div", class_="explore-now", id="explore-now", role="status", aria_live="polite"),
        element("div", id="explore-buttons"),
        element(
            "div",
            element("div", id="explore-tree", class_="explore-tree"),
            element("div", id="explore-person"),
            class_="pair",
        ),
        element("div", id="explore-kept"),
        note(
            f"A row is moved if its predicted survival at {at} differs by more than "
            f"{100 * MOVED:g} points. {_held_out_text(swaps)} {swaps.costs.note()} What trees say "
            "of one person is no interval: in simulations the range of all trees within 5% held "
            "the true survival of 8 and of 40% of people."
        ),
        details("all swaps as a table", _table(swaps, findings.labels)),
        id="explore",
        aria_labelledby="explore-heading",
    )


def _held_out_text(swaps: QuestionSwaps) -> str:
    if not swaps.n_folds:
        return "How these trees do on new data was not assessed."
    return (
        f"Held-out loss is per row, over {swaps.n_folds} folds with trees found anew, less that of "
        "trees that keep the own question; its standard error counts that folds share rows. With "
        f"{len(swaps.swaps)} swaps some look better by chance."
    )


def _table(swaps: QuestionSwaps, labels: Labels) -> Markup:
    headings = ["below", "question", "cost", "rows moved"]
    rows = []
    for node in swaps.costs.nodes:
        below = _below(swaps, node.path, labels)
        for swap in swaps.at(node.path):
            row = [below, labels.rules(swap.cut)[1], f"{100 * swap.share:.1f} %", str(swap.n_moved)]
            if swaps.n_folds:
                row.append(_difference(swap))
            rows.append(row)
    if swaps.n_folds:
        headings.append("held-out loss")
    return table(headings, rows, "numbers", "All swaps")


def _difference(swap: Swap) -> str:
    if not isfinite(swap.difference):
        return "-"
    return f"{swap.difference:+.4f} \u00b1 {swap.standard_error:.4f}"


def _below(swaps: QuestionSwaps, path: str, labels: Labels) -> str:
    """Return what holds for the rows of a node."""
    node, rules = 0, []
    for answer in path:
        cut, right = swaps.tree.worded_cuts[node], answer == "y"
        rules.append(labels.rules(cut)[right])
        node = int((swaps.tree.right if right else swaps.tree.left)[node])
    return " and ".join(rules) or "all rows"


def explorer_data(findings: Findings) -> dict[str, Any] | None:
    """Return the trees, costs and questions of the explorer as plain lists and numbers."""
    swaps = findings.swaps
    if swaps is None:
        return None
    book = _Book(findings.labels, swaps.horizon)
    first = book.tree(swaps.tree)
    nodes = [
        {
            "path": node.path,
            "below": _below(swaps, node.path, findings.labels),
            "swaps": [
                {
                    "column": book.column(swap.cut),
                    "question": book.question(swap.cut),
                    "share": round(swap.share, 4),
                    "tree": book.tree(swap.tree),
                    "moved": swap.n_moved,
                    **_known(swap),
                }
                for swap in swaps.at(node.path)[:MOST_COLUMNS]
            ],
        }
        for node in swaps.costs.nodes
    ]
    validation = findings.validation
    used = {} if validation is None else {one.name: one for one in validation.columns}
    samples = 0 if validation is None or validation.method == "folds" else validation.n_repetitions
    return {
        "horizon": number(swaps.horizon, 6),
        "rows": swaps.n_rows,
        "folds": swaps.n_folds,
        "best": first,
        "proven": swaps.status == "optimal",
        "trees": book.trees,
        "nodes": nodes,
        "questions": book.questions,
        "samples": samples if used else 0,
        "columns": [
            column
            | ({"first": used[name].first, "any": used[name].anywhere} if name in used else {})
            for name, column in book.columns.items()
        ],
    }


def _known(swap: Swap) -> dict[str, float]:
    if not isfinite(swap.difference):
        return {}
    return {"difference": round(swap.difference, 5), "error": round(swap.standard_error, 5)}


class _Book:
    """Columns, questions and trees, each once and then by its number."""

    def __init__(self, labels: Labels, horizon: float) -> None:
        self._labels, self._horizon = labels, horizon
        self.columns: dict[str, dict[str, Any]] = {}
        self.questions: list[dict[str, Any]] = []
        self.trees: list[Any] = []
        self._numbers: dict[Any, int] = {}

    def column(self, cut: Cut) -> int:
        """Return the number of a column, and learn the values that the question tells apart."""
        known = self.columns.setdefault(
            cut.name,
            {"name": self._labels.name(cut.name), "unit": self._labels.unit(cut.name)},
        )
        if cut.threshold is not None:
            known["thresholds"] = sorted({*known.get("thresholds", ()), cut.threshold})
        elif cut.categories is not None:
            values = cut.known or (*cut.categories, *((False,) if True in cut.categories else ()))
            listed = known.setdefault("values", [])
            listed += [text for text in map(str, values) if text not in listed]
        return list(self.columns).index(cut.name)

    def question(self, cut: Cut) -> int:
        """Return the number of a question."""
        if cut not in self._numbers:
            no, yes = self._labels.rules(cut)
            asked: dict[str, Any] = {"column": self.column(cut), "no": no, "yes": yes}
            if cut.threshold is not None:
                asked["threshold"] = cut.threshold
            elif cut.categories is not None:
                asked |= {"values": [*map(str, cut.categories)], "negated": cut.negated}
            self._numbers[cut] = len(self.questions)
            self.questions.append(asked)
        return self._numbers[cut]

    def tree(self, tree: Tree) -> int:
        """Return the number of a tree: nested lists of a question and two sides, or a leaf."""
        nested = self._nested(tree, 0, dict(zip(tree.leaves.tolist(), _colours(tree), strict=True)))
        if nested not in self.trees:
            self.trees.append(nested)
        return self.trees.index(nested)

    def _nested(self, tree: Tree, node: int, colours: Mapping[int, str]) -> list[Any]:
        if tree.is_leaf[node]:
            survival = tree.outcome.group(node).curve(None).survival(self._horizon)
            counts = int(tree.n_samples[node]), int(tree.n_events[node])
            return [*counts, round(float(survival), 4), colours[node]]
        sides = (self._nested(tree, int(side[node]), colours) for side in (tree.left, tree.right))
        return [self.question(tree.cuts[int(tree.cut[node])]), *sides]


def _colours(tree: Tree) -> Iterable[str]:
    return risk_colours(tree.outcome.risks()[tree.leaves].tolist())

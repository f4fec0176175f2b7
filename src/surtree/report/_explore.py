"""The explorer of near-optimal trees: what every swap costs, for a script, and as a table."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any, Literal, get_args

from surtree._support.package import user_level
from surtree.cuts.cut import Cut
from surtree.questions._page_rows import page_rows
from surtree.questions.swaps import MOVED, QuestionSwaps, Swap
from surtree.report._html import Markup, details, element, note, table
from surtree.summary.findings import Findings
from surtree.summary.labels import Labels
from surtree.tree.tree import Tree
from surtree.validation.results import DIVISIONS
from surtree.words.colour import FULL, LOW_TO_HIGH, risk_colours
from surtree.words.numbers import number

Explore = Literal["swaps", "cascades", "rows"]
# In cascades, swaps that cost a larger share go no further, and smaller leaves are not shown.
CASCADE, FEWEST_ROWS = 0.15, 5
# What one person is told: the range of the trees within this share of the best, so many at most.
NEAR, MOST_NEAR = 0.05, 100
# The page has the swaps of these columns, the cheapest at each node, so that it stays small.
MOST_COLUMNS = 30


def require_explore(explore: Any, swaps: QuestionSwaps | None) -> None:
    """Raise an error unless a page can go so far, and warn where it holds rows."""
    if explore not in get_args(Explore):
        raise ValueError(f"explore must be one of {', '.join(get_args(Explore))}; got {explore!r}.")
    if explore != "swaps" and swaps is None:
        raise ValueError(f"explore={explore!r} needs swaps=question_swaps(model, X, y).")
    if explore == "rows":
        warnings.warn(
            "The page holds the answers, the event and the expected events of every row: whoever "
            "has it can read them. Give it only to who may see the table.",
            UserWarning,
            stacklevel=user_level(),
        )


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
        *_privacy(findings),
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
            f"{100 * MOVED:g} points. {_held_out_text(swaps)}{_CASCADES.get(findings.explore, '')} "
            f"{swaps.costs.note()} What trees say "
            "of one person is no interval: in simulations the range of all trees within 5% held "
            "the true survival of 8 and of 40% of people."
        ),
        details("all swaps as a table", _table(swaps, findings.labels)),
        id="explore",
        aria_labelledby="explore-heading",
    )


_CASCADES = {
    "cascades": f" After a swap of at most {CASCADE:.0%}, another may follow; trees with a leaf of "
    f"fewer than {FEWEST_ROWS} rows are left out.",
    "rows": " After a swap, others may follow: the page searches for the trees, over its rows.",
}


def _privacy(findings: Findings) -> list[Markup]:
    if findings.explore != "rows":
        return []
    text = (
        "This page holds the answers, the event and the expected events of every row of the table. "
        "Give it only to who may see the table."
    )
    return [element("p", element("strong", "Private. "), text, class_="private")]


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
            "swaps": [
                book.swap(swap)
                | (_after(swaps, swap, book) if findings.explore == "cascades" else {})
                for swap in swaps.at(node.path)[:MOST_COLUMNS]
            ],
        }
        for node in swaps.costs.nodes
    ]
    near, end = swaps.near(NEAR, MOST_NEAR)
    rows = {}
    if findings.explore == "rows" and swaps.costs.nodes:
        values, cuts = page_rows(swaps)
        rows = {
            "moved": MOVED,
            "solver": values
            | {
                "questions": [book.question(cut) for cut in cuts],
                "colours": [list(bytes.fromhex(colour[1:])) for colour in LOW_TO_HIGH],
                "full": FULL,
            },
        }
    validation = findings.validation
    used = {} if validation is None else {one.name: one for one in validation.columns}
    is_sampled = validation is not None and validation.method not in DIVISIONS
    samples = validation.n_repetitions if validation is not None and is_sampled else 0
    return {
        "horizon": number(swaps.horizon, 6),
        "rows": swaps.n_rows,
        "folds": swaps.n_folds,
        "best": first,
        "proven": swaps.status == "optimal",
        "trees": book.trees,
        "near": {
            "within": NEAR,
            "all": end == "complete",
            "trees": sorted({first, *map(book.tree, near)}),
        },
        "nodes": nodes,
        "questions": book.questions,
        "samples": samples if used else 0,
        **rows,
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


def _after(swaps: QuestionSwaps, swap: Swap, book: _Book) -> dict[str, Any]:
    """Return the swaps in the tree of a swap, by node."""
    if swap.share > CASCADE or book.tree(swap.tree) == book.tree(swaps.tree):
        return {}
    by_path: dict[str, list[Any]] = {}
    for second in swaps.after(swap):
        if int(second.tree.n_samples[second.tree.leaves].min()) >= FEWEST_ROWS:
            by_path.setdefault(second.path, []).append(book.swap(second))
    return {"next": {path: of[:MOST_COLUMNS] for path, of in by_path.items()}}


class _Book:
    """Columns, questions and trees, each once and then by its number."""

    def __init__(self, labels: Labels, horizon: float) -> None:
        self._labels, self._horizon = labels, horizon
        self.columns: dict[str, dict[str, Any]] = {}
        self.questions: list[dict[str, Any]] = []
        self.trees: list[Any] = []
        self._numbers: dict[Any, int] = {}
        self._places: dict[str, int] = {}

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

    def swap(self, swap: Swap) -> dict[str, Any]:
        """Return a swap: its question, its cost, its tree, and whom it moves."""
        return {
            "column": self.column(swap.cut),
            "question": self.question(swap.cut),
            "share": round(swap.share, 4),
            "tree": self.tree(swap.tree),
            "moved": swap.n_moved,
            **_known(swap),
        }

    def tree(self, tree: Tree) -> int:
        """Return the number of a tree: nested lists of a question and two sides, or a leaf."""
        nested = self._nested(tree, 0, dict(zip(tree.leaves.tolist(), _colours(tree), strict=True)))
        text = str(nested)
        if text not in self._places:
            self._places[text] = len(self.trees)
            self.trees.append(nested)
        return self._places[text]

    def _nested(self, tree: Tree, node: int, colours: Mapping[int, str]) -> list[Any]:
        if tree.is_leaf[node]:
            survival = tree.outcome.group(node).curve(None).survival(self._horizon)
            counts = int(tree.n_samples[node]), int(tree.n_events[node])
            return [*counts, round(float(survival), 4), colours[node]]
        sides = (self._nested(tree, int(side[node]), colours) for side in (tree.left, tree.right))
        return [self.question(tree.cuts[int(tree.cut[node])]), *sides]


def _colours(tree: Tree) -> Iterable[str]:
    return risk_colours(tree.outcome.risks()[tree.leaves].tolist())

"""The result of an audit, and its text."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from surtree._support.exact import SAME_LOSS
from surtree.questions._search_result import missed_share
from surtree.tree.tree import Tree
from surtree.words.numbers import plural
from surtree.words.quoting import html_text as escape
from surtree.words.tables import table_html, text_table

# Trees with more leaves are summarised in texts, with so many of their columns.
_MOST_LEAVES, _MOST_COLUMNS = 20, 6


@dataclass(frozen=True)
class Optimum:
    """The best tree within limits.

    Parameters
    ----------
    max_depth, max_splits : int
        The limits.
    loss : float
        The loss of the tree.
    lower_bound : float
        No tree within the limits has a smaller loss; the loss itself where it is proven.
    tree : Tree
        The tree.

    Examples
    --------
    >>> from surtree import audit_tree
    >>> from surtree.datasets import load_gbsg2
    >>> from surtree.heuristics import ConditionalInferenceTree
    >>> X, y = load_gbsg2()
    >>> model = ConditionalInferenceTree(max_depth=2).fit(X, y)
    >>> audit = audit_tree(model, X, y, max_depth=2)
    >>> audit.optimum.max_splits, round(audit.optimum.loss, 1)
    (3, 423.0)
    """

    max_depth: int
    max_splits: int
    loss: float
    lower_bound: float
    tree: Tree


@dataclass(frozen=True)
class SplitCost:
    """The cost of one question of a tree, with everything below it optimal.

    Parameters
    ----------
    node : int
        The number of the node in the tree.
    rule : str
        The question.
    cost : float
        By how much the loss could be smaller with another question. The costs of all splits of a
        tree add up to its distance from the optimum.

    Examples
    --------
    >>> from surtree import audit_tree
    >>> from surtree.datasets import load_gbsg2
    >>> from surtree.heuristics import ConditionalInferenceTree
    >>> X, y = load_gbsg2()
    >>> model = ConditionalInferenceTree(max_depth=2).fit(X, y)
    >>> audit = audit_tree(model, X, y, max_depth=2)
    >>> audit.split_costs[0].rule, round(audit.split_costs[0].cost, 2)
    ('hormone_therapy is yes', 1.73)
    """

    node: int
    rule: str
    cost: float


@dataclass(frozen=True)
class Audit:
    """The result of `audit_tree`; ``print`` shows it.

    Parameters
    ----------
    name : str
        What was audited.
    loss : float
        Its loss: that of its leaves, each with the theta that suits its rows best.
    leaf_loss : float
        The loss of a single leaf.
    n_splits : int
        One less than the number of its leaves.
    depth : int or None
        Its depth; None for leaf labels, whose questions are not known.
    tree : Tree or None
        The tree, with the sums of these rows; None for leaf labels.
    same_depth : Optimum or None
        The optimum of the same depth and number of splits; None for leaf labels.
    same_size : Optimum
        The optimum of the same number of splits, of a depth up to a limit.
    split_costs : tuple of SplitCost
        What each split costs, the costliest first; empty for leaf labels, and where the optimum of
        the same depth is not proven: time was over, or weights are too uneven.
    notes : tuple of str
        What the search could not ask, in sentences.

    Examples
    --------
    >>> from surtree import audit_tree
    >>> from surtree.datasets import load_gbsg2
    >>> from surtree.heuristics import ConditionalInferenceTree
    >>> X, y = load_gbsg2()
    >>> model = ConditionalInferenceTree(max_depth=2).fit(X, y)
    >>> audit = audit_tree(model, X, y, max_depth=2)
    >>> round(audit.loss, 1), round(audit.optimum.loss, 1), round(audit.missed, 3)
    (424.7, 423.0, 0.031)
    """

    name: str
    loss: float
    leaf_loss: float
    n_splits: int
    depth: int | None
    tree: Tree | None
    same_depth: Optimum | None
    same_size: Optimum
    split_costs: tuple[SplitCost, ...]
    notes: tuple[str, ...] = ()

    @property
    def optimum(self) -> Optimum:
        """The optimum of the same depth, or of the same size where there is no depth."""
        return self.same_size if self.same_depth is None else self.same_depth

    @property
    def gap(self) -> float:
        """The share of the loss that a better tree could save at most, as ``SurTree.gap_`` is.

        It is the distance of the loss from the optimum's lower bound, relative to the loss. Leaf
        labels can be better than any tree over the encoder's cuts, as ``notes`` say then: zero.
        """
        distance = self.loss - self.optimum.lower_bound
        return distance / self.loss if distance > SAME_LOSS * self.leaf_loss else 0.0

    @property
    def missed(self) -> float:
        """The share of what the optimum explains that the audited tree does not.

        What a tree explains is the difference of its loss from that of a single leaf. It is never
        negative: a tree that is as good as the best one found misses nothing.
        """
        return self.missed_of(self.optimum)

    def missed_of(self, optimum: Optimum) -> float:
        """Return the share of what an optimum explains that the audited tree does not.

        Parameters
        ----------
        optimum : Optimum
            One of ``same_depth`` and ``same_size``.
        """
        return missed_share(self.loss, optimum.loss, self.leaf_loss)

    def title(self) -> str:
        """Return one line about the audited tree."""
        title = f"{self._shape()}: loss {self.loss:.6g}"
        worst = self._costliest()
        return title if worst is None else f"{title}, costliest question {worst.rule!r}"

    def optimum_title(self) -> str:
        """Return one line about the optimum, and how far from it the audited tree is."""
        optimum = self.optimum
        return (
            f"{_limits_text(optimum)}: loss {optimum.loss:.6g}; {self.name} misses "
            f"{100 * self.missed:.1f} % of what it explains"
        )

    def __repr__(self) -> str:
        return (
            f"Audit({self._shape()}: loss={self.loss:.6g}, optimum={self.optimum.loss:.6g}, "
            f"missed={_share(self.missed)})"
        )

    def __str__(self) -> str:
        parts = [text_table(self._cells()), *self.notes, *self._costliest_text()]
        if self.tree is not None:
            parts.append(f"{self.name}:\n{_shown(self.tree)}")
        parts.append(f"{_limits_text(self.optimum)}:\n{_shown(self.optimum.tree)}")
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        heading, *rows = self._cells()
        notes = "".join(f"<p>{escape(text)}</p>" for text in (*self.notes, *self._costliest_text()))
        return table_html(heading, rows) + notes

    def _cells(self) -> list[tuple[str, str, str, str]]:
        """Return the cells of the table, its heading first."""
        rows = [
            ("", "loss", "explained", "missed"),
            ("a single leaf", f"{self.leaf_loss:.6g}", self._explained(self.leaf_loss), ""),
            (self._shape(), f"{self.loss:.6g}", self._explained(self.loss), ""),
        ]
        optima = [self.same_size] if self.same_depth is None else [self.same_depth]
        if self.same_size.max_depth > optima[0].max_depth:
            optima.append(self.same_size)
        rows += [
            (
                _limits_text(optimum),
                f"{optimum.loss:.6g}",
                self._explained(optimum.loss),
                _share(self.missed_of(optimum)),
            )
            for optimum in optima
        ]
        return rows

    def _costliest_text(self) -> list[str]:
        """Return which question costs most, in words; nothing where none costs anything."""
        worst = self._costliest()
        if worst is None:
            return []
        return [
            f"Of the loss above the optimum, {worst.cost:.3g} is due to the question "
            f"{worst.rule!r} at node {worst.node}."
        ]

    def _costliest(self) -> SplitCost | None:
        """Return the split that costs most, where any costs more than rounding."""
        if not self.split_costs or self.split_costs[0].cost <= SAME_LOSS * self.leaf_loss:
            return None
        return self.split_costs[0]

    def _shape(self) -> str:
        depth = "" if self.depth is None else f", depth {self.depth}"
        return f"{self.name}, {plural(self.n_splits, 'split')}{depth}"

    def _explained(self, loss: float) -> str:
        has_zero = self.leaf_loss and not self.optimum.tree.objective.has_excess
        return f"{100 * (self.leaf_loss - loss) / self.leaf_loss:.1f} %" if has_zero else ""


def _shown(tree: Tree) -> str:
    """Return the text of a tree, or what there is to say of one that fills more than a screen."""
    if tree.n_leaves <= _MOST_LEAVES:
        return str(tree)
    leaves = tree.leaves
    rows, events = tree.n_samples[leaves], tree.n_events[leaves]
    asked = Counter(cut.shown_name for cut in tree.worded_cuts.values())
    columns = ", ".join(f"{name} ({count})" for name, count in asked.most_common(_MOST_COLUMNS))
    more = f" and {len(asked) - _MOST_COLUMNS} more" if len(asked) > _MOST_COLUMNS else ""
    return (
        f"{plural(tree.n_leaves, 'leaf')}, depth {tree.depth}, too many to print; of {rows.min()} "
        f"to {rows.max()} rows, {np.count_nonzero(events == 0)} of them without events; questions "
        f"about {columns}{more}"
    )


def _share(share: float) -> str:
    # Adding zero turns a negative zero, left by rounding, into zero.
    return f"{round(100 * share, 1) + 0.0:.1f} %"


def _bound_text(lower_bound: float) -> str:
    if lower_bound <= 0:
        return "lower bound 0: nothing proven yet"
    return f"lower bound {lower_bound:.6g}"


def _limits_text(optimum: Optimum) -> str:
    proven = optimum.lower_bound >= optimum.loss
    what = "optimum" if proven else f"best found ({_bound_text(optimum.lower_bound)})"
    return f"{what}, {plural(optimum.max_splits, 'split')}, depth up to {optimum.max_depth}"

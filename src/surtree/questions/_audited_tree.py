"""The tree that is audited: ours, another package's, or leaf labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _check_feature_names, _check_n_features, check_is_fitted

from surtree._support.parameters import LeafCurveKind
from surtree.cuts.cut import Cut
from surtree.cuts.encoder import bin_answers
from surtree.cuts.unseen import warn_of_unseen
from surtree.fitting.training import TrainingData
from surtree.questions._rebuild import rebuild
from surtree.questions.r_tree import RTree
from surtree.solver.core import Problem
from surtree.solver.problem import TreeTopology
from surtree.tree.build import build_tree
from surtree.tree.rows import check_columns, goes_right
from surtree.tree.tree import Tree
from surtree.words.numbers import plural

Answers = NDArray[np.bool_]


@dataclass(frozen=True)
class AuditedTree:
    """The leaf of each row that counts, and the questions that lead there where they are known.

    The curves of its leaves are of the kind that the model has, so that an audit states the same
    survival.
    """

    name: str
    label: NDArray[np.intp]
    n_leaves: int
    topology: TreeTopology | None = None
    cuts: tuple[Cut, ...] = ()
    answers: tuple[Answers, ...] = ()
    leaf_curve: LeafCurveKind = "baseline"
    notes: tuple[str, ...] = ()

    @property
    def n_labels(self) -> int:
        """How many different labels there can be."""
        return self.n_leaves if self.topology is None else self.topology.left.size

    @property
    def depth(self) -> int | None:
        """The depth of the tree, where there is one."""
        return None if self.topology is None else int(self.depths().max())

    def depths(self) -> NDArray[np.intp]:
        """Return the number of questions above each node."""
        assert self.topology is not None
        depths = np.zeros(self.topology.left.size, dtype=np.intp)
        for node in np.flatnonzero(self.topology.left >= 0):
            depths[[self.topology.left[node], self.topology.right[node]]] = depths[node] + 1
        return depths

    def reaches(self) -> Answers:
        """Return, for each node and each row, whether the row comes there."""
        assert self.topology is not None
        reaches: Answers = np.arange(self.n_labels)[:, None] == self.label
        for node in np.flatnonzero(self.topology.left >= 0)[::-1]:
            reaches[node] |= reaches[self.topology.left[node]]
            reaches[node] |= reaches[self.topology.right[node]]
        return reaches

    def tree(self, rows: TrainingData) -> Tree | None:
        """Return the tree with the sums of these rows, where there is one."""
        if self.topology is None:
            return None
        problem = Problem(bin_answers(self.answers, self.label.size), rows.sums)
        return build_tree(
            self.topology, problem, self.cuts, rows.baseline, rows.target, self.leaf_curve
        )


def rebuilt(audited: AuditedTree, rows: TrainingData) -> AuditedTree | None:
    """Return a tree of questions that has the audited leaves, or None where there is none."""
    if audited.topology is not None:
        return audited
    tree = rebuild(audited.label, rows)
    if tree is None:
        return None
    answers = tuple(cut.holds(rows.table.column(cut.column))[rows.present] for cut in tree.cuts)
    return _structured(audited.name, tree.left, tree.right, tree.cuts, answers, rows)


def read_audited_tree(model: Any, X: Any, rows: TrainingData) -> AuditedTree:
    """Read a model, or labels, for rows that are read already."""
    if isinstance(model, Tree):
        check_columns(model, rows.table)
        return _read_tree("Tree", model, rows)
    if isinstance(model, RTree):
        return _read_r_tree(model, rows)
    if not hasattr(model, "fit"):
        return _read_labels(model, rows)
    check_is_fitted(model)
    # Columns are found by position, so those of another table would be the wrong ones.
    _check_feature_names(model, X, reset=False)
    _check_n_features(model, X, reset=False)
    if isinstance(getattr(model, "tree_", None), Tree):
        return _read_tree(type(model).__name__, model.tree_, rows)
    if hasattr(getattr(model, "tree_", None), "children_left"):
        return _read_foreign_tree(model, X, rows)
    raise TypeError(
        f"{type(model).__name__} has no tree that can be read: pass the leaf of each row instead, "
        "for example model.apply(X)"
    )


def _read_labels(labels: Any, rows: TrainingData) -> AuditedTree:
    array = np.asarray(labels)
    if array.shape != (rows.table.n_rows,):
        raise ValueError(
            f"leaf labels have the shape {array.shape} and the table has {rows.table.n_rows} rows: "
            "pass one label for each row, or a fitted model"
        )
    values, label = np.unique(array[rows.present], return_inverse=True)
    return AuditedTree("leaf labels", label, values.size)


def _read_r_tree(model: RTree, rows: TrainingData) -> AuditedTree:
    left, right, cuts = model.topology(rows.table)
    answers = tuple(cut.holds(rows.table.column(cut.column))[rows.present] for cut in cuts)
    audited = _structured(model.package, left, right, tuple(cuts), answers, rows)
    if model.leaf is None:
        return audited
    labels = replace(_read_labels(model.leaf, rows), name=model.package)
    ids = np.array([node["id"] for node in model.nodes])
    n_elsewhere = int(np.count_nonzero(ids[audited.label] != model.leaf[rows.present]))
    if not n_elsewhere:
        return audited
    return replace(
        labels,
        notes=(
            f"{plural(n_elsewhere, 'row')} of the table {'is' if n_elsewhere == 1 else 'are'} in "
            f"another leaf of {model.package} than by its questions alone, as where missing values "
            "follow surrogate questions: its leaves are audited, not its questions.",
        ),
    )


def _read_tree(name: str, tree: Tree, rows: TrainingData) -> AuditedTree:
    warn_of_unseen(tree.cuts, rows.table, counted=rows.present)
    splits = np.flatnonzero(~tree.is_leaf).tolist()
    answers = tuple(goes_right(tree, node, rows.table, rows.present) for node in splits)
    cuts = tuple(_asked(tree, node, rows) for node in splits)
    audited = _structured(name, tree.left, tree.right, cuts, answers, rows)
    return replace(audited, leaf_curve=tree.leaf_curve)


def _asked(tree: Tree, node: int, rows: TrainingData) -> Cut:
    """Return the question of a node; it says where missing values go if these rows have any."""
    cut: Cut = tree.cuts[tree.cut[node]]
    column = rows.table.column(cut.column)
    absent = column.missing | cut.unseen(column)
    return tree.question(node) if absent[rows.present].any() else cut


def _read_foreign_tree(model: Any, X: Any, rows: TrainingData) -> AuditedTree:
    tree = model.tree_
    # Trees of scikit-learn compare values in single precision.
    values = np.asarray(X, dtype=np.float32)[rows.present]
    names = rows.table.names
    is_split = tree.children_left >= 0
    cuts, answers = [], []
    for node in np.flatnonzero(is_split):
        column, threshold = int(tree.feature[node]), float(tree.threshold[node])
        missing_right = not tree.missing_go_to_left[node]
        value = values[:, column]
        missing = np.isnan(value)
        cuts.append(
            Cut(
                column,
                names[column],
                threshold=threshold,
                missing=missing_right if missing.any() else None,
            )
        )
        answers.append((value > threshold) | (missing & missing_right))
    left, right = (
        np.where(is_split, side, -1).astype(np.int32)
        for side in (tree.children_left, tree.children_right)
    )
    return _structured(type(model).__name__, left, right, tuple(cuts), tuple(answers), rows)


def _structured(
    name: str,
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    cuts: tuple[Cut, ...],
    answers: tuple[Answers, ...],
    rows: TrainingData,
) -> AuditedTree:
    """Return a tree whose splits, in the order of their nodes, have these cuts and answers."""
    cut = np.full(left.size, -1, dtype=np.int32)
    cut[left >= 0] = np.arange(len(cuts))
    topology = TreeTopology(cut, left, right)
    label = np.zeros(rows.sums.weight.size, dtype=np.intp)
    for node in np.flatnonzero(left >= 0):
        here = label == node
        label[here] = np.where(answers[cut[node]][here], right[node], left[node])
    return AuditedTree(name, label, int(np.count_nonzero(left < 0)), topology, cuts, answers)

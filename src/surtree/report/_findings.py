"""The contents of a page as plain values: the page never sees an estimator."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from surtree.audit.result import Audit
from surtree.cuts.cut import Cut
from surtree.estimator import SurTree
from surtree.model_selection.cv import SurTreeCV
from surtree.scores.sizes import SizeScores
from surtree.status import Status
from surtree.tree.resolve import fitted
from surtree.tree.tree import Tree


@dataclass(frozen=True)
class Certificate:
    """How a tree was found, and what is proven about it.

    Parameters
    ----------
    method : str
        The name of the estimator.
    loss : float
        The loss of the tree on its training rows.
    lower_bound, gap, status : optional
        What a search proved and how it ended; None where there is no proof.
    limits : tuple of str
        Within which limits the tree is the best.
    n_questions : int, optional
        How many questions there were to choose from.
    fold_status : Status
        How the searches of a cross-validation ended; "optimal" without one.
    """

    method: str
    loss: float
    lower_bound: float | None = None
    gap: float | None = None
    status: Status | None = None
    limits: tuple[str, ...] = ()
    n_questions: int | None = None
    fold_status: Status = "optimal"


@dataclass(frozen=True)
class Audited:
    """How far a tree is from the best of its size.

    Parameters
    ----------
    missed : float
        The share of what the optimum explains that the tree does not.
    proven : bool
        Whether the optimum is one, and not the best tree that was found in time.
    comparison : str
        The optimum in words.
    costs : tuple of pairs of str and float
        Each question of the tree, and what it costs; the costliest first.
    """

    missed: float
    proven: bool
    comparison: str
    costs: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class SizeLoss:
    """The loss of the best tree with at most this number of splits, and its lower bound."""

    splits: int
    loss: float
    lower_bound: float


@dataclass(frozen=True)
class ColumnCuts:
    """A column of the user's table, its share in the tree, and where it could be cut."""

    name: str
    importance: float
    cuts: tuple[Cut, ...]


@dataclass(frozen=True)
class Findings:
    """All that a page shows.

    Parameters
    ----------
    tree : Tree
        The tree.
    certificate : Certificate, optional
        What is known of how good it is.
    sizes : tuple of SizeLoss
        The best tree of every size, where one search found them.
    scores : SizeScores, optional
        How well every size did on held-out rows.
    columns : tuple of ColumnCuts
        The columns of the table; empty where they are not known.
    audited : Audited, optional
        How far the tree is from the best of its size, where it was audited.
    """

    tree: Tree
    certificate: Certificate | None = None
    sizes: tuple[SizeLoss, ...] = ()
    scores: SizeScores | None = None
    columns: tuple[ColumnCuts, ...] = ()
    audited: Audited | None = None

    @property
    def weighted(self) -> bool:
        """Whether rows have weights."""
        return not np.array_equal(self.tree.weight, self.tree.n_samples)

    @property
    def truncated(self) -> bool:
        """Whether some rows came under observation after time zero."""
        at_start = sum(float(counts.round_at_risk[0]) for counts in self.tree.risk)
        return bool(self.tree.risk) and at_start < (1 - 1e-9) * float(self.tree.weight[0])


def read_findings(model: Any) -> Findings:
    """Gather the contents of a page from a fitted estimator, an audit, or a tree alone.

    Parameters
    ----------
    model : Tree, Audit or fitted estimator with a ``tree_``
        What to look at.
    """
    if isinstance(model, Audit):
        return _of_audit(model)
    shown = fitted(model)
    if isinstance(shown, Tree):
        return Findings(shown)
    if isinstance(model, SurTreeCV):
        found = _of_search(shown, type(model).__name__, model.status_)
        return replace(found, scores=model.sizes_)
    if isinstance(shown, SurTree):
        return _of_search(shown, type(shown).__name__, "optimal")
    certificate = Certificate(type(shown).__name__, shown.tree_.total_loss)
    return Findings(shown.tree_, certificate, columns=_columns(shown))


def _of_audit(audit: Audit) -> Findings:
    if audit.tree is None:
        raise ValueError(
            "This is an audit of leaf labels, which are no tree: report its optimum.tree instead."
        )
    optimum = audit.optimum
    return Findings(
        audit.tree,
        Certificate(audit.name, audit.loss),
        audited=Audited(
            missed=audit.missed,
            proven=optimum.lower_bound >= optimum.loss,
            comparison=audit.optimum_title(),
            costs=tuple((split.rule, split.cost) for split in audit.split_costs),
        ),
    )


def _of_search(model: SurTree, method: str, fold_status: Status) -> Findings:
    return Findings(
        tree=model.tree_,
        certificate=Certificate(
            method=method,
            loss=model.loss_,
            lower_bound=model.lower_bound_,
            gap=model.gap_,
            status=model.status_,
            limits=_limits(model),
            n_questions=len(model.encoder_.cuts_),
            fold_status=fold_status,
        ),
        sizes=tuple(SizeLoss(size.splits, size.loss, size.lower_bound) for size in model.path_),
        columns=_columns(model),
    )


def _limits(model: SurTree) -> tuple[str, ...]:
    limits = [f"depth at most {model.max_depth}"]
    if model.max_splits is not None:
        limits.append(f"at most {model.max_splits} splits")
    if model.min_samples_leaf > 1:
        limits.append(f"at least {model.min_samples_leaf} rows in a leaf")
    if model.min_events_leaf > 0:
        limits.append(f"at least {model.min_events_leaf} events in a leaf")
    if model.ccp_alpha > 0:
        limits.append(f"a charge of {model.ccp_alpha:g} for each split")
    return tuple(limits)


def _columns(model: Any) -> tuple[ColumnCuts, ...]:
    # Some heuristics find cuts in every node, and have no list of them.
    if not hasattr(model, "encoder_"):
        return ()
    names = getattr(model, "feature_names_in_", [f"x{i}" for i in range(model.n_features_in_)])
    cuts: list[list[Cut]] = [[] for _ in names]
    for cut in model.encoder_.cuts_:
        cuts[cut.column].append(cut)
    return tuple(
        ColumnCuts(str(name), float(share), tuple(found))
        for name, share, found in zip(names, model.feature_importances_, cuts, strict=True)
    )

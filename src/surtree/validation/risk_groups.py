"""Risk groups of a tree: how many, which leaves, and what to expect of them in new data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surtree._support.parameters import require_random_state, require_whole
from surtree._support.types import Floats
from surtree.data.named import RowInputs
from surtree.data.rows import read_target_rows
from surtree.fitting.training import reader_of
from surtree.outcomes.pooled import count_groups
from surtree.outcomes.risk_groups import NAMES, RiskGroups, merged_leaves, reference_of
from surtree.survival.objective import RelativeRisk
from surtree.tree.resolve import tree_of
from surtree.tree.tree import Tree
from surtree.validation._predictions import has_tree
from surtree.validation._rows import JudgedRows, fit_on, judged, require_fit_parameters

# The most groups that are tried where their number is chosen.
MOST_TRIED = 6


def risk_groups(
    model: Any,
    X: Any = None,
    y: Any = None,
    k: int | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    entry: ArrayLike | None = None,
    id: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    reference: str | None = None,
    n_folds: int = 10,
    random_state: int = 0,
) -> RiskGroups:
    """Merge the leaves of a tree into a few groups of similar risk.

    No other division of the leaves into as many groups explains more of the events. Curves of
    groups that were found on the same rows are too far from each other, so with the rows of the fit
    they are corrected: tree and groups are built anew without each of ``n_folds`` folds, and the
    rows of the fold go where these say.

    Parameters
    ----------
    model : fitted estimator
        A tree of this package, of one event or of competing risks (by its main cause).
    X, y, sample_weight, entry, id
        The rows that it was fitted on, as in its ``fit``. Without them, ``k`` must be given, and
        nothing is corrected.
    k : int, optional
        How many groups, at most as many as leaves; by default the smallest number up to six whose
        held-out loss is within one standard error of that of the best.
    names : sequence of str, optional
        What to call them, the least risk first; by default "low" and "high", "low", "intermediate"
        and "high", or "group 1" to "group k".
    reference : str, optional
        The group that hazards are compared with; by default that of least risk with ten events.
    n_folds : int, default=10
        How many folds hold rows out.
    random_state : int, default=0
        Where folds come from.

    Returns
    -------
    RiskGroups
        ``print`` shows them, ``predict`` says which group rows are in, ``of_leaf`` goes into
        ``export_sql(model, value=...)``, and `plot.plot_curves` draws them. Set
        ``model.risk_groups_`` to keep them in the file of the model, its report and its methods.

    Notes
    -----
    Where the tree of a fold has fewer leaves than there are groups, its leaves are in the groups
    whose relative risk fits them best. Limits are those of groups that were given beforehand: how
    often they hold the truth, and what is left of the optimism, is in docs/results/risk-groups.md.

    Examples
    --------
    >>> from surtree import SurTree, risk_groups
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> model = SurTree(max_depth=3, max_splits=5, shrinkage=1).fit(X, y)
    >>> groups = risk_groups(model, X, y, k=3)
    >>> [group.letters for group in groups]
    ['C', 'A, D, F', 'B, E']
    >>> model.risk_groups_ = groups
    """
    tree = tree_of(model)
    require_whole("n_folds", n_folds, 2)
    require_random_state(random_state)
    if tree.factor is not None:
        raise ValueError("This model was recalibrated: form the groups of the one before.")
    if not tree.risk or not all(counts.of_all_times for counts in tree.risk):
        raise ValueError("This tree keeps no at-risk counts of its leaves: fit it again.")
    sums = _sums(tree)
    if k is not None:
        require_whole("k", k, 1)
        if k > tree.n_leaves:
            raise ValueError(f"The tree has {tree.n_leaves} leaves, so there are no {k} groups.")
    if X is None:
        if k is None:
            raise ValueError("Say how many groups, k, or give the rows, X and y, to choose it.")
        return _named(tree, merged_leaves(*sums, k), names, reference)
    if not has_tree(model):
        raise TypeError(f"{type(model).__name__} is no tree of this package.")
    given = RowInputs(X, y, sample_weight, entry, id).in_memory("risk_groups")
    require_fit_parameters(model, given)
    rows = judged(read_target_rows(given, reader_of(model)), None)
    _require_same_rows(tree, rows)
    most = max(k or 1, min(tree.n_leaves, MOST_TRIED))
    wanted = [merged_leaves(*sums, number) for number in range(1, most + 1)]
    group, loss = np.empty((most, rows.n), dtype=np.intp), np.empty((most, rows.n))
    fold = rows.deal(np.random.default_rng(random_state), int(n_folds))
    for number in np.unique(fold):
        out = np.flatnonzero(fold == number)
        fitted, predicted = fit_on(model, rows, np.flatnonzero(fold != number))
        assert predicted.leaf is not None
        own = _sums(fitted.tree_)
        channel = next(
            one
            for one in fitted.tree_.outcome.leaf_channels(rows.target)
            if one.cause == predicted.cause
        )
        for position, whole in enumerate(wanted):
            of_leaf = _groups_of_fold(own, sums, whole, position + 1)
            theta = _thetas(fitted.tree_, own, of_leaf)
            risk = theta[of_leaf[predicted.leaf[out]]]
            group[position, out] = of_leaf[predicted.leaf[out]]
            cost = risk * channel.hazard[out] - channel.event[out] * np.log(risk)
            loss[position, out] = rows.weight[out] * cost
    by_person = np.stack([np.bincount(rows.groups, weights=one) for one in loss])
    best = int(by_person.sum(axis=1).argmin())
    differences = by_person - by_person[best]
    losses = differences.sum(axis=1)
    errors = differences.std(axis=1) * np.sqrt(by_person.shape[1])
    if k is None:
        k = int(np.flatnonzero(losses <= errors)[0]) + 1
    return _named(
        tree,
        wanted[k - 1],
        names,
        reference,
        losses=tuple(losses.tolist()),
        errors=tuple(errors.tolist()),
        n_folds=int(n_folds),
        held_out_rows=count_groups(tree, rows.target, rows.weight, group[k - 1], k),
    )


def _sums(tree: Tree) -> tuple[Floats, Floats]:
    """Return the events of each leaf, and how many the hazard of all rows expects."""
    leaves = [tree.outcome.pooled([counts]) for counts in tree.risk]
    events, expected = (
        np.array([getattr(one, name) for one in leaves]) for name in ("events", "expected")
    )
    return events, np.maximum(expected, np.finfo(float).tiny)


def _thetas(tree: Tree, sums: tuple[Floats, Floats], of_leaf: NDArray[np.intp]) -> Floats:
    """Return the relative risk of each group."""
    totals = np.stack([np.bincount(of_leaf, weights=one) for one in sums])
    theta: Floats = RelativeRisk(tree.objective.shrinkage).predict(totals)
    return theta


def _groups_of_fold(
    own: tuple[Floats, Floats], sums: tuple[Floats, Floats], whole: tuple[int, ...], k: int
) -> NDArray[np.intp]:
    """Return the group of each leaf of the tree of a fold; of too few leaves, the nearest."""
    if own[0].size >= k:
        return np.array(merged_leaves(*own, k))
    totals = np.stack([np.bincount(whole, weights=one) for one in sums])
    theta = RelativeRisk().predict(totals)
    return np.asarray((np.outer(own[1], theta) - np.outer(own[0], np.log(theta))).argmin(axis=1))


def _require_same_rows(tree: Tree, rows: JudgedRows) -> None:
    times = np.unique(rows.target.time[rows.target.event])
    if rows.n != int(tree.n_samples[0]) or not np.array_equal(times, tree.event_times):
        raise ValueError(
            f"X and y are not the rows that the model was fitted on: these are {rows.n} rows, "
            f"those {int(tree.n_samples[0])}. Groups are formed of a tree and corrected on its own "
            "rows; evaluate tests them on others."
        )


def _named(
    tree: Tree,
    group_of_leaf: tuple[int, ...],
    names: Sequence[str] | None,
    reference: str | None,
    **more: Any,
) -> RiskGroups:
    k = max(group_of_leaf) + 1
    usual = NAMES.get(k, tuple(f"group {number}" for number in range(1, k + 1)))
    called = usual if names is None else tuple(map(str, names))
    if len(called) != k or len(set(called)) != k:
        raise ValueError(f"names must be {k} different ones, the least risk first; got {called!r}.")
    if reference is not None and reference not in called:
        raise ValueError(f"reference must be one of {called}; got {reference!r}.")
    events = np.bincount(group_of_leaf, weights=_sums(tree)[0])
    index = reference_of(events) if reference is None else called.index(reference)
    return RiskGroups(tree, called, group_of_leaf, index, **more)

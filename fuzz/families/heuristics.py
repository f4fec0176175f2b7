"""Trees of heuristics against the optimum, and audits of them."""

from __future__ import annotations

from sklearn.base import clone

from fuzz.checks import check_leaves, fit, require, shown, tolerance
from fuzz.tables import Rng, counted, draw_case, pick
from surtree import audit_tree
from surtree.heuristics import ConditionalInferenceTree, GreedyTree, LocalSearchTree


def heuristics(rng: Rng) -> None:
    """Greedy trees, CTree and local search are never below the optimum; sums and audits add up."""
    depth = pick(rng, [1, 2, 2, 3, 4])
    case = draw_case(rng, int(rng.integers(3, 40)), int(rng.integers(1, 5)), depth)
    case.limits.pop("max_splits", None)
    case.limits["n_thresholds"] = pick(rng, [3, 10, None])
    shared = case.limits
    seed = int(rng.integers(2**31))
    models = [
        GreedyTree(**shared),
        LocalSearchTree(**shared, n_restarts=3, random_state=seed, n_jobs=pick(rng, [1, 2])),
    ]
    slack = tolerance(counted(case))
    with shown(case):
        optimum = fit(case)
        fitted = [_fit(model, case) for model in models]
        for model in fitted:
            check_leaves(model.tree_, case, model.loss_)
            require(model.loss_ >= optimum.loss_ - slack, model, model.loss_, optimum.loss_)
        greedy, local = fitted
        require(local.loss_ <= greedy.loss_ + slack, "local search", local.loss_, greedy.loss_)
        ctree = ConditionalInferenceTree(
            max_depth=min(depth, 3), alpha=0.5, min_split=4, min_bucket=2
        )
        chosen = pick(rng, [*fitted, optimum, _fit(ctree, case)])
        _check_audit(chosen, case)


def _fit(model, case):
    return clone(model).fit(case.X, case.y, sample_weight=case.weight, entry=case.entry)


def _check_audit(model, case) -> None:
    rows = counted(case)  # of the others, some may hold categories that training never had
    slack = tolerance(rows)
    found = audit_tree(model, rows.X, rows.y, rows.weight, rows.entry, time_limit=None)
    loss = model.tree_.total_loss
    require(abs(found.loss - loss) <= slack, "audited loss", found.loss, "of", loss)
    require(found.same_depth.loss <= found.loss + slack, "same depth", found.same_depth.loss)
    require(found.same_size.loss <= found.same_depth.loss + slack, "same size", found.same_size)
    require(found.gap >= -1e-6, "gap", found.gap)
    costs = [split.cost for split in found.split_costs]
    require(len(costs) == model.tree_.n_splits, len(costs), "costs")
    require(all(cost >= 0 for cost in costs) and costs == sorted(costs, reverse=True), costs)
    missed = found.loss - found.same_depth.loss
    require(abs(sum(costs) - missed) <= 10 * slack, "costs", costs, "add up to", missed)

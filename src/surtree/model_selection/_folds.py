"""One fold: fit every size on its training rows, score each on the rows that were held out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from surtree._support.parallel import require_running
from surtree._support.parameters import is_whole, require_whole
from surtree._support.status import Status, first_unproven
from surtree._support.types import Floats
from surtree.cuts.encoder import encoder_of
from surtree.data.named import take
from surtree.data.names import remember_columns
from surtree.data.persons import read_groups
from surtree.data.rows import Rows
from surtree.data.table import Table
from surtree.data.target import Target
from surtree.data.target_columns import as_rows
from surtree.estimators.fit import adopt_size, search_quietly
from surtree.estimators.parameters import own_limits
from surtree.estimators.tree import SurTree
from surtree.fitting.size_path import SizePath
from surtree.fitting.training import FitProblem, make_problem, objective_of, training_data
from surtree.metrics.reason import Score, score_or_reason
from surtree.model_selection._scoring import SCORERS, Candidate, HeldOut, Scorer
from surtree.validation.sizes import SizeScores

Positions = NDArray[np.intp]


def require_folds(name: str, cv: Any) -> None:
    """Raise an error unless a parameter may say how rows are divided into folds."""
    if is_whole(cv):
        require_whole(name, cv, 2)
    elif cv is None or isinstance(cv, bool):
        raise ValueError(
            f"{name} must be a number of folds, a splitter or pairs of positions; got {cv!r}."
        )


def split_rows(cv: Any, rows: Rows) -> list[tuple[Positions, Positions]]:
    """Return the positions of the training and of the held-out rows of every fold.

    A position that is given more than once is a row that counts more than once.
    """
    from sklearn.model_selection import check_cv

    from surtree.model_selection.event_kfold import EventStratifiedKFold

    present, groups = rows.present, rows.target.person
    if rows.given.groups is not None:
        groups = read_groups(rows.given.groups, rows.table.n_rows)
    if is_whole(cv):
        counted = np.flatnonzero(present)
        together = None if groups is None else groups[counted]
        try:
            pairs = list(
                EventStratifiedKFold(cv).split(counted, rows.target.event[counted], together)
            )
        except ValueError as error:
            raise ValueError(f"cv={cv}: {error}") from error
        return [(counted[train], counted[test]) for train, test in pairs]
    folds = [
        (_positions(train, present), _positions(test, present))
        for train, test in check_cv(cv).split(rows.given.X, as_rows(rows.given.y), groups)
    ]
    if not folds:
        raise ValueError("cv has no folds: give it at least one pair of positions.")
    return folds


def hold_out_apart(held_out: list[Positions]) -> NDArray[np.bool_]:
    """Return for each pair of folds whether they hold out different rows, of shape (n, n)."""
    from scipy.sparse import csr_array

    ends = np.cumsum([0, *(rows.size for rows in held_out)])
    rows = np.concatenate(held_out)
    table = csr_array((np.ones(rows.size), rows, ends))
    return np.asarray((table @ table.T).toarray() == 0)


def _positions(chosen: Any, present: NDArray[np.bool_]) -> Positions:
    """Return the positions that a fold of the user's names, but for rows of weight zero."""
    try:
        positions: Positions = np.arange(present.size)[chosen]
    except IndexError as error:
        raise ValueError(f"A fold of cv names rows that X has not: {error}") from error
    return positions[present[positions]]


@dataclass(frozen=True, eq=False)
class Fold:
    """The rows to fit on, and the rows to score on."""

    table: Table  # the training rows; all weights are positive
    target: Target
    weight: Floats
    held_out: HeldOut  # the rows to score on


@dataclass(frozen=True, eq=False)
class FoldScores:
    """The scores of every candidate in one fold; arrays have the shape (n_shrinkages, n_sizes)."""

    held_out: Floats  # the score on the held-out rows
    training_loss: Floats  # the loss on the training rows, divided by their weight
    fit_time: Floats  # seconds
    score_time: Floats
    # "optimal" where every search was completed, else how the first other one ended.
    status: Status


def cut_fold(rows: Rows, train: Positions, test: Positions, *, as_passed: bool) -> Fold:
    """Take the training and the held-out rows of a fold."""
    if not (train.size and test.size):
        raise ValueError(
            f"A fold of cv has {train.size} rows to fit on and {test.size} held-out rows of "
            "positive weight: each needs at least one."
        )
    target = rows.target.take(train)
    held_out = HeldOut(
        table=rows.table.take(test),
        target=rows.target.take(test),
        weight=rows.weight[test],
        training_target=target,
        training_weight=rows.weight[train],
        X=take(rows.given.X, test) if as_passed else None,
        y=take(as_rows(rows.given.y), test) if as_passed else None,
    )
    return Fold(rows.table.take(train), target, rows.weight[train], held_out)


def score_fold(
    template: SurTree,
    shrinkages: Sequence[float],
    sizes: list[tuple[int, int]],
    scorer: Scorer,
    fold: Fold,
) -> FoldScores:
    """Score the best tree of every shrinkage and size."""
    problem, held_out = _read_fold(template, fold)
    values, total = np.empty((len(shrinkages), len(sizes), 4)), fold.target.total(fold.weight)
    statuses: list[Status] = []
    for index, shrinkage in enumerate(shrinkages):
        model = clone(template).set_params(shrinkage=shrinkage)
        shrunk = problem.with_objective(objective_of(model, fold.target))
        for depth, positions in _by_search(sizes).items():
            start = perf_counter()
            path = _search(model, shrunk, depth, max(sizes[position][1] for position in positions))
            fit_seconds = perf_counter() - start
            statuses.append(path.status)
            for position in positions:
                require_running()
                start = perf_counter()
                candidate = _candidate(model, sizes[position], shrunk, path)
                score = scorer(candidate, held_out)
                loss = candidate.tree.unpenalised_loss / total
                values[index, position] = score, loss, fit_seconds, perf_counter() - start
    scores, training_loss, fit_time, score_time = np.moveaxis(values, -1, 0)
    return FoldScores(scores, training_loss, fit_time, score_time, first_unproven(statuses))


def measure_fold(chosen: SurTree, fold: Fold) -> list[list[Score]]:
    """Return the scores of `HeldOutScores` for one fold: of all causes, and of each that counts."""
    problem, held_out = _read_fold(chosen, fold)
    limits = own_limits(chosen)
    size = limits.max_depth, limits.max_splits or 0
    path = _search(chosen, problem, *size)
    candidate = _candidate(chosen, size, problem, path)
    candidate = replace(candidate, model=cache(candidate.model))
    single_leaf = _candidate(chosen, (0, 0), problem, path)
    data = problem.data

    def scores(rows: HeldOut) -> list[Score]:
        return [
            Score(-SCORERS["loss"](candidate, rows)),
            Score(-SCORERS["loss"](single_leaf, rows)),
            *(
                score_or_reason(partial(SCORERS[name], candidate, rows))
                for name in ("concordance", "integrated_brier")
            ),
        ]

    parts = data.sums.objective.parts
    if not parts:
        return [scores(held_out)]
    of_parts = {
        cause: scores(
            replace(held_out, sums=part.row_sums(held_out.target, held_out.weight, data.baseline))
        )
        for cause, part in parts.items()
    }
    of_all = [Score(-SCORERS["loss"](tree, held_out)) for tree in (candidate, single_leaf)]
    main = of_parts[held_out.main_cause or 0]
    return [of_all + main[2:], *of_parts.values()]


def _read_fold(template: SurTree, fold: Fold) -> tuple[FitProblem, HeldOut]:
    """Return the problem that the training rows pose, and what the held-out rows add to leaves."""
    data = training_data(fold.table, fold.target, fold.weight, objective_of(template, fold.target))
    held_out = fold.held_out
    sums = data.sums.objective.row_sums(held_out.target, held_out.weight, data.baseline)
    return make_problem(encoder_of(template), data), replace(held_out, sums=sums)


def _search(template: SurTree, problem: FitProblem, depth: int, splits: int) -> SizePath:
    limits = replace(own_limits(template), max_depth=depth, max_splits=splits)
    return search_quietly(template, problem, limits)


def _candidate(
    template: SurTree, size: tuple[int, int], problem: FitProblem, path: SizePath
) -> Candidate:
    # A path ends where rows allow no more splits.
    smaller = replace(path, sizes=path.sizes[: size[1] + 1])
    tree = smaller.sizes[-1].tree
    return Candidate(tree, partial(_model, template, size, problem, smaller))


def _by_search(sizes: list[tuple[int, int]]) -> dict[int, list[int]]:
    """Return the depths to search, and the positions of the sizes that each search yields.

    With at most one split no tree is deeper than one, so the first deeper search finds it too.
    """
    deepest = max(depth for depth, _ in sizes)
    searches: dict[int, list[int]] = {}
    for position, (depth, _) in enumerate(sizes):
        searches.setdefault(max(depth, min(2, deepest)), []).append(position)
    return searches


def _model(
    template: SurTree, size: tuple[int, int], problem: FitProblem, path: SizePath
) -> SurTree:
    max_depth, max_splits = size
    model: SurTree = clone(template).set_params(max_depth=max_depth, max_splits=max_splits)
    table = problem.data.table
    remember_columns(model, table.names, named=table.named, texts=table.texts)
    adopt_size(model, problem, path, path.sizes[-1])
    return model


def grid_results(scores: list[SizeScores], folds: list[FoldScores]) -> dict[str, Any]:
    """Return scores and times as scikit-learn's searches do: shrinkage by shrinkage."""
    from scipy.stats import rankdata

    limits = {
        "max_depth": np.concatenate([sizes.max_depth for sizes in scores]),
        "max_splits": np.concatenate([sizes.max_splits for sizes in scores]),
        "shrinkage": np.repeat(
            [sizes.shrinkage for sizes in scores], [sizes.max_depth.size for sizes in scores]
        ),
    }
    held_out = np.concatenate([sizes.held_out for sizes in scores])
    results: dict[str, Any] = {}
    for name, times in (
        ("fit_time", [fold.fit_time.ravel() for fold in folds]),
        ("score_time", [fold.score_time.ravel() for fold in folds]),
    ):
        results[f"mean_{name}"] = np.mean(times, axis=0)
        results[f"std_{name}"] = np.std(times, axis=0)
    results |= {f"param_{name}": np.ma.array(values) for name, values in limits.items()}
    results["params"] = [
        {name: values[position].item() for name, values in limits.items()}
        for position in range(len(held_out))
    ]
    kinds = {"test": held_out}
    if scores[0].scoring == "loss":
        kinds["train"] = -np.concatenate([sizes.training_loss for sizes in scores])
    for name, values in kinds.items():
        results |= {f"split{k}_{name}_score": fold for k, fold in enumerate(values.T)}
        results[f"mean_{name}_score"] = values.mean(axis=1)
        results[f"std_{name}_score"] = values.std(axis=1)
    results["rank_test_score"] = rankdata(-held_out.mean(axis=1), method="min").astype(np.int32)
    return results

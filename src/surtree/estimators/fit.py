"""The one way from rows to a fitted tree: search, choose a size, adopt it."""

from __future__ import annotations

import warnings
from time import perf_counter
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from surtree._support.package import VERSION, user_level
from surtree._support.parameters import read_time_limit
from surtree._support.status import SMALL_GAP, WORDS, warn_of_rounding
from surtree.cuts.encoder import encoder_of
from surtree.data.named import RowInputs, is_lazy
from surtree.data.rows import Rows, read_rows
from surtree.engines.engines import source_of
from surtree.engines.fit import read_problem
from surtree.engines.reader import Reader
from surtree.engines.rows import target_names
from surtree.estimators.parameters import limits_of, require_parameters
from surtree.fitting.conditions import conditions_of, has_conditions
from surtree.fitting.row_digest import row_digest
from surtree.fitting.size_path import SizePath, find_path
from surtree.fitting.training import FitProblem, make_problem, reader_of, rows_to_fit
from surtree.fitting.warm_start import nearest_topology
from surtree.solver.clock import Clock
from surtree.solver.core import n_threads
from surtree.solver.problem import Limits, ProgressHook, TreeTopology
from surtree.solver.search import SearchSettings
from surtree.solver.verbose import searching
from surtree.tree.resolve import tree_of
from surtree.tree.size import Size

# Seconds of a time limit that are kept for building the trees: in all, for each row, and for each
# split that limits and rows allow.
AFTERWARDS, AFTERWARDS_PER_ROW, AFTERWARDS_PER_SPLIT = 0.03, 2e-7, 6e-5
# The share of a time limit after which no more columns are read, and the seconds that they have.
READING, LEAST_READING = 0.5, 0.1


def fit_tree(model: Any, given: RowInputs | Rows, init: Any = None) -> FitProblem:
    """Fit a model on rows, which are read unless they are already, and return the problem."""
    start = perf_counter()
    require_parameters(model)
    time_limit = read_time_limit(model.time_limit)
    # Reading the table and building the trees count as well.
    reading = Clock(None if time_limit is None else max(READING * time_limit, LEAST_READING))
    problem: FitProblem
    if isinstance(given, RowInputs) and is_lazy(given.X):
        n_rows = 0  # how many there are does not matter: they are merged
        problem = model._read_lazy(given, init)
    else:
        rows = given if isinstance(given, Rows) else read_rows(model, given, reader_of(model))
        data = rows_to_fit(model, rows)
        n_rows = data.table.n_rows
        problem = make_problem(encoder_of(model), data, clock=reading)
    limits = limits_of(model, problem.data.target)
    if time_limit is not None:
        before = perf_counter() - start
        # Without time left, the search ends at once.
        time_limit = max(time_limit - before - _afterwards(time_limit, n_rows, limits), 1e-9)
    if init is not None and has_conditions(model):
        raise ValueError("init is for trees without monotone and max_columns: leave it out")
    known = None if init is None else nearest_topology(tree_of(init), problem)
    fit_problem(model, problem, limits, time_limit, known)
    return problem


def read_lazy(
    model: Any, given: RowInputs, progress: ProgressHook | None, why_rows: str = ""
) -> FitProblem:
    """Read a table that is not in memory, in passes; merged rows if somebody says why."""
    if has_conditions(model):
        raise ValueError("monotone and max_columns are for tables in memory: collect the table")
    if given.id is not None:
        raise ValueError("id is for tables in memory: leave it out, or collect the table")
    source = source_of(given.X)
    names = target_names(given, source.names, model._names_type)
    reader = Reader(source, n_threads(model.n_jobs), progress, getattr(model, "verbose", 0))
    return read_problem(model, names, reader, why_rows)


def fit_problem(
    model: Any,
    problem: FitProblem,
    limits: Limits,
    time_limit: float | None,
    known: TreeTopology | None = None,
) -> SizePath:
    """Let a model adopt the size that its price of a split chooses, and warn of a gap."""
    with searching("Searching", model.verbose, model.progress, time_limit) as progress:
        path = search_path(model, problem, limits, time_limit, progress, known)
    adopt_size(model, problem, path, path.choose(float(model.ccp_alpha)))
    model.follow_up_ = problem.follow_up
    if model.status_ in ("time_limit", "memory_limit"):
        unread = f"; {problem.n_unread} columns were not even read" if problem.n_unread else ""
        warnings.warn(
            f"The {WORDS[model.status_].title} ended the search: this is the {model._aim} so far, "
            f"with a gap of {model.gap_:.1%}{unread}. Allow more, or fewer splits.",
            ConvergenceWarning,
            stacklevel=user_level(),
        )
    elif model.status_ == "rounded" and model.gap_ > SMALL_GAP:
        warn_of_rounding(f"The tree is proven up to a gap of {model.gap_:.2g}")
    return path


def search_path(
    model: Any,
    problem: FitProblem,
    limits: Limits,
    time_limit: float | None,
    progress: ProgressHook | None = None,
    known: TreeTopology | None = None,
) -> SizePath:
    """Find the best tree of every size with the threads and the memory of a model."""
    return find_path(
        problem,
        SearchSettings(
            limits,
            time_limit,
            model.n_jobs,
            model.memory_limit,
            progress,
            known,
            conditions_of(model, problem),
        ),
    )


def search_quietly(model: Any, problem: FitProblem, limits: Limits) -> SizePath:
    """Search as one of many, such as folds and samples: who interrupts one ends them all."""
    path = search_path(model, problem, limits, read_time_limit(model.time_limit))
    if path.status == "interrupted":
        raise KeyboardInterrupt
    return path


def adopt_size(model: Any, problem: FitProblem, path: SizePath, best: Size) -> None:
    """Set the fitted attributes of a model to one of the sizes of a path."""
    price = float(model.ccp_alpha)
    chosen = problem.build_with_at_risk(path.topologies[best.splits], model.leaf_curve)
    model.path_ = tuple(size.with_tree_of(best, chosen) for size in path.sizes)
    model.tree_ = chosen
    model.encoder_ = problem.encoder
    model.surtree_version_ = VERSION
    for name in model._known_later:
        setattr(model, name, None)
    model.row_digest_ = row_digest(problem)
    model.n_cuts_, model.n_evaluated_ = path.n_cuts, path.n_evaluated
    model.proven_depth_ = path.proven_depth
    model.loss_ = best.loss
    model.lower_bound_ = path.lower_bound(best, price)
    model.gap_ = (best.loss - model.lower_bound_) / best.loss if best.loss > 0 else 0.0
    model.status_ = path.status_of(best, price)
    model.free_loss_ = path.free_loss(best, price)


def _afterwards(time_limit: float, n_rows: int, limits: Limits) -> float:
    """Return the seconds that are kept for building the trees."""
    asked = n_rows if limits.max_splits is None else limits.max_splits
    n_splits: int = min(2**limits.max_depth - 1, n_rows, asked)
    wanted = AFTERWARDS + AFTERWARDS_PER_ROW * n_rows + AFTERWARDS_PER_SPLIT * n_splits
    return min(wanted, time_limit / 10 if time_limit < 1 else time_limit / 4)

"""A problem to fit, from a table that is not in memory: a few passes, and only sums are kept."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from surtree.cuts.encoder import Encoder, encoder_of
from surtree.cuts.thresholds import require_names
from surtree.data.rows import warn_left_out
from surtree.data.table import infinite_values
from surtree.data.target import require_event_counts
from surtree.engines import _memory_caps as memory_caps
from surtree.engines._encode import BinnedColumns, DistinctColumn, wanted_intervals
from surtree.engines._merged_problem import PassContext, pose_merged
from surtree.engines._merged_rows import row_bytes
from surtree.engines._quantiles import SelectionPass
from surtree.engines._row_values import ExtentPass, RowValues
from surtree.engines._summary import Summary, SummaryPass, WeightPass, WeightSummary
from surtree.engines._table_problem import pose_tables
from surtree.engines._tally import Tally
from surtree.engines.reader import Reader
from surtree.engines.rows import TargetNames
from surtree.engines.source import TooManyRowsError
from surtree.fitting.training import FitProblem, objective_of
from surtree.solver.core import default_memory_limit, fit_in_tables
from surtree.solver.problem import Limits
from surtree.survival.exactness import MOST_UNEVEN
from surtree.survival.follow_up import warn_of_early_end
from surtree.survival.objective import Objective


def read_problem(
    estimator: Any, names: TargetNames, reader: Reader, why_rows: str = ""
) -> FitProblem:
    """Read a lazy table, pass by pass, and pose the problem of its best tree.

    Where somebody says why, rows are merged and never added to tables.
    """
    questions = tuple(name for name in reader.source.names if name not in names.columns)
    if not questions:
        raise ValueError(f"{reader.source.label} has no columns but those of the target")
    encoder = encoder_of(estimator)
    require_names(encoder.thresholds, questions)
    memory = getattr(estimator, "memory_limit", None)
    memory = default_memory_limit() if memory is None else int(memory)
    weights = WeightSummary(0, 1.0, 1.0)
    # Values, merging, leaves; long columns and many distinct rows need more.
    reader.expect(3 if names.weight is None else 4, may_be_more=True)
    if names.weight is not None:
        weights, names = reader.run_first(WeightPass, names)
        _check_weights(weights, names.weight)
    first = partial(
        SummaryPass,
        questions=questions,
        grid=weights.grid,
        repeated=weights.are_whole and not weights.are_one,
        most_times=max(memory // memory_caps.TIME_BYTES, 1),
    )
    summary: Summary
    if names.weight is None:
        summary, names = reader.run_first(first, names)
        weights = replace(weights, n_counted=summary.n_counted)
    else:
        summary = reader.run(first(names), names)
    _check(summary)
    names = names.learn(summary.deaths, summary.arms, estimator)
    context = PassContext(reader, names, questions, weights, summary, memory)
    if summary.entries.size:
        warn_of_early_end(context.risks.table(), float(summary.entries.keys[-1]))
    columns = _distinct_columns(encoder, context)
    for model in (estimator, encoder):
        model.n_features_in_ = len(questions)
        model.feature_names_in_ = np.array(questions, dtype=object)
    values = _row_values(context, objective_of(estimator, names.example))
    encoder.n_unread_ = 0
    binned = BinnedColumns(encoder, columns)
    if why_rows:
        return _pose_rows(context, binned, values, why_rows, "or fewer columns")
    limits: Limits = estimator._limits(names.example)
    return _pose(context, binned, values, limits)


def _row_values(context: PassContext, objective: Objective) -> RowValues:
    """Return what rows add, after one more pass where the objective does not know how much."""
    weights, baseline = context.weights, objective.baseline_of(context.risks)
    extents = None
    if objective.exactness().extents((weights.most, weights.least), baseline) is None:
        context.reader.expect(3, may_be_more=True)
        extents = context.reader.run(ExtentPass(context.names, objective, baseline), context.names)
    return RowValues.of(objective, context.names.example, context.risks, weights, extents)


def _pose(
    context: PassContext, columns: BinnedColumns, values: RowValues, limits: Limits
) -> FitProblem:
    """Merge the rows, or add them to tables where they are too many."""
    n_bins = [binner.n_bins + 1 for binner in columns.binners]
    in_tables = limits.max_depth <= 3 and fit_in_tables(n_bins, len(values.core_parts), limits)
    if in_tables:
        most = _most_rows(context, columns, values)
        context.reader.expect(2, may_be_more=True)
        # Return outside the handler: the exception keeps the merged rows alive.
        with suppress(TooManyRowsError):
            return pose_merged(context, columns, values, min(most, memory_caps.MOST_MERGED))
        return pose_tables(context, columns, values, limits)
    which = "More than three levels" if limits.max_depth > 3 else "So many bins or columns"
    return _pose_rows(
        context, columns, values, which, "fewer columns, max_depth=3, or a higher memory_limit"
    )


def _pose_rows(
    context: PassContext, columns: BinnedColumns, values: RowValues, who: str, remedy: str
) -> FitProblem:
    """Merge the rows, or say who needs them and what helps where they are too many."""
    most = _most_rows(context, columns, values)
    context.reader.expect(2, may_be_more=False)
    try:
        return pose_merged(context, columns, values, most)
    except TooManyRowsError as error:
        raise ValueError(
            f"{who} need the distinct rows, as bins tell them apart: {error}, and memory_limit "
            f"has room for {most:,}. Choose fewer thresholds (n_thresholds), {remedy}"
        ) from None


def _most_rows(context: PassContext, columns: BinnedColumns, values: RowValues) -> int:
    """Return how many distinct rows there is room for."""
    return max(context.memory // row_bytes(values, len(columns.binners)), 1)


def _check_weights(weights: WeightSummary, name: str | None) -> None:
    if not weights.n_counted:
        raise ValueError(f"Column {name!r}, the weights, is zero in all rows that count")
    if weights.most > MOST_UNEVEN * weights.least:
        raise ValueError(
            f"sample_weight goes from {weights.least:.3g} to {weights.most:.3g}: of a table that "
            f"is not in memory, weights may differ by a factor of {MOST_UNEVEN:,.0f}. Bring them "
            "closer together, or give rows that hardly count a weight of zero."
        )


def _check(summary: Summary) -> None:
    """Raise an error where rows cannot be used, and warn of those that are left out."""
    if not summary.n_rows:
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    late = any(bool((died.keys > 0).any()) for died in summary.deaths.values())
    require_event_counts(summary.n_counted + summary.n_left_out, summary.n_events, late)
    for column in summary.questions:
        if column.n_infinite:
            raise infinite_values(column.name, column.n_infinite, summary.n_rows)
    if summary.n_left_out:
        warn_left_out(summary.n_left_out, summary.n_rows)


def _distinct_columns(encoder: Encoder, context: PassContext) -> list[DistinctColumn]:
    """Return the distinct values of each column that has some, or those that cuts are made from."""
    long = {
        summary.name: wanted_intervals(summary, encoder)
        for summary in context.summary.questions
        if summary.bounds is not None
    }
    counts: dict[str, Tally] = {}
    if long:
        repeated = context.weights.are_whole and not context.weights.are_one
        context.reader.expect(3, may_be_more=True)
        selected = context.reader.run(SelectionPass(context.names, long, repeated), context.names)
        for summary in context.summary.questions:
            if summary.bounds is not None:
                seen = float(summary.bounds.values[0]), float(summary.bounds.values[-1])
                counts[summary.name] = selected[summary.name].counts(long[summary.name], seen)
    columns = (
        DistinctColumn.of(
            index, summary, counts.get(summary.name, summary.counts), context.weights.grid
        )
        for index, summary in enumerate(context.summary.questions)
    )
    return [column for column in columns if column is not None]

"""A problem to fit, from a table that is not in memory: a few passes, and only sums are kept."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._types import Floats
from surtree.cuts.candidates import CandidateCuts
from surtree.cuts.encoder import Encoder, encoder_of
from surtree.cuts.given import require_names
from surtree.data.table import infinite_values
from surtree.data.target import require_event_counts
from surtree.exact import Terms
from surtree.fitting.fit_problem import FitProblem
from surtree.parameters import LeafCurveKind
from surtree.solver.core import default_memory_limit
from surtree.solver.problem import TreeTopology
from surtree.streaming.at_risk import AtRiskPass, counts_of_leaves
from surtree.streaming.encode import Coder, DistinctColumn, wanted_intervals
from surtree.streaming.merged_rows import (
    DistinctRows,
    MergePass,
    TooManyRowsError,
    row_bytes,
)
from surtree.streaming.reader import Reader
from surtree.streaming.row_values import MergedSums, RowValues
from surtree.streaming.rows import TargetNames
from surtree.streaming.selection import SelectionPass
from surtree.streaming.summary import Summary, SummaryPass, WeightPass, Weights
from surtree.streaming.tally import Tally
from surtree.survival.baseline import Baseline
from surtree.survival.objective import EVEN_WEIGHTS, Objective
from surtree.tree.tree import Tree


@dataclass(frozen=True, eq=False)
class MergedData:
    """What a search needs to know of rows that were merged, as `TrainingData` has it."""

    baseline: Baseline
    sums: MergedSums


@dataclass(frozen=True, eq=False)
class StreamedProblem(FitProblem):
    """A problem whose rows are not in memory, but for the distinct ones among them.

    Parameters
    ----------
    known : KnownRows
        What the first passes found, to read the rows again.
    """

    data: MergedData  # type: ignore[assignment]
    known: KnownRows = field(kw_only=True)

    def build_with_at_risk(self, topology: TreeTopology, leaf_curve: LeafCurveKind) -> Tree:
        """Return the tree of a topology, with the at-risk counts and curves of its leaves."""
        (lazy,) = self.build([topology])
        return self.known.with_at_risk(lazy.tree, leaf_curve)


@dataclass(frozen=True, eq=False)
class KnownRows:
    """What is known of all rows before a tree is, and the way to read them again.

    Parameters
    ----------
    reader : Reader
        It reads the rows.
    names : TargetNames
        The columns of the target.
    questions : tuple of str
        The columns that a tree may ask about, in their order.
    weights, summary : Weights, Summary
        What the first passes found.
    memory : int
        How many bytes there are.
    """

    reader: Reader
    names: TargetNames
    questions: tuple[str, ...]
    weights: Weights
    summary: Summary
    memory: int

    def with_at_risk(self, tree: Tree, leaf_curve: LeafCurveKind) -> Tree:
        """Return a tree with the at-risk counts of its leaves, from one more pass."""
        grid, times = self.weights.grid, self.summary.times.keys
        n_bytes = 8 * (2 + 2 * grid.n_parts) * tree.n_leaves * times.size
        if n_bytes > self.memory:
            raise ValueError(
                f"{times.size:,} distinct times in {tree.n_leaves} leaves take {n_bytes:,} bytes: "
                "round the times, as to days, or raise memory_limit"
            )
        tables = self.reader.run(
            AtRiskPass(self.names, self.questions, tree, grid, times, self.summary.entries.keys)
        )
        risk = counts_of_leaves(tables, self.summary, grid, tree.baseline)
        return replace(tree, risk=risk, leaf_curve=leaf_curve)


def read_problem(
    estimator: Any, objective: Objective, names: TargetNames, reader: Reader
) -> StreamedProblem:
    """Read a lazy table, pass by pass, and pose the problem of its best tree.

    Parameters
    ----------
    estimator : SurTree
        It has the parameters of the encoder and the limits; it remembers the names of the columns.
    objective : RelativeRisk
        What a leaf is worth.
    names : TargetNames
        The columns of the target.
    reader : Reader
        It reads the rows.
    """
    questions = tuple(name for name in reader.source.names if name not in names.columns)
    if not questions:
        raise ValueError(f"{reader.source.label} has no columns but those of the target")
    encoder = encoder_of(estimator)
    require_names(encoder.thresholds, questions)
    limit = estimator.memory_limit
    memory = default_memory_limit() if limit is None else int(limit)
    weights = _weights(reader, names)
    summary: Summary = reader.run(
        SummaryPass(names, questions, weights.grid, weights.are_whole and not weights.are_one)
    )
    _check(summary)
    if names.weight is None:
        weights = replace(weights, n_counted=summary.n_counted)
    known = KnownRows(reader, names, questions, weights, summary, memory)
    columns = _distinct_columns(encoder, known)
    for model in (estimator, encoder):
        model.n_features_in_ = len(questions)
        model.feature_names_in_ = np.array(questions, dtype=object)
    candidates = [column.candidates(encoder) for column in columns]
    coders = tuple(map(Coder.of, columns, candidates))
    values = RowValues.of(objective, summary, weights)
    rows, merge = _merged(known, coders, values)
    sums = values.sums(rows.sums)
    objective.require_exact(sums)
    bins = merge.packing.unpack(rows.words)
    coded = [
        _rebinned(column, found, line, encoder, sums)
        for column, found, line in zip(columns, candidates, bins, strict=True)
    ]
    weight = slice(0, 1) if weights.are_one else sums.node_values.kinds[-1][1]
    binned = encoder.encode(coded, Terms(weights.grid, rows.sums[weight]))
    encoder.n_unread_ = 0
    return StreamedProblem(MergedData(values.baseline, sums), encoder, binned, known=known)


def _weights(reader: Reader, names: TargetNames) -> Weights:
    """Return what all weights have in common: one pass more, where there are some."""
    if names.weight is None:
        return Weights(0, 1.0, 1.0)
    weights: Weights = reader.run(WeightPass(names))
    if not weights.n_counted:
        raise ValueError(f"Column {names.weight!r}, the weights, is zero in all rows that count")
    if weights.most > EVEN_WEIGHTS * weights.least:
        raise ValueError(
            f"sample_weight goes from {weights.least:.3g} to {weights.most:.3g}: of a table that "
            f"is not in memory, weights may differ by a factor of {EVEN_WEIGHTS:,.0f}. Bring them "
            "closer together, or give rows that hardly count a weight of zero."
        )
    return weights


def _check(summary: Summary) -> None:
    """Raise an error where rows cannot be used, and warn of those that are left out."""
    if not summary.n_rows:
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    late = bool((summary.times.sums[1][summary.times.keys > 0] > 0).any())
    require_event_counts(summary.n_counted + summary.n_left_out, summary.n_events, late)
    for column in summary.questions:
        if column.n_infinite:
            raise infinite_values(column.name, column.n_infinite, summary.n_rows)
    if summary.n_left_out:
        warnings.warn(
            f"{summary.n_left_out} of {summary.n_rows} rows are censored at time zero: they say "
            "nothing about survival, and are left out",
            UserWarning,
            stacklevel=5,
        )


def _distinct_columns(encoder: Encoder, known: KnownRows) -> list[DistinctColumn]:
    """Return the distinct values of each column that has some, or those that cuts are made from."""
    long = {
        summary.name: wanted_intervals(summary, encoder)
        for summary in known.summary.questions
        if summary.bounds is not None
    }
    counts: dict[str, Tally] = {}
    if long:
        repeated = known.weights.are_whole and not known.weights.are_one
        found = known.reader.run(SelectionPass(known.names, long, repeated))
        for summary in known.summary.questions:
            if summary.bounds is not None:
                seen = float(summary.bounds.values[0]), float(summary.bounds.values[-1])
                counts[summary.name] = found[summary.name].counts(long[summary.name], seen)
    columns = (
        DistinctColumn.of(
            index, summary, counts.get(summary.name, summary.counts), known.weights.grid
        )
        for index, summary in enumerate(known.summary.questions)
    )
    return [column for column in columns if column is not None]


def _merged(
    known: KnownRows, coders: tuple[Coder, ...], values: RowValues
) -> tuple[DistinctRows, MergePass]:
    """Return the distinct rows."""
    most = max(known.memory // row_bytes(values, len(coders)), 1)
    step = MergePass(known.names, coders, values, most)
    try:
        return known.reader.run(step).whole(), step
    except TooManyRowsError as error:
        raise ValueError(
            f"{error}, and memory_limit has room for {most:,}: ask for fewer thresholds "
            "(n_thresholds), leave columns out, or raise memory_limit"
        ) from None


def _rebinned(
    column: DistinctColumn,
    candidates: CandidateCuts,
    bins: NDArray[np.uint16],
    encoder: Encoder,
    sums: MergedSums,
) -> CandidateCuts:
    """Return the candidates of a column over merged rows.

    Where cuts depend on the risk of many categories, it is known only now.
    """
    is_unordered = column.column.kind == "categorical" and not column.column.ordered
    if not is_unordered or encoder.category_cuts != "subsets":
        return replace(candidates, bins=bins)
    own = np.asarray(candidates.bins)

    def risk(group: NDArray[np.intp], n_groups: int) -> Floats:
        group_of_bin = np.full(candidates.n_bins + 1, -1)
        group_of_bin[own] = group
        return sums.risk_of_groups(group_of_bin[bins], n_groups)

    ranked = column.candidates(encoder, risk)
    moved = np.full(candidates.n_bins + 1, ranked.n_bins, dtype=np.uint16)
    moved[own] = ranked.bins
    return replace(ranked, bins=moved[bins])

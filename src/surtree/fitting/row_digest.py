"""A digest of the training rows: equal for the same bins, outcomes and weights in any order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._support import compiled
from surtree._support.compiled import Hashes, sum_hashes
from surtree.data.target import Target
from surtree.fitting.training import FitProblem, TrainingData

# Rows that are hashed at once: what describes them takes more memory than their hashes.
_AT_ONCE = 100_000
# Every row is counted in one cell of each of three tables.
N_TABLES, N_CELLS = 3, 16


def row_digest(problem: FitProblem) -> tuple[int, ...] | None:
    """Return the number of rows, four sums of hashes, and their sketch; None if not in memory.

    Rows are hashed as `surtree.verification.program` does, which shares no code: each word is the
    bits of a float, from the codes of columns that have cuts to the weight.
    """
    data = problem.data
    if not isinstance(data, TrainingData):
        return None
    return digest_of(hash_rows([*_codes(problem), *outcomes(data.target), data.sums.weight]))


def hash_rows(parts: Sequence[NDArray[Any]]) -> Hashes:
    """Return a hash of each row, from what there is of it: numbers of any types."""
    hashes = np.empty(parts[0].size, dtype=np.uint64)
    for start in range(0, hashes.size, _AT_ONCE):
        rows = slice(start, start + _AT_ONCE)
        words = np.array([part[rows] for part in parts], dtype=np.float64)
        hashes[rows] = compiled.hash_rows(words)
    return hashes


def digest_of(hashes: Hashes) -> tuple[int, ...]:
    """Return the digest of rows: two sums in four numbers, and the count and sum of each cell.

    Where few rows differ, the cells say which: they are an invertible Bloom lookup table.
    """
    sums = sum_hashes(hashes, N_TABLES, N_CELLS)
    return (hashes.size, *sums[:2].view(np.uint32).tolist(), *sums[2:].tolist())


def cells_of(hashes: Hashes) -> NDArray[np.intp]:
    """Return the three cells of each row, of shape (3, n_rows)."""
    bits = (hashes >> np.uint64(5 + 20 * table) for table in range(N_TABLES))
    cells = [(part % np.uint64(N_CELLS)).astype(np.intp) for part in bits]
    return np.stack([table * N_CELLS + cell for table, cell in enumerate(cells)])


def outcomes(target: Target) -> tuple[NDArray[Any], ...]:
    """Return cause, arm, time and entry of rows: one, zero and zero where there are none."""
    nothing = np.zeros(target.time.size)
    cause = target.cause if target.causes else target.event
    arm = target.arm if target.arm.size else nothing
    return cause, arm, target.time, nothing if target.entry is None else target.entry


def _codes(problem: FitProblem) -> list[NDArray[Any]]:
    """Return each column that has cuts as whole numbers; -1 is missing.

    They are the thresholds below a value, or the position of a category among the known ones.
    """
    data, binned, codes = problem.data, problem.binned, []
    first_cuts = np.searchsorted(binned.cut_column, np.arange(len(binned.bins)))
    for bins, missing, number in zip(binned.bins, binned.missing_bin, first_cuts, strict=True):
        cut = problem.encoder.cuts_[int(number)]
        if cut.known is None:
            code = np.where(bins == missing, -1, bins.astype(np.intp)) if missing >= 0 else bins
        else:
            column = data.table.column(cut.column)
            position = {label: code for code, label in enumerate(cut.known)}
            of_category = [*(position.get(label, -1) for label in column.categories), -1]
            code = np.array(of_category)[column.values[data.present]]
        codes.append(code)
    return codes

"""What a model asks of whole trees, in the terms of the solver."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

import numpy as np

from surtree.cuts.cut import Cut
from surtree.fitting.training import FitProblem
from surtree.solver.problem import BinnedRows, Conditions
from surtree.words.numbers import plural


def conditions_of(model: Any, problem: FitProblem) -> Conditions | None:
    """Return the conditions of a model on trees of some rows; None if it has none."""
    if not has_conditions(model):
        return None
    return Conditions(
        model.max_columns, _signs(model.monotone, problem) if model.monotone else None
    )


def has_conditions(model: Any) -> bool:
    """Return whether a model asks something of whole trees."""
    return bool(getattr(model, "monotone", None)) or getattr(model, "max_columns", None) is not None


def condition_texts(model: Any) -> tuple[str, ...]:
    """Return the conditions of a model in words, each as a part of 'a tree with ...'."""
    signs: Mapping[str, int] = getattr(model, "monotone", None) or {}
    texts = [
        f"a risk that only {'rises' if sign > 0 else 'falls'} with {name}"
        for name, sign in signs.items()
    ]
    most = getattr(model, "max_columns", None)
    return (
        *texts,
        *([] if most is None else [f"questions about at most {plural(most, 'column')}"]),
    )


def _signs(monotone: Mapping[str, int], problem: FitProblem) -> np.ndarray[Any, Any]:
    names, cuts, binned = problem.data.table.names, problem.encoder.cuts_, problem.binned
    if problem.core.rounding.down and not problem.core.rounding.wide:
        raise ValueError(
            "monotone needs weights that are less uneven: these differ by a factor of more than "
            "1,000, in more than 65,536 rows"
        )
    signs = np.zeros(len(binned.n_bins), dtype=np.int32)
    by_column: dict[str, list[int]] = {}
    for number, cut in enumerate(cuts):
        by_column.setdefault(cut.name, []).append(number)
    for name, sign in monotone.items():
        if name not in names:
            near = get_close_matches(name, names, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names[:10])}"
            raise ValueError(f"monotone is given for {name!r}, which is no column: {hint}")
        if name in by_column:  # else it is never asked about
            numbers = by_column[name]
            column = binned.cut_column[numbers[0]]
            signs[column] = sign * _direction(binned, [(n, cuts[n]) for n in numbers])
    return signs


def _direction(binned: BinnedRows, cuts: list[tuple[int, Cut]]) -> int:
    """Return 1 where the bins of a column ascend with its values, and -1 where they descend."""
    column = binned.cut_column[cuts[0][0]]
    n_values = int(binned.n_bins[column]) - (binned.missing_bin[column] >= 0)
    listed = [(number, cut) for number, cut in cuts if cut.categories is not None]
    if not listed:
        return 1
    one = listed[0][1]
    bins = [_bin_of(category, binned, listed, n_values) for category in one.known or (False, True)]
    for direction in (1, -1):
        ascends = np.all(np.diff(bins) * direction >= 0)
        at_ends = all(
            binned.cut_gaps[number] == 0
            and (binned.cut_first[number] == 0 or binned.cut_last[number] == n_values - 1)
            for number, _ in listed
        )
        if ascends and (at_ends or n_values <= 2):
            return direction
    raise ValueError(
        f"the categories of {one.name!r} have no order, so no tree rises or falls with them: pass "
        "an ordered categorical, or a number"
    )


def _bin_of(category: Any, binned: BinnedRows, cuts: list[tuple[int, Cut]], n_values: int) -> int:
    """Return the first bin that is on the same side of all cuts as a category."""

    def holds(number: int, bin_: int) -> bool:
        first, last = int(binned.cut_first[number]), int(binned.cut_last[number])
        return first <= bin_ <= last and not int(binned.cut_gaps[number]) >> bin_ & 1

    sides = [(category in (cut.categories or ())) is not cut.negated for _, cut in cuts]
    return next(
        (b for b in range(n_values) if [holds(number, b) for number, _ in cuts] == sides), 0
    )

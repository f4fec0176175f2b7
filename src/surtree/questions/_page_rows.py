"""The rows of a problem as a page holds them, so that its script can search trees."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Any

import numpy as np

from surtree._support.exact import SAME_LOSS
from surtree.cuts.cut import Cut
from surtree.words.numbers import plural

if TYPE_CHECKING:
    from surtree.questions.swaps import QuestionSwaps

MOST_DEPTH = 3
# Rows times the cube of the cuts: about two seconds of a phone, before anything is shown.
MOST_WORK = 2e9


def page_rows(swaps: QuestionSwaps) -> tuple[dict[str, Any], tuple[Cut, ...]]:
    """Return the rows, and the questions in the order of their bits."""
    swapper = swaps._swapper
    problem, limits = swapper.pinner.problem, swapper.pinner.limits
    tree, sums, data = swapper.model.tree_, problem.data.sums, problem.data
    cuts = problem.encoder.cuts_[:]
    n_rows = sums.weight.size
    if tree.objective.sum_names != ("events", "hazard") or tree.leaf_curve != "baseline":
        raise ValueError(
            "explore='rows' is for trees of one event with the curves of the baseline: take "
            "explore='cascades'"
        )
    if limits.max_depth > MOST_DEPTH or n_rows * float(len(cuts)) ** 3 > MOST_WORK:
        raise ValueError(
            f"explore='rows' searches trees in the page, of depth {MOST_DEPTH} at most, and not of "
            f"{plural(n_rows, 'row')} by {plural(len(cuts), 'question')}: take explore='cascades', "
            "or fewer columns"
        )
    events, hazard = sums.values
    counts = [
        (float(least), _doubles(sums.counts[name]))
        for name, least in limits.least.items()
        if least > 1 or (least == 1 and name != "samples")
    ]
    rows = {
        "n": n_rows,
        "depth": limits.max_depth,
        "splits": limits.max_splits,
        "prior": float(tree.objective.shrinkage),
        "rounding": SAME_LOSS * sums.constant,
        "bits": [_bits(cut.holds(data.table.column(cut.column))[data.present]) for cut in cuts],
        "events": _doubles(events),
        "hazard": _doubles(hazard),
        "happened": _bits(data.target.event),
        "counts": counts,
        "baseline": float(data.baseline.at(swapper.time)),
    }
    return rows, cuts


def _bits(answers: np.ndarray[Any, Any]) -> str:
    return b64encode(np.packbits(answers).tobytes()).decode()


def _doubles(values: np.ndarray[Any, Any]) -> str:
    return b64encode(np.ascontiguousarray(values, dtype="<f8").tobytes()).decode()

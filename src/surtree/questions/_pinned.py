"""The best trees that keep given cuts at given nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from surtree._support.exact import SAME_LOSS
from surtree._support.status import Status
from surtree._support.types import Floats
from surtree.fitting.training import FitProblem
from surtree.questions._force import is_allowed, join_gains, joined_topology
from surtree.questions._look import Effort
from surtree.solver.problem import Limits, TreeTopology
from surtree.solver.search import SearchSettings, search

Rows = NDArray[np.bool_]
# Cut, left and right of a tree of one question.
_ONE_SPLIT = ((0, -1, -1), (1, -1, -1), (2, -1, -1))
_Profile = tuple[Floats, tuple[TreeTopology | None, ...]]


@dataclass
class Pinner:
    """Finds the best trees over some rows that keep given cuts at given nodes."""

    problem: FitProblem
    limits: Limits
    effort: Effort
    statuses: list[Status] = field(default_factory=list)
    # What was found for rows without a cut to keep.
    _known: dict[tuple[bytes, int], _Profile] = field(default_factory=dict)

    def topology(self, keep: Mapping[str, int]) -> TreeTopology | None:
        """Return the smallest of the best trees that keep some cuts; None where none may."""
        gains, topologies = self.best(np.ones_like(self.problem.data.sums.weight, bool), "", keep)
        if not np.isfinite(gains).any():
            return None
        rounding = SAME_LOSS * self.problem.data.sums.constant
        return topologies[int(np.argmax(gains >= gains.max() - rounding))]

    def best(self, rows: Rows, path: str, keep: Mapping[str, int]) -> _Profile:
        """Return what trees with at most 0, 1, ... splits gain below a node, and these trees."""
        depth = len(path)
        most = (self.limits.max_splits or 0) - depth
        if not is_allowed(self.problem.data, rows, self.limits):
            return np.full(most + 1, -np.inf), (None,) * (most + 1)
        if path not in keep:
            return self._search(rows, depth, most)
        one = TreeTopology(*(np.array(ends, np.int32) for ends in _ONE_SPLIT))
        one.cut[0] = keep[path]
        right = self.problem.core.find_leaves(one) == 2
        no, yes = (
            self.best(rows & side, path + answer, keep)
            for side, answer in ((~right, "n"), (right, "y"))
        )
        gains, shares = join_gains([no[0], yes[0]], most)
        topologies: list[TreeTopology | None] = []
        for gain, (i, j) in zip(gains, shares, strict=True):
            left, other = no[1][i], yes[1][j]
            if left is None or other is None or not np.isfinite(gain):
                topologies.append(None)
            else:
                topologies.append(joined_topology(keep[path], left, other))
        return gains, tuple(topologies)

    def _search(self, rows: Rows, depth: int, most: int) -> _Profile:
        key = rows.tobytes(), depth
        if key not in self._known:
            limits = replace(self.limits, max_depth=self.limits.max_depth - depth, max_splits=most)
            how = SearchSettings(
                limits, self.effort.clock.left(), self.effort.n_jobs, self.effort.memory_limit
            )
            core = self.problem.core
            solution = search(core if rows.all() else core.take(rows), how)
            self.statuses.append(solution.status)
            self._known[key] = solution.gains, solution.topologies
        return self._known[key]

"""The best tree of every size, each added up from the rows again."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from surtree._support.exact import SAME_LOSS, TIE
from surtree._support.status import Status
from surtree._support.types import Floats
from surtree.fitting.training import FitProblem
from surtree.solver.problem import Solution, TreeTopology
from surtree.solver.search import SearchSettings
from surtree.survival.row_sums import Sums
from surtree.tree.size import Size
from surtree.tree.tree import Tree

# One more split that improves the loss by less than a tie, or a gap of less, is rounding: relative
# to loss and scale of gains. Where weights are uneven, a loss may be much smaller than the scale.
UNEVEN_TOLERANCE = 2.0**-49
# A search that ended so may have proven some of its trees.
_MAY_BE_PROVEN = ("time_limit", "memory_limit", "rounded")


@dataclass(frozen=True)
class SizePath:
    """The result of a search."""

    status: Status  # how the search ended
    sizes: tuple[Size, ...]  # for 0, 1, 2, ... splits, the best tree
    topologies: tuple[TreeTopology, ...]  # the topology of each of them, as the solver returns it
    # Bisected columns count here: over all subproblems, the cuts that divide their rows, and those
    # of them that were evaluated.
    n_cuts: int = 0
    n_evaluated: int = 0
    proven_depth: int = 0  # the largest depth, up to the limit, whose optimum is known
    tie: float = 0.0  # a gap of less is rounding, whatever the loss
    # The loss of the best tree of every size without the conditions; None where there are none.
    free_losses: Floats | None = None

    def choose(self, price: float) -> Size:
        """Return the size with the smallest penalised loss, the smallest one if several have it."""
        return min(self.sizes, key=lambda size: (size.loss + price * size.splits, size.splits))

    def free_loss(self, best: Size, price: float) -> float | None:
        """Return the loss of the tree that would have been chosen without the conditions."""
        if self.free_losses is None:
            return None
        worth = self.free_losses + price * np.arange(self.free_losses.size)
        return float(min(max(self.free_losses[int(np.argmin(worth))], 0.0), best.loss))

    def lower_bound(self, best: Size, price: float) -> float:
        """Return what no tree goes below, each split more than those of a size having a price."""
        bound = min(size.lower_bound + price * (size.splits - best.splits) for size in self.sizes)
        is_proven = best.loss - bound <= self.tie + TIE * best.loss
        return best.loss if is_proven else bound

    def status_of(self, best: Size, price: float) -> Status:
        """Return what is known of the tree of a size; it may be proven where others are not."""
        is_proven = self.lower_bound(best, price) == best.loss
        return "optimal" if is_proven and self.status in _MAY_BE_PROVEN else self.status


def find_path(problem: FitProblem, how: SearchSettings) -> SizePath:
    """Search for the best tree of every size, and check every loss that the solver claims."""
    solution = problem.search(how)
    if problem.n_unread:
        solution = replace(
            solution,
            status="interrupted" if solution.status == "interrupted" else "time_limit",
            gain_bounds=np.maximum(solution.gains, problem.data.sums.constant),
            proven_depth=0,
        )
    return SizePath(
        solution.status,
        tuple(_sizes(solution, problem)),
        solution.topologies,
        solution.n_cuts,
        solution.n_evaluated,
        solution.proven_depth,
        0.0 if problem.data.sums.is_uneven else TIE * problem.data.sums.scale,
        None if solution.free_gains is None else problem.data.sums.constant - solution.free_gains,
    )


def _sizes(solution: Solution, problem: FitProblem) -> list[Size]:
    sums = problem.data.sums
    tie = UNEVEN_TOLERANCE if sums.is_uneven else TIE
    path: list[Size] = []
    for splits, lazy in enumerate(problem.build(solution.topologies)):
        claimed = sums.constant - float(solution.gains[splits])
        # Rounding grows with the sums, also where they cancel to a loss of almost nothing.
        scale = sums.scale + abs(claimed)
        # A bound that is the gain itself means an optimal tree, and no slack at all.
        slack = float(solution.gain_bounds[splits] - solution.gains[splits])
        if path and path[-1].loss - claimed <= tie * scale:
            path.append(path[-1].with_splits(splits, max(path[-1].loss - slack, 0.0)))
            continue
        loss = lazy.loss
        excess = abs(loss - claimed) - SAME_LOSS * scale
        if excess > 0 and excess > _rounding(lazy.tree, sums):
            raise RuntimeError(
                f"The solver reports a loss of {claimed!r} for the tree with at most {splits} "
                f"splits, but its rows add up to {loss!r}. Please report this as a bug of surtree."
            )
        if path and path[-1].loss <= loss:  # by rounding only
            path.append(path[-1].with_splits(splits, max(path[-1].loss - slack, 0.0)))
        else:
            path.append(Size(splits, loss, max(loss - slack, 0.0), lazy))
    return path


def _rounding(tree: Tree, sums: Sums) -> float:
    """Return by how much rounding what each row adds can change the loss that the solver claims.

    It matters where the gain is steep: in leaves with a tiny hazard and an event.
    """
    leaves = tree.leaves
    slope = tree.objective.exactness().slope(tree.sums[leaves].T)
    return float((slope * tree.n_samples[leaves]).sum()) * sums.unit

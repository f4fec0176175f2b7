"""The best tree of every size, each added up from the rows again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from surtree._solver import Solution, Structure
from surtree.building import build_trees, with_risk
from surtree.encoding import Encoded, Encoder
from surtree.strategy import Search, refine, search
from surtree.training import TrainingRows
from surtree.tree import Tree

# The loss that the solver claims and the loss added up from the rows agree to this.
LOSS_TOLERANCE = 1e-9
# One more split that improves the loss by less than this is rounding, not a better tree.
SPLIT_TOLERANCE = 1e-12


@dataclass(frozen=True)
class Size:
    """The best tree with at most so many splits.

    Parameters
    ----------
    splits : int
        The largest number of splits that was allowed.
    loss : float
        The loss of the tree on its training rows.
    lower_bound : float
        No tree within the limits and with at most so many splits has a smaller loss.
    tree : Tree
        The tree. It is the one of the size before where one more split brings nothing.
    """

    splits: int
    loss: float
    lower_bound: float
    tree: Tree


@dataclass(frozen=True, eq=False)
class EncodedRows:
    """Training rows as the solver sees them, with what it takes to make a tree of its answer.

    Parameters
    ----------
    rows : TrainingRows
        The rows.
    encoder : Encoder
        The cuts that it found in them.
    encoded : Encoded
        The rows of positive weight, by bins.
    """

    rows: TrainingRows
    encoder: Encoder
    encoded: Encoded
    _trees: dict[bytes, Tree] = field(default_factory=dict)

    def build(self, structures: Sequence[Structure]) -> list[Tree]:
        """Return the tree of each structure, without risk counts."""
        # Searches of different depths often find the same tree. In preorder, cuts and leaves say
        # where they stand: no two trees have the same.
        keys = [structure.cut.tobytes() for structure in structures]
        new = {
            key: structure
            for key, structure in zip(keys, structures, strict=True)
            if key not in self._trees
        }
        trees = build_trees(
            list(new.values()),
            self.encoded,
            self.encoder.cuts_,
            self.rows.sums,
            self.rows.baseline,
        )
        self._trees.update(zip(new, trees, strict=True))
        return [self._trees[key] for key in keys]

    def build_with_risk(self, structure: Structure) -> Tree:
        """Return the tree of a structure, with what it takes to draw Kaplan-Meier curves."""
        (tree,) = self.build([structure])
        return with_risk(tree, structure, self.encoded, self.rows.sums, self.rows.target)


@dataclass(frozen=True)
class SizePath:
    """What a search found.

    Parameters
    ----------
    status : str
        How the search ended.
    sizes : tuple of Size
        For 0, 1, 2, ... splits, the best tree.
    structures : tuple of Structure
        What the solver said of each of them.
    n_cuts, n_evaluated : int
        Where columns were bisected: over all subproblems, the cuts that divide their rows, and
        those of them that were evaluated.
    """

    status: str
    sizes: tuple[Size, ...]
    structures: tuple[Structure, ...]
    n_cuts: int = 0
    n_evaluated: int = 0


def find_path(
    encoded: EncodedRows,
    how: Search,
    *,
    refined_from: int | None = None,
    refines: bool = False,
) -> SizePath:
    """Search for the best tree of every size, and check every loss that the solver claims.

    Parameters
    ----------
    encoded : EncodedRows
        The training rows.
    how : Search
        Limits of the trees and of the search.
    refines : bool, default=False
        Whether to look only near good thresholds, instead of at all.
    refined_from : int or None, default=None
        How many thresholds of a column to begin with then.
    """
    sums = encoded.rows.sums
    if refines:
        solution = refine(encoded.encoded, sums, how, refined_from)
    else:
        solution = search(encoded.encoded, sums, how)
    return SizePath(
        solution.status,
        tuple(_sizes(solution, encoded)),
        solution.structures,
        solution.n_cuts,
        solution.n_evaluated,
    )


def _sizes(solution: Solution, encoded: EncodedRows) -> list[Size]:
    sums = encoded.rows.sums
    n_events = float(sums.events.sum())
    path: list[Size] = []
    for splits, tree in enumerate(encoded.build(solution.structures)):
        claimed = sums.negative_log_hazard - float(solution.gains[splits])
        # Rounding grows with the sums, also where they cancel to a loss of almost nothing.
        scale = n_events + abs(claimed)
        # Where the bound is the gain itself, the tree is optimal and there is no slack at all.
        slack = float(solution.gain_bounds[splits] - solution.gains[splits])
        if path and path[-1].loss - claimed <= SPLIT_TOLERANCE * scale:
            path.append(
                replace(path[-1], splits=splits, lower_bound=max(path[-1].loss - slack, 0.0))
            )
            continue
        loss = tree.total_loss
        if abs(loss - claimed) > LOSS_TOLERANCE * scale:
            raise RuntimeError(
                f"The solver reports a loss of {claimed!r} for the tree with at most {splits} "
                f"splits, but its rows add up to {loss!r}. Please report this as a bug of surtree."
            )
        path.append(Size(splits, loss, max(loss - slack, 0.0), tree))
    return path

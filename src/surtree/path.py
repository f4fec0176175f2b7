"""The best tree of every size, each added up from the rows again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from surtree._solver import Solution, Structure
from surtree.building import Draft, draft_trees, with_risk
from surtree.encoding import Encoded, Encoder
from surtree.statistics import EVEN_WEIGHTS, RowSums
from surtree.strategy import Search, refine, search
from surtree.training import TrainingRows
from surtree.tree import Tree

# The loss that the solver claims and the loss added up from the rows agree to this.
LOSS_TOLERANCE = 1e-9
# Where weights are uneven, the part of all events by which a proven optimum may miss the bound.
UNEVEN_TOLERANCE = 1e-6
# One more split that improves the loss by less than this, or a gap of less, is rounding.
SPLIT_TOLERANCE = 1e-12


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
    tree : Tree or Draft
        The tree. It is the one of the size before where one more split brings nothing.
    """

    __slots__ = ("_tree", "loss", "lower_bound", "splits")

    def __init__(self, splits: int, loss: float, lower_bound: float, tree: Tree | Draft) -> None:
        self.splits = splits
        self.loss = loss
        self.lower_bound = lower_bound
        self._tree = tree

    @property
    def tree(self) -> Tree:
        """The tree."""
        return self._tree.tree if isinstance(self._tree, Draft) else self._tree

    def with_tree_of(self, best: Size, tree: Tree) -> Size:
        """Return this size with another tree, if it has that of the best size."""
        if self._tree is not best._tree:
            return self
        return Size(self.splits, self.loss, self.lower_bound, tree)

    def with_splits(self, splits: int, lower_bound: float) -> Size:
        """Return a size that has the same tree."""
        return Size(splits, self.loss, lower_bound, self._tree)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Size) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash((self.splits, self.loss))

    def __repr__(self) -> str:
        return f"Size(splits={self.splits}, loss={self.loss}, lower_bound={self.lower_bound})"

    # What makes trees stays behind: it knows those of the other sizes.
    def __reduce__(self) -> tuple[type, tuple[int, float, float, Tree]]:
        return Size, self._values()

    def _values(self) -> tuple[int, float, float, Tree]:
        return self.splits, self.loss, self.lower_bound, self.tree


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
    _drafts: dict[bytes, Draft] = field(default_factory=dict)

    def build(self, structures: Sequence[Structure]) -> list[Draft]:
        """Return the tree of each structure, without risk counts."""
        # Searches of different depths often find the same tree. In preorder, cuts and leaves say
        # where they stand: no two trees have the same.
        keys = [structure.cut.tobytes() for structure in structures]
        new = {
            key: structure
            for key, structure in zip(keys, structures, strict=True)
            if key not in self._drafts
        }
        drafts = draft_trees(
            list(new.values()),
            self.encoded,
            self.encoder.cuts_,
            self.rows.sums,
            self.rows.baseline,
        )
        self._drafts.update(zip(new, drafts, strict=True))
        return [self._drafts[key] for key in keys]

    def build_with_risk(self, structure: Structure) -> Tree:
        """Return the tree of a structure, with what it takes to draw Kaplan-Meier curves."""
        (draft,) = self.build([structure])
        return with_risk(draft.tree, structure, self.encoded, self.rows.sums, self.rows.target)


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
    for splits, draft in enumerate(encoded.build(solution.structures)):
        claimed = sums.negative_log_hazard - float(solution.gains[splits])
        # Rounding grows with the sums, also where they cancel to a loss of almost nothing.
        scale = n_events + abs(claimed)
        # Where the bound is the gain itself, the tree is optimal and there is no slack at all.
        slack = float(solution.gain_bounds[splits] - solution.gains[splits])
        if path and path[-1].loss - claimed <= SPLIT_TOLERANCE * scale:
            path.append(path[-1].with_splits(splits, max(path[-1].loss - slack, 0.0)))
            continue
        loss = draft.loss
        if sums.is_uneven:
            # Hazards were rounded down: no tree has a smaller loss than claimed, less the slack.
            slack += max(loss - claimed, 0.0)
            _require_exact_enough(slack if solution.status == "optimal" else loss - claimed, sums)
        elif (excess := abs(loss - claimed) - LOSS_TOLERANCE * scale) > 0 and (
            excess > _rounding(draft.tree, n_events)
        ):
            raise RuntimeError(
                f"The solver reports a loss of {claimed!r} for the tree with at most {splits} "
                f"splits, but its rows add up to {loss!r}. Please report this as a bug of surtree."
            )
        if path and path[-1].loss <= loss:  # by rounding only
            path.append(path[-1].with_splits(splits, max(loss - slack, 0.0)))
        else:
            path.append(Size(splits, loss, max(loss - slack, 0.0), draft))
    return path


def _require_exact_enough(rounding: float, sums: RowSums) -> None:
    """Refuse weights so uneven that rounding hides which tree is the best."""
    if rounding > UNEVEN_TOLERANCE * float(sums.events.sum()):
        raise ValueError(
            f"sample_weight goes from {sums.weight.min():.3g} to {sums.weight.max():.3g}: beside "
            "the heaviest rows the lightest are lost in rounding, and no tree can be proven "
            "optimal. Bring the weights closer together, or give rows that hardly count a weight "
            f"of zero; up to a ratio of {EVEN_WEIGHTS:,.0f} all is well."
        )


def _rounding(tree: Tree, n_events: float) -> float:
    """Return by how much rounding each row's hazard can change the loss that the solver claims.

    It matters where leaves with a tiny hazard have an event: few events among very many rows.
    """
    leaves = tree.leaves
    grid = 2.0**-50 * n_events
    return float((tree.theta[leaves] * tree.n_samples[leaves]).sum()) * grid

"""How well the chosen tree did on rows that it had not seen, fold by fold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from surtree._types import ArrayValue, Floats
from surtree._words import figure
from surtree.metrics._reason import Score
from surtree.scores.sizes import ONE_FOLD

_WORDS = {
    "loss": "loss per row",
    "loss_without_tree": "  without a tree",
    "concordance": "concordance (Harrell's C)",
    "brier": "Brier score saved",
}
SCORES = tuple(_WORDS)
# Standard errors that are clear: with fewer, noise is said to predict (docs/results/verdicts.md).
CLEARLY = 2.5


@dataclass(frozen=True, eq=False)
class HeldOutScores(ArrayValue):
    """Scores of the chosen size and shrinkage on held-out rows, an entry for each fold.

    Each fold fits a tree of the chosen size on its training rows. The size was chosen on the same
    folds, so the scores are slightly optimistic. A score that a fold does not have is NaN.

    Parameters
    ----------
    loss : array of float of shape (n_folds,)
        The loss of the held-out rows, divided by their weight.
    loss_without_tree : array of float of shape (n_folds,)
        The same for a single leaf: what a tree must beat.
    concordance : array of float of shape (n_folds,)
        Harrell's C: of two rows, how often the one with the higher risk has its event first.
    brier : array of float of shape (n_folds,)
        The share of the integrated Brier score that the tree saves, compared with the
        Kaplan-Meier curve of all training rows.
    reasons : tuple of two texts
        Why some folds have no concordance, and no Brier score; empty where all have.

    Examples
    --------
    >>> from surtree import SurTreeCV
    >>> from surtree.datasets import load_gbsg2
    >>> search = SurTreeCV(max_depth=2, shrinkage=0.0).fit(*load_gbsg2())
    >>> print(search.held_out_)
    held-out rows, 10 folds      mean  std. error
    loss per row               0.6613      0.0296
      without a tree           0.7038      0.0302
    concordance (Harrell's C)  0.6222      0.0182
    Brier score saved          0.0758      0.0329
    """

    loss: Floats
    loss_without_tree: Floats
    concordance: Floats
    brier: Floats
    reasons: tuple[str, str] = ("", "")

    @classmethod
    def of_folds(cls, folds: Sequence[Sequence[Score]]) -> HeldOutScores:
        """Return the scores of folds, with the first reason that one has no value."""
        columns = list(zip(*folds, strict=True))
        why = [next((one.reason for one in column if one.reason), "") for column in columns]
        loss, without, concordance, brier = (
            np.array([one.value for one in column]) for column in columns
        )
        return cls(loss, without, concordance, brier, (why[2], why[3]))

    @property
    def missing(self) -> list[str]:
        """One sentence for each score that some folds do not have, and why."""
        said = []
        for name, reason in zip(("concordance", "brier"), self.reasons, strict=True):
            n_without = self.n_folds - self._known(name).size
            if n_without:
                of = "" if n_without == self.n_folds else f" in {n_without} of {self.n_folds} folds"
                said.append(
                    f"{_WORDS[name]}: not estimable{of}: {reason or 'the reason was not kept'}"
                )
        return said

    @property
    def n_folds(self) -> int:
        """The number of folds."""
        return self.loss.size

    @property
    def beats_no_tree(self) -> bool:
        """Whether the mean loss is clearly below that without a tree: by 2.5 standard errors.

        The standard error is that of the differences, fold by fold. The size was chosen on the
        same folds, so fewer are too easy: noise alone is said to beat no tree in at most one table
        of twenty (docs/results/verdicts.md).
        """
        saved = self.loss_without_tree - self.loss
        return bool(saved.mean() > CLEARLY * _standard_error(saved))

    def mean(self, name: str) -> float:
        """Return the mean of a score over the folds that have it.

        Parameters
        ----------
        name : str
            The name of one of the arrays.
        """
        known = self._known(name)
        return float(known.mean()) if known.size else float("nan")

    def standard_error(self, name: str) -> float:
        """Return the standard error of that mean; NaN where fewer than two folds have the score.

        Parameters
        ----------
        name : str
            The name of one of the arrays.
        """
        return _standard_error(self._known(name))

    def _known(self, name: str) -> Floats:
        values: Floats = getattr(self, name)
        return values[np.isfinite(values)]

    def __str__(self) -> str:
        head = f"held-out rows, {self.n_folds} folds"
        width = max(len(head), *map(len, _WORDS.values()))
        lines = [f"{head:{width}}    mean  std. error"]
        for name, words in _WORDS.items():
            mean, error = figure(self.mean(name), 4), figure(self.standard_error(name), 4)
            lines.append(f"{words:{width}}  {mean:>6}  {error:>10}")
        if self.n_folds == 1:
            lines.append(ONE_FOLD)
        return "\n".join([*lines, *self.missing])


def _standard_error(values: Floats) -> float:
    if values.size < 2:
        return float("nan")
    return float(values.std(ddof=1) / np.sqrt(values.size))

"""How well the chosen tree did on rows that it had not seen, fold by fold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from surtree._support.types import ArrayValue, Floats
from surtree.metrics.reason import Score
from surtree.validation.sizes import ONE_FOLD
from surtree.words.numbers import figure
from surtree.words.printed import Printed
from surtree.words.quoting import printable

# The scores and their names, in the order of tables.
MEASURES = ("loss", "loss_without_tree", "concordance", "brier")
CONCORDANCE = "concordance (Harrell's C)"
CAUSE_CONCORDANCE = "concordance (Wolbers' C without censoring weights)"
BRIER = "reduction of the Brier score"
CORRECTED = "corrected for the choice of size"
# Standard errors that are clear: with fewer, noise is said to predict (docs/results/verdicts.md).
CLEARLY = 1.2


@dataclass(frozen=True, eq=False, repr=False)
class HeldOutScores(Printed, ArrayValue):
    """Scores on held-out rows, corrected for the choice of size, an entry for each fold.

    Each fold fits a tree on its training rows and scores it on the others. Its size and shrinkage
    are not those of the final tree, which were chosen on all folds and would look too good, but
    those that the other folds choose, cleared of what they know of its rows
    (docs/results/held-out.md). A score that a fold does not have is NaN.

    Parameters
    ----------
    loss : array of float of shape (n_folds,)
        The loss of the held-out rows, divided by their weight.
    loss_without_tree : array of float of shape (n_folds,)
        The same for a single leaf: what a tree must beat.
    concordance : array of float of shape (n_folds,)
        Harrell's C: of two rows, how often the one with the higher risk has its event first. With
        competing risks, Wolbers' C of the main cause, without censoring weights.
    brier : array of float of shape (n_folds,)
        The reduction of the integrated Brier score by the tree, compared with the
        Kaplan-Meier curve of all training rows; with competing risks, of the main cause, compared
        with the cumulative incidence of all training rows.
    corrected : bool
        Whether scores are corrected for the choice of size. They are not where folds have held-out
        rows in common, with a single fold, and in files of version 0.1.0.
    reasons : tuple of two texts
        Why some folds have no concordance, and no Brier score; empty where all have.
    of_cause : mapping of int to HeldOutScores
        With competing risks, the scores of each cause that counts.

    Examples
    --------
    >>> from surtree import SurTreeCV
    >>> from surtree.datasets import load_gbsg2
    >>> search = SurTreeCV(max_depth=2, shrinkage=0.0).fit(*load_gbsg2())
    >>> print(search.held_out_)
    held-out rows, 10 folds         mean  std. error
    loss per row                  0.6774      0.0435
      without a tree              0.7038      0.0439
    concordance (Harrell's C)     0.6088      0.0239
    reduction of the Brier score  0.0498      0.0452
    corrected for the choice of size
    """

    loss: Floats
    loss_without_tree: Floats
    concordance: Floats
    brier: Floats
    corrected: bool = False
    reasons: tuple[str, str] = ("", "")
    of_cause: Mapping[int, HeldOutScores] = field(default_factory=dict)

    @classmethod
    def of_folds(cls, folds: Sequence[Sequence[Score]], corrected: bool) -> HeldOutScores:
        """Return the scores of folds, with the first reason that one has no value."""
        columns = list(zip(*folds, strict=True))
        why = [next((one.reason for one in column if one.reason), "") for column in columns]
        loss, without, concordance, brier = (
            np.array([one.value for one in column]) for column in columns
        )
        return cls(loss, without, concordance, brier, corrected, (why[2], why[3]))

    @property
    def missing(self) -> list[str]:
        """One sentence for each score that some folds do not have, and why."""
        return [
            f"{cause}: {text}" if cause else text
            for cause, scores in self.by_cause()
            for text in scores._missing(CAUSE_CONCORDANCE if cause else CONCORDANCE)
        ]

    def _missing(self, concordance: str) -> list[str]:
        sentences = []
        names = (("concordance", concordance), ("brier", BRIER))
        for (name, words), reason in zip(names, self.reasons, strict=True):
            n_without = self.n_folds - self._known(name).size
            if n_without:
                of = "" if n_without == self.n_folds else f" in {n_without} of {self.n_folds} folds"
                sentences.append(
                    f"{words}: not estimable{of}: {reason or 'the reason was not kept'}"
                )
        return sentences

    @property
    def n_folds(self) -> int:
        """The number of folds."""
        return self.loss.size

    @property
    def beats_no_tree(self) -> bool:
        """Whether the mean loss is below that without a tree by more than 1.2 standard errors.

        The standard error is that of the differences, fold by fold. Noise alone is said to beat no
        tree in at most one table of twenty (docs/results/verdicts.md). Scores that are not
        corrected for the choice of size never say so: on these, noise does it far more often.
        """
        saved = self.loss_without_tree - self.loss
        return self.corrected and bool(saved.mean() > CLEARLY * error_of_mean(saved))

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

        It counts that folds share most of their training rows, as Nadeau and Bengio do: it is that
        of independent folds times ``sqrt(1 + n_folds / (n_folds - 1))``.

        Parameters
        ----------
        name : str
            The name of one of the arrays.
        """
        return error_of_mean(self._known(name))

    def by_cause(self, names: Mapping[int, str] | None = None) -> list[tuple[str, HeldOutScores]]:
        """Return the scores of each cause, with its name; without causes all, without a name.

        Parameters
        ----------
        names : mapping of int to str, optional
            Names of causes; those without are called by their number.
        """
        return [(cause_name(cause, names), scores) for cause, scores in self.of_cause.items()] or [
            ("", self)
        ]

    def _known(self, name: str) -> Floats:
        values: Floats = getattr(self, name)
        return values[np.isfinite(values)]

    def __str__(self) -> str:
        head = f"held-out rows, {self.n_folds} folds"
        rows = [("loss per row", self, "loss"), ("  without a tree", self, "loss_without_tree")]
        for name, scores in self.by_cause():
            indent = "  " if name else ""
            if name:
                rows += [
                    (f"{name}: loss per row", scores, "loss"),
                    ("  without a tree", scores, "loss_without_tree"),
                ]
            concordance = CAUSE_CONCORDANCE if name else CONCORDANCE
            rows += [(indent + concordance, scores, "concordance")]
            rows += [(indent + BRIER, scores, "brier")]
        width = max(len(head), *(len(words) for words, _, _ in rows))
        lines = [f"{head:{width}}    mean  std. error"]
        for words, scores, name in rows:
            mean, error = figure(scores.mean(name), 4), figure(scores.standard_error(name), 4)
            lines.append(f"{words:{width}}  {mean:>6}  {error:>10}")
        if self.n_folds == 1:
            lines.append(ONE_FOLD)
        lines.append(CORRECTED if self.corrected else f"not {CORRECTED}: too good")
        return "\n".join([*lines, *self.missing])


def cause_name(cause: int | None, names: Mapping[int, str] | None) -> str:
    """Return what a cause is called; nothing of one event."""
    if cause is None:
        return ""
    return printable(str((names or {}).get(cause, f"cause {cause}")))


def held_out_scores(
    folds: Sequence[Sequence[Sequence[Score]]], corrected: bool, causes: Iterable[int]
) -> HeldOutScores:
    """Return the scores of folds: the MEASURES of all causes together, then those of each."""
    of_all, *of_causes = (
        HeldOutScores.of_folds(part, corrected) for part in zip(*folds, strict=True)
    )
    return replace(of_all, of_cause=dict(zip(causes, of_causes, strict=True)))


def error_of_mean(values: Floats) -> float:
    """Return the standard error of a mean over folds, which share most of their training rows."""
    n_folds = values.size
    if n_folds < 2:
        return float("nan")
    return float(values.std(ddof=1) * np.sqrt(1 / n_folds + 1 / (n_folds - 1)))

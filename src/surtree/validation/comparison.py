"""Models on the same folds: what each costs, and what it buys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surtree._support.json_file import Check, Number, list_of, optional, record, text
from surtree._support.parallel import FoldProgress, run_all
from surtree._support.parameters import require_jobs, require_random_state, require_whole
from surtree._support.types import ArrayValue, Floats
from surtree.data.named import RowInputs
from surtree.data.rows import read_target_rows, warn_of_columns
from surtree.outcomes.measures import one_event_metrics
from surtree.solver.verbose import counting, quiet
from surtree.tree.resolve import last_step
from surtree.validation._rows import (
    JudgedRows,
    Positions,
    fit_on,
    judged,
    require_fit_parameters,
)
from surtree.validation.held_out import error_of_mean
from surtree.words.tables import table_html, text_table

# What is measured, and what tables call it. Of a loss, less is better.
COMPARED = {"concordance": "C", "brier": "Brier reduction", "loss": "loss per row"}
IN_SAMPLE = "C in sample"
PLUS_MINUS = "\u00b1"


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ArrayValue):
    """The result of `compare`: how models did on the same held-out rows; ``print`` shows it.

    Parameters
    ----------
    names : tuple of str
        The models; the first is what others are compared with.
    held_out : array of float of shape (n_models, 3, n_folds)
        On the rows that were held out of each fold: Harrell's C, the reduction of the integrated
        Brier score against one curve for all, and the loss per row. NaN where a fold has no value,
        and of models that have no loss.
    in_sample : array of float of shape (n_models, 3)
        The same of the model of all rows on these rows: too good.

    Examples
    --------
    >>> from surtree import PointsTable, SurTree, compare
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> models = {"tree": SurTree(max_depth=2), "card": PointsTable()}
    >>> print(compare(models, X, y, n_folds=5))  # doctest: +ELLIPSIS
    held-out rows of 5 folds, the same for all  ...
    """

    names: tuple[str, ...]
    held_out: Floats
    in_sample: Floats

    @property
    def n_folds(self) -> int:
        """The number of folds."""
        return int(self.held_out.shape[2])

    def mean(self, name: str, measure: str = "concordance") -> float:
        """Return the mean of a measure of a model over the folds that have it.

        Parameters
        ----------
        name, measure : str
            One of ``names``, and "concordance", "brier" or "loss".
        """
        return _mean(self._values(name, measure))

    def difference(self, name: str, measure: str = "concordance") -> tuple[float, float]:
        """Return by how much a model differs from the first, fold by fold, and its standard error.

        The standard error counts that folds share most of their training rows (Nadeau and Bengio),
        as that of `HeldOutScores` does.

        Parameters
        ----------
        name, measure : str
            As in `mean`.
        """
        apart = self._values(name, measure) - self._values(self.names[0], measure)
        known = apart[np.isfinite(apart)]
        return _mean(apart), error_of_mean(known)

    def table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return the heading and the rows of a table: means, differences and in-sample values."""
        heading = ["model"]
        for measure in self.measures:
            heading += [COMPARED[measure], f"less {self.names[0]}"]
        rows = [
            (
                name,
                *(text for measure in self.measures for text in self.texts(name, measure)),
                self.in_sample_text(name),
            )
            for name in self.names
        ]
        return (*heading, IN_SAMPLE), rows

    @property
    def measures(self) -> list[str]:
        """The measures that any model has."""
        return [measure for measure in COMPARED if np.isfinite(self._of_measure(measure)).any()]

    def texts(self, name: str, measure: str) -> tuple[str, str]:
        """Return the mean of a measure in words, and its difference to that of the first model.

        Parameters
        ----------
        name, measure : str
            As in `mean`.
        """
        return _shown(self.mean(name, measure), measure), self._difference_text(name, measure)

    def in_sample_text(self, name: str) -> str:
        """Return the C of the model of all rows on these rows, in words.

        Parameters
        ----------
        name : str
            One of ``names``.
        """
        return _shown(float(self.in_sample[self.names.index(name), 0]), "concordance")

    def sentences(self) -> list[str]:
        """Return, for each other model, what the first one costs in C."""
        said = []
        for name in self.names[1:]:
            apart, error = self.difference(name)
            if not np.isfinite(apart):
                continue
            verb = "costs" if apart >= 0 else "gains"
            said.append(
                f"{self.names[0]} {verb} {abs(apart):.3f} {PLUS_MINUS} {error:.3f} of C against "
                f"{name}"
            )
        return said

    def __str__(self) -> str:
        heading, rows = self.table()
        head = f"held-out rows of {self.n_folds} folds, the same for all"
        notes = [
            f"{PLUS_MINUS}: standard error of the differences, fold by fold; C in sample: of the "
            "model of all rows on these, too good"
        ]
        return "\n".join([text_table([(head, *heading[1:]), *rows]), *notes])

    def __repr__(self) -> str:
        return f"Comparison({', '.join(self.names)}: {self.n_folds} folds)"

    def _repr_html_(self) -> str:
        heading, rows = self.table()
        return table_html(heading, rows, caption=f"held-out rows of {self.n_folds} folds")

    def _difference_text(self, name: str, measure: str) -> str:
        if name == self.names[0]:
            return ""
        apart, error = self.difference(name, measure)
        if not np.isfinite(apart):
            return "unknown"
        style = "{:+.1%}" if measure == "brier" else "{:+.3f}"
        spread = (style.replace("+", "")).format(error) if np.isfinite(error) else "unknown"
        return f"{style.format(apart)} {PLUS_MINUS} {spread}"

    def _values(self, name: str, measure: str) -> Floats:
        values: Floats = self._of_measure(measure)[self.names.index(name)]
        return values

    def _of_measure(self, measure: str) -> Floats:
        values: Floats = self.held_out[:, list(COMPARED).index(measure)]
        return values


def compare(
    models: Mapping[str, Any],
    X: Any,
    y: Any,
    sample_weight: ArrayLike | None = None,
    entry: ArrayLike | None = None,
    *,
    id: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    n_folds: int = 10,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Callable[[FoldProgress], object] | None = None,
) -> Comparison:
    """Compare models on the same held-out rows: what a picture costs, and what it buys.

    Each model is cloned and fitted on all folds but one, tuning included, and judged on the rows of
    that one. All models have the same folds, so that their differences are paired.

    Parameters
    ----------
    models : mapping of str to estimator
        What to call each model, and the model: of this package, or any survival estimator as
        `validate` takes them. The others are compared with the first. `usual_models` returns
        those that most tables want.
    X, y, sample_weight, entry, id, groups
        As in `validate`.
    n_folds : int, default=10
        The number of folds, with about as many events in each.
    random_state : int, default=0
        How rows are dealt to folds.
    n_jobs : int or None, default=None
        How many fits run at the same time. The result does not depend on it.
    progress : callable, optional
        Called with a `FoldProgress` after each fit.

    Returns
    -------
    Comparison
        ``print`` shows it; ``model.comparison_ = ...`` keeps it in a model, for its report.

    Examples
    --------
    >>> from surtree import SurTree, compare
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> models = {"two questions": SurTree(max_splits=2), "one": SurTree(max_depth=1)}
    >>> result = compare(models, X, y, n_folds=5)
    >>> apart, error = result.difference("one")
    >>> round(result.mean("two questions"), 2), bool(apart < 0)
    (0.63, True)
    """
    require_whole("n_folds", n_folds, 2)
    require_random_state(random_state)
    require_jobs(n_jobs)
    if not isinstance(models, Mapping) or not models:
        raise ValueError("models must be a mapping of names to estimators, with one at least.")
    given = RowInputs(X, y, sample_weight, entry, id, groups).in_memory("compare")
    for model in models.values():
        _require_one_event(model)
        require_fit_parameters(model, given)
    rows = judged(read_target_rows(given), None)
    rows = replace(rows, metrics=one_event_metrics(rows.times))
    warn_of_columns(given)
    fold = rows.deal(np.random.default_rng(random_state), int(n_folds))
    numbers = np.unique(fold)
    tasks = [(name, number) for name in models for number in (*numbers.tolist(), None)]
    quieted = {name: quiet(model) for name, model in models.items()}
    with counting("Comparing", "fits", 0, progress) as hook:
        done = run_all(
            partial(_score, quieted, rows, fold),
            tasks,
            len(tasks),
            n_jobs=n_jobs,
            prefer="processes",
            progress=hook,
        ).results
    nothing = [np.nan] * len(COMPARED)  # where the progress hook has ended it
    scores = np.array([done.get(position, nothing) for position in range(len(tasks))])
    scores = scores.reshape(len(models), numbers.size + 1, len(COMPARED))
    held_out = np.ascontiguousarray(scores[:, :-1].transpose(0, 2, 1))
    return Comparison(tuple(map(str, models)), held_out, np.ascontiguousarray(scores[:, -1]))


def _require_one_event(model: Any) -> None:
    """Raise an error where a model has arms or causes, which are judged otherwise."""
    last = last_step(model).model
    has_arms = "treatment" in signature(last.fit).parameters
    if has_arms or "causes" in last.get_params(deep=False):
        raise ValueError(
            f"compare judges models of one event, and {type(model).__name__} has "
            f"{'arms' if has_arms else 'causes'}: validate judges it alone."
        )


def _score(
    models: Mapping[str, Any], rows: JudgedRows, fold: Positions, task: tuple[str, int | None]
) -> list[float]:
    """Return the measures of a model on the rows of a fold; without a fold, of all on all rows."""
    name, number = task
    everyone = np.arange(rows.n)
    train = everyone if number is None else np.flatnonzero(fold != number)
    test = everyone if number is None else np.flatnonzero(fold == number)
    try:
        fitted, predicted = fit_on(models[name], rows, train)
    except ValueError:
        if number is None:  # what cannot be fitted at all is a mistake of the user
            raise
        return [np.nan] * len(COMPARED)
    values = dict(
        zip((metric.name for metric in rows.metrics), rows.measure(predicted, test), strict=True)
    )
    return [values["concordance"], values["brier"], _loss(fitted, rows, test)]


def _loss(fitted: Any, rows: JudgedRows, test: NDArray[np.intp]) -> float:
    """Return the loss per row by the baseline of the training rows; NaN where there is none."""
    loss = getattr(fitted, "loss", None)
    if loss is None:
        return float("nan")
    given = rows.given.take(test)
    total: float = loss(given.X, given.y, **given.fit_arguments)
    return total / float(rows.weight[test].sum())


def _mean(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else float("nan")


def _shown(value: float, measure: str) -> str:
    if not np.isfinite(value):
        return "unknown"
    return f"{value:.1%}" if measure == "brier" else f"{value:.3f}"


_ARRAYS = ("held_out", "in_sample")
_value = optional(Number("a finite number"))
comparison_format: Check = record(
    {
        "names": list_of(text),
        "held_out": list_of(list_of(list_of(_value))),
        "in_sample": list_of(list_of(_value)),
    }
)


def save_comparison(comparison: Comparison | None) -> dict[str, Any] | None:
    """Return a comparison as plain values that JSON can hold."""
    if comparison is None:
        return None
    return {
        "names": list(comparison.names),
        "held_out": _plain(comparison.held_out.tolist()),
        "in_sample": _plain(comparison.in_sample.tolist()),
    }


def read_comparison(saved: dict[str, Any] | None) -> Comparison | None:
    """Return the comparison of a file."""
    if saved is None:
        return None
    held_out, in_sample = (np.array(saved[name], dtype=np.float64) for name in _ARRAYS)
    n_models = len(saved["names"])
    if held_out.shape[:2] != (n_models, len(COMPARED)) or in_sample.shape != held_out.shape[:2]:
        raise ValueError("a comparison of other models than it names")
    return Comparison(tuple(saved["names"]), held_out, in_sample)


def _plain(values: Any) -> Any:
    """Return nested lists with null for what is no number."""
    if isinstance(values, list):
        return [_plain(value) for value in values]
    return values if np.isfinite(values) else None

"""A Cox model with a ridge penalty, tuned and cross-fitted: what stages of trees begin with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.types import ArrayValue, Floats
from surtree.cuts.cut import Cut
from surtree.cuts.encoder import Encoder
from surtree.data.table import Table
from surtree.data.target import Target
from surtree.survival.baseline import nelson_aalen
from surtree.survival.cox import RiskSets, fit_cox
from surtree.survival.objective import RELATIVE_RISK
from surtree.words.tables import table_html, text_table

# Of the squared coefficients of standardised columns; the strictest first.
PENALTIES = (1000.0, 100.0, 30.0, 10.0, 3.0, 1.0)
COX_HEADING = ("column", "change", "hazard ratio")


@dataclass(frozen=True)
class CoxTerm:
    """A column of numbers, or a question of yes and no, and its coefficient."""

    column: int  # the position of the column in the user's table
    name: str  # what the column is called, or the question
    cut: Cut | None  # the question; None for the number itself, whose missing values are the mean
    mean: float  # of the training rows, and their standard deviation
    spread: float
    coefficient: float = 0.0  # what one standard deviation more adds to the log hazard

    def values(self, table: Table) -> Floats:
        """Return the standardised value of each row."""
        column = table.column(self.column)
        if self.cut is not None:
            return np.asarray((self.cut.holds(column) - self.mean) / self.spread)
        if column.kind == "categorical":
            raise ValueError(
                f"Column {column.name!r} held numbers in the training table and holds categories "
                "in this one: convert it to numbers"
            )
        values = (column.values - self.mean) / self.spread
        return np.where(column.missing, 0.0, values)

    @property
    def change(self) -> str:
        """What the hazard ratio is for: a standard deviation more, or yes instead of no."""
        return f"{self.spread:.3g} more" if self.cut is None else "yes"

    @property
    def ratio(self) -> float:
        """The hazard ratio of this change."""
        return float(np.exp(self.coefficient / (1.0 if self.cut is None else self.spread)))


@dataclass(frozen=True, eq=False, repr=False)
class RidgeCox(ArrayValue):
    """A fitted Cox model, whose log risk stays in the range that it had on training rows."""

    terms: tuple[CoxTerm, ...]
    penalty: float = PENALTIES[0]
    lowest: float = 0.0
    highest: float = 0.0

    def log_risk(self, table: Table) -> Floats:
        """Return the logarithm of the risk of each row; that of the average row is zero."""
        return self.log_risk_of(self.values(table))

    def values(self, table: Table) -> Floats:
        """Return the standardised values of the terms, of shape (n_terms, n_rows)."""
        return _values(self.terms, table)

    def log_risk_of(self, values: Floats) -> Floats:
        """Return the same, given the values of the terms."""
        beta = np.array([term.coefficient for term in self.terms])
        return np.clip(beta @ values, self.lowest, self.highest)

    def __repr__(self) -> str:
        return text_table([COX_HEADING, *self.rows()])

    def _repr_html_(self) -> str:
        return table_html(COX_HEADING, list(self.rows()))

    def rows(self) -> Iterator[tuple[str, str, str]]:
        """Return a row of a table for each term."""
        for term in self.terms:
            yield term.name, term.change, f"{term.ratio:.3f}"


@dataclass(frozen=True, eq=False)
class CrossFit(ArrayValue):
    """A tuned model, and what models of the other folds say of each training row."""

    model: RidgeCox
    log_risk: Floats


def cross_fit(
    table: Table,
    target: Target,
    weight: Floats,
    n_folds: int = 10,
    seed: int = 0,
    *,
    clip: bool = True,
) -> CrossFit:
    """Tune the penalty by the loss of held-out rows, of whole persons where rows are parts of them.

    With fewer than two persons who have an event there is nothing to tune, and no model.
    """
    counts = target.event & (target.time > 0)
    person = np.arange(counts.size) if target.person is None else target.person
    n_folds = min(n_folds, np.unique(person[counts]).size)
    if n_folds < 2:
        return CrossFit(RidgeCox(()), np.zeros(counts.size))
    # Imported late: scikit-learn's folds take as long to import as all the rest.
    from surtree.model_selection.event_kfold import EventStratifiedKFold

    folds = EventStratifiedKFold(n_folds, random_state=seed)
    groups = None if target.person is None else person
    log_risks, losses = np.empty((len(PENALTIES), counts.size)), []
    for train, test in folds.split(counts, counts, groups):
        rest, held_out = target.take(train), target.take(test)
        baseline = nelson_aalen(rest, weight[train])
        own = RELATIVE_RISK.row_sums(rest, weight[train], baseline)
        others = RELATIVE_RISK.row_sums(held_out, weight[test], baseline)
        (events, hazard), loss = own.values, []
        models, columns = _path(table.take(train), rest, weight[train], clip=clip)
        values = models[0].values(table.take(test))
        for k, model in enumerate(models):
            scale = events.sum() / (np.exp(model.log_risk_of(columns)) @ hazard)
            log_risks[k, test] = model.log_risk_of(values)
            loss.append(others.loss(scale * np.exp(log_risks[k, test])) / weight[test].sum())
        losses.append(loss)
    # Differences by rounding alone are none.
    best = int(np.argmin(np.mean(losses, axis=0).round(12)))
    return CrossFit(_path(table, target, weight, clip=clip)[0][best], log_risks[best])


def _values(terms: Sequence[CoxTerm], table: Table) -> Floats:
    """Return the standardised values of terms, of shape (n_terms, n_rows)."""
    return np.array([term.values(table) for term in terms]).reshape(len(terms), table.n_rows)


def _path(
    table: Table, target: Target, weight: Floats, *, clip: bool
) -> tuple[list[RidgeCox], Floats]:
    """Return a model for each penalty, each from where the one before ended, and their values."""
    terms = [term for term in _terms(table, weight) if term.spread > 0]
    columns = _values(terms, table)
    nothing = np.zeros(table.n_rows)
    sets = RiskSets.of(target, weight, nothing.astype(np.intp))
    models, beta = [], np.zeros(len(terms))
    for penalty in PENALTIES:
        beta = fit_cox(sets, target.event, columns, nothing, penalty, beta).coefficients
        log_risk = beta @ columns
        fitted = tuple(
            replace(term, coefficient=float(b)) for term, b in zip(terms, beta, strict=True)
        )
        limits = (log_risk.min(), log_risk.max()) if clip else (-np.inf, np.inf)
        models.append(RidgeCox(fitted, penalty, *map(float, limits)))
    return models, columns


def _terms(table: Table, weight: Floats) -> Iterator[CoxTerm]:
    """Yield the numbers of a table, its categories as questions, and whether values are missing."""
    columns = [table.column(index) for index in range(table.n_columns)]
    plain = [
        k for k, each in enumerate(columns) if each.kind != "categorical" and not each.has_missing
    ]
    encoder = Encoder()
    encoder.fit_encode(table, weight, leave_out=plain)
    for index, column in enumerate(columns):
        if column.kind != "categorical":
            known = ~column.missing
            yield _standardised(index, column.name, None, column.values[known], weight[known])
    for cut, heavier in zip(encoder.cuts_, encoder.heavier_side_, strict=True):
        column = columns[cut.column]
        asks_for_missing = cut.threshold is None and cut.categories is None
        if asks_for_missing or (column.kind == "categorical" and not cut.missing):
            asked = replace(cut, missing=bool(heavier)) if cut.missing is None else cut
            yield _standardised(cut.column, cut.rule, asked, cut.holds(column), weight)


def _standardised(
    index: int, name: str, cut: Cut | None, values: NDArray[Any], weight: Floats
) -> CoxTerm:
    if not values.size:
        return CoxTerm(index, name, cut, 0.0, 0.0)
    mean = float(np.average(values, weights=weight))
    variance = float(np.average((values - mean) ** 2, weights=weight))
    return CoxTerm(index, name, cut, mean, float(np.sqrt(variance)))

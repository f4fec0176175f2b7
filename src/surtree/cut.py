"""A yes-or-no question about one column, and its text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree.soundness import CUT_FORMAT, require_sound_cut
from surtree.table import Column

# A category that contains one of these, or begins with one of those, could be read as part of the
# rule around it, and is quoted.
_MARKS = (",", "'", '"', "\\", "missing")
_WORDS = ("not ", "one of ", "none of ")
# What would break the line that a text stands on, or cannot be printed.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


@dataclass(frozen=True)
class Cut:
    """A yes-or-no question about one column; yes goes right, no goes left.

    With neither a threshold nor categories the question is whether the value is missing.

    Parameters
    ----------
    column : int
        The position of the column in the user's table.
    name : str
        What the user calls the column.
    threshold : float, optional
        The cut holds when the value is greater.
    categories : tuple, optional
        The cut holds when the value is one of these.
    negated : bool, default=False
        With categories: the cut holds when the value is none of these.
    missing : bool, optional
        Whether the cut holds for a missing value; None when the training column had none.
    other : str or number, optional
        With categories: the only other one of the training column, if there is just one. The text
        names it where the cut does not hold, although categories never seen before go there too.
    seen : tuple of two floats, optional
        With a threshold: the least and the greatest value of the training column.

    Examples
    --------
    >>> from surtree.cut import Cut
    >>> cut = Cut(column=2, name="grade", categories=("III", "IV"), missing=False)
    >>> cut.rule
    'grade is one of III, IV'
    >>> cut.negated_rule
    'grade is none of III, IV or is missing'
    """

    column: int
    name: str
    threshold: float | None = None
    categories: tuple[Any, ...] | None = None
    negated: bool = False
    missing: bool | None = None
    # What the column looked like is not part of the question.
    other: Any = field(default=None, compare=False)
    seen: tuple[float, float] | None = field(default=None, compare=False)

    @property
    def shown_name(self) -> str:
        r"""The name of the column in texts: a line break, or the like, as ``\n``."""
        return _CONTROL.sub(lambda mark: mark.group().encode("unicode_escape").decode(), self.name)

    @property
    def rule(self) -> str:
        """What is true where the cut holds."""
        return self._text(holds=True)

    @property
    def negated_rule(self) -> str:
        """What is true where the cut does not hold."""
        return self._text(holds=False)

    def _text(self, *, holds: bool) -> str:
        name, with_missing = self.shown_name, self.missing is holds
        if self.threshold is not None:
            claim = f"{'>' if holds else '<='} {_number_text(self.threshold)}"
        elif self.categories is None:
            return f"{name} is {'missing' if with_missing else 'not missing'}"
        elif self.categories[0] is True:
            claim = f"is {holds}"
        elif holds is not self.negated:
            claim = f"is {_one_of(self.categories)}"
        elif self.other is not None:
            claim = f"is {_category_text(self.other)}"
        else:
            return f"{name} is {_none_of(self.categories)}{self._exception(with_missing)}"
        return f"{name} {claim} or missing" if with_missing else f"{name} {claim}"

    def _exception(self, with_missing: bool) -> str:
        # A missing value is not F either, so a text that says "not" has to say where it goes.
        if self.missing is None:
            return ""
        return " or is missing" if with_missing else " and not missing"

    def holds(self, column: Column) -> NDArray[np.bool_]:
        """Answer the question for each row of a column.

        Parameters
        ----------
        column : Column
            The column at the position of the cut, in any table. A missing value is answered by
            ``missing``, and by no where that is None.

        Returns
        -------
        array of bool, one for each row
        """
        if self.threshold is None and self.categories is None:
            return column.missing.copy()
        answers = self._answers(column)
        if not column.has_missing:
            return answers
        return answers | column.missing if self.missing else answers & ~column.missing

    def _answers(self, column: Column) -> NDArray[np.bool_]:
        if column.missing.all():  # also where no row is asked
            return np.zeros(len(column.values), dtype=bool)
        if self.threshold is not None:
            if column.kind == "categorical":
                raise self._unlike(column, "numbers", "categories")
            return np.asarray(column.values > self.threshold)
        categorical = column.kind == "categorical"
        values = np.array(column.categories) if categorical else column.values
        members = np.isin(values, self._wanted(column, values)) ^ self.negated
        return np.asarray(members[column.values] if categorical else members)

    def _wanted(self, column: Column, values: NDArray[Any]) -> list[Any]:
        """Return the categories as the column writes them: as texts, or as numbers."""
        categories = list(self.categories or ())
        fitted_on_text, text = isinstance(categories[0], str), values.dtype.kind == "U"
        if text and not fitted_on_text:
            raise self._unlike(column, "booleans or numbers", "texts")
        if categories[0] is True and not np.isin(values, (0, 1))[~np.isnan(values)].all():
            raise self._unlike(column, "booleans", "other numbers")
        if text or not fitted_on_text:
            return categories
        try:
            return [float(category) for category in categories]
        except ValueError:
            raise self._unlike(column, "texts", "numbers") from None

    def _unlike(self, column: Column, then: str, now: str) -> ValueError:
        return ValueError(
            f"Column {column.name!r} held {then} in the training table and holds {now} in this "
            f"one: convert it to {then}"
        )

    def of_categories(self, categories: tuple[Any, ...], column: Column) -> Cut:
        """Return the same cut, but on whether a value of a column is one of some categories.

        Parameters
        ----------
        categories : tuple
            Some of those of the column.
        column : Column
            The training column.

        Returns
        -------
        Cut
        """
        other = None
        if len(column.categories) == len(categories) + 1:
            (other,) = (name for name in column.categories if name not in categories)
        return replace(self, categories=categories, other=other)

    def to_dict(self) -> dict[str, Any]:
        """Return the cut as a dictionary that JSON can hold."""
        saved = asdict(self)
        for name in ("categories", "seen"):
            saved[name] = None if saved[name] is None else list(saved[name])
        return saved

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> Cut:
        """Return the cut that `to_dict` saved.

        Parameters
        ----------
        saved : mapping
            What `to_dict` returned; a ValueError says what is wrong with anything else.

        Returns
        -------
        Cut
        """
        CUT_FORMAT(saved, "")
        threshold, categories, seen = (saved[name] for name in ("threshold", "categories", "seen"))
        read = {
            "threshold": None if threshold is None else float(threshold),
            "categories": None if categories is None else tuple(categories),
            "seen": None if seen is None else tuple(map(float, seen)),
        }
        cut = cls(**{**saved, **read})
        require_sound_cut(cut)
        return cut


def _one_of(categories: tuple[Any, ...]) -> str:
    texts = ", ".join(map(_category_text, categories))
    return texts if len(categories) == 1 else f"one of {texts}"


def _none_of(categories: tuple[Any, ...]) -> str:
    texts = ", ".join(map(_category_text, categories))
    return f"not {texts}" if len(categories) == 1 else f"none of {texts}"


def _category_text(category: Any) -> str:
    if not isinstance(category, str):
        return _number_text(category)
    clear = category.strip() == category != "" and not any(mark in category for mark in _MARKS)
    clear = clear and not category.startswith(_WORDS) and not _CONTROL.search(category)
    return category if clear else repr(category)


def _number_text(number: float) -> str:
    # All digits of the number, so that who reads the rule decides as the cut does.
    return repr(number).removesuffix(".0")

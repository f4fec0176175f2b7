"""A yes-or-no question about one column, and its text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import accumulate
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from surtree._support.json_file import read_each
from surtree.cuts.validate import CUT_FORMAT, is_known, validate_cut
from surtree.data.table import Column
from surtree.words.quoting import UNSEEN, printable

# A category that contains one of these marks, or begins with one of these words, is quoted: it
# could be read as part of the rule around it.
_MARKS = (",", "'", '"', "\\", "missing")
_WORDS = ("not ", "one of ", "none of ")


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
    known : tuple, optional
        All categories of the training column; any other value counts as missing. None if the
        column had no categories or they are not known; then unseen values are not detected.
    seen : tuple of two floats, optional
        With a threshold: the least and the greatest value of the training column.

    Examples
    --------
    >>> from surtree.cuts.cut import Cut
    >>> known = ("I", "II", "III", "IV")
    >>> cut = Cut(column=2, name="grade", categories=("III", "IV"), missing=False, known=known)
    >>> cut.rule
    'grade is one of III, IV'
    >>> cut.negated_rule
    'grade is one of I, II or missing'
    >>> cut.others
    ('I', 'II')
    """

    column: int
    name: str
    threshold: float | None = None
    categories: tuple[Any, ...] | None = None
    negated: bool = False
    missing: bool | None = None
    # These describe the training column and are not part of the question.
    known: tuple[Any, ...] | None = field(default=None, compare=False, repr=False)
    seen: tuple[float, float] | None = field(default=None, compare=False)

    @property
    def shown_name(self) -> str:
        r"""The name of the column with control characters escaped, such as ``\n``."""
        return printable(self.name)

    @property
    def rule(self) -> str:
        """The condition in words."""
        return self._text(holds=True)

    @property
    def negated_rule(self) -> str:
        """The opposite condition in words."""
        return self._text(holds=False)

    @property
    def others(self) -> tuple[Any, ...]:
        """The known categories that the cut does not list."""
        listed = set(self.categories or ())
        return tuple(category for category in self.known or () if category not in listed)

    @property
    def on_text(self) -> bool:
        """Whether the cut asks about texts."""
        return isinstance(next(iter(self.categories or self.known or ()), None), str)

    def _text(self, *, holds: bool) -> str:
        name, with_missing = self.shown_name, self.missing is holds
        if self.threshold is not None:
            claim = f"{'>' if holds else '<='} {number_text(self.threshold)}"
        elif self.categories is None:
            return f"{name} is {'missing' if with_missing else 'not missing'}"
        elif self.categories[0] is True:
            claim = f"is {holds}"
        elif holds is not self.negated:
            claim = f"is {_one_of(self.categories)}"
        elif 0 < len(self.others) <= len(self.categories):
            # No longer than what it is not.
            claim = f"is {_one_of(self.others)}"
        else:
            return f"{name} is {_none_of(self.categories)}{self._exception(with_missing)}"
        return f"{name} {claim} or missing" if with_missing else f"{name} {claim}"

    def _exception(self, with_missing: bool) -> str:
        # "is not F" is also true of a missing value, so the text must say where missing values go.
        if self.missing is None:
            return ""
        return " or is missing" if with_missing else " and not missing"

    def holds(self, column: Column) -> NDArray[np.bool_]:
        """Answer the question for each row of a column.

        Parameters
        ----------
        column : Column
            The column at the position of the cut, in any table. For a missing value or an unseen
            category the answer is ``missing``, or no if that is None.

        Returns
        -------
        array of bool, one for each row
        """
        absent = column.missing if self.known is None else column.missing | self.unseen(column)
        if self.threshold is None and self.categories is None:
            return absent.copy()
        answers = self._answers(column)
        if not absent.any():
            return answers
        return answers | absent if self.missing else answers & ~absent

    def unseen(self, column: Column) -> NDArray[np.bool_]:
        """Return which rows of a column hold a category that training never had.

        Parameters
        ----------
        column : Column
            The column at the position of the cut, in any table.

        Returns
        -------
        array of bool, one for each row
        """
        if self.known is None or column.missing.all():
            return np.zeros(len(column.values), dtype=bool)
        return ~self._is_one_of(self.known, column) & ~column.missing

    def _answers(self, column: Column) -> NDArray[np.bool_]:
        if column.missing.all():  # also where no row is asked
            return np.zeros(len(column.values), dtype=bool)
        if self.threshold is not None:
            if column.kind == "categorical":
                raise self._unlike(column, "numbers", "categories")
            return np.asarray(column.values > self.threshold)
        return self._is_one_of(self.categories or (), column) ^ self.negated

    def _is_one_of(self, categories: tuple[Any, ...], column: Column) -> NDArray[np.bool_]:
        """Return which rows of a column hold one of some categories of the training column."""
        wanted = self._as_written(categories, column)
        if column.kind != "categorical":
            return np.isin(column.values, list(wanted))
        members = np.array([category in wanted for category in column.categories])
        return np.asarray(members[column.values])

    def _as_written(self, categories: tuple[Any, ...], column: Column) -> set[Any]:
        """Return categories as the column writes them: as texts, or as numbers."""
        held: Any = column.categories or column.values[~column.missing]
        fitted_on_text, text = isinstance(categories[0], str), isinstance(held[0], str)
        if text and not fitted_on_text:
            raise self._unlike(column, "booleans or numbers", "texts")
        if categories[0] is True and not np.isin(held, (0, 1)).all():
            raise self._unlike(column, "booleans", "other numbers")
        if text or not fitted_on_text:
            return set(categories)
        # Numbers can only match those categories whose text is a number.
        if not numbers_of(self.known or categories):
            raise self._unlike(column, "texts", "numbers")
        return set(numbers_of(categories))

    def _unlike(self, column: Column, then: str, now: str) -> ValueError:
        return ValueError(
            f"Column {column.name!r} held {then} in the training table and holds {now} in this "
            f"one: convert it to {then}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the cut as a dictionary that JSON can hold."""
        saved = asdict(self)
        for name in ("categories", "known", "seen"):
            saved[name] = None if saved[name] is None else list(saved[name])
        return saved

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> Cut:
        """Return the cut that `to_dict` saved.

        Parameters
        ----------
        saved : mapping
            What `to_dict` returned; a ValueError says what is wrong with anything else.
        """
        CUT_FORMAT(saved, "")
        threshold, categories, seen = (saved[name] for name in ("threshold", "categories", "seen"))
        read = {
            "threshold": None if threshold is None else float(threshold),
            "categories": None if categories is None else tuple(categories),
            "seen": None if seen is None else tuple(map(float, seen)),
            # tuple() of a tuple is the same object, which all cuts of a column share.
            "known": None if saved.get("known") is None else tuple(saved["known"]),
        }
        # Early files have "other", the second of two categories, instead of "known".
        fields = {name: value for name, value in saved.items() if name != "other"}
        cut = cls(**{**fields, **read})
        validate_cut(cut)
        return cut


def numbers_of(categories: Iterable[str]) -> frozenset[float]:
    """Return the numbers whose texts are among some categories."""
    numbers = set()
    for category in categories:
        with suppress(ValueError):
            numbers.add(float(category))
    return frozenset(number for number in numbers if number == number)


def _one_of(categories: tuple[Any, ...]) -> str:
    texts = ", ".join(map(_category_text, categories))
    return texts if len(categories) == 1 else f"one of {texts}"


def _none_of(categories: tuple[Any, ...]) -> str:
    texts = ", ".join(map(_category_text, categories))
    return f"not {texts}" if len(categories) == 1 else f"none of {texts}"


def _category_text(category: Any) -> str:
    if not isinstance(category, str):
        return number_text(category)
    clear = category.strip() == category != "" and not any(mark in category for mark in _MARKS)
    clear = clear and not category.startswith(_WORDS) and not UNSEEN.search(category)
    return category if clear else repr(category)


def number_text(number: float) -> str:
    """Return a number with all digits, so that a rule applied by hand agrees with the cut."""
    return repr(float(number)).removesuffix(".0")


class Cuts(Sequence[Cut]):
    """A sequence of cuts, each made at its first access and cached."""

    def __init__(self, parts: Iterable[tuple[Callable[[int], Cut], NDArray[np.intp]]]) -> None:
        self._parts = tuple(parts)
        self._ends = tuple(accumulate(len(positions) for _, positions in self._parts))
        self._made: dict[int, Cut] = {}

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, index: int) -> Cut: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Cut, ...]: ...

    def __getitem__(self, index: int | slice) -> Cut | tuple[Cut, ...]:
        if isinstance(index, slice):
            return tuple(self[k] for k in range(*index.indices(len(self))))
        index = range(len(self))[index]
        if index not in self._made:
            number = bisect_right(self._ends, index)
            make, positions = self._parts[number]  # counted from the end of the part
            self._made[index] = make(int(positions[index - self._ends[number]]))
        return self._made[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cuts | tuple) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Cuts({len(self)})"

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickle the cuts, not their factories, which hold the training data.
        return tuple, (tuple(self),)


def save_cuts(cuts: Iterable[Cut]) -> dict[str, Any]:
    """Return cuts as JSON can hold them, with the known categories of each column only once."""
    listed = list(cuts)
    saved = [replace(cut, known=None).to_dict() for cut in listed]
    for cut in saved:
        del cut["known"]
    if not all(map(is_known, listed)):  # read from an early file, which does not say
        return {"cuts": saved}
    known = {str(cut.column): cut.known for cut in listed if cut.known is not None}
    return {"cuts": saved, "known": {column: list(names) for column, names in known.items()}}


def load_cuts(saved: Mapping[str, Any]) -> tuple[Cut, ...]:
    known = {column: tuple(names) for column, names in saved.get("known", {}).items()}

    def read(cut: Any) -> Cut:
        column = cut.get("column") if isinstance(cut, dict) else None
        return Cut.from_dict(cut | {"known": known[str(column)]} if str(column) in known else cut)

    return read_each(read, saved["cuts"], "cuts")

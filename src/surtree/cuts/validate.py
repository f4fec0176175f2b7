"""Checks of cuts that were read from a file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from surtree._support.json_file import LARGEST, Number, flag, list_of, optional, record, shown, text

if TYPE_CHECKING:
    from surtree.cuts.cut import Cut


def category(value: Any, where: str) -> None:
    """Check a category, or the label of an arm: a text, a number or a boolean."""
    if isinstance(value, str):
        text(value, where)
    elif not isinstance(value, bool):
        # No array type holds larger whole numbers.
        most = 2**64 if isinstance(value, int) else LARGEST
        Number("a text or a finite number", -most, most)(value, where)


def _categories(value: Any, where: str) -> None:
    """Check the categories of a column; what cuts of one column share is a tuple."""
    list_of(category)(list(value) if isinstance(value, tuple) else value, where)
    if len({_kind(name) for name in value}) != 1 or len(set(value)) < len(value):
        raise ValueError(f"{where} are not the categories of a column: {shown(value)}")
    # Exports compare such a text as it is, where a table is read without its blanks.
    blank = next((name for name in value if isinstance(name, str) and not _is_read(name)), None)
    if blank is not None:
        raise ValueError(f"{where} has a text as no cell is read, with blanks: {shown(blank)}")


def _is_read(name: str) -> bool:
    return name != "" and name == name.strip(" ")


_finite = Number("a finite number")

CUT_FORMAT = record(
    {
        "column": Number("the position of a column", 0, 2**31 - 1, whole=True),
        "name": text,
        "threshold": optional(_finite),
        "categories": optional(list_of(category)),
        "negated": flag,
        "missing": optional(flag),
        "seen": optional(list_of(_finite)),
    },
    also={"known": optional(_categories), "other": optional(category)},
)


def known_categories(value: Any, where: str) -> None:
    """Check what training knew: for positions of columns, as texts, their categories."""
    if not isinstance(value, dict):
        raise ValueError(f"{where} is {shown(value)}, not an object")
    for column, names in value.items():
        _categories(names, f"{where}[{shown(column)}]")


def validate_cut(cut: Cut) -> None:
    """Raise an error where a question has no clear answer or no clear text."""
    categories, known = cut.categories, cut.known
    for fault, is_faulty in (
        ("a threshold and categories", cut.threshold is not None and categories is not None),
        ("no category in its list", categories == ()),
        ("categories of different kinds", len(_kinds(cut)) > 1),
        ("a category twice", categories is not None and len(set(categories)) < len(categories)),
        ("a threshold and known categories", cut.threshold is not None and known is not None),
        (
            "categories that are not some of those known",
            known is not None and not set(categories or ()) < set(known),
        ),
        ("a negation but no categories", categories is None and cut.negated),
        ("booleans that are not just true", _kinds(cut) == {"booleans"} and not _is_truth(cut)),
        ("a range that does not ascend", cut.seen is not None and not _is_range(cut)),
        (
            "nothing to compare with, but does not hold for missing values",
            cut.threshold is None and categories is None and cut.missing is not True,
        ),
    ):
        if is_faulty:
            raise ValueError(f"a question has {fault}")


def _kinds(cut: Cut) -> set[str]:
    """Return what a question takes the values of its column for."""
    if cut.threshold is not None:
        return {"numbers"}
    return {_kind(name) for name in (*(cut.categories or ()), *(cut.known or ())[:1])}


def _kind(name: Any) -> str:
    return {str: "texts", bool: "booleans"}.get(type(name), "numbered categories")


def _is_truth(cut: Cut) -> bool:
    return cut.categories == (True,) and cut.known is None and not cut.negated


def _is_range(cut: Cut) -> bool:
    return (
        cut.threshold is not None
        and cut.seen is not None
        and len(cut.seen) == 2
        and cut.seen[0] <= cut.seen[1]
    )


def require_one_kind(cuts: Iterable[Cut]) -> None:
    """Raise an error where questions about one column take it for different things."""
    names: dict[int, str] = {}
    kinds: dict[int, str] = {}
    for cut in cuts:
        if names.setdefault(cut.column, cut.name) != cut.name:
            raise ValueError(f"column {cut.column} has two names")
        for kind in _kinds(cut):
            before = kinds.setdefault(cut.column, kind)
            if before != kind:
                raise ValueError(f"column {cut.column} is read as {before} and as {kind}")


def is_known(cut: Cut) -> bool:
    """Tell whether a question that lists categories knows all those of its column."""
    return cut.categories is None or cut.known is not None or _is_truth(cut)


def require_known(cuts: Iterable[Cut]) -> None:
    """Raise an error where a question lists categories, and those of its column are not there."""
    for cut in cuts:
        if cut.categories is not None and not is_known(cut):
            raise ValueError(
                f"a question lists {shown(cut.categories[0])}, and the categories of the column "
                f"{shown(cut.name)} are not there"
            )

"""What a person is asked before a tree can place them, and how each cut reads the answers."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

from surtree.cut import Cut
from surtree.display.wording import number
from surtree.report._tree import breakable
from surtree.tree import Tree

# Up to so many choices are buttons side by side, more are a list.
MOST_BUTTONS = 4

ANOTHER = "another value"
ANY = "any value"
MISSING = "missing"


@dataclass(frozen=True)
class Field:
    """A column that the tree asks about.

    Parameters
    ----------
    column : int
        The position of the column in the user's table.
    name : str
        What the user calls it.
    options : tuple
        The categories to choose from, as the cuts have them; empty for a number.
    open_ended : bool
        Whether there are categories besides, which all cuts treat alike.
    seen : tuple of two floats, optional
        The least and the greatest number in training.
    may_be_missing : bool
        Whether the value was missing in some training rows.
    """

    column: int
    name: str
    options: tuple[Any, ...]
    open_ended: bool
    seen: tuple[float, float] | None
    may_be_missing: bool

    @property
    def is_number(self) -> bool:
        """Whether a number is asked for, not a choice."""
        return self.seen is not None

    @property
    def labels(self) -> list[str]:
        """The choices in words, but for that of a missing value."""
        labels = [str(option) for option in self.options]
        if self.open_ended:
            labels.append(ANOTHER if labels else ANY)
        return labels

    def chosen_by(self, cut: Cut) -> list[int]:
        """Return the positions, among the labels, of the choices for which a cut holds."""
        categories = cut.categories or ()
        held = [
            place
            for place, option in enumerate(self.options)
            if (option in categories) is not cut.negated
        ]
        if self.open_ended and cut.negated:
            held.append(len(self.options))
        return held


def read_fields(tree: Tree) -> list[Field]:
    """Return what the tree asks about, in the order in which it is first asked."""
    cuts: dict[int, list[Cut]] = {}
    for place in tree.cut.tolist():
        if place >= 0:
            cut = tree.cuts[place]
            cuts.setdefault(cut.column, []).append(cut)
    return [_field(asked) for asked in cuts.values()]


def _field(cuts: list[Cut]) -> Field:
    numbers = [cut for cut in cuts if cut.threshold is not None]
    seen = None
    if numbers:
        thresholds = [cut.threshold for cut in numbers if cut.threshold is not None]
        # Trees of other tools have no range: then it is that of the thresholds.
        ranges = [cut.seen for cut in numbers if cut.seen is not None]
        seen = ranges[0] if ranges else (min(thresholds), max(thresholds))
    options, closed = _options(cuts)
    return Field(
        column=cuts[0].column,
        name=cuts[0].name,
        options=options,
        open_ended=not closed and not numbers,
        seen=seen,
        may_be_missing=any(cut.missing is not None for cut in cuts),
    )


def _options(cuts: list[Cut]) -> tuple[tuple[Any, ...], bool]:
    """Return the categories that cuts tell apart, and whether the column had no others."""
    options: list[Any] = []
    closed = False
    # The longest list first: of ordered categories, the others are its ends.
    for cut in sorted(cuts, key=lambda cut: -len(cut.categories or ())):
        categories = cut.categories or ()
        if categories and categories[0] is True:
            return (True, False), True
        if cut.other is not None:
            closed = True
            # Where several are listed they are the upper ones of an order.
            categories = (
                (cut.other, *categories) if len(categories) > 1 else (*categories, cut.other)
            )
        options += [category for category in categories if category not in options]
    return tuple(options), closed


def form_html(fields: list[Field]) -> str:
    """Return the questions as fields of a form."""
    return "".join(_field_html(place, field) for place, field in enumerate(fields))


def _field_html(place: int, field: Field) -> str:
    name, hint = breakable(field.name), f"hint-{place}"
    if field.is_number:
        return (
            f'<div class="field" data-field="{place}"><label for="field-{place}">{name}</label>'
            f'<div class="entry"><input id="field-{place}" type="number" step="any" '
            f'inputmode="decimal" autocomplete="off" aria-describedby="{hint}">'
            f"{_missing_box(place, field)}</div>{_hint(hint, field)}</div>"
        )
    labels = [*field.labels, *([MISSING] if field.may_be_missing else [])]
    values = [*map(str, range(len(field.labels))), *(["missing"] if field.may_be_missing else [])]
    if len(labels) <= MOST_BUTTONS:
        buttons = "".join(
            f'<label><input type="radio" name="field-{place}" value="{value}">'
            f"<span>{escape(label)}</span></label>"
            for label, value in zip(labels, values, strict=True)
        )
        return (
            f'<fieldset class="field" data-field="{place}" aria-describedby="{hint}">'
            f'<legend>{name}</legend><div class="entry choices">{buttons}</div>'
            f"{_hint(hint, field)}</fieldset>"
        )
    options = "".join(
        f'<option value="{value}">{escape(label)}</option>'
        for label, value in zip(labels, values, strict=True)
    )
    return (
        f'<div class="field" data-field="{place}"><label for="field-{place}">{name}</label>'
        f'<div class="entry"><select id="field-{place}" aria-describedby="{hint}">'
        f'<option value="">choose</option>{options}</select></div>{_hint(hint, field)}</div>'
    )


def _missing_box(place: int, field: Field) -> str:
    if not field.may_be_missing:
        return ""
    return f'<label class="missing"><input type="checkbox" id="missing-{place}">{MISSING}</label>'


def _hint(identity: str, field: Field) -> str:
    said = ""
    if field.seen is not None:
        low, high = (number(value, 4) for value in field.seen)
        said = f"{low} to {high} in training"
    return f'<p class="hint" id="{identity}" data-said="{escape(said)}">{escape(said)}</p>'

"""The questionnaire of a page: its fields, and how each cut reads the answers."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any

from surtree.cuts.cut import Cut
from surtree.report._html import Content, Markup, element, markup
from surtree.report._tree import breakable
from surtree.summary.labels import Labels
from surtree.tree.tree import Tree
from surtree.words.numbers import number

# Up to this number of choices are buttons side by side, more are a list.
MOST_BUTTONS = 6
# If a column has more categories, only those that the tree distinguishes are listed.
MOST_OPTIONS = 200

# Where the file of a model does not say which categories the column had.
ANOTHER = "another value"
ANY = "any value"
MISSING = "missing"
UNKNOWN = "another or unknown"
EMPTY = "(empty text)"


@dataclass(frozen=True)
class Field:
    """A column that the tree asks about."""

    column: int  # the position of the column in the user's table
    # What it is called on the page, and the unit of its numbers, empty where there is none.
    name: str
    options: tuple[Any, ...]  # the categories to choose from; empty for a number
    # What stands for all other categories, which the tree does not tell apart; empty where there
    # are none.
    rest: str
    seen: tuple[float, float] | None  # the least and the greatest number in training
    # What stands for a value that is missing, or that training never had; empty where it cannot be
    # chosen: for a number, unless some were missing in training.
    missing: str
    unit: str = ""

    @property
    def is_number(self) -> bool:
        """Whether a number is asked for, not a choice."""
        return self.seen is not None

    @property
    def labels(self) -> list[str]:
        """The choices in words, but for that of a missing value."""
        named = [str(option) if str(option).strip() else EMPTY for option in self.options]
        return [*named, *([self.rest] if self.rest else [])]

    def chosen_by(self, cut: Cut) -> list[int]:
        """Return the positions, among the labels, of the choices for which a cut holds."""
        categories = cut.categories or ()
        held = [
            index
            for index, option in enumerate(self.options)
            if (option in categories) is not cut.negated
        ]
        if self.rest and cut.negated:
            held.append(len(self.options))
        return held


def read_fields(tree: Tree, labels: Labels | None = None) -> list[Field]:
    """Return what the tree asks about, in the order in which it is first asked."""
    cuts: dict[int, list[Cut]] = {}
    for index in tree.cut.tolist():
        if index >= 0:
            cut = tree.cuts[index]
            cuts.setdefault(cut.column, []).append(cut)
    return [_field(asked, labels or Labels()) for asked in cuts.values()]


def _field(cuts: list[Cut], labels: Labels) -> Field:
    numbers = [cut for cut in cuts if cut.threshold is not None]
    seen = None
    if numbers:
        thresholds = [cut.threshold for cut in numbers if cut.threshold is not None]
        # Trees of other tools have no range; use that of the thresholds.
        ranges = [cut.seen for cut in numbers if cut.seen is not None]
        seen = ranges[0] if ranges else (min(thresholds), max(thresholds))
    options, rest = ((), "") if numbers else _options(cuts)
    with_missing = any(cut.missing is not None for cut in cuts)
    return Field(
        column=cuts[0].column,
        name=labels.labelled(cuts[0]).shown_name,
        options=options,
        rest=rest,
        seen=seen,
        missing=UNKNOWN if not numbers else MISSING if with_missing else "",
        unit=labels.unit(cuts[0].name) if numbers else "",
    )


def _options(cuts: list[Cut]) -> tuple[tuple[Any, ...], str]:
    """Return the categories to choose from, and what stands for all others."""
    # The longest list first: of ordered categories, the others are its ends.
    lists = sorted((cut.categories or () for cut in cuts), key=len, reverse=True)
    told_apart = tuple(dict.fromkeys(chain.from_iterable(lists)))
    if not told_apart:
        return (), ANY
    if told_apart[0] is True:
        return (True, False), ""
    known = cuts[0].known
    if known is None:  # the file of the model does not say
        return told_apart, ANOTHER
    if len(known) <= MOST_OPTIONS:
        return known, ""
    options = tuple(category for category in known if category in told_apart)
    return options, f"another of {len(known) - len(options)} values"


def form_html(fields: list[Field]) -> Markup:
    """Return the questions as fields of a form."""
    return markup(*(_field_html(index, field) for index, field in enumerate(fields)))


def _field_html(index: int, field: Field) -> Markup:
    name, identity, hint = breakable(field.name), f"field-{index}", f"hint-{index}"
    label = element("label", name, for_=identity)
    choices = [*zip(field.labels, map(str, range(len(field.labels))), strict=True)]
    choices.append((field.missing, "missing"))
    if field.is_number:
        box = element(
            "input",
            id=identity,
            type="number",
            step="any",
            inputmode="decimal",
            autocomplete="off",
            aria_describedby=hint,
        )
        entry = markup(label, _entry(box, _unit(field), _missing_box(index, field)))
    elif len(choices) <= MOST_BUTTONS:
        buttons = (
            element(
                "label",
                element("input", type="radio", name=identity, value=value),
                element("span", text),
            )
            for text, value in choices
        )
        return element(
            "fieldset",
            element("legend", name),
            _entry(*buttons, kind="entry choices"),
            _hint(hint, field),
            class_="field",
            data_field=str(index),
            aria_describedby=hint,
        )
    else:
        options = (element("option", text, value=value) for text, value in choices)
        first = element("option", "choose", value="")
        entry = markup(
            label, _entry(element("select", first, *options, id=identity, aria_describedby=hint))
        )
    return element("div", entry, _hint(hint, field), class_="field", data_field=str(index))


def _entry(*inside: Content, kind: str = "entry") -> Markup:
    return element("div", *inside, class_=kind)


def _unit(field: Field) -> Markup:
    return element("span", field.unit, class_="field-unit") if field.unit else Markup()


def _missing_box(index: int, field: Field) -> Markup:
    if not field.missing:
        return Markup()
    box = element("input", type="checkbox", id=f"missing-{index}")
    return element("label", box, field.missing, class_="missing")


def _hint(identity: str, field: Field) -> Markup:
    text = ""
    if field.seen is not None:
        low, high = (number(value, 4) for value in field.seen)
        unit = f" {field.unit}" if field.unit else ""
        text = f"{low} to {high}{unit} in training"
    return element("p", text, class_="hint", id=identity, data_text=text)

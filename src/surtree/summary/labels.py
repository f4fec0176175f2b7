"""Names and units of columns as a reader wants them, in place of those of the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from surtree.cuts.cut import Cut
from surtree.words.quoting import printable

# Between a number and its unit: no line is broken there.
NO_BREAK_SPACE = "\u00a0"


@dataclass(frozen=True)
class Labels:
    """What columns are called on a page, and what their numbers are counted in."""

    # For some columns of the table, what to call them instead.
    names: Mapping[str, str] = field(default_factory=dict)
    # For some columns of the table, the unit of their numbers, such as "mm".
    units: Mapping[str, str] = field(default_factory=dict)

    def name(self, column: str) -> str:
        """Return what to call a column of the table."""
        return self.names.get(column, column)

    def unit(self, column: str) -> str:
        """Return the unit of a column of the table; empty where there is none."""
        return self.units.get(column, "")

    def labelled(self, cut: Cut) -> Cut:
        """Return a question that calls its column as a reader wants it."""
        return replace(cut, name=self.name(cut.name))

    def rules(self, cut: Cut, shown: Cut | None = None) -> tuple[str, str]:
        """Return what holds where the answer is no and where it is yes, in words."""
        worded = self.labelled(cut) if shown is None else shown
        unit = self.unit(cut.name) if cut.threshold is not None else ""
        no, yes = (_with_unit(worded, rule, unit) for rule in (worded.negated_rule, worded.rule))
        return no, yes


def read_labels(labels: Any, units: Any) -> Labels:
    """Return labels that were checked: mappings from names of columns to texts."""
    for name, given in (("labels", labels), ("units", units)):
        if given is None:
            continue
        texts = [*given, *given.values()] if isinstance(given, Mapping) else [given]
        wrong = next((text for text in texts if not isinstance(text, str)), None)
        if wrong is not None or not isinstance(given, Mapping):
            raise TypeError(
                f"{name} must be a mapping from names of columns to texts, such as "
                f"{{'pnodes': 'positive lymph nodes'}}; got {given!r}."
            )
    return Labels(dict(labels or {}), dict(units or {}))


def _with_unit(cut: Cut, rule: str, unit: str) -> str:
    if not unit:
        return rule
    # "name > 12 or missing": the unit follows the number.
    sign, value, *rest = rule.removeprefix(f"{cut.shown_name} ").split(" ")
    return " ".join([cut.shown_name, sign, f"{value}{NO_BREAK_SPACE}{printable(unit)}", *rest])

"""The columns of the table: what the tree makes of them, and where they could be cut."""

from __future__ import annotations

from collections.abc import Iterable

from surtree.questions.columns import HEADING
from surtree.report._html import Markup, element, markup, table
from surtree.report._resampled import bar
from surtree.report._tree import breakable
from surtree.summary.findings import ColumnCuts, Findings
from surtree.summary.labels import NO_BREAK_SPACE, Labels
from surtree.words.numbers import number, plural

# Longer lists are cut off.
MOST_CUTS = 12
# With more columns, those that the tree does not use are only counted.
MOST_COLUMNS = 200


def columns_html(findings: Findings) -> Markup:
    """Return the candidate cuts of each column, columns of the tree first.

    Nothing is returned for a page that does not know them, such as that of an audit.
    """
    if not findings.columns:
        return Markup()
    used = {cut.column for cut in findings.tree.cuts}
    order = sorted(
        enumerate(findings.columns),
        key=lambda item: (item[0] not in used, -item[1].importance, item[0]),
    )
    shown = order[: max(MOST_COLUMNS, len(used))]
    rows = (_row(column, index in used, findings.labels) for index, column in shown)
    headings = ("column", "share of what the tree explains", "questions", "where it could be cut")
    more = None
    if len(shown) < len(order):
        more = element("p", f"{len(order) - len(shown)} more columns, which the tree does not use.")
    return markup(table(headings, rows, "columns"), more, _column_costs_html(findings))


def _column_costs_html(findings: Findings) -> Markup:
    """Return what the best trees without a column, and with it first, lose."""
    costs = findings.column_costs
    if costs is None:
        return Markup()
    rows = [(findings.labels.name(name), *others) for name, *others in costs.cells()]
    return markup(element("p", costs.note()), table(HEADING, rows, "numbers"))


def _row(column: ColumnCuts, used: bool, labels: Labels) -> list[str]:
    share = "not in the tree"
    if used:
        share = bar(column.importance, f"{100 * column.importance:.1f} %")
    count, noun = plural(len(column.cuts), "question").split()
    return [
        breakable(labels.name(column.name)),
        share,
        markup(count, element("span", f" {noun}", class_="unit")),
        _cuts_text(column, labels.unit(column.name)),
    ]


def _cuts_text(column: ColumnCuts, unit: str) -> str:
    if not column.cuts:
        return "nowhere: all rows, or all but too few, are on one side"
    thresholds = sorted({cut.threshold for cut in column.cuts if cut.threshold is not None})
    if thresholds:
        texts = [repr(value).removesuffix(".0") for value in thresholds]
        seen = column.cuts[0].seen
        range_text = "" if seen is None else f" ({number(seen[0], 6)} to {number(seen[1], 6)})"
        text = f"above {_listed(texts)}{f'{NO_BREAK_SPACE}{unit}' if unit else ''}{range_text}"
    else:
        rules = (cut.rule.removeprefix(f"{cut.shown_name} ") for cut in column.cuts)
        text = _listed(dict.fromkeys(rules))
    if thresholds and any(cut.missing is not None for cut in column.cuts):
        text += "; missing values on either side"
    return breakable(text)


def _listed(texts: Iterable[str]) -> str:
    texts = list(texts)
    shown = [text if len(text) <= 80 else f"{text[:79]}…" for text in texts[:MOST_CUTS]]
    more = f" and {len(texts) - MOST_CUTS} more" if len(texts) > MOST_CUTS else ""
    mark = "; " if any("," in text for text in shown) else ", "
    return mark.join(shown) + more

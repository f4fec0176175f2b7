"""The leaves of a tree as a table, for a paper or a spreadsheet: CSV and Markdown."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from surtree.export._tree import named_tree
from surtree.export._written import PageFormat, written
from surtree.outcomes import Group, Outcome, outcome_of
from surtree.outcomes.effect_results import UNTESTED
from surtree.outcomes.restricted_mean import (
    ArmDifference,
    RestrictedMean,
    arm_differences,
    restricted_means,
)
from surtree.summary.figures import figure_and_limits, level_text
from surtree.summary.labels import read_labels
from surtree.summary.wording import leaf_texts
from surtree.survival.confidence import LEVEL, require_level
from surtree.survival.step_function import read_horizons, round_horizons
from surtree.tree.resolve import cause_names_of, chosen_model, horizons_of, time_unit_of
from surtree.tree.tree import Tree
from surtree.words.numbers import interval_text, number
from surtree.words.quoting import csv_text

TableFormat = Literal["csv", "markdown", "latex", "docx"]
TABLE_FORMATS: tuple[TableFormat, ...] = get_args(TableFormat)

# The most times for which survival is stated, where none are asked for: a page is narrow.
_HORIZONS = 3

Limits = tuple[float, float]


def export_leaves(
    model: Any,
    format: TableFormat = "markdown",
    *,
    horizons: Iterable[float] | None = None,
    time_unit: str | None = None,
    labels: Mapping[str, str] | None = None,
    units: Mapping[str, str] | None = None,
    feature_names: Sequence[str] | None = None,
    restricted_mean: float | None = None,
    level: float = LEVEL,
) -> Any:
    """Return the leaves of a tree as a table: who is in them, how many, and what they are at.

    A row of the table is a leaf: its rule, rows and events, its relative risk, its hazard ratio
    over a reference leaf (`leaf_hazard_ratios`) and its median survival with confidence intervals,
    and its survival at some times. With competing risks it has
    events, relative risk and cumulative incidence of each cause; with the arms of a trial, rows,
    events and survival of each arm, and hazard ratios.

    Intervals are those of groups that were chosen beforehand. Leaves are found on the same rows, so
    the truth is outside more often than the level says.

    Parameters
    ----------
    model : fitted estimator or Tree
        A model of this package, a pipeline that ends in one, or its ``tree_``.
    format : {"markdown", "csv", "latex", "docx"}, default="markdown"
        "markdown" is for people: rounded, each figure with its interval in brackets, and a note
        below. "csv" is for programs: all digits, each figure in a column of its own, and the number
        of the leaf (`SurTree.apply`) beside its name. A cell of it is empty where there is no such
        number: a median that is not reached, a relative risk without events (its upper limit is
        there), survival after the last follow-up of the leaf. A text that a spreadsheet would take
        for a formula, such as ``=1+1``, begins with a ``'``. "latex" and "docx" are the table of
        "markdown" for LaTeX and for Word: the last are the bytes of a file.
    horizons : iterable of float, optional
        Times for which survival is stated, none if empty; by default the ``horizons_`` of the
        model, else up to three round ones.
    time_unit : str, optional
        What time is counted in, for example "days"; by default the ``time_unit_`` of the model.
    labels, units : mapping of str to str, optional
        What columns are called in rules, and what they are counted in, as in `write_report`.
    feature_names : sequence of str, optional
        A name for each column of the training table; by default the names that it had.
    restricted_mean : float, optional
        A time, which adds the mean time without an event up to it (`restricted_means`): that of
        each arm, or lost to each cause; of arms also differences, and numbers needed to treat.
    level : float, default=0.95
        The level of confidence intervals.

    Examples
    --------
    >>> from surtree import SurTree
    >>> from surtree.datasets import load_gbsg2
    >>> from surtree.export import export_leaves
    >>> model = SurTree(max_depth=1).fit(*load_gbsg2())
    >>> print(export_leaves(model, "csv", horizons=[]).splitlines()[0])
    leaf,name,rule,rows,events,note,risk,risk_lower,risk_upper,hazard_ratio,hazard_ratio_lower,hazard_ratio_upper,median,median_lower,median_upper
    >>> leaf = export_leaves(model, time_unit="days").splitlines()[2]
    >>> leaf.split(" | ")[1:5]
    ['positive_nodes <= 3', '376', '119', '0.635 (0.53 to 0.76)']
    """
    tree = named_tree(model, feature_names)
    if format not in TABLE_FORMATS:
        raise ValueError(f"format must be one of {TABLE_FORMATS}; got {format!r}.")
    require_level(level)
    if time_unit is None:
        time_unit = time_unit_of(model)
    if horizons is None:
        horizons = horizons_of(model)
    end = tree.last_event
    times = round_horizons(end, _HORIZONS) if horizons is None else read_horizons(horizons)
    rules = leaf_texts(tree, read_labels(labels, units), whole=True)
    columns = [
        _Column("leaf", "", tree.leaves.tolist()),
        _Column("name", "leaf", list(tree.leaf_names.values())),
        _Column("rule", "group", [rules[leaf] for leaf in tree.leaves.tolist()]),
        *_risk_groups(model, tree),
        *_figures(outcome_of(tree, cause_names_of(model)), times, time_unit, level),
    ]
    if restricted_mean is not None:
        columns += _restricted(model, tree, restricted_mean, time_unit, level)
    if format == "csv":
        return _csv(columns)
    return _page(columns, _note(model, tree, level), format)


@dataclass(frozen=True)
class _Column:
    """A column of the table: a cell for each leaf."""

    name: str  # what it is called in CSV, and for people
    heading: str
    values: Sequence[Any]  # texts and numbers; None, infinity and NaN are empty cells in CSV
    limits: Sequence[Limits] | None = None  # the confidence limits of each value
    texts: Sequence[str] | None = None  # what people read; by default the values


def _risk_groups(model: Any, tree: Tree) -> Iterator[_Column]:
    """Yield the risk group of each leaf, where leaves were merged."""
    groups = getattr(chosen_model(model), "risk_groups_", None)
    if groups is not None:
        names = [groups.of_leaf[leaf] for leaf in tree.leaves.tolist()]
        yield _Column("risk_group", "risk group", names)


def _figures(
    outcome: Outcome, times: list[float], time_unit: str | None, level: float
) -> Iterator[_Column]:
    groups, interval = outcome.groups, f"({level_text(level)})"
    if groups[0].n_persons is not None:
        yield _Column("persons", "persons", [group.n_persons for group in groups])
    yield _Column("rows", "rows", [group.n_samples for group in groups])
    for column in outcome.columns(groups, level):
        heading = column.heading if column.limits is None else f"{column.heading} {interval}"
        if column.is_time and time_unit is not None:
            heading = f"{column.heading}, {time_unit} {interval}"
        texts = [_with_limits(*figure_and_limits(column, p)) for p in range(len(groups))]
        if column.name == "events":
            texts = [_noted(text, group) for text, group in zip(texts, groups, strict=True)]
        yield _Column(column.name, heading, column.values, column.limits, texts)
        if column.name == "events":
            yield _Column("note", "", [group.note for group in groups])
    yield from _curve_columns(outcome, times, time_unit, level)


def _noted(text: str, group: Group) -> str:
    """Return a number of events, with the remark that it is about."""
    return f"{text} (few)" if group.note == "few events" else text


def _curve_columns(
    outcome: Outcome, times: list[float], time_unit: str | None, level: float
) -> Iterator[_Column]:
    """Yield the survival, or the incidence of each cause, of leaves at every time."""
    by_leaf = [outcome.curves(group, level=level) for group in outcome.groups]
    verb, word = "by" if outcome.is_stacked else "at", outcome.curve_name.split()[-1]
    for position, channel in enumerate(outcome.channels):
        of_channel = [curves[position] for curves in by_leaf]
        key = [str(channel.key)] if outcome.is_several else []
        for time in times:
            values, limits = zip(*(curve.at(time) for curve in of_channel), strict=True)
            name = "_".join([word, *key, number(time, 6)])
            what = f"{channel.label}: {word}" if key else word
            heading = f"{what} {verb} {_time(time, time_unit)} ({level_text(level)})"
            yield _shares(name, heading, list(values), list(limits))


def _restricted(
    model: Any, tree: Tree, horizon: float, unit: str | None, level: float
) -> Iterator[_Column]:
    """Yield restricted means of each channel, and what arms gain over the reference."""
    by, interval = f"by {_time(horizon, unit)}", f"({level_text(level)})"

    def column(name: str, heading: str, cells: Sequence[tuple[float, Limits]]) -> _Column:
        texts = [_with_limits(number(value, 3), interval_text(ends)) for value, ends in cells]
        values, limits = zip(*cells, strict=True)
        return _Column(name, f"{heading} {by} {interval}", values, limits, texts)

    means = [one for one in restricted_means(model, horizon, level=level) if _is_leaf(tree, one)]
    for channel in dict.fromkeys(one.channel for one in means):
        own = [one for one in means if one.channel == channel]
        name = "_".join(["restricted_mean", *([] if channel is None else [str(channel)])])
        yield column(name, f"mean time {own[0].words}", [(one.value, one.limits) for one in own])
    if tree.outcome.judged_by != "effects":
        return
    gains = [one for one in arm_differences(model, horizon, level=level) if _is_leaf(tree, one)]
    for arm in dict.fromkeys(one.arm for one in gains):
        own_gains = [one for one in gains if one.arm == arm]
        what = f"{arm} over {own_gains[0].reference}"
        cells = [(one.mean, one.mean_limits) for one in own_gains]
        yield column(f"mean_gained_{arm}", f"mean time gained, {what}", cells)
        cells = [(one.survival, one.survival_limits) for one in own_gains]
        yield column(f"survival_gained_{arm}", f"survival gained, {what}", cells)
        needed = [one.needed_to_treat for one in own_gains]
        texts = [one.needed_text for one in own_gains]
        heading = f"number needed to treat, {what} {by} {interval}"
        yield _Column(f"needed_to_treat_{arm}", heading, needed, None, texts)


def _is_leaf(tree: Tree, one: RestrictedMean | ArmDifference) -> bool:
    return bool(tree.is_leaf[one.leaf])


def _shares(name: str, heading: str, values: list[float], limits: list[Limits]) -> _Column:
    texts = [
        "" if math.isnan(value) else _with_limits(f"{value:.0%}", _share_limits(limit))
        for value, limit in zip(values, limits, strict=True)
    ]
    return _Column(name, heading, values, limits, texts)


def _csv(columns: list[_Column]) -> str:
    heads, cells = [], []
    for column in columns:
        heads.append(column.name)
        cells.append(list(map(_cell, column.values)))
        if column.limits is not None:
            for side, end in enumerate(("lower", "upper")):
                heads.append(f"{column.name}_{end}")
                cells.append([_cell(limits[side]) for limits in column.limits])
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(map(csv_text, heads))
    writer.writerows(zip(*cells, strict=True))
    return written.getvalue()


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return repr(value).removesuffix(".0") if math.isfinite(value) else ""
    return csv_text(value) if isinstance(value, str) else str(value)


def _page(columns: list[_Column], note: str, format: PageFormat) -> str | bytes:
    shown = [column for column in columns if column.heading]
    texts = [
        list(map(str, column.values)) if column.texts is None else list(column.texts)
        for column in shown
    ]
    rows = list(zip(*texts, strict=True))
    heads = [column.heading for column in shown]
    return written(format, heads, rows, note, [_is_counted(column) for column in shown])


def _is_counted(column: _Column) -> bool:
    return all(isinstance(value, int | float) for value in column.values)


def _note(model: Any, tree: Tree, level: float) -> str:
    curves: Callable[[str], str] = {
        "baseline": lambda what: (
            f"{what} as the relative risk predicts it (baseline curves); its "
            "limits and those of medians are the uncertainty of theta only."
        ),
        "kaplan-meier": lambda what: f"{what} as observed in each leaf.",
        "shrunk": lambda what: f"{what} as observed in each leaf, shrunk towards all rows.",
        "breslow": lambda what: f"{what} as a Cox model of the leaves predicts it (Breslow).",
    }[tree.leaf_curve]
    sentences = [curves(tree.outcome.curve_name.capitalize()), *tree.outcome.figure_notes()]
    if tree.outcome.judged_by == "effects":
        sentences += _effects_note(model)
    sentences.append(
        f"{level_text(level)}: confidence intervals of groups as if chosen beforehand; leaves were "
        "found on the same rows, so they are too narrow."
    )
    if tree.weighted:
        sentences.append("Weights count as repeated rows.")
    return " ".join(sentences)


def _effects_note(model: Any) -> list[str]:
    """Return whether the effects of leaves differ, as far as the model knows."""
    shown = chosen_model(model)
    test = getattr(shown, "heterogeneity_", None)
    if test is None:
        return [UNTESTED]
    correction = getattr(shown, "correction_", None)
    return [*str(test).splitlines(), *([] if correction is None else [correction.share_text])]


def _time(time: float, time_unit: str | None) -> str:
    return number(time, 6) if time_unit is None else f"{number(time, 6)} {time_unit}"


def _share_limits(limits: Limits) -> str:
    low, high = limits
    return f"{low:.0%} to {high:.0%}" if math.isfinite(low) and math.isfinite(high) else ""


def _with_limits(figure: str, limits: str) -> str:
    return f"{figure} ({limits})" if limits else figure

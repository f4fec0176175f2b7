"""The leaves of a tree as a table, for a paper or a spreadsheet: CSV and Markdown."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from surtree.export._tree import named_tree
from surtree.outcomes.arm_effects import arms_of, effects_of_leaf, ratio_text
from surtree.outcomes.arm_effects import interval_text as ratio_limits_text
from surtree.outcomes.cause_figures import cause_events, cause_limits, cause_theta
from surtree.outcomes.effect_results import UNTESTED
from surtree.outcomes.incidence import leaf_incidence, leaf_incidence_band
from surtree.outcomes.legacy import cause_names, cause_text, has_causes
from surtree.summary.arms import read_arm_leaves
from surtree.summary.figures import interval_text, level_text
from surtree.summary.labels import read_labels
from surtree.summary.leaves import Leaf, read_leaves
from surtree.summary.survival_table import survival_table
from surtree.summary.wording import leaf_texts, median_text, number, risk_text
from surtree.survival.confidence import LEVEL, require_level
from surtree.survival.time_axis import read_horizons, round_horizons
from surtree.tree.evidence import events_note
from surtree.tree.hazard_ratios import leaf_hazard_ratios, shows_ratios
from surtree.tree.resolve import cause_names_of, fitted, horizons_of, time_unit_of
from surtree.tree.tree import Tree
from surtree.words.quoting import csv_text, markdown_text

TableFormat = Literal["csv", "markdown"]
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
    level: float = LEVEL,
) -> str:
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
    format : {"markdown", "csv"}, default="markdown"
        "markdown" is for people: rounded, each figure with its interval in brackets, and a note
        below. "csv" is for programs: all digits, each figure in a column of its own. A cell of it
        is empty where there is no such number: a median that is not reached, a relative risk
        without events (its upper limit is there), survival after the last follow-up of the leaf.
        A text that a spreadsheet would take for a formula, such as ``=1+1``, begins with a ``'``.
    horizons : iterable of float, optional
        Times for which survival is stated, none if empty; by default the ``horizons_`` of the
        model, else up to three round ones.
    time_unit : str, optional
        What time is counted in, for example "days"; by default the ``time_unit_`` of the model.
    labels, units : mapping of str to str, optional
        What columns are called in rules, and what they are counted in, as in `write_report`.
    feature_names : sequence of str, optional
        A name for each column of the training table; by default the names that it had.
    level : float, default=0.95
        The level of confidence intervals.

    Examples
    --------
    >>> from surtree import SurTree
    >>> from surtree.datasets import load_gbsg2
    >>> from surtree.export import export_leaves
    >>> model = SurTree(max_depth=1).fit(*load_gbsg2())
    >>> print(export_leaves(model, "csv", horizons=[]).splitlines()[0])
    leaf,rule,rows,events,note,risk,risk_lower,risk_upper,hazard_ratio,hazard_ratio_lower,hazard_ratio_upper,median,median_lower,median_upper
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
    end = float(tree.baseline.times[-1])
    times = round_horizons(end, _HORIZONS) if horizons is None else read_horizons(horizons)
    rules = leaf_texts(tree, read_labels(labels, units), whole=True)
    columns = [
        _Column("leaf", "leaf", tree.leaves.tolist()),
        _Column("rule", "group", [rules[leaf] for leaf in tree.leaves.tolist()]),
        *_figures(tree, times, time_unit, level, cause_names_of(model)),
    ]
    return _csv(columns) if format == "csv" else _markdown(columns, _note(model, tree, level))


@dataclass(frozen=True)
class _Column:
    """A column of the table: a cell for each leaf."""

    name: str  # what it is called in CSV, and for people
    heading: str
    values: Sequence[Any]  # texts and numbers; None, infinity and NaN are empty cells in CSV
    limits: Sequence[Limits] | None = None  # the confidence limits of each value
    texts: Sequence[str] | None = None  # what people read; by default the values


def _figures(
    tree: Tree,
    times: list[float],
    time_unit: str | None,
    level: float,
    causes: Mapping[int, str] | None,
) -> Iterator[_Column]:
    leaves = tree.leaves
    interval = f"({level_text(level)})"
    if tree.n_persons is not None:
        yield _Column("persons", "persons", tree.n_persons[leaves].tolist())
    if tree.arms is not None:
        yield from _arm_columns(tree, times, time_unit, level)
        return
    yield _Column("rows", "rows", tree.n_samples[leaves].tolist())
    if has_causes(tree):
        yield from _cause_columns(tree, times, time_unit, level, cause_names(tree, causes))
        return
    drawn = read_leaves(tree, level=level)
    notes = [events_note(leaf.n_events) for leaf in drawn]
    counts = tree.n_events[leaves].tolist()
    # For people the note is beside the number that it is about.
    told = [
        f"{count} (few)" if note == "few events" else str(count)
        for count, note in zip(counts, notes, strict=True)
    ]
    yield _Column("events", "events", counts, texts=told)
    yield _Column("note", "", notes)
    yield _Column(
        "risk",
        f"relative risk {interval}",
        [math.nan if leaf.no_events else leaf.theta for leaf in drawn],
        [leaf.theta_limits for leaf in drawn],
        [
            _with_limits(
                risk_text(leaf, 3), "" if leaf.no_events else interval_text(leaf.theta_limits, 2)
            )
            for leaf in drawn
        ],
    )
    if shows_ratios(tree):
        ratios = leaf_hazard_ratios(tree, level=level)
        yield _Column(
            "hazard_ratio",
            f"hazard ratio {interval}",
            [one.ratio for one in ratios],
            [one.limits for one in ratios],
            [one.text for one in ratios],
        )
    unit = "survival" if time_unit is None else f"survival, {time_unit}"
    yield _Column(
        "median",
        f"median {unit} {interval}",
        [leaf.median for leaf in drawn],
        [leaf.median_limits for leaf in drawn],
        [
            _with_limits(median_text(leaf.median, 3), interval_text(leaf.median_limits, 3))
            for leaf in drawn
        ],
    )
    yield from _survival_columns(tree, drawn, times, time_unit, interval)


def _survival_columns(
    tree: Tree,
    leaves: Sequence[Leaf],
    times: list[float],
    time_unit: str | None,
    interval: str,
    of: str = "",
) -> Iterator[_Column]:
    """Yield the survival of leaves, or of one arm in each of them, at every time."""
    rows = [
        {row.time: row for row in survival_table(tree, place, leaf, times)}
        for place, leaf in enumerate(leaves)
    ]
    for time in times:
        at = [row.get(time) for row in rows]
        values = [math.nan if row is None else row.predicted for row in at]
        limits = [
            (math.nan, math.nan) if row is None or row.limits is None else row.limits for row in at
        ]
        name = "_".join(["survival", *([of] if of else []), number(time, 6)])
        heading = f"{of}: survival" if of else "survival"
        yield _shares(name, f"{heading} at {_time(time, time_unit)} {interval}", values, limits)


def _shares(name: str, heading: str, values: list[float], limits: list[Limits]) -> _Column:
    texts = [
        "" if math.isnan(value) else _with_limits(f"{value:.0%}", _share_limits(limit))
        for value, limit in zip(values, limits, strict=True)
    ]
    return _Column(name, heading, values, limits, texts)


def _cause_columns(
    tree: Tree,
    times: list[float],
    time_unit: str | None,
    level: float,
    names: Mapping[int, str],
) -> Iterator[_Column]:
    leaves = tree.leaves.tolist()
    interval = f"({level_text(level)})"
    for cause, name in names.items():
        events = cause_events(tree, cause)
        limits = [cause_limits(tree, leaf, cause, level) for leaf in leaves]
        yield _Column(
            f"events_{cause}",
            f"{name}: events",
            [float(events[leaf]) for leaf in leaves],
            texts=[f"{events[leaf]:g}" for leaf in leaves],
        )
        yield _Column(
            f"risk_{cause}",
            f"{name}: relative risk {interval}",
            [
                float(cause_theta(tree, cause)[leaf]) if events[leaf] > 0 else math.nan
                for leaf in leaves
            ],
            limits,
            [
                _with_limits(
                    cause_text(tree, leaf, cause, ".3g"),
                    interval_text(limit, 2) if events[leaf] > 0 else "",
                )
                for leaf, limit in zip(leaves, limits, strict=True)
            ],
        )
    for time in times:
        for cause, name in names.items():
            at = [_incidence(tree, leaf, cause, time, level) for leaf in leaves]
            yield _shares(
                f"incidence_{cause}_{number(time, 6)}",
                f"{name}: incidence by {_time(time, time_unit)} {interval}",
                [value for value, _ in at],
                [limit for _, limit in at],
            )


def _incidence(
    tree: Tree, leaf: int, cause: int, time: float, level: float
) -> tuple[float, Limits]:
    """Return the cumulative incidence of a leaf; NaN after its last follow-up."""
    place = int(np.searchsorted(tree.leaves, leaf))
    curve = leaf_incidence(tree, cause)[place]
    band = leaf_incidence_band(tree, leaf, cause, level)
    end = min(curve.domain[1], band[0].domain[1])
    if tree.risk:
        end = min(end, tree.risk[place].last_time)
    if time > end:
        return math.nan, (math.nan, math.nan)
    return float(curve(time)), (float(band[0](time)), float(band[1](time)))


def _arm_columns(
    tree: Tree, times: list[float], time_unit: str | None, level: float
) -> Iterator[_Column]:
    arms, leaves = arms_of(tree), tree.leaves.tolist()
    interval = f"({level_text(level)})"
    for arm, label in enumerate(arms.labels):
        yield _Column(f"rows_{label}", f"{label}: rows", arms.n_samples[leaves, arm].tolist())
        yield _Column(f"events_{label}", f"{label}: events", arms.n_events[leaves, arm].tolist())
    by_leaf = [effects_of_leaf(tree, leaf, level) for leaf in leaves]
    for effects in zip(*by_leaf, strict=True):
        yield _Column(
            f"hazard_ratio_{effects[0].arm}",
            f"hazard ratio, {effects[0].contrast} {interval}",
            [effect.ratio for effect in effects],
            [effect.limits for effect in effects],
            [
                _with_limits(ratio_text(effect.ratio), ratio_limits_text(effect.limits))
                if math.isfinite(effect.ratio)
                else "unknown"
                for effect in effects
            ],
        )
    drawn = [read_arm_leaves(tree, leaf, level=level) for leaf in leaves]
    for arm, label in enumerate(arms.labels):
        of_arm = [leaf[arm] for leaf in drawn]
        yield from _survival_columns(tree, of_arm, times, time_unit, interval, str(label))


def _csv(columns: list[_Column]) -> str:
    heads, cells = [], []
    for column in columns:
        heads.append(column.name)
        cells.append(list(map(_cell, column.values)))
        if column.limits is not None:
            for place, end in enumerate(("lower", "upper")):
                heads.append(f"{column.name}_{end}")
                cells.append([_cell(limits[place]) for limits in column.limits])
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(map(csv_text, heads))
    writer.writerows(zip(*cells, strict=True))
    return written.getvalue()


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return repr(value).removesuffix(".0") if math.isfinite(value) else ""
    return csv_text(value) if isinstance(value, str) else str(value)


def _markdown(columns: list[_Column], note: str) -> str:
    shown = [column for column in columns if column.heading]
    texts = [
        list(map(str, column.values)) if column.texts is None else list(column.texts)
        for column in shown
    ]
    lines = [
        [markdown_text(column.heading) for column in shown],
        ["---:" if _is_counted(column) else "---" for column in shown],
        *([markdown_text(text) for text in row] for row in zip(*texts, strict=True)),
    ]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{table}\n\n{note}\n"


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
    said = [curves("Cumulative incidence" if has_causes(tree) else "Survival")]
    if tree.arms is None:
        said.append("Relative risk: events of a leaf over those that all rows let expect.")
        if shows_ratios(tree):
            said.append("Hazard ratio: by a Cox model with a factor for the leaf (Breslow's ties).")
    else:
        said.append(
            "Hazard ratio: by a Cox model of the arms in the leaf; below one, the arm does better."
        )
        said += _effects_note(model)
    said.append(
        f"{level_text(level)}: confidence intervals of groups as if chosen beforehand; leaves were "
        "found on the same rows, so they are too narrow."
    )
    if tree.weighted:
        said.append("Weights count as repeated rows.")
    return " ".join(said)


def _effects_note(model: Any) -> list[str]:
    """Return whether the effects of leaves differ, as far as the model knows."""
    shown = fitted(model)
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

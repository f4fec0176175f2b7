"""The plan of a search: which stages it has, and why."""

import re

import numpy as np
import pytest

from surtree import target
from surtree.cuts.encoder import Encoder
from surtree.data.table import read_table
from surtree.data.target import read_target
from surtree.solver.core import Problem
from surtree.solver.problem import Limits, Switches
from surtree.survival.baseline import nelson_aalen
from surtree.survival.objective import RELATIVE_RISK


def problem(n_rows=300, n_columns=6, n_thresholds=5):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    time = rng.exponential(np.exp(-X[:, 0]))
    y = target(event=rng.random(n_rows) < 0.7, time=time)
    encoder = Encoder(n_thresholds=n_thresholds)
    weight = np.ones(n_rows)
    binned = encoder.fit_encode(read_table(encoder, X, reset=True), weight)
    rows = read_target(y, n_rows)
    return Problem(binned, RELATIVE_RISK.row_sums(rows, weight, nelson_aalen(rows, weight)))


def stages(text):
    """Return the engine, and the depth and the name of each stage."""
    engine, *lines = text.splitlines()
    return engine, [
        re.match(r"depth (\d): ([a-z ]+?)( within .*|, about .*|)$", line).groups()[:2]
        for line in lines
    ]


@pytest.mark.parametrize(
    ("depth", "expected"),
    [
        (0, []),
        (1, [("1", "solve")]),
        (2, [("2", "solve")]),
        (3, [("3", "solve")]),
        (4, [("3", "solve"), ("4", "clear stumps"), ("4", "fill stumps"), ("4", "solve")]),
        (
            5,
            [
                ("3", "solve"),
                ("3", "find incumbent"),
                ("5", "fill side cache"),
                ("5", "solve"),
            ],
        ),
    ],
)
def test_stages_are_those_that_the_depth_needs(depth, expected):
    assert stages(problem().plan_text(Limits(depth))) == ("sweep", expected)


def test_a_search_that_may_be_stopped_leaves_a_tree_at_each_depth():
    wide = problem(n_columns=50)
    _, watched = stages(wide.plan_text(Limits(4), wants_progress=True))
    assert [stage for stage in watched if stage[1] == "solve"] == [(d, "solve") for d in "1234"]
    _, timed = stages(wide.plan_text(Limits(4), time_limit=100))
    assert timed == watched
    assert len(stages(wide.plan_text(Limits(4)))[1]) < len(watched)


def test_a_search_that_should_end_in_time_goes_straight_to_its_end():
    rows = problem()
    untimed = stages(rows.plan_text(Limits(5)))
    _, whole = rows.estimate(Limits(5), n_jobs=1)
    assert stages(rows.plan_text(Limits(5), time_limit=whole, n_jobs=1)) == untimed
    # Hardly any time: a tree of depth four is better than none.
    _, late = stages(rows.plan_text(Limits(5), time_limit=whole / 100, n_jobs=1))
    assert ("4", "solve") in late
    assert ("4", "solve") not in untimed[1]


@pytest.mark.parametrize(
    ("depth", "switches", "stage"),
    [
        (3, Switches(screen=0), "screen"),
        (4, Switches(fill=False), "fill stumps"),
        (5, Switches(share=False), "fill side cache"),
        (5, Switches(kernel_depth=2), "fill side cache"),
    ],
)
def test_a_switch_takes_its_stage_out_of_the_plan(depth, switches, stage):
    rows = problem(n_columns=50 if depth == 3 else 6, n_thresholds=10 if depth == 3 else 5)
    assert stage in [name for _, name in stages(rows.plan_text(Limits(depth)))[1]]
    assert stage not in [
        name for _, name in stages(rows.plan_text(Limits(depth), switches=switches))[1]
    ]


def test_long_columns_are_bisected():
    long = problem(n_thresholds=None, n_columns=2)
    assert stages(long.plan_text(Limits(3))) == ("bisection", [("3", "bisect")])
    text = long.plan_text(Limits(3), wants_progress=True)
    assert [float(share) for share in re.findall(r"within (\S+) of the loss", text)] == [
        0.4, 0.27, 0.18, 0.12, 0.08, 0.05, 0.03,
    ]  # fmt: skip
    assert text.endswith("depth 3: bisect\n")


@pytest.mark.parametrize("depth", [0, 3, 4, 5, 6])
def test_one_estimate_comes_before_a_search_and_with_its_plan(depth):
    rows = problem(n_rows=3000)
    before, whole = rows.estimate(Limits(depth), n_jobs=1)
    text = rows.plan_text(Limits(depth))
    planned = sum(float(number) for number in re.findall(r"about (\S+) s", text))
    incumbent = re.search(r"incumbent, about (\S+) s", text)
    planned -= float(incumbent[1]) if incumbent else 0.0
    assert whole - before == pytest.approx(planned, rel=0.1)
    assert rows.estimate(Limits(depth), n_jobs=2) == pytest.approx((before, (before + whole) / 2))


def test_binary_columns_of_one_variable_are_estimated_as_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4))
    y = target(event=rng.random(500) < 0.7, time=rng.exponential(np.exp(-X[:, 0])))

    def estimate(table):
        encoder = Encoder(n_thresholds=8)
        weight = np.ones(500)
        binned = encoder.fit_encode(read_table(encoder, table, reset=True), weight)
        rows = read_target(y, 500)
        sums = RELATIVE_RISK.row_sums(rows, weight, nelson_aalen(rows, weight))
        before, whole = Problem(binned, sums).estimate(Limits(5), n_jobs=1)
        return encoder, whole - before

    encoder, raw = estimate(X)
    _, binary = estimate(encoder.transform(X).astype(float))
    assert binary == pytest.approx(raw, rel=0.3)


def test_every_threshold_is_estimated_as_more_than_some():
    few, every = problem(n_columns=2), problem(n_columns=2, n_thresholds=None)
    assert every.estimate(Limits(3))[1] > 100 * few.estimate(Limits(3))[1]


def test_estimates_grow_with_depth_and_rows():
    def seconds(rows, depth):
        text = rows.plan_text(Limits(depth))
        return sum(float(number) for number in re.findall(r"about (\S+) s", text))

    few, many = problem(), problem(n_rows=3000)
    by_depth = [seconds(few, depth) for depth in range(1, 7)]
    assert by_depth == sorted(by_depth)
    assert 0 < by_depth[0] < by_depth[-1] / 1000
    assert all(seconds(many, depth) > seconds(few, depth) for depth in range(1, 7))

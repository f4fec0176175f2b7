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


def test_estimates_grow_with_depth_and_rows():
    def seconds(rows, depth):
        text = rows.plan_text(Limits(depth))
        return sum(float(number) for number in re.findall(r"about (\S+) s", text))

    few, many = problem(), problem(n_rows=3000)
    by_depth = [seconds(few, depth) for depth in range(1, 7)]
    assert by_depth == sorted(by_depth)
    assert 0 < by_depth[0] < by_depth[-1] / 1000
    assert all(seconds(many, depth) > seconds(few, depth) for depth in range(1, 7))

"""Curves, bands, numbers at risk and medians of leaves are those of R's ``survfit``.

``tests/r/make_reference.py`` ran R, on the leaves of the same trees, and wrote what is read here.
"""

import gzip
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from surtree.tree.curves import confidence_band, leaf_curves
from surtree.tree.leaf_curve import median_limits

FOLDER = Path(__file__).parents[1] / "r"
sys.path.insert(0, str(FOLDER))
from curve_cases import CURVES  # noqa: E402

REFERENCE = json.loads(gzip.decompress((FOLDER / "curves.json.gz").read_bytes()))["curves"]
LEAVES = [(name, int(leaf)) for name, leaves in REFERENCE.items() for leaf in leaves]


def read(name, leaf):
    """Return what R says of a leaf, with nan for NA, and our tree."""
    theirs = {
        field: np.array(values, dtype=np.float64)
        for field, values in REFERENCE[name][str(leaf)].items()
    }
    return theirs, CURVES[name]().model.tree_


def test_the_reference_is_of_these_leaves():
    assert REFERENCE.keys() == CURVES.keys()
    for name, case in CURVES.items():
        assert sorted(map(int, REFERENCE[name])) == case().model.tree_.leaves.tolist()


@pytest.mark.parametrize(("name", "leaf"), LEAVES)
def test_survival_and_band(name, leaf):
    theirs, tree = read(name, leaf)
    (curve,) = (curve for curve in leaf_curves(tree, "kaplan-meier") if curve.leaf == leaf)
    lower, upper = confidence_band(tree, leaf, kind="kaplan-meier")
    times = theirs["time"]
    np.testing.assert_allclose(curve.survival(times), theirs["survival"], rtol=1e-9, atol=1e-12)
    assert lower.domain == upper.domain == (0, times[-1])
    # Also not a number where R says NA, and nowhere else.
    np.testing.assert_allclose(lower(times), theirs["lower"], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(upper(times), theirs["upper"], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("name", "leaf"), LEAVES)
def test_numbers_at_risk_also_where_the_leaf_has_no_event(name, leaf):
    theirs, tree = read(name, leaf)
    counts = tree.risk[tree.leaves.tolist().index(leaf)]
    found = counts.at_events(tree.baseline.times.size)
    shared = np.isin(tree.baseline.times, theirs["time"])
    there = np.isin(theirs["time"], tree.baseline.times)
    np.testing.assert_allclose(found.at_risk[shared], theirs["at_risk"][there], rtol=1e-12)
    np.testing.assert_allclose(found.deaths[shared], theirs["events"][there], rtol=1e-12)
    assert found.deaths[~shared].sum() == 0
    assert counts.last_time == theirs["time"][-1]


@pytest.mark.parametrize(("name", "leaf"), LEAVES)
def test_medians_and_their_limits(name, leaf):
    theirs, tree = read(name, leaf)
    (curve,) = (curve for curve in leaf_curves(tree, "kaplan-meier") if curve.leaf == leaf)
    ours = (curve.median, *median_limits(tree, leaf, "kaplan-meier"))
    levels = theirs["survival"], theirs["lower"], theirs["upper"]
    for field, found, level in zip(
        ("median", "median_lower", "median_upper"), ours, levels, strict=True
    ):
        (expected,) = theirs[field]
        if np.isnan(expected):
            assert not np.isfinite(found)
        elif np.isclose(level, 0.5, rtol=0, atol=1e-9).any():
            # Where a curve is at one half for a while, R says the middle of it.
            assert found <= expected
        else:
            assert found == expected


@pytest.mark.parametrize(("name", "leaf"), LEAVES)
def test_what_pictures_show_as_observed(name, leaf):
    theirs, tree = read(name, leaf)
    drawn = tree.outcome.together(tree.outcome.group(leaf))
    events = theirs["events"] > 0
    assert drawn.observed.times.tolist() == theirs["time"][events].tolist()
    values = (drawn.observed.values, *drawn.observed.band)
    for field, ours in zip(("survival", "lower", "upper"), values, strict=True):
        np.testing.assert_allclose(ours, theirs[field][events], rtol=1e-9, atol=1e-12)
    assert drawn.last_time == theirs["time"][-1]
    assert np.isin(drawn.censored, theirs["time"]).all()
    assert drawn.times[-1] <= drawn.last_time

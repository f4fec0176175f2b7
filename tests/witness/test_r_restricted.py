"""Restricted means, differences of survival and their errors are those of R's survival.

``tests/r/make_reference.py`` ran R, on the leaves and arms of the same trees, and wrote what is
read here.
"""

import gzip
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from surtree import arm_differences, restricted_means

FOLDER = Path(__file__).parents[1] / "r"
sys.path.insert(0, str(FOLDER))
from restricted_cases import RESTRICTED  # noqa: E402

REFERENCE = json.loads(gzip.decompress((FOLDER / "restricted.json.gz").read_bytes()))


def numbers(values):
    return np.array(values, dtype=float)


@pytest.mark.parametrize("name", REFERENCE["rows"])
def test_means_and_errors_are_those_of_survfit(name):
    rows, arm, horizon = RESTRICTED[name]
    ours = {
        f"{mean.leaf} {0 if arm is None else mean.channel}": mean
        for mean in restricted_means(rows.model, horizon)
        if mean.leaf
    }
    theirs = REFERENCE["rows"][name]
    assert theirs.keys() <= ours.keys()
    assert len(theirs) >= len(ours) / 2
    for key, expected in theirs.items():
        found = [ours[key].value, ours[key].standard_error]
        wanted = numbers([*expected["mean"], *expected["error"]])
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", REFERENCE["causes"])
def test_time_lost_to_causes_is_that_of_survfit(name):
    rows, _, horizon = RESTRICTED[name]
    theirs, n_compared = REFERENCE["causes"][name], 0
    ours = restricted_means(rows.model, horizon)
    for leaf, expected in theirs.items():
        lost = [mean for mean in ours if mean.leaf == int(leaf)]
        means, errors = numbers(expected["mean"]), numbers(expected["error"])
        np.testing.assert_allclose([one.value for one in lost], means, rtol=1e-10, atol=1e-12)
        found = [one.standard_error for one in lost]
        np.testing.assert_allclose(found, errors, rtol=1e-9, atol=1e-12)
        n_compared += len(lost)
    assert n_compared >= 2


@pytest.mark.parametrize("name", [name for name in REFERENCE["rows"] if name[:4] == "arms"])
def test_differences_of_arms_are_those_of_survfit(name):
    rows, _, horizon = RESTRICTED[name]
    theirs, n_compared = REFERENCE["rows"][name], 0
    for one in arm_differences(rows.model, horizon):
        pair = [theirs.get(f"{one.leaf} {label}") for label in (one.arm, one.reference)]
        if None in pair:
            continue
        n_compared += 1
        for gain, limits, field in (
            (one.mean, one.mean_limits, "mean"),
            (one.survival, one.survival_limits, "survival"),
        ):
            error = "error" if field == "mean" else "survival_error"
            there, here = (numbers(part[field])[0] for part in pair)
            width = 1.959963984540054 * np.hypot(*(numbers(part[error])[0] for part in pair))
            np.testing.assert_allclose(gain, there - here, rtol=1e-9, atol=1e-12)
            if np.isfinite(width):
                wanted = [gain - width, gain + width]
                np.testing.assert_allclose(limits, wanted, rtol=1e-9, atol=1e-10)
    assert n_compared >= 2

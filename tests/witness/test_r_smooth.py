"""Smooth calibration is that of R's survival and rms, and the AUC of causes that of riskRegression.

``tests/r/make_reference.py`` ran R and wrote the file that is read here.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from surtree.data.target import read_target
from surtree.metrics import cumulative_dynamic_auc, smooth_calibration

FOLDER = Path(__file__).parents[1] / "r"
sys.path.insert(0, str(FOLDER))
from smooth_cases import SMOOTH, smooth_case  # noqa: E402

REFERENCE = json.loads((FOLDER / "smooth.json").read_text())


def compared(name):
    rows = smooth_case(name)
    cause, horizon = None, float(rows["horizon"][0])
    y = rows["cause"].to_numpy(bool), rows["time"].to_numpy()
    predicted = 1 - rows["risk"].to_numpy()
    if rows["cause"].max() > 1:
        cause, y, predicted = 1, (rows["cause"].to_numpy(), y[1]), rows["risk"].to_numpy()
    elif rows["entry"].any():
        y = read_target(y, entry=rows["entry"].to_numpy())
    weight = rows["weight"].to_numpy()
    return y, predicted, horizon, {"cause": cause, "sample_weight": weight}


@pytest.mark.parametrize("name", SMOOTH)
def test_the_curve_and_its_distances_are_those_of_r(name):
    y, predicted, horizon, options = compared(name)
    ours, theirs = smooth_calibration(y, predicted, horizon, **options), REFERENCE[name]
    risk = ours.observed if options["cause"] else 1 - ours.observed
    np.testing.assert_allclose(risk, theirs["observed"], rtol=1e-7)
    for field in ("ici", "e50", "e90"):
        assert getattr(ours, field) == pytest.approx(theirs[field], rel=1e-6)


def test_the_curve_is_that_of_rms():
    y, predicted, horizon, _ = compared("gbsg2")
    ours = smooth_calibration(y, predicted, horizon)
    np.testing.assert_allclose(1 - ours.observed, REFERENCE["gbsg2"]["rms"], rtol=1e-3)


@pytest.mark.parametrize("name", ["causes", "tied_causes"])
def test_the_area_of_a_cause_is_that_of_risk_regression(name):
    y, risk, horizon, _ = compared(name)
    auc, _ = cumulative_dynamic_auc(y, y, risk, horizon, cause=1)
    assert auc[0] == pytest.approx(REFERENCE[name]["auc"], abs=1e-12)

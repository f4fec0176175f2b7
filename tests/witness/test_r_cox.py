"""Cox models in strata are those of R's survival, with ties after Breslow.

``tests/r/make_reference.py`` ran R and wrote the file that is read here.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from surtree.data.target import Target
from surtree.survival.cox import RiskSets, fit_cox

FOLDER = Path(__file__).parents[1] / "r"
sys.path.append(str(FOLDER))
from cox_cases import COX, cox_case  # noqa: E402

REFERENCE = json.loads((FOLDER / "cox.json").read_text())


def read(name):
    rows = {column: values.to_numpy() for column, values in cox_case(name).items()}
    entry = rows["entry"].astype(float) if rows["entry"].any() else None
    target = Target(rows["event"] == 1, rows["time"], entry)
    sets = RiskSets.of(target, rows["weight"].astype(float), rows["stratum"])
    return rows, target, sets


@pytest.mark.parametrize("name", COX)
def test_coefficients_errors_and_hazards_are_those_of_r(name):
    rows, target, sets = read(name)
    columns = np.stack([rows["arm"].astype(float), rows["x"]])
    fit = fit_cox(sets, target.event, columns, rows["offset"])
    expected = REFERENCE[name]
    np.testing.assert_allclose(fit.coefficients, expected["coefficients"], rtol=1e-8)
    np.testing.assert_allclose(fit.errors, expected["errors"], rtol=1e-6)
    risk = np.exp(fit.coefficients @ columns + rows["offset"])
    hazard = sets.hazard(risk) * risk
    np.testing.assert_allclose(hazard, expected["expected"], rtol=1e-7, atol=1e-12)


def test_an_arm_without_events_has_no_lower_limit():
    target = Target(np.array([True, True, False, False]), np.array([1.0, 2.0, 3.0, 3.0]))
    sets = RiskSets.of(target, np.ones(4), np.zeros(4, dtype=int))
    fit = fit_cox(sets, target.event, np.array([[0.0, 0.0, 1.0, 1.0]]), np.zeros(4))
    ((lower, upper),) = fit.limits()
    assert fit.ratios[0] < 1e-6
    assert lower == 0
    assert upper > 1e6


@pytest.mark.parametrize("name", ["plain", "all"])
def test_times_that_are_drawn_are_those_at_which_the_hazard_is_reached(name):
    rows, _, sets = read(name)
    steps = sets.deaths / sets.at_risk(np.ones(sets.weight.size))
    everyone = np.arange(sets.weight.size)
    nothing, all_of_it = (np.full(sets.weight.size, size) for size in (1e-12, 1e9))
    soon = sets.draw(steps, sets.first, everyone, nothing)
    assert np.isinf(sets.draw(steps, sets.first, everyone, all_of_it)).all()
    for row in np.flatnonzero(np.isfinite(soon))[:40]:
        own = (rows["event"] == 1) & (rows["stratum"] == rows["stratum"][row])
        assert soon[row] == rows["time"][own & (rows["time"] > rows["entry"][row])].min()
    # The whole hazard of a row with an event is reached at its time, or at the next one.
    struck = np.flatnonzero(rows["event"] == 1)
    reached = sets.draw(
        steps, sets.first[struck], struck, sets.exposure(steps)[struck] * (1 - 1e-9)
    )
    np.testing.assert_array_equal(reached, rows["time"][struck])

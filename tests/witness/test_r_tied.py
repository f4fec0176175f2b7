"""Metrics of rows with tied times are those of R's riskRegression and survival.

``tests/r/make_reference.py`` ran R and wrote the file that is read here.
"""

import json
import sys
from pathlib import Path

import pytest

from surtree.metrics import (
    brier_score,
    concordance_index_ipcw,
    cumulative_dynamic_auc,
)

FOLDER = Path(__file__).parents[1] / "r"
sys.path.insert(0, str(FOLDER))
from tied_cases import TIED, tied_case  # noqa: E402

REFERENCE = json.loads((FOLDER / "tied.json").read_text())


@pytest.mark.parametrize("name", TIED)
def test_an_event_is_weighed_by_those_who_are_not_censored_before(name):
    rows, expected = tied_case(name), REFERENCE[name]
    y = rows["event"].to_numpy(bool), rows["time"].to_numpy()
    times = [rows["first"][0], rows["second"][0]]
    survival = rows[["early", "late"]].to_numpy()
    risk = rows["risk"].to_numpy()
    assert brier_score(y, y, survival, times) == pytest.approx(expected["brier"], abs=1e-12)
    auc, _ = cumulative_dynamic_auc(y, y, 1 - survival, times)
    assert auc == pytest.approx(expected["auc"], abs=1e-12)
    causes = rows["cause"].to_numpy(), rows["time"].to_numpy()
    incidence = brier_score(causes, causes, (1 - survival) / 2, times, cause=1)
    assert incidence == pytest.approx(expected["incidence_brier"], abs=1e-12)
    # R counts events up to its last time, we those before tau.
    just_after = times[1] + 0.5
    assert concordance_index_ipcw(y, y, risk, tau=just_after).cindex == pytest.approx(
        expected["uno_tau"], abs=1e-12
    )
    # Of Rossi, four are arrested in the week in which all others are censored.
    assert concordance_index_ipcw(y, y, risk).cindex == pytest.approx(expected["uno"], abs=1e-12)

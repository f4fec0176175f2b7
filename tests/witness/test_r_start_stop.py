"""Concordance of (start, stop] rows and of weighted rows is that of R's survival.

``tests/r/make_reference.py`` ran R and wrote the file that is read here.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from surtree.data.target import Target
from surtree.metrics import concordance_index_censored, concordance_index_ipcw
from surtree.survival.follow_up import follow_up

FOLDER = Path(__file__).parents[1] / "r"
sys.path.insert(0, str(FOLDER))
from start_stop_cases import START_STOP, start_stop_case  # noqa: E402

REFERENCE = json.loads((FOLDER / "start_stop.json").read_text())


@pytest.mark.parametrize("name", START_STOP)
def test_an_event_is_compared_with_the_rows_that_are_at_risk_then(name):
    rows, expected = start_stop_case(name), REFERENCE[name]
    found = concordance_index_censored(
        rows["event"], rows["stop"], rows["risk"], sample_weight=rows["weight"], entry=rows["start"]
    )
    assert found.cindex == pytest.approx(expected["concordance"], abs=1e-12)
    for count in ("concordant", "discordant", "tied_risk"):
        assert getattr(found, count) == pytest.approx(expected[count], rel=1e-12)


@pytest.mark.parametrize("name", ["plain", "weighted"])
def test_weights_count_in_unos_index_and_in_follow_up(name):
    rows, expected = start_stop_case(name), REFERENCE[name]
    weight = rows["weight"].to_numpy()
    y = rows["event"].to_numpy(bool), rows["stop"].to_numpy()
    found = concordance_index_ipcw(y, y, rows["risk"], sample_weight=weight, train_weight=weight)
    assert found.cindex == pytest.approx(expected["uno"], abs=1e-12)
    quartiles = follow_up(Target(*y), weight)
    assert np.array(quartiles) == pytest.approx(np.array(expected["follow_up"], dtype=float))

"""The bootstrap finds the optimism that R's rms finds, for a model that both have: a fixed cut.

A stump on a column of 0 and 1 and a Cox model with that column rank rows in the same way. R ran in
``tests/r/make_reference.py``, which wrote the file that is read here.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from surtree import SurTree, validate

FOLDER = Path(__file__).parents[1] / "r"
sys.path.insert(0, str(FOLDER))
from optimism_cases import CASES, optimism_case  # noqa: E402

REFERENCE = json.loads((FOLDER / "optimism.json").read_text())
# Differences of more standard errors than this are none of chance.
MOST_ERRORS = 3.5


def optimism(result):
    """Return the apparent Dxy, its optimism, and the Monte Carlo error of that; Dxy is 2 C - 1."""
    place, all_rows = result.names.index("concordance"), result.repetitions
    lost = 2 * (all_rows.resampled - all_rows.original)[:, place]
    concordance = result["concordance"]
    assert 2 * concordance.optimism == pytest.approx(lost.mean())
    return 2 * concordance.apparent - 1, lost.mean(), lost.std(ddof=1) / np.sqrt(lost.size)


@pytest.mark.parametrize("name", CASES)
def test_optimism_of_a_fixed_cut_is_that_of_rms(name):
    table, theirs = optimism_case(name), REFERENCE[name]
    y = np.empty(len(table), dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = table["event"], table["time"]
    model = SurTree(max_depth=1)
    result = validate(model, table[["x"]], y, n_bootstraps=200, method="optimism")
    apparent, found, error = optimism(result)
    assert apparent == pytest.approx(theirs["apparent"], abs=1e-9)
    assert abs(found - theirs["optimism"]) < MOST_ERRORS * np.hypot(error, theirs["error"])


def test_the_comparison_could_fail():
    # Where sides are learnt wrongly, the optimism is many errors from none.
    for name in ("weak", "few rows"):
        assert REFERENCE[name]["optimism"] > 20 * REFERENCE[name]["error"]

"""Cumulative incidence is that of R's ``survfit`` and ``cuminc``, the loss that of R's ``glm``.

``tests/r/make_reference.py`` ran R, on the leaves of the same trees, and wrote what is read here.
"""

import gzip
import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from surtree import leaf_incidence, leaf_incidence_band
from surtree.data.causes import read_cause_target

FOLDER = Path(__file__).parents[1] / "r"
sys.path.insert(0, str(FOLDER))
from cause_cases import CAUSE_CASES  # noqa: E402

REFERENCE = json.loads(gzip.decompress((FOLDER / "incidence.json.gz").read_bytes()))
LEAVES = [(name, int(leaf)) for name, found in REFERENCE.items() for leaf in found["leaves"]]
# Elsewhere R has the infinitesimal jackknife, where weights are not repeated rows, and rows that
# enter late are not those of a multinomial distribution.
PLAIN = [(name, leaf) for name, leaf in LEAVES if name not in ("weighted", "late_entry")]


def read(name, leaf):
    """Return what R says of a leaf, with nan for NA, and our tree."""
    found = REFERENCE[name]["leaves"][str(leaf)]
    theirs = {field: np.array(values, dtype=np.float64) for field, values in found.items()}
    return theirs, CAUSE_CASES[name]().model.tree_


def incidence(tree, leaf, cause):
    return leaf_incidence(tree, cause, "kaplan-meier")[tree.leaves.tolist().index(leaf)]


def test_the_reference_is_of_these_leaves():
    assert len(CAUSE_CASES) == 10
    assert REFERENCE.keys() == CAUSE_CASES.keys()
    for name, case in CAUSE_CASES.items():
        assert sorted(map(int, REFERENCE[name]["leaves"])) == case().model.tree_.leaves.tolist()
        assert tuple(REFERENCE[name]["causes"]) == case().model.causes_


@pytest.mark.parametrize(("name", "leaf"), LEAVES)
def test_incidence_is_that_of_survfit(name, leaf):
    theirs, tree = read(name, leaf)
    for place, cause in enumerate(tree.objective.causes):
        ours = incidence(tree, leaf, cause)(theirs["time"])
        np.testing.assert_allclose(ours, theirs["incidence"][:, place], rtol=0, atol=1e-10)


@pytest.mark.parametrize(("name", "leaf"), LEAVES)
def test_incidence_is_that_of_cmprsk(name, leaf):
    theirs, tree = read(name, leaf)
    if "cmprsk" not in theirs:
        assert name in ("late_entry", "weighted") or tree.n_events[leaf] == 0
        return
    causes = np.atleast_1d(theirs["cmprsk_cause"])
    for cause, expected in zip(causes, theirs["cmprsk"], strict=True):
        ours = incidence(tree, leaf, int(cause))(theirs["time"])
        known = ~np.isnan(expected)  # it ends with the last event
        assert known.any()
        np.testing.assert_allclose(ours[known], expected[known], rtol=0, atol=1e-10)


@pytest.mark.parametrize(("name", "leaf"), PLAIN)
def test_the_band_is_that_of_survfit(name, leaf):
    theirs, tree = read(name, leaf)
    for place, cause in enumerate(tree.objective.causes):
        lower, upper = leaf_incidence_band(tree, leaf, cause, kind="kaplan-meier")
        inside = (theirs["incidence"][:, place] > 0) & (theirs["incidence"][:, place] < 1)
        times = theirs["time"][inside]
        np.testing.assert_allclose(lower(times), theirs["lower"][inside, place], atol=1e-10)
        np.testing.assert_allclose(upper(times), theirs["upper"][inside, place], atol=1e-10)


@pytest.mark.parametrize("name", CAUSE_CASES)
def test_the_loss_is_that_of_a_poisson_model(name):
    """The deviance of leaves and causes, less what is the same for every tree."""
    case = CAUSE_CASES[name]()
    tree = case.model.tree_
    objective = tree.objective
    target = read_cause_target(case.y, len(case.y), case.entry)
    weight = np.ones(len(case.y)) if case.weight is None else case.weight
    leaf = np.searchsorted(tree.leaves, case.model.apply(case.X))
    loss = 0.0
    for cause in objective.causes:  # a tree cannot tell more than four of them apart
        alone = replace(
            objective, weights=tuple(float(one == cause) for one in objective.causes), shrinkage=0.0
        )
        loss += alone.row_sums(target, weight, tree.baseline).partition_loss(leaf)
    expected = -REFERENCE[name]["log_likelihood"] - weight[target.event].sum()
    assert loss == pytest.approx(expected, rel=1e-9, abs=1e-7)
    if set(objective.weights) == {1.0}:
        assert case.model.loss_ == pytest.approx(expected, rel=1e-9, abs=1e-7)

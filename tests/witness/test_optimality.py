"""Everything that the solver returns is compared with the slow, obvious reference solver."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from problems import Case, cases, expected_losses, leaf_loss, row_hazard
from rules import leaf_by_rules
from surtree import SurTree

RELATIVE = 1e-9


def fit(case: Case, **parameters: object) -> SurTree:
    return SurTree(**case.limits | parameters).fit(
        case.X, case.y, sample_weight=case.weight, entry=case.entry
    )


@settings(max_examples=1200, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases())
def test_every_size_has_the_loss_of_the_reference(case: Case):
    model = fit(case)
    holds = model.encoder_.transform(case.X).astype(bool)
    expected = expected_losses(case, holds)
    losses = [size.loss for size in model.path_]
    # Where there are fewer distinct rows than splits, the path ends early: more bring nothing.
    losses += losses[-1:] * (len(expected) - len(losses))
    scale = max(1.0, np.abs(expected).max(), case.y["event"].sum())
    np.testing.assert_allclose(losses, expected, rtol=0, atol=RELATIVE * scale)
    assert model.status_ == "optimal"
    assert model.gap_ == 0


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases(max_rows=24, max_columns=4))
def test_rules_on_the_table_give_the_reported_loss(case: Case):
    model = fit(case)
    weight = np.ones(len(case.y)) if case.weight is None else case.weight
    hazard = row_hazard(case.y, weight, case.entry)
    for size in model.path_:
        leaf = leaf_by_rules(size.tree, case.X)
        loss = leaf_loss(case.y, weight, hazard, leaf, case.limits.get("shrinkage", 0.0))
        assert loss == pytest.approx(size.loss, rel=RELATIVE, abs=RELATIVE * weight.sum())
        assert size.tree.n_splits <= size.splits
        assert size.tree.depth <= case.limits["max_depth"]
        if size.tree.n_splits:
            for number in np.unique(leaf):
                rows = leaf == number
                assert rows.sum() >= case.limits.get("min_samples_leaf", 1)
                assert case.y["event"][rows].sum() >= case.limits.get("min_events_leaf", 0)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases(max_rows=24, max_columns=4))
def test_threads_change_nothing(case: Case):
    one, two = fit(case), fit(case, n_jobs=2)
    assert one.loss_ == two.loss_
    assert one.tree_ == two.tree_

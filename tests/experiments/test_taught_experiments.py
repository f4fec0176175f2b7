"""The experiments on averages: their tables, a Cox model in each leaf, draws, and what is ahead."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from experiments import column_probability, cox_leaves, survset, taught, taught_page
from experiments.__main__ import main
from experiments.cox_leaf_tree import PRECISIONS, evidence, fit_cox_leaves
from experiments.cox_leaves import LeafCase
from experiments.forecast import CURVES, brier_column
from experiments.tables import REAL_TABLES
from experiments.taught_methods import ENSEMBLES, LATER
from experiments.tree_posterior import LIMITS, PRIOR, frame, leaves_of, problem_of, target
from surtree import SurTreeBayes


def rows_with_slopes(n=120):
    """Rows whose slope on one column turns with the sign of another."""
    rng = np.random.default_rng(8)
    z = np.column_stack([np.ones(n), rng.normal(size=(n, 2))])
    answers = z[:, [1, 2, 2]] > np.array([0.2, 0.0, 0.5])
    mu = rng.uniform(0.3, 1.0, n)
    events = rng.poisson(mu * np.exp(np.where(answers[:, 1], 1.0, -1.0) * z[:, 1])).clip(max=1)
    return answers, z, events.astype(float), mu


def leaf_evidence(z, events, mu, precision):
    gradient, curvature = (events - mu) @ z, (z.T * mu) @ z
    inverse = np.linalg.inv(curvature + precision * np.eye(z.shape[1]))
    log_det = np.linalg.slogdet(np.eye(z.shape[1]) + curvature / precision)[1]
    return gradient @ inverse @ gradient / 2 - log_det / 2


def test_evidence_of_a_leaf_is_that_of_its_formula():
    _, z, events, mu = rows_with_slopes()
    i, j = np.triu_indices(3)
    sums = np.column_stack(
        [np.ones(len(z)), (events - mu)[:, None] * z, mu[:, None] * z[:, i] * z[:, j]]
    )
    stacked = np.stack([sums.sum(axis=0), sums[:50].sum(axis=0)])
    expected = [leaf_evidence(z, events, mu, 3.0), leaf_evidence(z[:50], events[:50], mu[:50], 3.0)]
    np.testing.assert_allclose(evidence(stacked, 3.0), expected, rtol=1e-9)


@pytest.mark.parametrize("max_depth", [0, 1, 2])
def test_tree_of_cox_models_is_the_best_of_all(max_depth):
    answers, z, events, mu = rows_with_slopes()
    price, ends = np.log(0.5) - np.log(answers.shape[1]), np.log(0.5)

    def best(rows, depth, precision):
        """Return the largest evidence of all trees over some rows, and the cuts of the tree."""
        leaf = leaf_evidence(z[rows], events[rows], mu[rows], precision)
        found = (leaf + (ends if depth else 0.0), ())
        for cut in range(answers.shape[1]) if depth else ():
            sides = [rows & (answers[:, cut] == side) for side in (False, True)]
            if min(side.sum() for side in sides) < 10:
                continue
            below = [best(side, depth - 1, precision) for side in sides]
            worth = price + sum(one for one, _ in below)
            if worth > found[0]:
                found = (worth, (cut, *(cuts for _, cuts in below)))
        return found

    everyone = np.ones(len(z), dtype=bool)
    _, cuts = max(best(everyone, max_depth, precision) for precision in PRECISIONS)
    found = fit_cox_leaves(answers, z, events, mu, np.zeros(len(z)), max_depth)

    def shape(node):
        return () if node.cut < 0 else (node.cut, *(shape(side) for side in node.sides))

    assert shape(found) == cuts
    if max_depth == 1:
        assert cuts[0] == 1
    # Refitted slopes are the top of the posterior: a step away from them is worse.
    if max_depth == 0:
        top = found.slopes
        precision = max((best(everyone, 0, p)[0], p) for p in PRECISIONS)[1]
        gradient = (events - mu * np.exp(z @ top)) @ z - precision * top
        np.testing.assert_allclose(gradient, 0.0, atol=1e-4)


def test_slopes_that_differ_by_group_are_what_leaves_are_for():
    found = {
        method: cox_leaves.measure(LeafCase("design", "slopes", 200, 0, method))
        for method in ("cox leaves, depth 1", "cox, clipped")
    }
    assert found["cox leaves, depth 1"]["c"] > found["cox, clipped"]["c"] + 0.05
    assert found["cox leaves, depth 1"]["splits"] == 1


def test_tables_are_those_of_the_rule():
    for name in ("Melanoma", "mgus", "retinopathy", "dataOvarian1", "acath"):
        why = survset.reason(name)
        assert bool(why) == (name not in survset.OTHER_TABLES)
        assert survset.UNUSED.get(name, "") == (why if name not in REAL_TABLES else "")
    assert len(survset.OTHER_TABLES) == 35
    assert len({*survset.OTHER_TABLES, *survset.UNUSED, *REAL_TABLES}) == 76


def test_later_methods_have_few_draws():
    shown = taught.cases(False)
    for methods, most in ((ENSEMBLES, 2), (LATER, 2)):
        own = [case for case in shown if case.kind == "real" and case.method in methods]
        assert {case.draw for case in own} == set(range(most))
    assert not any(case.method in ENSEMBLES for case in shown if case.kind != "real")


def test_trees_without_data_are_drawn_from_the_prior():
    rng = np.random.default_rng(3)
    X = frame(rng.normal(size=(80, 2)))
    problem = problem_of(X, target(np.ones(80), np.arange(1.0, 81)))
    zero = column_probability._zero(problem)
    draws = zero.draw(LIMITS, PRIOR, n_draws=4000, seed=0)
    no_question = np.mean([tree.cut[0] < 0 for tree in draws.topologies])
    assert no_question == pytest.approx(1 - PRIOR.split, abs=0.03)
    binned = problem.binned
    for tree in draws.topologies[:20]:
        ours = leaves_of(tree, binned, binned.bins)
        assert len(np.unique(ours)) == len(np.unique(zero.find_leaves(tree)))
    model = SurTreeBayes(n_stages=1).fit(X, target(rng.random(80) < 0.5, rng.exponential(size=80)))
    assert model.column_probability_.shape == (2,)


def test_leaves_of_a_tree_are_those_of_the_core():
    rng = np.random.default_rng(4)
    X = frame(rng.normal(size=(60, 3)))
    problem = problem_of(X, target(np.ones(60), rng.exponential(size=60)))
    for tree in problem.core.draw(LIMITS, PRIOR, n_draws=50, seed=1).topologies:
        ours = leaves_of(tree, problem.binned, problem.binned.bins)
        np.testing.assert_array_equal(ours, problem.core.find_leaves(tree))


def test_page_compares_draws_that_both_methods_have():
    rows = []
    for table, draw, method in product(range(9), range(3), ("taught", "bag")):
        value = 0.6 + 0.01 * table + (0.02 + 0.001 * table) * (method == "taught")
        if (method, draw) == ("bag", 2):
            continue
        value -= 0.5 * (draw == 2)  # a draw that the bag has not
        rows.append(
            {"kind": "real", "table": f"t{table}", "rows": 100, "draw": draw, "depth": 3}
            | {"method": method, "c": value, "loss": np.nan}
            | {brier_column(curve): value for curve in CURVES}
        )
    shown = taught_page.with_own_curves(pd.DataFrame(rows))
    found = taught_page.tests(shown, [("taught", "bag"), ("taught", "cox")])
    # No loss, and no Cox.
    assert [line["measure"] for line in found] == ["c", "ib"]
    assert found[0][taught_page.BETTER] == "9 of 9"
    assert taught_page.is_ahead(found[0])


def test_whole_tables_are_compared_fold_by_fold(tmp_path):
    common = ["--quick", "--results", str(tmp_path)]
    only = ["--only", "method=taught,ctree", "--only"]
    main(["run", "taught", *only, "kind=full", *common])
    main(["run", "real-d3", *only, "table=acath", *common])
    main(["report", "taught-whole", *common])
    text = (tmp_path / "taught-whole.md").read_text()
    # Quick trees of the two have different depths, which the page does not mind.
    assert "| taught | ctree | c |" in text
    main(["report", "taught-whole", "--quick", "--results", str(tmp_path / "none")])

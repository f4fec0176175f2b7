"""The experiments on many trees: what a teacher's events do, and what the pages count."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from experiments import ensembles, ensembles_page, teacher, teacher_page
from experiments.ensembles import EnsembleCase
from experiments.real import RealCase, cut_fold
from experiments.teacher import TeacherCase, teacher_risk
from experiments.teacher_objective import taught
from surtree import SurTree, SurTreeBayes, SurTreeCV
from surtree.cuts.encoder import encoder_of
from surtree.data.named import RowInputs
from surtree.datasets import load_gbsg2
from surtree.estimators.parameters import check_parameters
from surtree.fitting.fit_problem import make_problem
from surtree.fitting.size_path import find_path
from surtree.fitting.training import read_training_data
from surtree.solver.search import SearchSettings

X, Y = load_gbsg2(backend="pandas")
CSL = TeacherCase("csl", 17, 0, 3, 0.0, 0.75, trees=5)


@pytest.fixture(scope="module")
def problem():
    model = SurTree(2)
    return make_problem(encoder_of(model), read_training_data(model, RowInputs(X, Y)))


def trees(problem):
    """Return what a search finds, and what a leaf of it says with the rows' own events."""
    found = find_path(problem, SearchSettings(check_parameters(SurTree(2))))
    return found, [size.tree for size in found.sizes]


def test_a_teacher_who_hardly_counts_changes_nothing(problem):
    risk = np.random.default_rng(0).uniform(0.1, 9, len(Y))
    plain, same = (trees(one)[0] for one in (problem, taught(problem, risk, 1e-9)))
    for one, other in zip(plain.topologies, same.topologies, strict=True):
        assert one.cut.tolist() == other.cut.tolist()
    much = trees(taught(problem, risk, 1.0))[0]
    assert much.topologies[-1].cut.tolist() != plain.topologies[-1].cut.tolist()


def test_a_teacher_who_is_a_tree_is_found_again(problem):
    model = SurTree(2).fit(X, Y)
    learnt = taught(problem, model.predict(X), 1.0)
    _, found = trees(learnt)
    best = found[-1]
    np.testing.assert_allclose(best.theta[best.apply(X)], model.predict(X), rtol=1e-9)
    # Nothing is lost: in every leaf all rows have the same expected risk.
    assert best.total_loss == pytest.approx(0.0, abs=1e-9)


def test_a_teacher_who_knows_nothing_teaches_no_question(problem):
    found, _ = trees(taught(problem, np.ones(len(Y)), 1.0))
    assert found.sizes[-1].tree.n_splits == 0


def test_leaves_have_the_events_of_rows_whatever_the_teacher_says():
    outer = cut_fold(RealCase("csl", "clean", 3, 0, "surtree", 17))
    model = SurTree(3, 7)
    problem = make_problem(
        encoder_of(model), read_training_data(model, RowInputs(outer.X_train, outer.y_train))
    )
    risk = teacher_risk("csl", 17, 0, 5)
    assert np.isfinite(risk).all()
    found = find_path(taught(problem, risk, 0.75), SearchSettings(check_parameters(model)))
    tree = problem.build(found.topologies)[3].tree
    assert tree.n_splits == 3
    assert tree.events[0] == outer.y_train["event"].sum()
    row = teacher.measure(CSL)
    assert row["training_3"] == tree.total_loss / len(outer.y_train)
    # On training rows nothing is better than the optimum.
    plain = teacher.measure(replace(CSL, share=0.0))
    optimum = SurTree(3, 3).fit(outer.X_train, outer.y_train)
    assert plain["training_3"] == pytest.approx(optimum.loss_ / len(outer.y_train))
    assert row["training_3"] > plain["training_3"]


def test_scores_of_ours_are_those_of_the_models():
    case = EnsembleCase("csl", 0, "average", 5)
    outer = cut_fold(RealCase("csl", "clean", 4, 0, "surtree", 17))
    for method, model in (("average", SurTreeBayes()), ("tuned tree", SurTreeCV(max_depth=4))):
        found = ensembles.measure(replace(case, method=method))
        model.fit(outer.X_train, outer.y_train)
        loss = model.loss(outer.X_test, outer.y_test) / len(outer.y_test)
        assert found["loss"] == pytest.approx(loss)
        assert found["c"] == pytest.approx(model.score(outer.X_test, outer.y_test), abs=1e-3)


def test_others_have_few_rows_of_large_tables(monkeypatch):
    pytest.importorskip("sksurv")
    monkeypatch.setattr(ensembles, "MOST_ROWS", 300)
    found = ensembles.measure(EnsembleCase("csl", 0, "random survival forest", 5))
    assert (found["rows"], found["status"]) == (300, "done")
    assert np.isnan(found["loss"])


def test_pages_count_tables_on_which_a_method_is_ahead():
    rows = pd.DataFrame(
        [
            {"table": f"t{table}", "fold": fold, "method": method, "loss": loss, "share": share}
            for table in range(4)
            for fold in range(2)
            for method, share, loss in (
                ("tuned tree", 0.0, 1.0),
                ("bag", 0.75, 1.0 + (0.1 if table == 3 else -0.2) + (1 if fold else -1)),
            )
        ]
    )
    bag = ensembles_page.compare(rows, "loss", "bag", "tuned tree")
    assert (bag["tables"], bag["better"]) == (4, 3)
    assert bag["mean difference"] == pytest.approx(-0.125)
    rows["loss_3"], rows["c_3"] = rows["loss"], rows["loss"]
    loss = teacher_page.compare(rows, "loss_3", 0.75)
    assert (loss["better"], loss["worse"]) == (3, 1)
    concordance = teacher_page.compare(rows, "c_3", 0.75)
    assert (concordance["better"], concordance["worse"]) == (1, 3)

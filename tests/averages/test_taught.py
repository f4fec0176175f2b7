"""Trees taught by a model: the nearest of each size, proven."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import surtree
from surtree import PointsTable, SurTree, SurTreeBayes, SurTreeCV, TaughtTree
from surtree.data.named import RowInputs
from surtree.datasets import load_gbsg2
from surtree.export import export_methods
from surtree.fitting.size_path import find_path
from surtree.fitting.training import FitProblem, make_problem, read_training_data
from surtree.solver.problem import Limits
from surtree.solver.search import SearchSettings
from surtree.survival.taught import TaughtRisk


@pytest.fixture(scope="module")
def gbsg2():
    return load_gbsg2()


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_teacher_that_is_a_tree_is_found_again(gbsg2, depth):
    X, y = gbsg2
    teacher = SurTree(depth).fit(X, y)
    taught = TaughtTree(depth, teacher=teacher, prior_events=1000).fit(X, y)
    assert taught.loss_ == pytest.approx(0.0, abs=1e-9)
    assert taught.explained_[-1] == pytest.approx(1.0)
    same = {(a, b) for a, b in zip(teacher.apply(X), taught.apply(X), strict=True)}
    assert len(same) == teacher.get_n_leaves()  # one leaf of the one is one of the other
    np.testing.assert_allclose(taught.predict(X), teacher.predict(X), rtol=0.05)


def test_rows_that_teach_themselves_give_the_plain_optimum_to_the_last_bit(gbsg2):
    X, y = gbsg2
    plain = SurTree(3).fit(X, y)
    model = SurTree(3)
    data = read_training_data(model, RowInputs(X, y))
    problem = make_problem(surtree.Encoder(category_cuts="subsets"), data)
    values = np.concatenate([data.sums.values, data.sums.values[:1]])
    sums = replace(data.sums, objective=TaughtRisk(0.0), values=values)
    path = find_path(
        FitProblem(replace(data, sums=sums), problem.encoder, problem.binned),
        SearchSettings(Limits(3)),
    )
    assert [size.loss for size in path.sizes] == [size.loss for size in plain.path_]
    for mine, its in zip(path.sizes, plain.path_, strict=True):
        np.testing.assert_array_equal(mine.tree.theta, its.tree.theta)


def test_leaves_are_filled_by_their_rows_and_by_the_teacher(gbsg2):
    X, y = gbsg2
    model = TaughtTree(2, prior_events=7.0).fit(X, y)
    tree, leaf = model.tree_, model.apply(X)
    risk = model.teacher_.predict(X)
    hazard = np.maximum(tree.baseline.at(y["time"]), tree.baseline.floor)
    risk *= y["event"].sum() / (risk * hazard).sum()
    for node in tree.leaves:
        rows = leaf == node
        events, expected = y["event"][rows].sum(), hazard[rows].sum()
        teacher = (risk * hazard)[rows].sum() / expected
        assert tree.theta[node] == pytest.approx((events + 7 * teacher) / (expected + 7))
    assert model.training_loss_ == pytest.approx(model.loss(X, y))


def test_a_larger_tree_explains_more_of_the_teacher(gbsg2):
    X, y = gbsg2
    explained = TaughtTree(3).fit(X, y).explained_
    assert explained[0] == 0
    assert (np.diff(explained) >= 0).all()
    assert explained[-1] > 0.9


def test_no_tree_is_nearer_to_the_teacher_than_the_one_that_is_found(gbsg2):
    X, y = gbsg2
    taught = TaughtTree(2).fit(X, y)
    assert taught.status_ == "optimal"
    hazard = np.maximum(taught.tree_.baseline.at(y["time"]), taught.tree_.baseline.floor)
    risk = taught.teacher_.predict(X)
    events = risk * hazard * (y["event"].sum() / (risk * hazard).sum())

    def distance(leaves):
        total = (events * np.log(events / hazard)).sum()
        for leaf in np.unique(leaves):
            e, h = events[leaves == leaf].sum(), hazard[leaves == leaf].sum()
            total -= e * np.log(e / h)
        return total

    assert distance(taught.apply(X)) == pytest.approx(taught.loss_, rel=1e-9)
    for seed in range(20):
        rows = np.random.default_rng(seed).integers(0, len(X), size=len(X))
        other = SurTree(2).fit(X.iloc[rows], y[rows])
        assert distance(other.apply(X)) >= taught.loss_ - 1e-9


def test_an_array_of_risks_teaches_on_any_scale(gbsg2):
    X, y = gbsg2
    risk = SurTreeBayes(1, 4).fit(X, y).predict(X)
    one = TaughtTree(2, teacher=risk).fit(X, y)
    other = TaughtTree(2, teacher=1000 * risk).fit(X, y)
    np.testing.assert_allclose(one.predict(X), other.predict(X), rtol=1e-9)
    assert one.teacher_ is None


def test_a_model_of_another_library_teaches_by_the_hazard_that_it_predicts(gbsg2):
    X, y = gbsg2

    class Forest:
        """As one of scikit-survival: predicts something that is no risk, and curves."""

        def __init__(self, model):
            self.model = model

        def predict(self, X):
            return np.log(self.model.predict(X))

        def predict_cumulative_hazard_function(self, X):
            return self.model.predict_cumulative_hazard_function(X)

    teacher = SurTreeBayes(1, 4).fit(X, y)
    of_risks = TaughtTree(2, teacher=teacher).fit(X, y)
    of_curves = TaughtTree(2, teacher=Forest(teacher)).fit(X, y)
    np.testing.assert_array_equal(of_risks.apply(X), of_curves.apply(X))


@pytest.mark.parametrize("kind", ["cox", "forest"])
def test_models_of_scikit_survival_teach(gbsg2, kind):
    X, y = gbsg2
    X = X.select_dtypes("number").to_numpy(dtype=float)
    if kind == "cox":
        teacher = pytest.importorskip("sksurv.linear_model").CoxPHSurvivalAnalysis()
    else:
        ensemble = pytest.importorskip("sksurv.ensemble")
        teacher = ensemble.RandomSurvivalForest(20, min_samples_leaf=15, random_state=0)
    model = TaughtTree(2, teacher=teacher).fit(X, y)
    assert not hasattr(teacher, "unique_times_")  # a copy is fitted
    assert model.explained_[-1] > 0.4
    # Leaves of a higher theta are those to which the teacher gives higher risks.
    score, leaf = model.teacher_.predict(X), model.apply(X)
    of_leaf = [score[leaf == node].mean() for node in model.tree_.leaves]
    theta = model.tree_.theta[model.tree_.leaves]
    np.testing.assert_array_equal(np.argsort(of_leaf), np.argsort(theta))
    fitted = TaughtTree(2, teacher=teacher.fit(X, y)).fit(X, y)
    np.testing.assert_array_equal(fitted.predict(X), model.predict(X))
    if kind == "cox":  # whose hazards are proportional: its risks teach the same
        of_risks = TaughtTree(2, teacher=np.exp(score)).fit(X, y)
        np.testing.assert_array_equal(of_risks.apply(X), leaf)


@pytest.mark.parametrize("model", [SurTreeBayes(1, 1), TaughtTree(1), PointsTable(1)], ids=repr)
def test_causes_and_arms_are_refused_with_what_to_use(gbsg2, model):
    X, y = gbsg2
    cause = np.where(y["event"], 1 + np.arange(len(X)) % 2, 0)
    with pytest.raises(ValueError, match=r"holds 0, 1, 2.*CompetingRisksTree takes all of them"):
        model.fit(X, (cause, y["time"]))
    with pytest.raises(TypeError, match=rf"{type(model).__name__}.*treatment"):
        model.fit(X, y, treatment=cause)
    assert "`EffectTree`" in type(model).__doc__


@pytest.mark.parametrize(
    ("risk", "words"),
    [
        (np.nan, "1 of 686 are missing, the first in row 5"),
        (np.inf, "infinite"),
        (-1.0, "negative"),
        (0.0, "zero"),
    ],
)
def test_a_teacher_with_impossible_risks_is_refused(gbsg2, risk, words):
    X, y = gbsg2
    risks = np.ones(len(X))
    risks[5] = risk
    with pytest.raises(ValueError, match=words):
        TaughtTree(2, teacher=risks).fit(X, y)


def test_a_teacher_of_another_length_or_of_other_columns_is_refused(gbsg2):
    X, y = gbsg2
    with pytest.raises(ValueError, match=r"\(3,\) for 686 rows"):
        TaughtTree(2, teacher=np.ones(3)).fit(X, y)
    with pytest.raises(ValueError, match="SurTree, cannot predict these rows"):
        TaughtTree(2, teacher=SurTree(1).fit(X[["age", "menopause"]], y)).fit(X, y)
    with pytest.raises(ValueError, match="teacher must be"):
        TaughtTree(2, teacher=["a", "forest"]).fit(X, y)
    with pytest.raises(ValueError, match="_ByName, cannot predict these rows: 'biomarker'"):
        TaughtTree(2, teacher=_ByName()).fit(X, y)
    with pytest.raises(ValueError, match="the class SurTree: pass an object"):
        TaughtTree(2, teacher=SurTree).fit(X, y)


class _ByName:
    """A fitted teacher of a library that asks a table for its columns by name."""

    def predict(self, X):
        raise KeyError("biomarker")


def test_a_time_limit_ends_the_teacher_too_and_is_named(gbsg2):
    X, y = gbsg2
    with pytest.warns(ConvergenceWarning, match="after 1 stage of 16; the last one changed"):
        model = TaughtTree(2, time_limit=1e-9).fit(X, y)
    assert model.teacher_.n_stages_ == 1
    assert "ended by the time limit" in export_methods(model)


def test_a_teacher_that_is_not_fitted_is_fitted_as_a_copy_on_the_same_rows(gbsg2):
    X, y = gbsg2
    teacher = SurTreeBayes(1, 2)
    model = TaughtTree(2, teacher=teacher).fit(X, y)
    assert not hasattr(teacher, "stages_")
    fitted = TaughtTree(2, teacher=SurTreeBayes(1, 2).fit(X, y)).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), fitted.predict(X))
    weight = np.where(np.arange(len(X)) < 100, 2.0, 1.0)
    heavy = TaughtTree(2, teacher=_Unweighted()).fit(X, y, sample_weight=weight)
    assert heavy.teacher_.n_rows == len(X) + 100
    with pytest.raises(ValueError, match="_Unweighted, takes no sample_weight"):
        TaughtTree(2, teacher=_Unweighted()).fit(X, y, sample_weight=weight / 4)
    with pytest.raises(ValueError, match="_Unweighted, takes no entry"):
        TaughtTree(2, teacher=_Unweighted()).fit(X, y, entry=np.zeros(len(X)))


class _Unweighted(BaseEstimator):
    """A teacher of another library, which takes no weights."""

    def fit(self, X, y):
        self.n_rows = len(X)
        self.model = SurTreeBayes(1, 2).fit(X, y)
        return self

    def predict(self, X):
        if not hasattr(self, "model"):
            raise NotFittedError("not fitted")
        return self.model.predict(X)


def test_a_saved_tree_predicts_the_same_and_knows_the_name_of_its_teacher(tmp_path, gbsg2):
    X, y = gbsg2
    model = TaughtTree(2, teacher=SurTreeBayes(1, 2).fit(X, y)).fit(X, y)
    model.save(tmp_path / "model.json")
    again = surtree.load(tmp_path / "model.json")
    assert isinstance(again, TaughtTree)
    assert (again.teacher, again.status_) == ("SurTreeBayes", "optimal")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    with pytest.raises(ValueError, match="files do not keep it"):
        again.fit(X, y)
    with pytest.raises(ValueError, match=r"TaughtTree\.load"):
        SurTree.load(tmp_path / "model.json")


def test_questions_of_a_taught_tree_have_no_price(gbsg2):
    X, y = gbsg2
    model = TaughtTree(1).fit(X, y)
    with pytest.raises(TypeError, match="follows its teacher"):
        surtree.force_questions(model, X, y, first="age")


def test_report_methods_and_verify_speak_of_the_teacher(tmp_path, gbsg2):
    X, y = gbsg2
    model = TaughtTree(2).fit(X, y)
    surtree.write_report(model, tmp_path / "tree.html")
    page = (tmp_path / "tree.html").read_text()
    assert "none is nearer to its teacher on these rows" in page
    assert "The loss is the distance to the teacher" in page
    assert "median follow-up" in page
    methods = export_methods(model)
    assert "half of the Poisson deviance to the risks of a teacher" in methods
    assert "none is nearer to its teacher" in methods
    with pytest.raises(ValueError, match="nearest to its teacher"):
        surtree.verify(model, X, y)


def test_rows_of_weight_zero_teach_nothing(gbsg2):
    X, y = gbsg2
    weight = np.ones(len(X))
    weight[:100] = 0
    risks = SurTreeBayes(1, 2).fit(X, y).predict(X)
    risks[:100] = np.nan  # nobody asks them
    all_rows = TaughtTree(2, teacher=risks).fit(X, y, sample_weight=weight)
    fewer = TaughtTree(2, teacher=risks[100:]).fit(X.iloc[100:], y[100:])
    np.testing.assert_array_equal(all_rows.predict(X), fewer.predict(X))


def test_it_predicts_new_rows_better_than_the_tuned_tree(gbsg2):
    X, y = gbsg2
    order = [np.random.default_rng(seed).permutation(len(X)) for seed in range(4)]
    scores = np.array(
        [
            [
                model.fit(X.iloc[rows[:200]], y[rows[:200]]).loss(X.iloc[rows[200:]], y[rows[200:]])
                for model in (TaughtTree(), SurTreeCV(3, cv=5))
            ]
            for rows in order
        ]
    )
    assert scores[:, 0].mean() < scores[:, 1].mean()

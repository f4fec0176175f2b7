"""Models on the same folds: paired differences, in files and on pages."""

import numpy as np
import pytest

import surtree
from surtree import PointsTable, SurTree, TaughtTree, compare, usual_models, write_report
from surtree.datasets import load_gbsg2
from surtree.metrics import concordance_index_censored
from surtree.validation.held_out import error_of_mean


@pytest.fixture(scope="module")
def table():
    X, y = load_gbsg2(backend="pandas")
    return X.head(300), y[:300]


@pytest.fixture(scope="module")
def result(table):
    models = {"tree": SurTree(2), "card": PointsTable(n_stages=4), "leaf": SurTree(0)}
    return compare(models, *table, n_folds=4)


def test_all_models_have_the_same_folds_whoever_is_compared(table, result):
    alone = compare({"card": PointsTable(n_stages=4)}, *table, n_folds=4)
    np.testing.assert_array_equal(alone.held_out[0], result.held_out[1])
    twice = compare({"a": SurTree(1), "b": SurTree(1)}, *table, n_folds=3, n_jobs=2)
    assert twice.difference("b") == (0.0, 0.0)
    assert twice.difference("b", "loss") == (0.0, 0.0)


def test_a_fold_is_judged_by_the_model_of_the_others(table, result):
    X, y = table
    seen = []

    class Recorder(SurTree):
        def fit(self, X, y, sample_weight=None, entry=None, id=None, init=None):
            seen.append(set(X.index))
            return super().fit(X, y, sample_weight, entry, id, init)

    compare({"recorder": Recorder(2)}, X, y, n_folds=4)
    *folds, whole = seen
    assert whole == set(X.index)
    held_out = [whole - rows for rows in folds]
    assert set.union(*held_out) == whole
    assert sum(map(len, held_out)) == len(whole)
    for k, rows in enumerate(held_out):
        test = sorted(rows)
        train = sorted(whole - rows)
        model = SurTree(2).fit(X.loc[train], y[train])
        risk = model.predict(X.loc[test])
        cindex = concordance_index_censored(y["event"][test], y["time"][test], risk).cindex
        assert result.held_out[0, 0, k] == pytest.approx(cindex)
        loss = model.loss(X.loc[test], y[test]) / len(test)
        assert result.held_out[0, 2, k] == pytest.approx(loss)


def test_differences_are_paired(result):
    apart = result.held_out[1, 0] - result.held_out[0, 0]
    assert result.difference("card") == (pytest.approx(apart.mean()), error_of_mean(apart))
    assert result.mean("leaf") == 0.5
    verb = "costs" if apart.mean() >= 0 else "gains"
    assert result.sentences()[0].startswith(f"tree {verb} {abs(apart.mean()):.3f}")


def test_in_sample_values_are_named_so(result, table, tmp_path):
    X, y = table
    model = SurTree(2).fit(X, y)
    assert result.in_sample[0, 0] == pytest.approx(model.score(X, y))
    assert "C in sample: of the model of all rows on these, too good" in str(result)
    assert "<th" in result._repr_html_()
    assert repr(result) == "Comparison(tree, card, leaf: 4 folds)"
    for each in (model, PointsTable(n_stages=4).fit(X, y)):
        each.comparison_ = result
        each.save(tmp_path / "model.json")
        again = surtree.load(tmp_path / "model.json")
        np.testing.assert_array_equal(again.comparison_.held_out, result.held_out)
        page = write_report(again, tmp_path / "page.html").read_text("utf-8")
        assert "Against other models" in page
        assert result.sentences()[0] in page
        assert "it is too good" in page
        assert each.fit(X, y).comparison_ is None


def test_models_of_others_have_no_loss(table):
    class Other:
        def __init__(self):
            self.model = TaughtTree(1)

        def get_params(self, deep=True):
            return {}

        def set_params(self):
            return self

        def fit(self, X, y, sample_weight=None):
            self.model.fit(X, y, sample_weight)
            return self

        def predict(self, X):
            return self.model.predict(X)

        def predict_survival_function(self, X):
            return self.model.predict_survival_function(X)

    result = compare({"tree": SurTree(1), "other": Other()}, *table, n_folds=3)
    assert np.isnan(result.mean("other", "loss"))
    assert np.isfinite(result.mean("other"))
    assert "unknown" in str(result)


def test_what_cannot_be_compared_is_refused(table):
    X, y = table
    with pytest.raises(ValueError, match="mapping of names to estimators"):
        compare([SurTree()], X, y)
    with pytest.raises(ValueError, match="an array of risks, which knows all rows"):
        compare({"taught": TaughtTree(teacher=np.ones(300))}, X, y)
    with pytest.raises(ValueError, match="first must be one of 'taught tree'"):
        usual_models("forest")
    with pytest.raises(ValueError, match="n_folds must be"):
        compare({"tree": SurTree()}, X, y, n_folds=1)

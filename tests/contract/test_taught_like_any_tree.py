"""A taught tree has everything that an optimal tree has, and says what it is."""

import sqlite3
from typing import ClassVar

import numpy as np
import pytest
from matplotlib import pyplot

import surtree
from surtree import SurTree, TaughtTree, audit_tree, column_costs, force_questions, validate
from surtree.datasets import load_gbsg2
from surtree.export import (
    export_dot,
    export_json,
    export_leaves,
    export_mermaid,
    export_methods,
    export_onnx,
    export_python,
    export_sql,
    export_text,
)
from surtree.plot import (
    plot_audit,
    plot_calibration,
    plot_curves,
    plot_decision_curve,
    plot_path,
    plot_stability,
    plot_tree,
)


@pytest.fixture(scope="module")
def table():
    return load_gbsg2(backend="pandas")


@pytest.fixture(scope="module")
def model(table):
    return TaughtTree(max_depth=2).fit(*table)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    pyplot.close("all")


def test_what_is_printed_says_how_much_of_the_teacher_is_explained(model):
    assert "explains 86% of its teacher" in str(model.tree_)
    assert "its own and 30 more as the teacher expects them there" in export_leaves(model)


@pytest.mark.parametrize("export", [export_dot, export_json, export_mermaid, export_text])
def test_it_is_exported(model, export):
    assert "progesterone_receptor" in export(model)


def test_programs_decide_as_it_does(model, table):
    X, _ = table
    namespace = {}
    exec(export_python(model, value="risk"), namespace)
    risks = [namespace["predict"](**row) for row in X.to_dict("records")]
    np.testing.assert_allclose(risks, model.predict(X))
    with sqlite3.connect(":memory:") as connection:
        X.to_sql("rows", connection, index=False)
        answers = connection.execute(f"SELECT {export_sql(model)} FROM rows").fetchall()
    assert [leaf for (leaf,) in answers] == model.apply(X).tolist()
    assert export_onnx(model).graph.node


def test_methods_and_page_name_the_teacher_the_proof_and_both_losses(model, tmp_path):
    methods = export_methods(model)
    page = surtree.write_report(model, tmp_path / "tree.html").read_text("utf-8")
    for text in (methods, page):
        assert "SurTreeBayes, the average over all trees" in text
        assert "none is nearer to its teacher on these rows" in text
        assert f"{model.training_loss_:.6g}" in text
        assert f"{model.plain_loss_:.6g}" in text
    assert "in sample" in methods
    assert "The size was a parameter of the fit" in methods
    assert "Is a nearer tree possible?" in page
    assert "No. Proven nearest to its teacher" in page
    assert "Proven optimal" not in page


def test_the_plain_optimum_of_as_many_splits_is_beside_it(model, table):
    plain = SurTree(max_depth=2).fit(*table)
    assert model.plain_loss_ == plain.path_[model.tree_.n_splits].loss
    assert model.training_loss_ > model.plain_loss_
    again = TaughtTree(max_depth=2).fit_unmeasured(*table)
    assert np.isnan(again.plain_loss_)
    assert again.training_loss_ == model.training_loss_


def test_it_is_drawn(model, table):
    plot_tree(model)
    plot_curves(model)
    ax = plot_path(model)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), model.explained_)
    assert "86%" in ax.get_legend().get_texts()[1].get_text()
    plot_audit(audit_tree(model, *table))


def test_an_audit_says_how_far_the_plain_optimum_is(model, table):
    audit = audit_tree(model, *table)
    assert audit.optimum.loss == pytest.approx(model.plain_loss_)
    assert audit.missed > 0


@pytest.mark.parametrize("ask", [column_costs, force_questions])
def test_what_has_no_meaning_is_refused_with_a_reason(model, table, ask):
    with pytest.raises(TypeError, match="follows its teacher, and its questions have no price"):
        ask(model, *table)


def test_a_file_keeps_what_is_known_of_the_teacher(model, table, tmp_path):
    X, _ = table
    model.save(tmp_path / "model.json")
    again = surtree.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.explained_, model.explained_)
    assert (again.training_loss_, again.plain_loss_) == (model.training_loss_, model.plain_loss_)
    assert export_methods(again) == export_methods(model)
    text = (tmp_path / "model.json").read_text("utf-8")
    (tmp_path / "edited.json").write_text(text.replace('"time_unit": null', '"time_unit": "days"'))
    edited = surtree.load(tmp_path / "edited.json")
    assert edited.status_ == "edited"
    assert np.isnan(edited.training_loss_)


class Counted(SurTree):
    """A teacher that counts on how many rows it was fitted."""

    sizes: ClassVar[list[int]] = []

    def fit(self, X, y, sample_weight=None, entry=None, id=None, init=None):
        self.sizes.append(len(X))
        return super().fit(X, y, sample_weight, entry, id, init)


def test_every_sample_has_a_teacher_of_its_own(table):
    X, y = table
    Counted.sizes.clear()
    teacher = Counted(max_depth=2).fit(X, y)
    result = validate(TaughtTree(2, teacher=teacher), X, y, n_bootstraps=3)
    assert result.n_repetitions == 3
    first, whole, *samples = Counted.sizes
    assert first == whole == len(X)
    assert len(samples) == 3
    assert all(n < len(X) for n in samples)
    with pytest.raises(ValueError, match="an array of risks, which knows all rows"):
        validate(TaughtTree(2, teacher=teacher.predict(X)), X, y, n_bootstraps=3)


def test_its_validation_is_drawn_and_written(model, table, tmp_path):
    model.validation_ = validate(model, *table, n_bootstraps=20)
    plot_calibration(model)
    plot_decision_curve(model)
    plot_stability(model)
    page = surtree.write_report(model, tmp_path / "tree.html").read_text("utf-8")
    assert "Predicts new data better than no tree" in page
    model.validation_ = None

"""A tree that was chosen by hand is a model whose certificate says so."""

import numpy as np
import pytest
from sklearn.base import clone

from surtree import (
    CompetingRisksTree,
    SurTree,
    evaluate,
    force_questions,
    keep,
    load,
    near_optimal,
    question_swaps,
    validate,
    verify,
)
from surtree.datasets import load_gbsg2, load_lung
from surtree.export import export_methods, export_python
from surtree.report import notebook_html, write_report

MODEL = SurTree(max_depth=2)


@pytest.fixture(scope="module")
def rows():
    return load_gbsg2()


@pytest.fixture(scope="module")
def model(rows):
    return clone(MODEL).fit(*rows)


def asks_few(tree):
    return len({cut.name for cut in tree.cuts}) <= 2


CHOICES = {
    "swap": (
        lambda model, X, y: question_swaps(model, X, y).at("y")[1],
        'best tree that asks "positive_nodes > 3" first and "',
    ),
    "column": (
        lambda model, X, y: force_questions(model, X, y, first="age"),
        "best tree that asks about age first; 24.4 % of what the best tree explains is lost",
    ),
    "questions": (
        lambda model, X, y: force_questions(
            model,
            X,
            y,
            at={"": "hormone_therapy", "y": ("age", 50)},
            forbid={"no": ["tumor_grade"]},
        ),
        "and does not ask about tumor_grade below 'no'; ",
    ),
    "condition": (
        lambda model, X, y: near_optimal(model, X, y).first(asks_few, within=0.5),
        "best tree that satisfies a condition of its user; 0.2 % of what the best tree explains "
        "is lost",
    ),
    "tree": (
        lambda model, X, y: near_optimal(model, X, y).trees[7],
        "a tree that was chosen by hand; ",
    ),
}


@pytest.mark.parametrize("name", CHOICES)
def test_a_kept_tree_predicts_is_saved_and_says_what_it_is(name, rows, model, tmp_path):
    make, text = CHOICES[name]
    choice = make(model, *rows)
    tree = getattr(choice, "tree", choice)
    kept = keep(model, choice)
    assert text in str(kept.kept_)
    assert (kept.status_, kept.loss_) == ("kept", tree.total_loss)
    assert kept.lower_bound_ == model.lower_bound_
    assert model.status_ == "optimal"
    kept.save(tmp_path / "kept.json")
    again = load(tmp_path / "kept.json")
    assert (again.status_, again.kept_) == ("kept", kept.kept_)
    X, y = rows
    for one in (kept, again):
        np.testing.assert_array_equal(one.predict(X), tree.theta[kept.apply(X)])
    write_report(again, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    plain = str(kept.kept_).replace('"', "&#34;").replace("'", "&#39;").replace(">", "&gt;")
    for shown in (page, notebook_html(again)):
        shown = shown.replace("&quot;", "&#34;").replace("&#x27;", "&#39;")
        assert f"Kept by choice: {plain}" in shown
        assert "Proven optimal" not in shown
    assert f"The tree was chosen by hand: {kept.kept_}" in " ".join(export_methods(again).split())
    assert export_python(again.tree_)
    assert evaluate(again, X, y)


def test_what_needs_the_best_tree_is_refused(rows, model, tmp_path):
    X, y = rows
    kept = keep(model, force_questions(model, X, y, first="age"))
    with pytest.raises(ValueError, match="on a sample nobody can choose"):
        validate(kept, X, y, n_bootstraps=2)
    with pytest.raises(ValueError, match="verify the model that it was kept from"):
        verify(kept, X, y)
    with pytest.raises(ValueError, match="its tree not the best"):
        keep(kept, model.tree_)
    with pytest.raises(TypeError, match="choice must be"):
        keep(model, near_optimal(model, X, y).first(lambda tree: False, within=0.0))
    with pytest.raises(ValueError, match="not of the rows"):
        keep(model, SurTree(2).fit(X[:-1], y[:-1]).tree_)
    with pytest.raises(ValueError, match="not within the limits"):
        keep(model, SurTree(3).fit(X, y).tree_)
    assert kept.fit(X, y).status_ == "optimal"
    assert kept.kept_ is None


def test_an_edited_file_loses_what_was_known(rows, model, tmp_path):
    path = tmp_path / "kept.json"
    keep(model, force_questions(model, *rows, first="age")).save(path)
    path.write_text(path.read_text().replace("asks about age", "asks about cake"))
    edited = load(path)
    assert (edited.status_, edited.kept_) == ("edited", None)


def test_a_tree_of_causes_is_kept(tmp_path):
    X, y = load_lung()
    cause = np.where(y["event"], 1 + (np.arange(len(X)) % 2), 0)
    target = np.array(list(zip(cause, y["time"], strict=True)), [("cause", int), ("time", float)])
    model = CompetingRisksTree(2).fit(X, target)
    kept = keep(model, force_questions(model, X, target, first="age"))
    kept.save(tmp_path / "kept.json")
    assert load(tmp_path / "kept.json").kept_ == kept.kept_

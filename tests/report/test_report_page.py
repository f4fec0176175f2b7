"""What a page says of honest and of awkward models, without a browser."""

import html
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn import config_context
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from surtree import SurTree, SurTreeCV, audit_tree, validate
from surtree.cuts.cut import Cut
from surtree.datasets import load_gbsg2
from surtree.export import export_methods
from surtree.heuristics import ConditionalInferenceTree, GreedyTree
from surtree.report import write_report
from surtree.report._questionnaire import read_fields
from surtree.summary.certificate import percent, verdict
from surtree.summary.findings import Certificate
from surtree.summary.survival_table import survival_table


@pytest.fixture(scope="module")
def table():
    return load_gbsg2(backend="pandas")


def text_of(model, tmp_path, **options):
    page = write_report(model, tmp_path / "page.html", **options).read_text(encoding="utf-8")
    page = page.split("<body>")[1].split('<script type="application/json"')[0]
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def data_of(model, tmp_path, **options):
    page = write_report(model, tmp_path / "page.html", **options).read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    return json.loads(found.group(1))


def test_the_certificate_of_an_optimal_tree(table, tmp_path):
    model = SurTree(max_depth=2, min_events_leaf=5).fit(*table)
    said = text_of(model, tmp_path)
    assert "Is a better tree possible? No. Proven optimal Of all trees with depth at most 2" in said
    assert "at least 5 events in a leaf, none has a smaller loss on these rows." in said
    assert (
        "Questions to choose from: up to 10 thresholds a column; every set of categories against "
        f"the others, ordered ones by rank; {len(model.encoder_.cuts_)} questions in all." in said
    )
    assert (
        f"loss on these rows {model.loss_:.6g} lower bound {model.lower_bound_:.6g} gap 0.00 %"
        in said
    )


def test_a_search_that_was_ended_says_so_with_its_gap(table, tmp_path):
    model = SurTree(max_depth=5, n_thresholds=30, progress=lambda _: True).fit(*table)
    assert model.status_ == "interrupted"
    assert model.gap_ > 0
    said = text_of(model, tmp_path)
    assert "Proven optimal" not in said
    assert "Not proven optimal: the search was interrupted." in said
    assert f"gap {percent(model.gap_)} status interrupted" in said


@pytest.mark.parametrize(
    ("certificate", "proven", "words"),
    [
        (Certificate("SurTree", 4.0, 4.0, 0.0, "optimal", ("depth at most 1",)), True, "none"),
        (Certificate("SurTree", 4.0, 3.9, 0.025, "time_limit"), False, "at most 2.50 %"),
        (Certificate("SurTree", 4.0, 0.0, 1.0, "interrupted"), False, "weak bound"),
        (Certificate("SurTree", 4.0, 0.0, 1.0, "edited"), False, "certificate void"),
        (
            Certificate("SurTree", 4.0, 0.0, 1.0, "interrupted", any_split=False),
            False,
            "Stopped before any split was tried",
        ),
        (
            Certificate("SurTree", 4.0, 4.0, 0.0, "optimal", shrinkage=3.0),
            True,
            "includes what a shrinkage of 3 events costs",
        ),
        (Certificate("GreedyTree", 4.0), False, "surtree.audit_tree tells"),
        (None, False, "from a tree alone"),
        (
            Certificate("SurTreeCV", 4.0, 4.0, 0.0, "optimal", fold_status="time_limit"),
            True,
            "In cross-validation, the time limit ended the search at least once",
        ),
    ],
)
def test_verdicts(certificate, proven, words):
    said = verdict(certificate)
    assert said.proven is proven
    assert words in f"{said.heading} {said.text}"


def test_a_gap_is_never_rounded_to_nothing():
    assert percent(0.0) == "0.00 %"
    assert percent(1e-9) == "less than 0.01 %"
    assert percent(0.1234) == "12.34 %"


@pytest.mark.parametrize("heuristic", [GreedyTree(max_depth=2), ConditionalInferenceTree()])
def test_a_heuristic_has_no_proof(table, tmp_path, heuristic):
    said = text_of(heuristic.fit(*table), tmp_path)
    assert "Found by a heuristic" in said
    assert "lower bound" not in said


def test_an_audited_tree_says_what_its_questions_cost(table, tmp_path):
    X, y = table
    found = audit_tree(GreedyTree(max_depth=3).fit(X, y), X, y)
    said = text_of(found, tmp_path)
    assert f"Misses {100 * found.missed:.1f} % of what the best tree of its size explains" in said
    assert f"loss {found.optimum.loss:.6g}" in said
    assert "The best tree of its size leaf survival" in said
    worst = found.split_costs[0]
    assert f"question cost {html.escape(worst.rule)} {worst.cost:.3g}" in said
    best = SurTree(max_depth=2).fit(X, y)
    same = text_of(audit_tree(best, X, y), tmp_path)
    assert "As good as the best tree of its size" in same
    assert "The best tree of its size leaf survival" not in same
    late = replace(found, same_depth=replace(found.same_depth, lower_bound=0.0))
    assert "of what the best tree found in time explains" in text_of(late, tmp_path)
    with pytest.raises(ValueError, match="leaf labels, which are no tree"):
        write_report(audit_tree(best.apply(X), X, y), tmp_path / "page.html")


def test_weights_and_late_entry_are_named(table, tmp_path):
    X, y = table
    plain = text_of(SurTree(max_depth=1).fit(X, y), tmp_path)
    assert "rows are weighted" not in plain
    assert "left truncation" not in plain
    rng = np.random.default_rng(0)
    weight = rng.integers(1, 4, len(y))
    entry = y["time"] * rng.random(len(y)) * 0.9
    both = text_of(SurTree(max_depth=1).fit(X, y, weight, entry), tmp_path)
    assert f"weight {weight.sum()} rows are weighted" in both
    assert "left truncation yes" in both
    assert "no row is censored" in text_of(SurTree(max_depth=1).fit(X, y["time"]), tmp_path)


def test_a_tree_without_counts_has_the_curves_of_its_risk(table, tmp_path):
    tree = SurTree(max_depth=2).fit(*table).path_[1].tree
    assert not tree.risk
    data = data_of(tree, tmp_path, horizons=[1000])
    leaf, theta = int(tree.leaves[0]), float(tree.theta[tree.leaves[0]])
    expected = np.exp(-theta * tree.baseline.at(1000))
    (row,) = data["leaves"][str(leaf)]["horizons"]
    assert (row["time"], row["survival"]) == ("1000", round(float(expected), 4))
    assert row["lower"] < row["survival"] < row["upper"]
    assert "the hazard of all rows, times the relative risk of the leaf" in text_of(tree, tmp_path)


def test_horizons_are_those_asked_for(table, tmp_path):
    model = SurTree(max_depth=1).fit(*table)
    rows = data_of(model, tmp_path, horizons=[730.5, 365])["leaves"]["1"]["horizons"]
    assert [row["time"] for row in rows] == ["365", "730.5"]
    for wrong in (-1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="horizons must be times, zero or later"):
            write_report(model, tmp_path / "page.html", horizons=[wrong])


def test_curves_of_a_page_are_close_to_the_truth_however_many_steps_they_have(tmp_path):
    rng = np.random.default_rng(0)
    time = rng.weibull(1.5, 60_000)
    model = SurTree(max_depth=1).fit(rng.random((60_000, 1)), time)
    page = write_report(model, tmp_path / "page.html")
    assert page.stat().st_size < 200_000
    curve = data_of(model, tmp_path)["leaves"]["1"]
    members = np.sort(time[model.apply(rng.random((60_000, 1))) >= 0])
    assert len(curve["times"]) < 600
    for t, survival in zip(curve["times"], curve["survival"], strict=True):
        assert abs(survival - np.mean(members > t)) < 0.02


def test_columns_are_listed_with_their_cuts_and_shares(table, tmp_path):
    model = SurTree(max_depth=2).fit(*table)
    said = text_of(model, tmp_path)
    share = dict(zip(table[0].columns, model.feature_importances_, strict=True))
    assert f"positive_nodes {100 * share['positive_nodes']:.1f} % 8" in said.replace("_ ", "_")
    assert "age not in the tree 10" in said


def test_constant_and_missing_columns_are_listed_too(table, tmp_path):
    X, y = table
    X = X.assign(constant=1, nothing=np.nan)
    said = text_of(SurTree(max_depth=1).fit(X, y), tmp_path)
    for name in ("constant", "nothing"):
        assert f"{name} not in the tree 0 questions nowhere" in said


def cuts_of(*cuts):
    """Return a tree that asks about the cuts one after the other."""
    rng = np.random.default_rng(0)
    tree = SurTree(max_depth=len(cuts)).fit(rng.random((200, 3)), rng.exponential(size=200)).tree_
    return replace(tree, cuts=cuts, cut=np.where(tree.cut < 0, -1, tree.cut % len(cuts)))


def test_the_fields_of_a_questionnaire():
    stages = ("low", "mid", "high")
    ordered = Cut(0, "stage", categories=("mid", "high"), known=stages)
    top = Cut(0, "stage", categories=("high",), known=stages)
    (stage,) = read_fields(cuts_of(top, ordered))
    assert stage.labels == ["low", "mid", "high"]
    assert stage.missing == "another or unknown"
    assert stage.chosen_by(ordered) == [1, 2]
    assert stage.chosen_by(top) == [2]

    rest = Cut(1, "site", categories=("A", "B"), negated=True, known=("A", "B", "C", "D"))
    (site,) = read_fields(cuts_of(rest, replace(rest, categories=("A",), negated=False)))
    assert site.labels == ["A", "B", "C", "D"]
    assert site.chosen_by(rest) == [2, 3]

    # Every category has its name, even if it is an empty text.
    rest = replace(rest, known=(*"ZYXWVUTSRQPBA", ""))
    (site,) = read_fields(cuts_of(rest))
    assert site.labels == [*"ZYXWVUTSRQPBA", "(empty text)"]
    assert site.chosen_by(rest) == [*range(11), 13]

    # Of very many, those that the tree does not tell apart are one choice.
    rest = replace(rest, known=(*map(str, range(500)), "B", "A"))
    (site,) = read_fields(cuts_of(rest))
    assert site.labels == ["B", "A", "another of 500 values"]
    assert site.chosen_by(rest) == [2]

    rest = replace(rest, known=None)  # as in a file without them
    (site,) = read_fields(cuts_of(rest))
    assert site.labels == ["A", "B", "another value"]
    assert site.chosen_by(rest) == [2]

    codes = Cut(1, "code", categories=(1,), known=(0, 1, 2))
    (code,) = read_fields(cuts_of(codes))
    assert code.labels == ["0", "1", "2"]

    (smoker,) = read_fields(cuts_of(Cut(2, "smoker", categories=(True,))))
    assert smoker.labels == ["True", "False"]

    (known,) = read_fields(cuts_of(Cut(2, "lab", missing=True)))
    assert (known.labels, known.missing) == (["any value"], "another or unknown")

    (size,) = read_fields(cuts_of(Cut(2, "size", threshold=3.0, seen=(1.0, 9.0))))
    assert (size.is_number, size.seen, size.missing) == (True, (1.0, 9.0), "")


def test_what_is_no_model_is_refused(table, tmp_path):
    with pytest.raises(TypeError, match="fitted model of surtree, or its tree_"):
        write_report("tree", tmp_path / "page.html")
    with pytest.raises(NotFittedError):
        write_report(SurTree(), tmp_path / "page.html")
    with pytest.raises(NotFittedError, match="refit=False"):
        write_report(SurTreeCV(max_depth=1, cv=2, refit=False).fit(*table), tmp_path / "page.html")


def test_the_page_asks_for_nothing_from_anywhere(table, tmp_path):
    page = write_report(SurTree(max_depth=2).fit(*table), tmp_path / "page.html").read_text("utf-8")
    addresses = set(re.findall(r"""(?:https?:|src=|url\(|@import)[^\s"')]*""", page))
    assert addresses == {"http://www.w3.org/2000/svg"}  # the name of a format, never fetched
    assert "default-src 'none'" in page


def test_notebooks_show_fitted_trees_and_scikit_learns_picture_before(table):
    model = SurTree(max_depth=2)
    assert "sk-" in model._repr_html_()
    model.fit(*table)
    for shown in (
        model._repr_html_(),
        model._repr_mimebundle_()["text/html"],
        model.tree_._repr_html_(),
    ):
        assert shown.count('role="treeitem"') == model.tree_.n_nodes
        assert "sk-" not in shown
        assert len(shown) < 30_000
    assert "SurTree(max_depth=2)" in model._repr_html_()
    assert "Proven optimal on these rows" in model._repr_html_()
    assert "not validated on new data" in model._repr_html_()
    search = SurTreeCV(max_depth=1, cv=2).fit(*table)
    assert f"held-out C {search.held_out_.mean('concordance'):.3f} ±" in search._repr_html_()
    search.validation_ = validate(search, *table, n_bootstraps=20)
    corrected = search.validation_["concordance"].value
    assert f"C in new data {corrected:.3f} (" in search._repr_html_()
    assert model._repr_mimebundle_()["text/plain"] == "SurTree(max_depth=2)"
    # Within others, and where the user wants text, scikit-learn's ways stay.
    assert "sk-" in make_pipeline("passthrough", model)._repr_html_()
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert "text/html" not in model._repr_mimebundle_()
    assert "curves and medians: baseline" in model.tree_._repr_html_()
    unchosen = SurTreeCV(max_depth=1, cv=2, refit=False).fit(*table)
    assert "sk-" in unchosen._repr_html_()


# What is at risk at a time of the page's tables


def start_stop_rows(first_entry):
    """Return 60 persons with two rows each, the first of which begins at a time."""
    rng = np.random.default_rng(0)
    end = rng.uniform(20, 100, 60).round(1)
    middle = (end / 2).round(1)
    entry = np.concatenate([np.full(60, first_entry), middle])
    event = np.concatenate([np.zeros(60, dtype=bool), rng.random(60) < 0.7])
    return {
        "X": rng.integers(0, 2, (120, 2)).astype(float),
        "y": (event, np.concatenate([middle, end])),
        "entry": entry,
        "id": np.tile(np.arange(60), 2),
    }


def test_later_rows_of_a_person_are_no_late_entry(tmp_path):
    tree = SurTree(max_depth=1).fit(**start_stop_rows(0.0)).tree_
    assert not tree.enters_late
    assert "came under observation late" not in export_methods(tree)
    late = SurTree(max_depth=1).fit(**start_stop_rows(5.0)).tree_
    assert late.enters_late
    assert "came under observation late" in export_methods(late)


def test_a_leaf_that_persons_come_to_has_no_number_at_risk_between_events():
    tree = SurTree(max_depth=1).fit(**start_stop_rows(0.0)).tree_
    between = [float(np.mean(tree.baseline.times[4:6]))]
    for group in tree.outcome.groups:
        rows = survival_table(tree.outcome.together(group), between)
        assert [row.at_risk for row in rows] == [""]


def test_between_events_the_least_number_at_risk_is_told(table):
    X, y = table
    tree = SurTree(max_depth=1).fit(X, y).tree_
    times = tree.baseline.times
    between = (times[:-1] + times[1:]) / 2
    leaves = tree.apply(X)
    words = set()
    for group in tree.outcome.groups:
        inside = y["time"][leaves == group.node]
        for row in survival_table(tree.outcome.together(group), between.tolist()):
            exact = int((inside >= row.time).sum())
            *word, number = row.at_risk.rsplit(" ", 1)
            words.add(" ".join(word))
            assert {"": exact == int(number), "at least": exact >= int(number)}[" ".join(word)]
    assert words == {"", "at least"}

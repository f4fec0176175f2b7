"""Sets of categories as cuts: exact, the same in every engine and heuristic, and in plain words."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sksurv.datasets import load_veterans_lung_cancer

from problems import leaf_loss, row_hazard
from surtree import Encoder, SurTree, SurTreeCV, audit_tree
from surtree.cuts.categories import MOST_FOR_SUBSETS, all_subsets, singles_and_prefixes
from surtree.heuristics import GreedyTree, LocalSearchTree
from surtree.summary.findings import read_findings

ESTIMATORS = (SurTree, GreedyTree, LocalSearchTree)


def veteran():
    X, y = load_veterans_lung_cancer()
    target = np.empty(len(y), dtype=[("event", bool), ("time", float)])
    target["event"], target["time"] = y["Status"], y["Survival_in_days"]
    return X.assign(Celltype=X["Celltype"].astype(str)), target


def draw(seed, n_categories, *, n=60, missing=False, weighted=False):
    """Draw a column of texts, one of numbers, a target whose risk depends on both, and weights."""
    rng = np.random.default_rng(seed)
    names = [chr(ord("a") + k) for k in range(n_categories)]
    code = np.append(np.arange(n_categories), rng.integers(0, n_categories, n - n_categories))
    x = rng.integers(0, 3, n).astype(float)
    text = np.array(names, dtype=object)[code]
    if missing:
        text[rng.random(n) < 0.2] = None
    risk = np.exp(rng.normal(size=n_categories)[code] * (1 - x))
    y = np.empty(n, dtype=[("event", bool), ("time", float)])
    y["time"], y["event"] = rng.exponential(1 / risk), rng.random(n) < 0.8
    y["event"][0] = True
    weight = rng.choice([0.5, 1.0, 2.0], n) if weighted else np.ones(n)
    return pd.DataFrame({"text": text, "x": x}), y, weight


def best_single_split(X, y, weight, shrinkage=0.0, min_samples_leaf=1):
    """Return the smallest loss of one split of a column of texts, missing values on either side."""
    hazard = row_hazard(y, weight, None)
    values = [*X["text"].dropna().unique(), *([None] if X["text"].isna().any() else [])]
    losses = [leaf_loss(y, weight, hazard, np.zeros(len(y)), shrinkage)]
    for size in range(1, len(values)):
        for subset in combinations(values, size):
            here = np.array([cell in subset for cell in X["text"].where(X["text"].notna(), None)])
            if min(here.sum(), (~here).sum()) >= min_samples_leaf:
                losses.append(leaf_loss(y, weight, hazard, here, shrinkage))
    return min(losses)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_one_split_of_veteran_is_that_of_rpart(estimator):
    X, y = veteran()
    X = X[["Celltype"]].rename(columns={"Celltype": "text"})
    model = estimator(max_depth=1, category_cuts="subsets").fit(X, y)
    assert model.loss_ == pytest.approx(best_single_split(X, y, np.ones(len(y))), rel=1e-9)
    # R: rpart(Surv(time, status) ~ celltype, veteran, maxdepth = 1)
    assert {cut.rule for cut in model.tree_.cuts} == {"text is one of adeno, smallcell"}
    assert [rule.conditions[0] for rule in model.tree_.rules()] == [
        "text is one of large, squamous",
        "text is one of adeno, smallcell",
    ]
    explained = 1 - model.loss_ / model.tree_.loss[0]
    assert 0.12 < explained < 0.14
    one = estimator(max_depth=1, category_cuts="one").fit(X, y)
    assert 1 - one.loss_ / one.tree_.loss[0] < 0.07


@pytest.mark.parametrize("n_categories", range(2, 13))
def test_one_split_is_the_best_of_all_subsets_however_many_there_are(n_categories):
    for seed, (missing, weighted) in enumerate([(0, 0), (1, 0), (0, 1), (1, 1)]):
        X, y, weight = draw([n_categories, seed], n_categories, missing=missing, weighted=weighted)
        X = X[["text"]]
        shrinkage = 2.0 * (seed % 2)
        best = best_single_split(X, y, weight, shrinkage)
        for estimator in ESTIMATORS:
            model = estimator(
                max_depth=1,
                category_cuts="subsets",
                max_categories=20,
                min_support=0.0,
                shrinkage=shrinkage,
            ).fit(X, y, sample_weight=weight)
            assert model.loss_ == pytest.approx(best, rel=1e-9)


def test_limits_on_leaves_are_kept_by_the_best_of_all_subsets():
    for seed in range(5):
        X, y, weight = draw(seed, MOST_FOR_SUBSETS, missing=True)
        model = SurTree(1, min_samples_leaf=20, min_support=0.0, category_cuts="subsets")
        best = best_single_split(X[["text"]], y, weight, min_samples_leaf=20)
        assert model.fit(X[["text"]], y).loss_ == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("n_bins", [2, 3, 4, 7, 9])
def test_every_division_in_two_is_there_once(n_bins):
    found = all_subsets(n_bins)
    sets = [frozenset(found.members(k)) for k in range(len(found.first))]
    everything = frozenset(range(n_bins))
    assert len({frozenset((one, everything - one)) for one in sets}) == 2 ** (n_bins - 1) - 1
    assert len(sets) == 2 ** (n_bins - 1) - 1
    assert [len(one) for one in sets] == sorted(len(one) for one in sets)
    assert max(len(one) for one in sets) <= n_bins / 2 or n_bins == 2


def test_many_categories_are_asked_alone_or_in_the_order_of_risk():
    X, y, weight = draw(3, MOST_FOR_SUBSETS + 2)
    encoder = Encoder(category_cuts="subsets", min_support=0.0).fit(X[["text"]], y)
    hazard = row_hazard(y, weight, None)
    risk = {
        name: y["event"][rows].sum() / hazard[rows].sum()
        for name in X["text"].unique()
        for rows in [(X["text"] == name).to_numpy()]
    }
    order = sorted(risk, key=risk.get)
    asked = {frozenset(cut.categories) for cut in encoder.cuts_}
    prefixes = [frozenset(order[:k]) for k in range(2, len(order) - 1)]
    assert asked >= {frozenset([name]) for name in order}
    assert all(one in asked or frozenset(order) - one in asked for one in prefixes)
    assert len(asked) == len(order) + len(prefixes)
    # Without a target there is no risk to order them by.
    alone = Encoder(category_cuts="subsets", min_support=0.0).fit(X[["text"]])
    assert {len(cut.categories) for cut in alone.cuts_} == {1}
    assert [found.size for found in singles_and_prefixes(np.arange(4))] == [5, 5, 5]


def test_pooled_categories_are_one_of_those_that_sets_are_made_of():
    X, y, _ = draw(5, 12)
    model = SurTree(3, category_cuts="subsets", max_categories=5, min_support=0.0).fit(X, y)
    texts = [cut for cut in model.encoder_.cuts_ if cut.name == "text"]
    assert len(texts) == 2**4 - 1
    pooled = set.intersection(*(set(cut.others) for cut in texts if cut.negated))
    assert len(pooled) == 12 - 4
    for cut in texts:
        listed = set(cut.categories) ^ (set(cut.known) if cut.negated else set())
        assert pooled <= listed or not pooled & listed


@pytest.mark.parametrize("n_categories", [4, 6, 9])
@pytest.mark.parametrize("n_thresholds", [10, None])
def test_both_engines_find_no_worse_a_tree_than_any_heuristic(n_categories, n_thresholds):
    for seed in range(3):
        X, y, _ = draw(seed, n_categories, n=300, missing=seed == 1)
        X["z"] = np.random.default_rng(seed).normal(size=len(X))  # bisected with every threshold
        how = {"category_cuts": "subsets", "n_thresholds": n_thresholds, "min_support": 0.0}
        best = SurTree(2, **how).fit(X, y)
        assert best.status_ == "optimal"
        assert best.loss_ <= SurTree(2, **how | {"category_cuts": "one"}).fit(X, y).loss_
        for model in (GreedyTree(2, **how), LocalSearchTree(2, n_restarts=5, **how)):
            assert model.fit(X, y).loss_ >= best.loss_ * (1 - 1e-9)
        assert (best.n_evaluated_ > 0) is (n_thresholds is None)


def test_an_audit_asks_as_the_model_does():
    X, y = veteran()
    tree = GreedyTree(2, category_cuts="subsets").fit(X, y)
    assert audit_tree(tree, X, y).missed >= 0
    optimum = audit_tree(tree, X, y).same_depth
    assert optimum.loss == pytest.approx(SurTree(2, category_cuts="subsets").fit(X, y).loss_)


def test_cross_validation_orders_categories_by_the_training_rows_of_each_fold():
    X, y, _ = draw(1, 12, n=300)
    how = {"category_cuts": "subsets", "max_categories": 12, "min_support": 0.0}
    seen = []

    def score(model, X, y):
        seen.append(model.encoder_.cuts_)
        return model.score(X, y)

    SurTreeCV(1, cv=4, shrinkage=0.0, scoring=score, **how).fit(X, y)
    several = [{cut.categories for cut in cuts if cut.name == "text"} for cuts in seen]
    assert len({frozenset(one) for one in several}) > 1


def test_words_of_the_certificate():
    for n_categories, words in (
        (5, "every set of categories against the others, ordered ones by rank; "),
        (12, "of columns with more than 7 categories not every set, but one at a time against "),
    ):
        X, y, _ = draw(0, n_categories)
        model = SurTree(2, category_cuts="subsets").fit(X[["text"]], y)
        assert words in read_findings(model).certificate.questions
    assert (
        "one at a time"
        not in read_findings(
            SurTree(2, category_cuts="subsets").fit(draw(0, 5)[0][["text"]], y)
        ).certificate.questions
    )


def test_a_model_file_keeps_how_categories_were_cut(tmp_path):
    X, y, _ = draw(0, 6, missing=True)
    model = SurTree(3, category_cuts="subsets").fit(X, y)
    model.save(tmp_path / "model.json")
    loaded = SurTree.load(tmp_path / "model.json")
    assert loaded.encoder_.category_cuts == loaded.category_cuts == "subsets"
    assert loaded.encoder_.cuts_ == model.encoder_.cuts_
    assert loaded.apply(X).tolist() == model.apply(X).tolist()


def test_what_is_no_way_to_cut_is_refused():
    X, y, _ = draw(0, 4)
    with pytest.raises(ValueError, match=r"category_cuts must be one of \('one', 'subsets'\); got"):
        SurTree(category_cuts="all").fit(X, y)

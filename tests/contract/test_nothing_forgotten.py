"""What a model was told or found out is said by every later page, table and paragraph."""

import re

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from surtree import (
    CompetingRisksTree,
    CompetingRisksTreeCV,
    EffectTree,
    SurTree,
    SurTreeCV,
    Tuning,
    correct_effects,
    evaluate,
    heterogeneity_test,
    write_report,
)
from surtree.datasets import load_gbsg2, load_melanoma, load_rossi
from surtree.export import export_leaves, export_methods
from surtree.plot import plot_channels


@pytest.fixture
def model():
    return SurTree(max_depth=2).fit(*load_gbsg2())


def page_of(model, tmp_path, **options):
    return write_report(model, tmp_path / "report.html", **options).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def tested():
    X, y = load_rossi()
    aid = X.pop("financial_aid")
    model = EffectTree(max_depth=1).fit(X, y, aid)
    model.heterogeneity_ = heterogeneity_test(model, X, y, aid, n_draws=99)
    model.correction_ = correct_effects(model, X, y, aid, n_repeats=1)
    return model


def test_a_loaded_trial_says_that_effects_do_not_differ(tested, tmp_path):
    tested.save(tmp_path / "model.json")
    model = EffectTree.load(tmp_path / "model.json")
    methods = export_methods(model)
    p_value = f"p = {model.heterogeneity_.p_value:.3g}"
    assert f"and one prognosis, {p_value}) found no evidence that the effect differs" in methods
    assert "yes over no 0.7" in methods
    assert "of the differences between leaves are to be expected in new data" in methods
    assert "the reference is no;" in methods
    verdict = f"No evidence that the effect differs between rows ({p_value}, 99 draws)."
    page = page_of(model, tmp_path)
    assert verdict in page
    assert "the hazard of an arm over that of no," in page
    # What may be chance comes after what says so, and is folded; the page opens with it.
    opening = page[page.index('<p class="lead">') :]
    assert opening.startswith(f'<p class="lead"><strong>{verdict}')
    assert "Use this effect for everybody" in opening[: opening.index("Yes-or-no questions")]
    assert "Does the effect differ?</h2>" in page
    assert "How well does it predict?" not in page
    assert page.index(verdict) < page.index("<details><summary>The arms of each leaf")
    folded = page[page.index("<summary>The arms of each leaf") :]
    assert "leaf A" in folded[: folded.index("</details>")]
    one = model.correction_.leaves[0]
    words = " ".join(re.sub("<[^>]+>", " ", page).split())
    assert f"A yes {one.ratio:.3g} {one.corrected:.3g} " in words
    assert verdict in export_leaves(model)
    assert verdict.rstrip(".") in model._repr_html_()
    assert export_methods(model) == export_methods(tested)
    assert export_leaves(model) == export_leaves(tested)


def test_a_table_of_an_untested_trial_says_so(tested):
    assert "holds no test of whether the effect differs" in export_leaves(tested.tree_)


def test_kept_horizons_are_those_of_tables_pages_and_evaluations(model, tmp_path):
    X, y = load_gbsg2()
    model.horizons_, model.time_unit_ = (1825, 365), "days"
    model.save(tmp_path / "model.json")
    for one in (model, SurTree.load(tmp_path / "model.json")):
        heads = export_leaves(one).splitlines()[0]
        assert "survival at 365 days" in heads
        assert "survival at 1825 days" in heads
        assert "survival at 1000" not in heads
        assert "survival at 700 days" in export_leaves(one, horizons=[700]).splitlines()[0]
        assert "survival at" not in export_leaves(one, horizons=[]).splitlines()[0]
        assert "1825" in page_of(one, tmp_path)
        assert "1825" not in page_of(one, tmp_path, horizons=[700])
        found = evaluate(one, X, y, n_bootstraps=2)
        assert found.horizons == (365, 1825)
        assert "survival at 1825 days: predicted, observed" in str(found)
        assert "predicted - observed survival at 365 days" in str(found)
        assert evaluate(one, X, y, n_bootstraps=2, horizons=[700]).horizons == (700,)


def test_a_horizon_that_new_rows_were_not_followed_up_to_is_left_out(model):
    X, y = load_gbsg2()
    model.horizons_ = (365, 1825)
    early = y["time"] < 1000
    assert evaluate(model, X[early], y[early], n_bootstraps=2).horizons == (365,)
    model.horizons_ = (1825,)
    median = np.median(y["time"][early & y["event"]])
    assert evaluate(model, X[early], y[early], n_bootstraps=2).horizons == (median,)


def test_lazy_rows_are_evaluated_at_kept_horizons(model, tmp_path):
    X, y = load_gbsg2()
    model.horizons_ = (365, 1825)
    file = tmp_path / "rows.parquet"
    X.assign(died=y["event"], days=y["time"]).to_parquet(file)
    assert evaluate(model, str(file), ("died", "days")).horizons == (365, 1825)


def test_evaluate_says_no_condition_that_a_later_one_implies():
    X = np.arange(40.0)[:, None]
    y = np.ones(40, dtype=bool), np.repeat([8.0, 4.0, 2.0, 1.0], 10)
    model = SurTree(max_depth=2, n_thresholds=None, min_support=0.0).fit(X, y)
    assert [len(rule.conditions) for rule in model.tree_.rules()] == [2, 2, 2, 2]
    rules = [leaf.rule for leaf in evaluate(model, X, y, n_bootstraps=2).leaves]
    assert rules == [
        "x0 <= 9.5",
        "x0 <= 19.5 and x0 > 9.5",
        "x0 > 19.5 and x0 <= 29.5",
        "x0 > 29.5",
    ]
    assert rules == [
        line.split(" | ")[1].replace(", ", " and ").replace("\\", "")
        for line in export_leaves(model).splitlines()[2 : 2 + len(rules)]
    ]


def test_a_rule_below_which_no_value_is_missing_implies_one_that_sends_them_elsewhere():
    X = np.r_[np.arange(40.0), np.full(10, np.nan)][:, None]
    y = np.ones(50, dtype=bool), np.repeat([8.0, 4.0, 2.0, 1.0, 1.0], 10)
    model = SurTree(max_depth=2, n_thresholds=None, min_support=0.0).fit(X, y)
    paths = [rule.conditions for rule in model.tree_.rules()]
    assert paths[0] == ("x0 <= 19.5", "x0 <= 9.5")
    assert paths[-1] == ("x0 > 19.5 or missing", "x0 > 29.5 or missing")
    rules = [leaf.rule for leaf in evaluate(model, X, y, n_bootstraps=2).leaves]
    assert rules[0] == "x0 <= 9.5"
    assert rules[-1] == "x0 > 29.5 or missing"


def test_a_search_passes_on_what_it_is_told(tmp_path):
    search = SurTreeCV(max_depth=1, cv=2, shrinkage=1.0).fit(*load_gbsg2())
    search.horizons_, search.time_unit_ = (700,), "days"
    assert search.best_estimator_.horizons_ == (700,)
    assert "survival at 700 days" in export_leaves(search)
    search.save(tmp_path / "model.json")
    assert SurTree.load(tmp_path / "model.json").horizons_ == [700]
    with pytest.raises(AttributeError, match="not fitted"):
        SurTreeCV().horizons_ = (700,)


def test_names_of_causes_are_on_pages_in_tables_and_in_pictures(tmp_path):
    X, y = load_melanoma()
    search = CompetingRisksTreeCV(max_depth=1, cv=2).fit(X, y)
    search.cause_names_ = {1: "melanoma", 2: "other causes"}
    search.save(tmp_path / "model.json")
    for model in (search, CompetingRisksTree.load(tmp_path / "model.json")):
        methods = export_methods(model)
        assert "57 of melanoma and 14 of other causes" in methods
        assert "summed over melanoma, other causes." in methods
        assert "Wolbers' C of melanoma" in methods
        heads = export_leaves(model).splitlines()[0]
        assert "other causes: relative risk" in heads
        assert "melanoma: incidence by" in heads
        page = page_of(model, tmp_path)
        assert "melanoma: concordance (Wolbers" in page
        assert "other causes: concordance (Wolbers" in page
        for text in (methods, heads, page):
            assert "cause 1" not in text
        ax = plot_channels(model)
        assert "melanoma" in [text.get_text() for text in ax.get_legend().get_texts()]
    search.best_estimator_.fit(X, y)
    assert search.cause_names_ is None


def test_methods_say_whether_and_how_size_and_shrinkage_were_chosen(model):
    X, y = load_gbsg2()
    given = "Size and shrinkage were parameters of the fit; surtree did not tune them."
    assert given in export_methods(model)
    model.surtree_version_ = None  # as in files that keep no scores
    assert "Whether size and shrinkage were tuned is not recorded." in export_methods(model)
    grid = GridSearchCV(SurTree(max_depth=1), {"shrinkage": [0.0, 1.0]}, cv=2).fit(X, y)
    assert "Parameters were chosen by GridSearchCV." in export_methods(grid)
    one = SurTreeCV(max_depth=1, cv=2, shrinkage=1.0).fit(X, y)
    assert "The number of splits and the depth were chosen" in export_methods(one)
    folds = [(np.arange(343), np.arange(343, 686)), (np.arange(343, 686), np.arange(343))]
    drawn = SurTreeCV(max_depth=1, cv=folds).fit(X, y)
    assert "(2 folds; trees of up to depth 1" in export_methods(drawn)


def test_folds_that_were_not_completed_are_said_of_a_loaded_model(tmp_path):
    search = SurTreeCV(max_depth=1, cv=2, shrinkage=1.0).fit(*load_gbsg2())
    search.tuning_ = Tuning((1.0,), stratified=True, status="time_limit")
    search.save(tmp_path / "model.json")
    loaded = SurTree.load(tmp_path / "model.json")
    said = "In cross-validation, the time limit ended the search at least once."
    assert said in export_methods(loaded)
    assert said in page_of(loaded, tmp_path)

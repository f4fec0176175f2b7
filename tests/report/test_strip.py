"""The verdict below the title: three chips, the worst first, on the first screen of a phone."""

import pytest

from surtree import EffectTree, SurTree, SurTreeCV, validate
from surtree.datasets import load_gbsg2, load_rossi
from surtree.heuristics import GreedyTree
from surtree.report import write_report

X, Y = load_gbsg2(backend="pandas")


def chips(page):
    """Return what is said of each subject, in the order of the page."""
    links = page.locator(".strip a")
    return {
        one.locator("span").text_content(): (
            one.get_attribute("data-kind"),
            one.locator("b").text_content(),
            one.get_attribute("href"),
        )
        for one in links.all()
    }


@pytest.fixture
def page_of(tmp_path, visit):
    def write_and_open(model, **options):
        return visit(write_report(model, tmp_path / "page.html"), **options)

    return write_and_open


def test_a_proven_tree_that_nobody_validated_says_so_first(page_of):
    found = chips(page_of(SurTree(max_depth=2).fit(X, Y)))
    assert list(found) == ["On new data", "In other samples", "On these rows"]
    assert found["On new data"] == ("unknown", "Not validated", "#validation")
    assert found["On these rows"] == ("good", "Proven optimal", "#certificate")


def test_a_validated_tree_has_its_verdict_and_its_concordance(page_of):
    model = SurTree(max_depth=2, shrinkage=10).fit(X, Y)
    model.validation_ = validate(model, X, Y, n_bootstraps=20, random_state=0)
    page = page_of(model)
    found = chips(page)
    assert found["On new data"][:2] == ("good", "Predicts new data better than no tree")
    assert (
        f"{model.validation_['concordance'].value:.2f} (" in page.locator(".strip").text_content()
    )
    rare = sum(leaf.words == "rarely reproduced" for leaf in model.validation_.leaves)
    says = f"{rare} of 4 groups rarely reproduced" if rare else "All groups reproduced"
    assert found["In other samples"][1].startswith(says)
    assert found["In other samples"][0] == ("doubt" if rare else "good")


def test_a_search_has_its_held_out_score(page_of):
    page = page_of(SurTreeCV(max_depth=1).fit(X, Y))
    text = page.locator(".strip").text_content()
    assert "concordance (Harrell's C) 0." in text


def test_a_heuristic_and_an_unfinished_search_are_not_proven(page_of):
    assert chips(page_of(GreedyTree(max_depth=2).fit(X, Y)))["On these rows"][0] == "unknown"
    with pytest.warns(UserWarning, match="time limit"):
        late = SurTree(max_depth=6, n_thresholds=None, time_limit=0.2).fit(X, Y)
    found = chips(page_of(late))
    assert next(iter(found)) == "On these rows"
    assert found["On these rows"][0] == "doubt"


def test_effects_that_nobody_tested_say_so(page_of):
    table, y = load_rossi(backend="pandas")
    model = EffectTree(max_depth=1, min_events_arm=5).fit(table, y, "financial_aid")
    found = chips(page_of(model))
    assert found["Do effects differ?"][:2] == ("unknown", "Not tested")


def test_a_single_leaf_has_no_groups_to_find_again(page_of):
    assert "In other samples" not in chips(page_of(SurTree(max_depth=0).fit(X, Y)))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_on_the_first_screen_of_a_phone(page_of, scheme):
    page = page_of(SurTree(max_depth=2).fit(X, Y), width=390, height=844, color_scheme=scheme)
    box = page.locator(".strip").bounding_box()
    assert box["y"] + box["height"] <= 844
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_every_chip_leads_to_a_part_of_the_page(page_of):
    page = page_of(SurTree(max_depth=2).fit(X, Y))
    for link in page.locator(".strip a").all():
        assert page.locator(link.get_attribute("href")).is_visible()
        # The icon is not the only sign.
        assert link.locator("i").get_attribute("aria-hidden") == "true"

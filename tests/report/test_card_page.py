"""The page of a score card in a real browser: points add up, and nothing overflows."""

import re

import pytest

from surtree import PointsTable, SurTreeBayes, write_report
from surtree.datasets import load_gbsg2


@pytest.fixture(scope="module")
def model():
    return PointsTable().fit(*load_gbsg2(backend="pandas"))


@pytest.fixture(scope="module")
def page_of_card(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "card.html"
    return write_report(model, path, time_unit="days", horizons=[365, 1825])


def test_the_chosen_lines_add_up_to_the_prediction_of_the_model(visit, model, page_of_card):
    page = visit(page_of_card)
    answer = page.locator("#score")
    assert "6 more lines are to be chosen" in answer.inner_text()
    card = model.card_
    total = 0
    for position, column in enumerate(card):
        page.locator(f'input[name="column-{position}"]').last.check()
        total += column.points[-1]
    (survival,) = model.survival_of([total], times=[365, 1825])
    text = answer.inner_text()
    assert re.search(rf"^{total} of {card.most} points", text)
    assert f"Survival: {survival[0]:.0%} at 365 days, {survival[1]:.0%} at 1825 days" in text
    page.get_by_role("button", name="Start again").click()
    page.wait_for_function("document.getElementById('score').textContent.includes('so far')")


@pytest.mark.parametrize("width", [360, 820, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_is_wider_than_its_window(visit, page_of_card, tmp_path, width, scheme):
    average = SurTreeBayes(1, 3).fit(*load_gbsg2())
    for path in (page_of_card, write_report(average, tmp_path / "average.html")):
        page = visit(path, width=width, color_scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        ids = page.eval_on_selector_all("[id]", "all => all.map(one => one.id)")
        assert len(ids) == len(set(ids))


def test_names_of_columns_are_text_on_a_page(tmp_path, visit):
    X, y = load_gbsg2(backend="pandas")
    X = X.rename(columns={"positive_nodes": "<script>alert(1)</script>"})
    for model in (PointsTable().fit(X, y), SurTreeBayes(1, 2).fit(X, y)):
        page = visit(write_report(model, tmp_path / f"{type(model).__name__}.html"))
        assert "<script>alert(1)</script>" in page.inner_text("main")

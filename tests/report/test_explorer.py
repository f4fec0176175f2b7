"""The explorer of a report in a real browser: swap, undo, keep, one person; and its data."""

import json
import re

import pytest

from surtree import CompetingRisksTree, SurTree, near_optimal, question_swaps, validate
from surtree.datasets import load_gbsg2, load_melanoma
from surtree.report import write_report

PROGESTERONE = "progesterone_receptor > 26"


@pytest.fixture(scope="module")
def explored(tmp_path_factory):
    X, y = load_gbsg2(backend="pandas")
    model = SurTree(max_depth=3, max_splits=5, shrinkage=1).fit(X, y)
    model.validation_ = validate(model, X, y, n_bootstraps=4, random_state=1)
    swaps = question_swaps(model, X, y, horizon=1095, n_folds=2)
    directory = tmp_path_factory.mktemp("explorer")
    plain = write_report(model, directory / "plain.html", time_unit="days")
    page = write_report(model, directory / "page.html", time_unit="days", swaps=swaps)
    return model, X, swaps, page, plain


def data_of(page):
    text = page.read_text(encoding="utf-8")
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.S).group(1))


def swap_first(page, rule=PROGESTERONE):
    page.locator("#explore-tree .ask").first.click()
    page.locator(".swaps button", has_text=rule).click()


def test_a_page_without_swaps_has_no_explorer(explored):
    *_, plain = explored
    text = plain.read_text()
    assert 'id="explore"' not in text
    assert "drawExplorer" not in text
    assert data_of(plain)["explorer"] is None


def test_the_explorer_is_small_and_has_no_rows(explored):
    *_, swaps, page, plain = explored
    assert page.stat().st_size - plain.stat().st_size < 90_000
    data = data_of(page)["explorer"]
    assert set(data) == {
        *("horizon", "rows", "folds", "best", "proven", "trees", "nodes", "questions"),
        *("samples", "columns", "near"),
    }
    assert sum(len(node["swaps"]) for node in data["nodes"]) == len(swaps.swaps)
    assert len(data["trees"]) <= len(swaps.swaps) + len(data["near"]["trees"])


def test_a_swap_shows_its_tree_and_its_cost(explored, visit):
    _, _, swaps, page, _ = explored
    shown = visit(page)
    now = shown.locator("#explore-now")
    assert "the best one, proven" in now.text_content()
    assert "0 %" in now.text_content()
    swap_first(shown)
    for text in (f"asks {PROGESTERONE}", "+1.7 %", "159", "standard error"):
        assert text in now.text_content()
    chosen = swaps.at("")[1]
    questions = {cut.rule for cut in chosen.tree.cuts}
    asked = shown.locator("#explore-tree .ask > b, #explore-tree p.ask").all_text_contents()
    assert {text.rstrip("?") for text in asked} == questions
    leaves = shown.locator("#explore-tree .end small").all_text_contents()
    counts = {f"{n} rows" for n in chosen.tree.n_samples[chosen.tree.leaves]}
    assert {text.split(",")[0] for text in leaves} == counts


def test_every_cost_moved_row_and_share_of_samples_is_listed(explored, visit):
    model, _, swaps, page, _ = explored
    shown = visit(page)
    shown.locator("#explore-tree .ask").first.click()
    lines = shown.locator(".swaps button").all_text_contents()
    first = {one.name: one.first for one in model.validation_.columns}
    assert len(lines) == len(swaps.at(""))
    for line, swap in zip(lines, swaps.at(""), strict=True):
        assert swap.cut.rule in line
        share = "0 %" if swap.share == 0 else f"+{100 * swap.share:.1f} %"
        assert share in line
        assert swap.n_moved == 0 or f"{swap.n_moved} of 686 rows moved" in line
        assert f"asked first in {first.get(swap.cut.name, 0):.0%} of 4 samples" in line
        if swap.n_moved:
            sure = abs(swap.difference) > swap.standard_error
            assert ("by more than one standard error" in line) is sure


def test_undo_back_and_keep(explored, visit):
    shown = visit(explored[3])
    names = ("Undo", "Back to the best tree", "Keep this tree")
    undo, back, keep = (shown.get_by_role("button", name=name, exact=True) for name in names)
    assert [button.is_disabled() for button in (undo, back, keep)] == [True] * 3
    swap_first(shown)
    keep.click()
    assert keep.is_disabled()
    kept = shown.locator("#explore-kept tbody tr")
    assert kept.count() == 2
    assert "+1.7 %" in kept.nth(1).text_content()
    back.click()
    assert "the best one" in shown.locator("#explore-now").text_content()
    undo.click()
    assert "+1.7 %" in shown.locator("#explore-now").text_content()
    undo.click()
    assert undo.is_disabled()
    shown.get_by_role("button", name=f"Show {PROGESTERONE}").click()
    assert "+1.7 %" in shown.locator("#explore-now").text_content()


def test_it_is_used_by_keys_and_named_for_screen_readers(explored, visit):
    shown = visit(explored[3])
    ask = shown.locator("#explore-tree .ask").first
    ask.focus()
    assert ask.get_attribute("aria-expanded") == "false"
    shown.keyboard.press("Enter")
    assert shown.evaluate("document.activeElement.getAttribute('aria-expanded')") == "true"
    shown.keyboard.press("Tab")
    shown.keyboard.press("Tab")
    shown.keyboard.press("Space")
    assert "+1.7 %" in shown.locator("#explore-now").text_content()
    # The button that was used is there no more: its split has the focus.
    assert shown.evaluate("document.activeElement.dataset.path") == ""
    pressed = shown.locator('.swaps button[aria-pressed="true"]')
    assert PROGESTERONE in pressed.text_content()
    assert shown.locator("#explore-now").get_attribute("role") == "status"
    slider = shown.get_by_role("slider", name=re.compile("^positive_nodes"))
    slider.focus()
    before = slider.get_attribute("aria-valuetext")
    shown.keyboard.press("ArrowRight")
    assert slider.get_attribute("aria-valuetext") != before
    for element in shown.locator("#explore button, #explore input").all():
        assert element.evaluate("e => (e.labels?.[0] ?? e).textContent.trim()")
    identities = shown.locator("[id]").evaluate_all("all => all.map((one) => one.id)")
    assert len(set(identities)) == len(identities)


def place_of(column, value):
    if "values" in column:
        return column["values"].index(str(value))
    return sum(value > threshold for threshold in column["thresholds"])


@pytest.mark.parametrize("row", [0, 5, 33])
def test_a_person_gets_what_the_package_predicts(explored, visit, row):
    model, X, swaps, page, _ = explored
    shown, one = visit(page), X.iloc[[row]]
    columns = data_of(page)["explorer"]["columns"]
    for number, column in enumerate(columns):
        place = place_of(column, one[column["name"]].item())
        shown.locator(f"#person-{number}").evaluate(
            "(e, v) => { e.value = v; e.dispatchEvent(new Event('input')); }", place
        )

    def survival(tree):
        leaf = int(tree.apply(one)[0])
        return tree.outcome.group(leaf).curve(None).survival(1095.0)

    text = shown.locator("#person-says").text_content()
    assert text.startswith(f"{round(100 * float(survival(model.tree_)))}% survival at 1095 days")
    near = [survival(tree) for tree in near_optimal(model, X, load_gbsg2()[1], within=0.05).trees]
    assert "Of the 20 trees within 5 % of the best: " in text
    low, high = (round(100 * float(end)) for end in (min(near), max(near)))
    assert (f"all say {low}%" if low == high else f"{low}% to {high}%") in text
    swap_first(shown)
    moved = f"{round(100 * float(survival(swaps.at('')[1].tree)))}% survival"
    assert shown.locator("#person-says").text_content().startswith(moved)


def test_a_reversal_is_said_of_the_person_who_has_it(explored, visit):
    shown = visit(explored[3])
    columns = [column["name"] for column in data_of(explored[3])["explorer"]["columns"]]
    slider = shown.locator(f"#person-{columns.index('progesterone_receptor')}")
    turns = shown.locator(f"#person-row-{columns.index('positive_nodes')} .turns")
    thresholds = data_of(explored[3])["explorer"]["columns"][
        columns.index("progesterone_receptor")
    ]["thresholds"]
    told = []
    for place in range(len(thresholds) + 1):
        slider.evaluate("(e, v) => { e.value = v; e.dispatchEvent(new Event('input')); }", place)
        told.append(bool(turns.text_content()))
    above = [-1.0, *thresholds]
    assert told == [26 <= low < 83 for low in above]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280, 1440])
def test_nothing_runs_out_of_the_page(explored, visit, width, scheme):
    shown = visit(explored[3], width=width, color_scheme=scheme)
    swap_first(shown)
    shown.get_by_role("button", name="Keep this tree").click()
    assert shown.evaluate("document.documentElement.scrollWidth <= innerWidth")
    hidden = shown.locator("#explore button:visible").evaluate_all(
        "all => all.filter((one) => one.scrollWidth > one.clientWidth + 1).length"
    )
    assert hidden == 0


def test_print_has_the_tree_and_no_buttons(explored, visit):
    shown = visit(explored[3])
    shown.emulate_media(media="print")
    assert shown.locator("#explore-tree .end").first.is_visible()
    assert not shown.get_by_role("button", name="Undo").is_visible()


def test_missing_values_names_and_causes(tmp_path, visit):
    X, y = load_melanoma(backend="pandas")
    model = CompetingRisksTree(max_depth=2, min_events_leaf=5).fit(X, y)
    swaps = question_swaps(model, X, y)
    labels = {"thickness": "<thickness>"}
    shown = visit(write_report(model, tmp_path / "page.html", swaps=swaps, labels=labels))
    assert "<thickness>" in shown.locator("#explore-tree .ask").first.text_content()
    shown.locator("#explore-tree .ask").first.click()
    assert shown.locator(".swaps li").count() == len(swaps.at(""))


def test_a_single_leaf_has_nothing_to_explore(tmp_path, visit):
    X, y = load_gbsg2(backend="pandas")
    model = SurTree(max_depth=0).fit(X, y)
    swaps = question_swaps(model, X, y)
    shown = visit(write_report(model, tmp_path / "page.html", swaps=swaps))
    assert shown.locator("#explore-tree .end").count() == 1

"""Several swaps in a page: from lists of trees, or by its own search, compared with the package."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from surtree import CompetingRisksTree, SurTree, force_questions, question_swaps
from surtree.datasets import load_gbsg2, load_melanoma
from surtree.report import write_report
from surtree.report._explore import CASCADE, FEWEST_ROWS

RULES = {"progesterone": "progesterone_receptor > 26", "hormone": "hormone_therapy is no"}
# Splits of the tree in the page, with the gain of every question there, as numbers of the package.
PRICES = """(path) => {
  const keep = {};
  let node = chosen.solved;
  for (const [kept, cut] of Object.entries(chosen.keep)) {
    if (!kept.startsWith(path)) keep[kept] = cut;
  }
  for (let k = 0; k < path.length; k += 1) {
    keep[path.slice(0, k)] = node.cut;
    node = node.sides["ny".indexOf(path[k])];
  }
  const prices = solver.prices(chosen.solved, path, keep);
  return prices.map((gain) => (Number.isFinite(gain) ? (solver.best - gain) : null));
}"""


def rows_page(model, X, y, path, **more):
    swaps = question_swaps(model, X, y, **more)
    with pytest.warns(UserWarning, match="The page holds the answers, the event"):
        write_report(model, path, time_unit="days", swaps=swaps, explore="rows")
    return swaps


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    X, y = load_gbsg2(backend="pandas")
    model = SurTree(max_depth=3, max_splits=5, shrinkage=1).fit(X, y)
    swaps = question_swaps(model, X, y, horizon=1095)
    directory = tmp_path_factory.mktemp("search")
    pages = {}
    for explore in ("swaps", "cascades"):
        page = write_report(model, directory / f"{explore}.html", swaps=swaps, explore=explore)
        pages[explore] = page
    pages["rows"] = directory / "rows.html"
    with pytest.warns(UserWarning, match="Give it only to who may see the table"):
        write_report(model, pages["rows"], swaps=swaps, explore="rows")
    return model, X, y, swaps, pages


def swap(shown, path, rule):
    ask = shown.locator(f'#explore-tree [data-path="{path}"]')
    if ask.get_attribute("aria-expanded") == "false":
        ask.click()
    shown.locator(".swaps button", has=shown.get_by_text(rule, exact=True)).click()


def open_rows(visit, page):
    shown = visit(page)
    shown.wait_for_function("solver?.survival")
    return shown


@pytest.mark.parametrize("explore", ["cascades", "rows"])
def test_two_swaps_are_those_of_the_package(trial, visit, explore):
    model, X, y, swaps, pages = trial
    shown = open_rows(visit, pages["rows"]) if explore == "rows" else visit(pages[explore])
    swap(shown, "", RULES["progesterone"])
    first = next(one for one in swaps.at("") if one.cut.rule == RULES["progesterone"])
    second = {
        (one.path, one.cut.rule): one
        for one in swaps.after(first)
        if explore == "rows" or one.tree.n_samples[one.tree.leaves].min() >= FEWEST_ROWS
    }
    for path in {path for path, _ in second}:
        shown.locator(f'#explore-tree [data-path="{path}"]').click()
        lines = shown.locator(".swaps button").all_text_contents()
        listed = [one for (at, _), one in second.items() if at == path]
        assert len(lines) == len(listed)
        for one in listed:
            (line,) = (text for text in lines if text.startswith(one.cut.rule))
            assert (f"+{100 * one.share:.1f} %" if one.share else "0 %") in line
            assert f"{one.n_moved} of 686 rows moved" in line
    swap(shown, "y", RULES["hormone"])
    now = shown.locator("#explore-now").text_content()
    expected = second["y", RULES["hormone"]]
    assert f"+{100 * expected.share:.1f} %" in now
    assert "2 questions of your choice" in now
    counts = sorted(f"{n} rows" for n in expected.tree.n_samples[expected.tree.leaves])
    leaves = shown.locator("#explore-tree .end small").all_text_contents()
    assert sorted(text.split(",")[0] for text in leaves) == counts
    survival = expected.tree.outcome.group(int(expected.tree.leaves[0])).curve(None).survival(1095)
    shares = shown.locator("#explore-tree .end b").all_text_contents()
    assert f"{100 * survival:.0f}%" in shares
    forced = force_questions(model, X, y, at=dict(expected.keeps))
    assert forced.relative_cost == pytest.approx(expected.share)
    shown.get_by_role("button", name="Keep this tree").click()
    kept = shown.locator("#explore-kept tbody tr").nth(1).text_content()
    assert f"{RULES['progesterone']}, asked of all rows; {RULES['hormone']}" in kept
    # The first question anew: what was chosen below it is dropped.
    swap(shown, "", "estrogen_receptor > 8")
    assert "+7.2 %" in shown.locator("#explore-now").text_content()
    assert "2 questions" not in shown.locator("#explore-now").text_content()
    for cost in (f"+{100 * expected.share:.1f} %", "+1.7 %", "the best one, proven"):
        shown.get_by_role("button", name="Undo").click()
        assert cost in shown.locator("#explore-now").text_content()


def test_a_cascade_has_no_rows_and_no_small_leaves(trial):
    *_, swaps, pages = trial
    text = pages["cascades"].read_text(encoding="utf-8")
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.S).group(1))["explorer"]
    assert "solver" not in data
    assert "Private" not in text
    followed = [one for node in data["nodes"] for one in node["swaps"] if "next" in one]
    assert len(followed) == sum(0 < one.share <= CASCADE for one in swaps.swaps)

    def least(node):
        return node[0] if len(node) == 4 else min(least(node[1]), least(node[2]))

    seconds = [one for first in followed for of in first["next"].values() for one in of]
    assert min(least(data["trees"][one["tree"]]) for one in seconds) >= FEWEST_ROWS
    assert pages["cascades"].stat().st_size - pages["swaps"].stat().st_size < 250_000


def test_the_page_says_that_it_is_private(trial, visit):
    shown = open_rows(visit, trial[-1]["rows"])
    assert "every row of the table" in shown.locator("#explore .private").text_content()
    for page in ("swaps", "cascades"):
        assert visit(trial[-1][page]).locator(".private").count() == 0


def small_tables():
    rng = np.random.default_rng(5)
    n = 120
    X = pd.DataFrame({"a": rng.normal(size=n).round(1), "b": rng.integers(0, 4, n).astype(float)})
    X["c"] = np.array(["u", "v", "w"])[rng.integers(0, 3, n)]
    X["d"] = rng.random(n) < 0.4
    X.loc[rng.random(n) < 0.2, "a"] = np.nan
    y = np.empty(n, dtype=[("event", bool), ("time", float)])
    y["time"] = rng.exponential(np.exp(-0.7 * (X["b"] > 1) - 0.5 * X["d"])).round(2) + 0.01
    y["event"] = rng.random(n) < 0.7
    weight = rng.choice([0.5, 1.0, 2.5], n)
    yield "deep", {"max_depth": 3}, X, y, None
    yield "prior", {"max_depth": 3, "max_splits": 4, "shrinkage": 2.0}, X, y, weight
    yield "limits", {"max_depth": 3, "min_samples_leaf": 9, "min_events_leaf": 4}, X, y, None
    yield "two", {"max_depth": 2, "min_samples_leaf": 5}, X, y, weight
    yield "one", {"max_depth": 1}, X, y, None


@pytest.mark.parametrize("case", list(small_tables()), ids=lambda case: case[0])
def test_every_price_of_the_page_is_that_of_the_package(case, visit, tmp_path):
    _, settings, X, y, weight = case
    model = SurTree(n_thresholds=4, **settings).fit(X, y, sample_weight=weight)
    swaps = rows_page(model, X, y, tmp_path / "page.html", sample_weight=weight)
    shown = open_rows(visit, tmp_path / "page.html")
    questions = swaps._swapper.number
    scale = model.tree_.loss[0]

    def compare(costs, first_path=None):
        for node in costs.nodes:
            if first_path is not None and first_path.startswith(node.path):
                continue
            priced = {questions[one.cut]: one.cost for one in node.questions}
            found = shown.evaluate(PRICES, node.path)
            assert {k for k, cost in enumerate(found) if cost is not None} == priced.keys()
            for number, cost in priced.items():
                assert found[number] == pytest.approx(cost, abs=1e-9 * scale)

    compare(swaps.costs)
    assert shown.evaluate("solver.best - solver.leaf") == pytest.approx(
        scale - model.tree_.total_loss, abs=1e-9 * scale
    )
    # And in the trees of some swaps, where others are kept.
    for node in swaps.costs.nodes:
        for number in range(min(3, len(swaps.at(node.path)))):
            shown.evaluate(
                "([path, number]) => choose(path, swapsAt(best, path)[number])", [node.path, number]
            )
            one = shown.evaluate(
                "chosen === best ? null : [explorer.questions[chosen.question].yes, chosen.share]"
            )
            if one is None:
                continue
            (asked,) = (each for each in swaps.at(node.path) if each.cut.rule == one[0])
            assert one[1] == pytest.approx(asked.share, abs=1e-9)
            compare(swaps._costs_after(asked), node.path)
            shown.evaluate("chosen = best")


def test_what_a_page_cannot_search():
    X, y = load_gbsg2(backend="pandas")
    deep = SurTree(max_depth=4, max_splits=3).fit(X, y)
    swaps = question_swaps(deep, X, y)
    with (
        pytest.warns(UserWarning, match="every row"),
        pytest.raises(ValueError, match=r"of depth 3 at most.*take explore='cascades'"),
    ):
        write_report(deep, "never.html", swaps=swaps, explore="rows")
    X, y = load_melanoma(backend="pandas")
    causes = CompetingRisksTree(max_depth=2).fit(X, y)
    with (
        pytest.warns(UserWarning, match="every row"),
        pytest.raises(ValueError, match="is for trees of one event with the curves of the base"),
    ):
        write_report(causes, "never.html", swaps=question_swaps(causes, X, y), explore="rows")
    with pytest.raises(ValueError, match=r"needs swaps=question_swaps"):
        write_report(deep, "never.html", explore="rows")
    with pytest.raises(ValueError, match="explore must be one of swaps, cascades, rows; got 'all'"):
        write_report(deep, "never.html", swaps=swaps, explore="all")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280, 1440])
def test_nothing_runs_out_of_the_page(trial, visit, width, scheme):
    shown = visit(trial[-1]["rows"], width=width, color_scheme=scheme)
    shown.wait_for_function("solver?.survival")
    swap(shown, "", RULES["progesterone"])
    swap(shown, "y", RULES["hormone"])
    shown.get_by_role("button", name="Keep this tree").click()
    assert shown.evaluate("document.documentElement.scrollWidth <= innerWidth")
    cut_off = shown.locator("#explore button:visible").evaluate_all(
        "all => all.filter((one) => one.scrollWidth > one.clientWidth + 1).length"
    )
    assert cut_off == 0

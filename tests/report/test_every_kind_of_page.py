"""Every kind of page: nothing that axe-core finds, and the verdict on the first screen."""

import warnings
from pathlib import Path

import numpy as np
import pytest

from surtree import (
    CompetingRisksTree,
    EffectTree,
    PointsTable,
    SurTree,
    SurTreeBayes,
    SurTreeCV,
    TaughtTree,
    audit_tree,
    correct_effects,
    evaluate,
    heterogeneity_test,
    question_swaps,
    risk_groups,
    validate,
)
from surtree.datasets import load_gbsg2, load_rossi
from surtree.heuristics import GreedyTree
from surtree.report import write_report

AXE = (Path(__file__).parent / "axe.min.js").read_text(encoding="utf-8")
X, Y = load_gbsg2(backend="pandas")
TRIAL = load_rossi(backend="pandas")


def _validated():
    model = SurTree(max_depth=2, shrinkage=10).fit(X, Y)
    model.validation_ = validate(model, X, Y, n_bootstraps=20, random_state=0)
    return model


def _effects(*, tested):
    table, y = TRIAL
    model = EffectTree(max_depth=2 if tested else 1, min_events_arm=5)
    model.fit(table, y, "financial_aid")
    if tested:
        model.heterogeneity_ = heterogeneity_test(model, table, y, "financial_aid", n_draws=19)
        model.correction_ = correct_effects(model, table, y, "financial_aid", n_repeats=2)
    return model


def _causes():
    second = np.random.default_rng(0).random(len(Y)) < 0.35
    cause = Y[Y.dtype.names[0]].astype(int) * (1 + second)
    return CompetingRisksTree(max_depth=2).fit(X, (cause, Y["time"]))


def _late():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return SurTree(max_depth=5, n_thresholds=None, time_limit=0.2).fit(X, Y)


def _grouped():
    model = SurTree(max_depth=2, shrinkage=1).fit(X, Y)
    model.risk_groups_ = risk_groups(model, X, Y, k=2)
    return model


def _swaps(explore="swaps"):
    def options(model):
        return {"swaps": question_swaps(model, X, Y), "explore": explore}

    return options


KINDS = {
    "tree": lambda: SurTree(max_depth=3).fit(X, Y),
    "tuned": lambda: SurTreeCV(max_depth=2, cv=3).fit(X, Y),
    "validated": _validated,
    "causes": _causes,
    "effects": lambda: _effects(tested=False),
    "tested effects": lambda: _effects(tested=True),
    "out of time": _late,
    "one leaf": lambda: SurTree(max_depth=0).fit(X, Y),
    "greedy": lambda: GreedyTree(max_depth=2).fit(X, Y),
    "audit": lambda: audit_tree(GreedyTree(max_depth=2).fit(X, Y), X, Y),
    "score card": lambda: PointsTable().fit(X, Y),
    "average": lambda: SurTreeBayes().fit(X, Y),
    "taught": lambda: TaughtTree(max_depth=2).fit(X, Y),
    "risk groups": _grouped,
    "swaps": lambda: SurTree(max_depth=3, max_splits=5, shrinkage=1).fit(X, Y),
    "cascades": lambda: SurTree(max_depth=2).fit(X, Y),
    "rows": lambda: SurTree(max_depth=2).fit(X, Y),
    "evaluation": lambda: evaluate(SurTree(max_depth=2).fit(X, Y), X, Y, n_bootstraps=20),
}
# What else `write_report` takes of them.
OPTIONS = {
    "swaps": _swaps(),
    "cascades": _swaps("cascades"),
    "rows": _swaps("rows"),
}
# What a page may weigh, in bytes: 120% of what it was before it showed arms and causes.
WEIGHTS = {"tree": 190_000, "causes": 236_000, "effects": 98_000, "one leaf": 88_000}


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    directory = tmp_path_factory.mktemp("kinds")
    written = {}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The page holds the answers", UserWarning)
        for name, make in KINDS.items():
            model = make()
            options = OPTIONS[name](model) if name in OPTIONS else {}
            written[name] = write_report(model, directory / f"{name}.html", **options)
    return written


def violations(page):
    """Return what axe-core finds, and where."""
    page.evaluate(AXE)
    return page.evaluate(
        """async () => (await axe.run()).violations.map((one) =>
             [one.id, ...one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200))])"""
    )


@pytest.mark.parametrize("name", KINDS)
def test_axe_finds_nothing_and_the_verdict_is_on_the_first_screen(visit, pages, name):
    page = visit(pages[name], width=390, height=844, color_scheme="dark")
    assert violations(page) == []
    box = page.locator(".strip").bounding_box()
    assert box["y"] + box["height"] <= 844
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    wide = visit(pages[name], width=1280, height=900, color_scheme="light")
    assert violations(wide) == []
    assert wide.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("name", WEIGHTS)
def test_a_page_has_not_grown(pages, name):
    assert pages[name].stat().st_size <= WEIGHTS[name]


def choose(page, letter):
    find = "name => Object.entries(data.leaves).find(([, leaf]) => leaf.label === name)[0]"
    leaf = page.evaluate(find, letter)
    page.locator(f'[data-node="{leaf}"] > .surtree-node').click()
    return page.locator("#detail")


def test_which_arm_is_answered_by_tree_panel_and_questionnaire(visit, pages):
    page = visit(pages["effects"])
    tree = page.locator("#tree-section").inner_text()
    assert "hazard ratio, yes over no" in tree
    assert "relative risk" not in tree
    panel = choose(page, "A").inner_text()
    assert "no\tyes" in panel.replace(" ", "\t")
    page.locator("#questions").get_by_text("yes", exact=True).click()
    answer = page.locator("#answer").inner_text()
    assert "no: survival" in answer
    assert "yes: survival" in answer
    assert "no test of whether the effect differs" in answer
    assert page.locator("#answer svg").count() == 2


def test_effects_without_evidence_are_grey_and_say_what_to_expect(visit, pages):
    page = visit(pages["tested effects"])
    dots = page.locator(".surtree-leaf .surtree-dot").evaluate_all(
        "dots => [...new Set(dots.map(dot => dot.style.getPropertyValue('--risk')))]"
    )
    assert dots == ["#8b8b8b"]
    assert "expected in new data" in choose(page, "A").inner_text()


def test_causes_are_stacked_in_tree_and_panel(visit, pages):
    page = visit(pages["causes"])
    leaf = page.locator(".surtree-leaf").first
    assert leaf.locator(".surtree-area").count() == 2
    panel = choose(page, "A")
    assert panel.locator("#curves .area").count() == 2
    assert "cause 1" in panel.inner_text()


def test_limits_of_samples_are_those_that_panel_and_tables_show(visit, pages):
    page = visit(pages["validated"])
    text = choose(page, "B").inner_text()
    assert "95% interval from other samples" in text
    assert "reproduced" in text
    known = page.evaluate("Object.values(data.leaves).map(leaf => leaf.horizons)")
    limits = page.evaluate("Object.values(data.leaves).map(leaf => leaf.limits)")
    for rows, of_leaf in zip(known, limits, strict=True):
        at = {time: (low, high) for time, low, high in of_leaf}
        for row in rows:
            assert (row["lower"], row["upper"]) == at[float(row["time"])]


def test_a_link_carries_answers(visit, pages):
    page = visit(pages["tree"])
    page.evaluate(
        """() => {
          form.querySelectorAll('input[type=number]').forEach((box) => { box.value = 5; });
          form.querySelectorAll('[data-field]').forEach((field) => {
            field.querySelector('input[type=radio]')?.click();
          });
          form.dispatchEvent(new Event('input', {bubbles: true}));
        }"""
    )
    answer = page.locator("#answer strong").inner_text()
    address = page.evaluate("linkText()")
    other = visit(pages["tree"])
    other.evaluate(
        "text => { form.reset(); location.hash = text; readLink(); select(ask().place); }", address
    )
    assert other.locator("#answer strong").inner_text() == answer


def test_tables_and_the_picture_are_files(visit, pages):
    page = visit(pages["tree"])
    for name, ending, start in (
        ("Save this picture as SVG", ".svg", "<svg"),
        ("Save the tables of this part as CSV", ".csv", '"leaf","who"'),
    ):
        with page.expect_download() as saved:
            page.get_by_role("button", name=name).first.click()
        assert saved.value.suggested_filename.endswith(ending)
        assert Path(saved.value.path()).read_text(encoding="utf-8").startswith(start)


def test_a_branch_folds_and_opens_again_for_a_chosen_group(visit, pages):
    page = visit(pages["tree"])
    leaf = page.locator(".surtree-leaf > .surtree-node").first
    page.locator('[data-node="0"] > .surtree-node').dblclick()
    assert not leaf.is_visible()
    assert page.locator('[data-node="0"]').get_attribute("aria-expanded") == "false"
    page.evaluate("select(Number(Object.keys(data.leaves)[0]))")
    assert leaf.is_visible()

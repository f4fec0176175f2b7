"""Pages in a real browser: pointing, keys, typing, widths, colours, paper, and no network."""

import re
import time

import numpy as np
import pandas as pd
import pytest

from surtree import SurTree, SurTreeCV
from surtree.datasets import load_gbsg2
from surtree.report import write_report
from surtree.report._questionnaire import UNKNOWN
from surtree.summary.wording import rule_texts
from surtree.tree.curves import leaf_curves
from surtree.tree.leaf_curve import survival_band
from surtree.words.numbers import median_text, number

NODES = "items => items.map(item => Number(item.dataset.node))"
WIDTHS = {"phone": 360, "tablet": 820, "laptop": 1280, "wide": 1920}


def node(page, place):
    return page.locator(f'[data-node="{place}"] > .surtree-node')


def detail(page, name):
    return page.locator(f"#detail-{name}").inner_text()


def shown_leaf(page):
    name = detail(page, "heading").strip().removeprefix("Leaf ")
    find = "name => Object.entries(data.leaves).find(([, leaf]) => leaf.label === name)[0]"
    return int(page.evaluate(find, name))


def selected(page):
    return page.eval_on_selector_all("[aria-selected=true]", NODES)


# Exploring.


def test_a_click_on_a_leaf_shows_its_rules_and_numbers(visit, gbsg2, page_of_gbsg2):
    tree = gbsg2[0].tree_
    page = visit(page_of_gbsg2)
    rules, paths = rule_texts(tree), tree.paths()
    outcome = tree.outcome
    for curve in leaf_curves(tree, "baseline"):
        leaf = curve.leaf
        node(page, leaf).click()
        assert detail(page, "heading").strip() == f"Leaf {tree.leaf_names[leaf]}"
        assert detail(page, "path").split("\n") == [rules[step] for step in paths[leaf][1:]]
        figures = detail(page, "figures").split("\n")
        risk, limits = figures[figures.index("relative risk") + 1 :][:2]
        low, high = outcome.together(outcome.group(leaf)).theta_limits
        if tree.n_events[leaf] == 0:
            assert (risk, limits) == (f"≤ {number(high, 3)}", "no events")
        else:
            assert risk == number(tree.theta[leaf], 3)
            assert limits == f"CI {number(low, 2)} to {number(high, 2)}"
        assert figures[figures.index("rows") + 1] == str(tree.n_samples[leaf])
        assert figures[figures.index("events") + 1] == str(tree.n_events[leaf])
        median = figures[figures.index("median survival") + 1].removesuffix(" days")
        assert median == median_text(curve.median, 3)
        assert selected(page) == [leaf]
        on_path = page.eval_on_selector_all(".on-path", NODES)
        assert on_path == list(paths[leaf])


def test_survival_at_horizons_is_exact_with_its_limits_and_the_rows_at_risk(
    visit, gbsg2, page_of_gbsg2
):
    model, X = gbsg2
    time = load_gbsg2(backend="pandas")[1]["time"]
    page = visit(page_of_gbsg2)
    for predicted, seen in zip(
        leaf_curves(model.tree_, "baseline"),
        leaf_curves(model.tree_, "kaplan-meier"),
        strict=True,
    ):
        leaf = predicted.leaf
        node(page, leaf).click()
        lower, upper = survival_band(model.tree_, leaf)
        members = time[model.apply(X) == leaf]
        # The caption, the heading, and a row for each time at which some are at risk.
        caption, heading, *rows = detail(page, "horizons").split("\n")
        assert caption == "Survival, time in days"
        assert heading.split("\t") == ["at", "predicted", "95% CI", "observed", "at risk"]
        rows = [line.split("\t") for line in rows]
        horizons = [500, 1000, 1500, 2000]
        assert [int(row[0]) for row in rows] == [t for t in horizons if np.any(members >= t)]
        for at, survival, limits, observed, at_risk in rows:
            t = float(at)
            # JavaScript rounds a half up, so each is compared by its distance.
            assert abs(float(survival[:-1]) - 100 * predicted.survival(t)) <= 0.51
            assert abs(float(observed[:-1]) - 100 * seen.survival(t)) <= 0.51
            low, high = (float(x.removesuffix("%")) for x in limits.split(" to "))
            step = np.searchsorted(model.tree_.baseline.times, t, side="right") - 1
            assert abs(low - 100 * lower[step]) <= 0.51
            assert abs(high - 100 * upper[step]) <= 0.51
            assert int(at_risk) == np.sum(members >= t)


def test_pointing_shows_a_group_and_going_away_returns_to_the_chosen_one(visit, page_of_gbsg2):
    page = visit(page_of_gbsg2)
    node(page, 4).click()
    node(page, 7).hover()
    assert shown_leaf(page) == 7
    assert selected(page) == [4]
    page.mouse.move(5, 5)
    assert shown_leaf(page) == 4


def test_a_split_shows_the_curves_of_all_leaves_below_it(visit, gbsg2, page_of_gbsg2):
    tree = gbsg2[0].tree_
    page = visit(page_of_gbsg2)
    for split in (0, 1, int(tree.right[0])):
        node(page, split).click()
        below = sum(split in path for leaf, path in enumerate(tree.paths()) if tree.is_leaf[leaf])
        assert page.locator("#curves path.high").count() == below
        assert detail(page, "horizons") == ""


def test_the_pointer_reads_the_curves(visit, gbsg2, page_of_gbsg2):
    tree = gbsg2[0].tree_
    page = visit(page_of_gbsg2)
    curve = leaf_curves(tree, "baseline")[4]
    node(page, curve.leaf).click()
    box = page.locator("#curves svg").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 50)
    said = page.locator("#readout").inner_text()
    at, percent, observed = re.search(
        r"At (\d+) days: this leaf (\d+)% \(95% CI \d+% to \d+%\), observed (\d+)%, all", said
    ).groups()
    kaplan_meier = leaf_curves(tree, "kaplan-meier")[4]
    assert abs(100 * kaplan_meier.survival(float(at)) - float(observed)) <= 1.5
    assert abs(100 * curve.survival(float(at)) - float(percent)) <= 1.5
    page.mouse.move(5, 5)
    assert page.locator("#readout").inner_text() == ""


def test_arrow_keys_move_among_the_nodes(visit, gbsg2, page_of_gbsg2):
    tree = gbsg2[0].tree_
    page = visit(page_of_gbsg2)
    page.locator('[role=treeitem][tabindex="0"]').focus()
    steps = [
        ("ArrowRight", 1),
        ("ArrowRight", 2),
        ("ArrowDown", 3),
        ("ArrowUp", 2),
        ("ArrowLeft", 1),
        ("ArrowLeft", 0),
        ("ArrowLeft", 0),
        ("End", tree.n_nodes - 1),
        ("ArrowDown", tree.n_nodes - 1),
        ("ArrowRight", tree.n_nodes - 1),
        ("Home", 0),
    ]
    for key, expected in steps:
        page.keyboard.press(key)
        focused = page.evaluate("Number(document.activeElement.dataset.node)")
        assert (key, focused) == (key, expected)
        assert selected(page) == [expected]
        assert page.locator('[role=treeitem][tabindex="0"]').count() == 1


def test_the_tree_can_be_reached_by_tab_and_every_node_has_a_name(visit, gbsg2, page_of_gbsg2):
    tree = gbsg2[0].tree_
    page = visit(page_of_gbsg2)
    for _ in range(16):  # past the menu and the verdict
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.getAttribute('role')") == "treeitem":
            break
    else:
        pytest.fail("the tree is out of reach of the Tab key")
    assert page.get_by_role("tree", name="The tree").count() == 1
    assert page.get_by_role("treeitem").count() == tree.n_nodes
    for leaf, path in enumerate(tree.paths()):
        if tree.is_leaf[leaf]:
            rule = rule_texts(tree)[leaf]
            named = page.locator(f'[data-node="{leaf}"]')
            label = named.get_attribute("aria-label")
            assert label.startswith(f"{rule}: {tree.n_samples[leaf]} rows")
            assert re.search(rf"leaf {tree.leaf_names[leaf]}, (no events: )?relative risk", label)
            assert named.get_attribute("aria-level") == str(len(path))
    for picture in page.locator("svg:visible:not([aria-hidden=true])").all():
        assert picture.get_attribute("aria-label")


# The questionnaire.


def answer(page, fields, row):
    """Fill the form as a person would."""
    for place, name in enumerate(fields):
        field, value = page.locator(f'[data-field="{place}"]'), row[name]
        missing = value is None or value != value
        box = field.locator("input[type=checkbox]")
        if field.locator("input[type=number]").count():
            if box.count():
                box.set_checked(missing)
            if not missing:
                field.locator("input[type=number]").fill(str(value))
        elif field.locator("select").count():
            field.locator("select").select_option(label=UNKNOWN if missing else str(value))
        else:
            field.get_by_text(UNKNOWN if missing else str(value), exact=True).click()


def test_typed_values_lead_to_the_leaf_that_the_model_predicts(visit, mixed):
    model, X, path = mixed
    page = visit(path)
    fields = page.evaluate("data.fields.map(field => field.name)")
    assert set(fields) == {model.tree_.cuts[i].name for i in model.tree_.cut if i >= 0}
    assert len(fields) >= 4
    rows = X[X["size"].isna()].head(3).index.union(X[X["site"].isna()].head(3).index)
    rows = rows.union(X.sample(6, random_state=0).index)
    expected = model.apply(X.loc[rows])
    for position, leaf in zip(rows, expected, strict=True):
        answer(page, fields, X.loc[position].to_dict())
        name = model.tree_.leaf_names[leaf]
        assert page.locator("#answer strong").inner_text() == f"Leaf {name}"
        assert shown_leaf(page) == leaf
        assert selected(page) == [leaf]


def test_every_row_of_the_table_is_led_to_its_leaf(visit, mixed):
    model, X, path = mixed
    page = visit(path)
    labels = page.evaluate(
        "data.fields.map((_, place) => [...document.querySelectorAll("
        "`[data-field='${place}'] .choices input, [data-field='${place}'] option`)]"
        ".map(item => [(item.label ?? item.nextElementSibling.textContent), item.value]))"
    )
    fields = page.evaluate("data.fields.map(field => field.name)")
    answers = []
    for row in X.to_dict(orient="records"):
        given = []
        for name, choices in zip(fields, map(dict, labels), strict=True):
            value = row[name]
            if value is None or value != value:
                given.append(None)
            elif choices:
                given.append(int(choices[str(value)]))
            else:
                given.append(value)
        answers.append(given)
    found = page.evaluate("answers => answers.map(given => walk(given).place)", answers)
    assert found == model.apply(X).tolist()


def test_the_answer_states_median_and_survival(visit, gbsg2, page_of_gbsg2):
    model = gbsg2[0]
    page = visit(page_of_gbsg2)
    assert page.locator("#answer").inner_text().startswith("Next: positive_nodes. So far 8 groups")
    page.locator("#field-0").type("12")
    assert "Next: progesterone_receptor" in page.locator("#answer").inner_text()
    page.get_by_role("spinbutton", name="progesterone_receptor").type("3")
    (curve,) = (c for c in leaf_curves(model.tree_, "baseline") if c.leaf == shown_leaf(page))
    said = page.locator("#answer").inner_text()
    assert f"median survival {median_text(curve.median, 3)} days" in said
    assert re.search(r"relative risk [\d.]+ \(95% CI [\d.]+ to [\d.]+\)", said)
    assert "no forecast for one person" in said
    chances = re.findall(r"(\d+)% \((\d+)% to (\d+)%\) at (\d+)", said)
    assert [int(at) for *_, at in chances] == [500, 1000, 1500]
    for percent, _, _, at in chances:
        assert abs(int(percent) - 100 * curve.survival(float(at))) <= 0.51
    # What this person need not answer is set apart.
    unneeded = page.locator(".field.unneeded").all_inner_texts()
    assert any(text.startswith("tumor_size") for text in unneeded)
    assert not any(text.startswith("positive_nodes") for text in unneeded)
    page.get_by_role("button", name="Start again").click()
    # Not wait_for_function: it evaluates texts, which the policy of the page forbids.
    page.locator("#answer", has_text="Next: positive_nodes").wait_for()
    assert selected(page) == [0]
    assert page.locator(".field.unneeded").count() == 0


def test_a_value_beyond_training_is_pointed_out(visit, page_of_gbsg2):
    page = visit(page_of_gbsg2)
    hint = page.locator("#hint-0")
    assert hint.inner_text() == "1 to 51 in training"
    page.locator("#field-0").fill("99")
    assert hint.inner_text() == "no such value in training: 1 to 51 in training"
    page.locator("#field-0").fill("50")
    assert hint.inner_text() == "1 to 51 in training"


# Names that are code.

HOSTILE = (
    "<script>window.hacked = 1</script>",
    '"><img src=x onerror="window.hacked = 1">',
    "</script><script>window.hacked = 1</script><!--",
    "${hacked} $title `${1}` &lt;b&gt; \u2028 </style>",
)


def test_names_that_are_code_are_harmless_everywhere(visit, tmp_path):
    rng = np.random.default_rng(0)
    size = 300
    X = pd.DataFrame({name: rng.normal(size=size) for name in HOSTILE[:2]})
    X[HOSTILE[2]] = rng.choice([HOSTILE[0], HOSTILE[1]], size)
    X[HOSTILE[3]] = rng.choice([HOSTILE[2], HOSTILE[3], "plain", "</svg>"], size)
    score = X[HOSTILE[0]] + X[HOSTILE[1]] + (X[HOSTILE[2]] == HOSTILE[0]) * 2
    score = score + (X[HOSTILE[3]] == HOSTILE[2]) * 3
    model = SurTree(max_depth=4).fit(X, np.exp(-score.to_numpy()) * rng.exponential(size=size))
    assert {cut.name for cut in model.tree_.cuts} == set(HOSTILE)
    for name, made in (("model", model), ("tree", model.tree_)):
        path = write_report(made, tmp_path / f"{name}.html", title=HOSTILE[0], time_unit=HOSTILE[1])
        page = visit(path)
        assert page.title() == HOSTILE[0]
        assert page.locator("h1").inner_text() == HOSTILE[0]
        for leaf in model.tree_.leaves:
            node(page, leaf).click()
            assert shown_leaf(page) == leaf
        assert page.evaluate("typeof window.hacked") == "undefined"
        assert page.locator("img, main script").count() == 0
        text = page.locator("body").inner_text()
        for name in HOSTILE[:2]:
            assert name in text


def test_the_notebook_view_is_harmless_and_draws_the_tree(visit, tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({HOSTILE[0]: rng.normal(size=80)})
    X[HOSTILE[1]] = rng.choice([HOSTILE[2], "b"], 80)
    model = SurTree(max_depth=2).fit(X, rng.exponential(size=80))
    path = tmp_path / "cell.html"
    path.write_text(
        '<!DOCTYPE html><meta charset="utf-8"><link rel="icon" href="data:,">'
        + model._repr_html_(),
        encoding="utf-8",
    )
    page = visit(path)
    assert page.evaluate("typeof window.hacked") == "undefined"
    assert page.get_by_role("treeitem").count() == model.tree_.n_nodes
    assert page.locator("svg").count() == model.tree_.n_leaves
    assert "Proven optimal" in page.locator("body").inner_text()


NOTEBOOK_STYLE = """
.jp-RenderedHTMLCommon ul:not(.list-inline), .jp-RenderedHTMLCommon ol { padding-left: 2em; }
.jp-RenderedHTMLCommon ul ul:not(.list-inline) { list-style: square; }
.jp-RenderedHTMLCommon li { list-style: disc; margin-left: 1em; }
.jp-RenderedHTMLCommon ul:not(.list-inline) { list-style: disc; margin: 1em 2em; }
"""


def test_a_notebook_draws_no_bullets_through_the_tree(visit, gbsg2, tmp_path):
    path = tmp_path / "cell.html"
    path.write_text(
        f'<!DOCTYPE html><meta charset="utf-8"><link rel="icon" href="data:,">'
        f"<style>{NOTEBOOK_STYLE}</style>"
        f'<div class="jp-RenderedHTMLCommon">{gbsg2[0]._repr_html_()}</div>',
        encoding="utf-8",
    )
    page = visit(path, width=900)
    for selector in ("ul", "li"):
        styles = page.eval_on_selector_all(
            selector, "items => items.map(item => getComputedStyle(item).listStyleType)"
        )
        assert set(styles) == {"none"}, selector
    assert overlapping(page) == []
    # The lists are as far in as in the report, whatever the notebook wants.
    left = page.eval_on_selector_all(
        ".surtree-tree > li > ul", "items => getComputedStyle(items[0]).paddingLeft"
    )
    assert float(left.removesuffix("px")) < 20


# Screens, colours, paper.


def overlapping(page):
    """Return pairs of leaves that lie over each other, and texts that leave their node."""
    return page.evaluate(
        """() => {
        const boxes = [...document.querySelectorAll('.surtree-leaf > .surtree-node')];
        const found = [];
        const rect = (item) => item.getBoundingClientRect();
        boxes.forEach((one, i) => boxes.slice(i + 1).forEach((other) => {
          const [a, b] = [rect(one), rect(other)];
          if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
              && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1) found.push('nodes');
        }));
        for (const box of document.querySelectorAll('.surtree-node')) {
          const parts = [...box.children].map(rect);
          parts.forEach((a, i) => parts.slice(i + 1).forEach((b) => {
            if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
                && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1) {
              found.push(box.textContent);
            }
          }));
          for (const part of box.children) {
            if (part.clientWidth && part.scrollWidth > part.clientWidth + 1) found.push('cut off');
          }
        }
        return found;
      }"""
    )


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
@pytest.mark.parametrize("which", ["gbsg2", "mixed", "deep"])
def test_nothing_is_cut_off_or_overlaps_on_any_screen(
    visit, which, width, page_of_gbsg2, mixed, deep
):
    path = {"gbsg2": page_of_gbsg2, "mixed": mixed[2], "deep": deep}[which]
    page = visit(path, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert overlapping(page) == []
    lies_on_its_side = page.locator(".surtree-tree.wide").count() == 1
    if which == "gbsg2":
        assert lies_on_its_side is (width >= 1280)


def test_on_a_phone_a_tap_opens_a_sheet_that_can_be_closed(visit, page_of_gbsg2):
    page = visit(page_of_gbsg2, width=360, height=740, has_touch=True, is_mobile=True)
    sheet = page.locator("#detail")
    assert not sheet.is_visible()
    node(page, 4).tap()
    page.wait_for_timeout(300)
    assert sheet.is_visible()
    assert shown_leaf(page) == 4
    card, cover = node(page, 4).bounding_box(), sheet.bounding_box()
    assert card["y"] >= 0
    assert card["y"] + card["height"] <= cover["y"]
    page.get_by_role("button", name="Close").tap()
    page.wait_for_timeout(300)
    assert not sheet.is_visible()
    node(page, 7).tap()
    page.keyboard.press("Escape")
    page.wait_for_timeout(300)
    assert not sheet.is_visible()


def luminance(colour):
    channels = np.array([float(x) for x in re.findall(r"[\d.]+", colour)[:3]]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_light_and_dark(visit, page_of_gbsg2, scheme):
    page = visit(page_of_gbsg2, color_scheme=scheme)
    page.locator("#field-0").fill("99")
    paper = luminance(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert (paper > 0.5) is (scheme == "light")
    texts = ("h1", ".lead", ".note", "nav a", "#hint-0", ".answer p", "dt", "dd small", "summary")
    for selector in texts:
        colour, background = page.locator(selector).first.evaluate(
            """item => {
              let behind = item;
              const colour = getComputedStyle(item).color;
              while (getComputedStyle(behind).backgroundColor === 'rgba(0, 0, 0, 0)') {
                behind = behind.parentElement;
              }
              return [colour, getComputedStyle(behind).backgroundColor];
            }"""
        )
        light, dark = sorted((luminance(colour), luminance(background)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, selector


def test_the_curves_of_all_rows_are_told_apart(visit, gbsg2, page_of_gbsg2):
    tree = gbsg2[0].tree_
    page = visit(page_of_gbsg2)
    names = page.locator("#curves .end").all_text_contents()
    assert sorted(names) == sorted(["all", *tree.leaf_names.values()])
    boxes = [item.bounding_box() for item in page.locator("#curves .end").all()]
    for place, one in enumerate(boxes):
        for other in boxes[place + 1 :]:
            # Digits are nine pixels high; the box of a text is larger, with a rim.
            apart = abs(one["y"] - other["y"])
            beside = min(one["x"] + one["width"], other["x"] + other["width"])
            beside -= max(one["x"], other["x"])
            assert apart > 10 or beside < 5
    assert max(box["x"] + box["width"] for box in boxes) <= page.viewport_size["width"]
    numbers = page.locator(".surtree-number").all_text_contents()
    assert numbers == list(tree.leaf_names.values())


def test_a_leaf_shows_what_was_observed_and_where_follow_up_ends(visit, gbsg2, page_of_gbsg2):
    page = visit(page_of_gbsg2)
    node(page, 13).click()
    for selector in (".observed", ".censored", ".band"):
        assert page.locator(f"#curves {selector}").count() == 1, selector
    last = page.evaluate("data.leaves[13].last")
    assert last < page.evaluate("data.end")
    curve = page.locator("#curves .high").bounding_box()
    whole = page.locator("#curves .everyone").bounding_box()
    assert curve["x"] + curve["width"] < whole["x"] + whole["width"] - 10


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_flat_curve_is_seen_on_either_paper(visit, page_of_gbsg2, scheme):
    page = visit(page_of_gbsg2, color_scheme=scheme)
    node(page, 6).click()
    colours = page.evaluate(
        """() => {
          const often = { willReadFrequently: true };
          const canvas = document.createElement('canvas').getContext('2d', often);
          const paint = (colour) => {
            canvas.fillStyle = colour;
            canvas.fillRect(0, 0, 1, 1);
            return canvas.getImageData(0, 0, 1, 1).data.join(',');
          };
          const curve = document.querySelector('#curves .high');
          return [getComputedStyle(curve).stroke,
                  getComputedStyle(document.getElementById('detail')).backgroundColor].map(paint);
        }"""
    )
    light, dark = sorted((luminance(f"rgb({colour})") for colour in colours), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4


def test_a_rule_is_near_its_curve(visit, page_of_gbsg2):
    page = visit(page_of_gbsg2, width=1440)
    for leaf in page.locator(".surtree-leaf").all():
        rule, curve = (
            leaf.locator(selector).bounding_box() for selector in (".surtree-rule", "svg")
        )
        text = leaf.locator(".surtree-rule").evaluate(
            "item => { const range = document.createRange(); range.selectNodeContents(item);"
            " return range.getBoundingClientRect().right; }"
        )
        assert curve["x"] - text < 260
        assert abs(rule["y"] + rule["height"] / 2 - curve["y"] - curve["height"] / 2) < 12
    shaded = page.locator(".surtree-leaf").evaluate_all(
        "items => items.map(item => item.classList.contains('surtree-shaded'))"
    )
    assert shaded == [place % 2 == 0 for place in range(len(shaded))]


def test_a_phone_speaks_of_taps_and_captions_stand_once(visit, page_of_gbsg2):
    page = visit(page_of_gbsg2, width=390, height=844, has_touch=True, is_mobile=True)
    text = page.locator("#tree-section").inner_text()
    assert "Tap a group" in text
    assert "arrow keys" not in text
    assert "Point at" not in text
    assert text.count("relative risk\n") == 1
    wide = visit(page_of_gbsg2).locator("#tree-section").inner_text()
    assert "Point at a group" in wide
    assert "Tap" not in wide


def test_paper_is_not_wasted(visit, page_of_gbsg2):
    page = visit(page_of_gbsg2)
    pages = re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4"))
    assert 1 < len(pages) <= 5


def test_an_answer_without_events_says_so(visit, page_of_gbsg2):
    page = visit(page_of_gbsg2)
    page.locator("#field-0").fill("2")
    page.get_by_role("spinbutton", name="tumor_size").fill("30")
    page.locator("#questions").get_by_text("I", exact=True).click()
    said = page.locator("#answer").inner_text()
    assert re.search(r"no events: relative risk at most [\d.]+; median survival not reached", said)
    assert "No event among them: very unsure." in said


def test_paper_has_the_tree_and_the_certificate_but_no_controls(visit, page_of_gbsg2):
    page = visit(page_of_gbsg2, color_scheme="dark")
    page.emulate_media(media="print")
    for selector in ("nav", "#questions", "#close", ".readout", ".screen"):
        assert page.locator(selector).count() > 0, selector
        assert not page.locator(selector).first.is_visible(), selector
    for selector in (".surtree-tree", "#detail", "#certificate", "#columns", "footer"):
        assert page.locator(selector).is_visible(), selector
    # What a pointer shows on a screen is on paper for all leaves at once.
    assert page.locator(".groups").is_visible()
    survival = page.locator(".survival").inner_text()
    assert "at risk" in survival
    assert re.search(r"\d+% \(\d+% to \d+%\)", survival)
    assert luminance(page.evaluate("getComputedStyle(document.body).backgroundColor")) == 1
    assert page.locator("#detail").evaluate("x => getComputedStyle(x).position") == "static"
    assert len(page.pdf(format="A4")) > 10_000


# States.


def test_a_single_leaf_has_no_questionnaire(visit, tmp_path):
    X, y = load_gbsg2(backend="pandas")
    page = visit(write_report(SurTree(max_depth=0).fit(X, y), tmp_path / "leaf.html"))
    assert not page.locator("#questions").is_visible()
    assert detail(page, "heading").strip() == "Leaf A"
    assert "asks nothing" in page.locator("#tree-section").inner_text()
    assert page.locator("#sizes").count() == 0


def test_sizes_and_scores_of_a_cross_validation_are_drawn(visit, tmp_path):
    X, y = load_gbsg2(backend="pandas")
    search = SurTreeCV(max_depth=2, cv=3).fit(X, y)
    page = visit(write_report(search, tmp_path / "cv.html"))
    drawn = search.sizes_.of_depth(search.best_params_["max_depth"])
    assert page.locator("#scores circle.dot").count() == len(drawn)
    assert page.locator("#sizes circle.dot").count() == len(search.best_estimator_.path_)
    for name in ("sizes", "scores"):
        assert page.locator(f"#{name} circle.ring").count() == 1
    text = page.locator("#validation").inner_text()
    assert "in 3 folds; the size with the best mean was chosen" in text
    # A sum and a mean are not told apart by their numbers alone.
    assert page.locator("#scores").get_by_text("held-out loss per row").is_visible()
    assert page.locator("#sizes").get_by_text("loss, sum of all rows").is_visible()


def test_a_deep_page_is_small_and_opens_fast(visit, deep):
    assert deep.stat().st_size < 1_000_000
    start = time.perf_counter()
    page = visit(deep)
    page.locator("#curves path.high").first.wait_for(state="attached")
    assert time.perf_counter() - start < 5
    spent = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
    assert 0 < spent < 3000

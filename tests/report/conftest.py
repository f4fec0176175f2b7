"""A real browser for the tests of pages, and models to make pages of."""

import numpy as np
import pandas as pd
import pytest
from chromium import find_chromium
from playwright.sync_api import sync_playwright

from surtree import SurTree
from surtree.datasets import load_gbsg2
from surtree.heuristics import GreedyTree
from surtree.report import write_report


@pytest.fixture(scope="session")
def browser():
    executable = find_chromium()
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture
def visit(browser):
    """Open pages, and check at the end that none of them complained or asked for anything."""
    contexts, troubles = [], []

    def open_page(path, width=1280, height=900, **options):
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: troubles.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (troubles.append("dialog"), dialog.dismiss()))
        page.on("request", lambda request: _allow_only(path, request.url, troubles))
        page.goto(path.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not troubles


def _allow_only(path, url, troubles):
    # The empty icon is in the page itself.
    if url not in (path.as_uri(), "data:,") and not url.startswith("blob:"):
        troubles.append(f"request: {url}")


@pytest.fixture(scope="session")
def gbsg2():
    """A model of a clinical table, the table, and its page."""
    X, y = load_gbsg2(backend="pandas")
    return SurTree(max_depth=3).fit(X, y), X


@pytest.fixture(scope="session")
def page_of_gbsg2(gbsg2, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "gbsg2.html"
    return write_report(gbsg2[0], path, time_unit="days", title="Breast cancer")


def mixed_table(n_rows=400, seed=5):
    """Return a table of numbers, categories, booleans and missing values, and its survival."""
    rng = np.random.default_rng(seed)
    size = rng.normal(50, 20, n_rows).round(1)
    site = rng.choice(["Köln", "Wien", "Bern"], n_rows)
    stages = ["low", "mid", "high"]
    table = pd.DataFrame(
        {
            "size": np.where(rng.random(n_rows) < 0.2, np.nan, size),
            "site": np.where(rng.random(n_rows) < 0.15, None, site),
            "smoker": rng.random(n_rows) < 0.4,
            "stage": pd.Categorical(rng.choice(stages, n_rows), stages, ordered=True),
            "therapy": rng.choice(["no", "yes"], n_rows),
        }
    )
    risk = 0.02 * np.nan_to_num(table["size"].to_numpy(), nan=90) + 1.2 * table["smoker"]
    risk = risk + (table["site"] == "Wien") * table["smoker"] + (table["stage"] == "low") * 0.9
    risk = risk + table["site"].isna() - 0.8 * (table["therapy"] == "yes") * (site == "Bern")
    time = rng.exponential(1000 * np.exp(-risk.to_numpy())) + 1
    event = rng.random(n_rows) < 0.8
    return table, np.array(list(zip(event, time, strict=True)), dtype=[("e", "?"), ("t", "f8")])


@pytest.fixture(scope="session")
def mixed(tmp_path_factory):
    """A model with every kind of question, its table, and its page."""
    X, y = mixed_table()
    model = SurTree(max_depth=4, min_samples_leaf=5).fit(X, y)
    return model, X, write_report(model, tmp_path_factory.mktemp("report") / "mixed.html")


@pytest.fixture(scope="session")
def deep(tmp_path_factory):
    """A page of a tree of depth five over fifty columns with names of forty characters."""
    rng = np.random.default_rng(1)
    values = rng.normal(size=(3000, 50))
    names = [f"serum_concentration_of_the_marker_no_{i:03d}" for i in range(50)]
    time = rng.exponential(np.exp(values[:, :6] @ rng.normal(size=6))) + 1e-3
    X = pd.DataFrame(values, columns=names)
    model = GreedyTree(max_depth=5, n_thresholds=8, min_samples_leaf=5).fit(X, time)
    assert model.get_depth() == 5
    assert model.get_n_leaves() >= 28
    return write_report(model, tmp_path_factory.mktemp("report") / "deep.html")

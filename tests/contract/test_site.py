"""The pages of the site, without building it: names, navigation, code, links.

``make docs`` builds it, and fails on a warning, on code that fails and on dead links.
"""

import ast
import importlib
import inspect
import re
import sys
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

import surtree

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS / "_ext"))
from check_links import dead_links  # noqa: E402
from page_runner import PageError, PageRunner  # noqa: E402

PAGES = sorted(
    path.relative_to(DOCS).with_suffix("").as_posix()
    for path in DOCS.rglob("*.md")
    if not path.relative_to(DOCS).parts[0].startswith("_")
)
PUBLIC = ("surtree", *(f"surtree.{name}" for name in ("datasets", "export", "heuristics")))
PUBLIC += ("surtree.metrics", "surtree.plot")


def text_of(page):
    return (DOCS / f"{page}.md").read_text(encoding="utf-8")


def blocks(page, language):
    return re.findall(rf"^ *```{language}\n(.*?)^ *```", text_of(page), re.DOTALL | re.MULTILINE)


def executed_pages():
    """Return the patterns of conf.py, which Sphinx alone can run as a whole."""
    tree = ast.parse((DOCS / "conf.py").read_text(encoding="utf-8"))
    (found,) = (
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "executed_pages"
    )
    return found


# The API reference


def listed_names():
    """Return every name of the API page with its module."""
    found = []
    module = None
    for block in blocks("reference/api", "{eval-rst}"):
        for line in block.splitlines():
            if match := re.match(r"\.\. currentmodule:: (\S+)", line):
                module = match[1]
            elif match := re.fullmatch(r"   (\w+)", line):
                found.append((module, match[1]))
    return found


def public_names():
    return [(name, one) for name in PUBLIC for one in importlib.import_module(name).__all__]


def test_the_api_reference_has_every_public_name_once():
    assert sorted(listed_names()) == sorted(public_names())


def test_every_public_name_has_an_example():
    documented = {
        name: inspect.getdoc(getattr(importlib.import_module(module), name))
        for module, name in public_names()
    }
    assert [name for name, text in documented.items() if ">>> " not in text] == []


# Navigation


def entries(page):
    """Return the pages that the navigation of a page names, patterns resolved as Sphinx does."""
    folder = Path(page).parent
    for block in blocks(page, r"\{toctree\}"):
        for line in block.splitlines():
            if not line.strip() or line.startswith(":"):
                continue
            entry = re.sub(r".*<(.*)>", r"\1", line.strip())
            pattern = (DOCS / folder / entry).resolve().relative_to(DOCS.resolve()).as_posix()
            depth = pattern.count("/")  # a star does not match a slash
            found = [p for p in PAGES if p.count("/") == depth and fnmatchcase(p, pattern)]
            assert found, f"{page}.md names {entry}, and there is no such page"
            yield from found


def test_every_page_can_be_reached_from_the_first():
    reached, pending = {"index"}, ["index"]
    while pending:
        for page in entries(pending.pop()):
            if page not in reached:
                reached.add(page)
                pending.append(page)
    assert reached == set(PAGES)


def test_the_recipe_for_many_rows_leads_to_the_page_on_large_tables():
    assert "(../large-tables.md)" in text_of("recipes/many-rows")


def test_questions_of_recipes_lead_to_all_of_them():
    listed = set(re.findall(r"\(([\w-]+)\.md\)", text_of("recipes/index")))
    recipes = {page.removeprefix("recipes/") for page in PAGES if page.startswith("recipes/")}
    assert listed == recipes - {"index"}


# Code


@pytest.mark.parametrize("page", PAGES)
def test_code_that_is_not_run_is_python(page):
    for code in blocks(page, "python"):
        ast.parse(code)


def test_pages_that_are_run_are_there_and_recipes_are_among_them():
    patterns = executed_pages()
    assert "recipes/*" in patterns
    assert [one for one in patterns if not any(fnmatchcase(page, one) for page in PAGES)] == []


@pytest.fixture
def runner(tmp_path):
    data, folder = tmp_path / "data", tmp_path / "page"
    data.mkdir()
    folder.mkdir()
    (data / "given.txt").write_text("given")
    return PageRunner(folder, data)


def test_a_page_is_one_session_in_one_folder(runner):
    assert (
        runner.run(
            "python", "from pathlib import Path\nx = Path('given.txt').read_text()\nprint(x)"
        ).text
        == "given\n"
    )
    assert runner.run("python", "x + '!'").text == "'given!'\n"
    assert runner.run("python", "x = None").text == ""
    shown = runner.run("python", "import matplotlib.pyplot as plt\nplt.subplots()[1].plot([1, 2])")
    assert shown.text == ""
    assert [picture[:5] for picture in shown.pictures] == [b"<?xml"]
    assert not Path("given.txt").exists()


@pytest.mark.parametrize(
    ("language", "code", "message"),
    [
        ("python", "1 / 0", "ZeroDivisionError"),
        ("python", "import warnings\nwarnings.warn('old', stacklevel=1)", "UserWarning: old"),
        ("console", "surtree show absent.json", "there is no file absent.json"),
        ("console", "rm -r /", "no other command than surtree"),
    ],
)
def test_code_that_fails_ends_the_build(runner, language, code, message):
    with pytest.raises(PageError, match=message):
        runner.run(language, code)


def test_commands_show_what_a_user_sees(runner):
    runner.run("python", "from surtree import SurTree\nfrom surtree.datasets import load_lung\n")
    runner.run("python", "SurTree(1).fit(*load_lung()).save('model.json')")
    shown = runner.run("console", "surtree show model.json \\\n  --format text  # a comment")
    assert shown.text.startswith("|--- ")


# The README


def test_the_readme_is_short():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 130
    assert [line for line in lines if len(line) > 100] == []


def test_the_code_of_the_readme_runs(runner):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = [
        runner.run("python", code).text for code in re.findall(r"```python\n(.*?)```", text, re.S)
    ]
    assert "optimal" in "".join(shown)


def test_commands_of_the_continuous_integration_are_explained():
    run = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    explained = "".join(
        (ROOT / f"{name}.md").read_text("utf-8") for name in ("README", "CONTRIBUTING")
    )
    used = set(re.findall(r"\bmake [\w-]+", run))
    assert len(used) > 3
    assert [command for command in sorted(used) if command not in explained] == []


# Links


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_files_that_a_document_links_to_are_there(name):
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", (ROOT / name).read_text(encoding="utf-8"))
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_dead_links_are_found(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.html").write_text('<h1 id="there">b</h1><a href="../a.html">a</a>')
    (tmp_path / "a.html").write_text(
        '<a href="sub/b.html#there">1</a><a href="https://example.org/x">2</a><a href="#top">3</a>'
        '<a href="sub/b.html#gone">4</a><img src="gone.png"><a hidden href="#nobody">5</a>'
    )
    dead = [f"a.html: {target}" for target in ("#top", "gone.png", "sub/b.html#gone")]
    assert dead_links(tmp_path) == dead


def test_the_citation_is_of_this_version():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {surtree.__version__}\n" in citation

"""The site: ``make docs`` builds it, and fails on a warning, a dead link or code that fails."""

from __future__ import annotations

import sys
from importlib.metadata import version as version_of
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

project = "surtree"
author = "The surtree developers"
copyright = author  # noqa: A001 - the name that Sphinx reads
version = release = version_of("surtree")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "executed_pages",
    "made_pages",
]

# Pages whose code runs when the site is built. All of it: a block that must not run is no example.
executed_pages = [
    "index",
    "gallery",
    "start/*",
    "recipes/*",
    "studies/*",
    "competing-risks",
    "start-stop",
    "treatment-effects",
]

myst_heading_anchors = 4

highlight_language = "none"  # of blocks that name no language
default_role = "py:obj"
autosummary_generate = True
autodoc_typehints = "none"  # numpydoc says them in words
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False
add_module_names = False
copybutton_selector = "div:not(.output) > div.highlight > pre"
copybutton_prompt_text, copybutton_prompt_is_regexp = r">>> |\.\.\. ", True

html_theme = "furo"
pygments_style, pygments_dark_style = "friendly", "github-dark"
html_title = f"surtree {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/favicon.svg"
# What search engines and shared links show.
_SAYS = "Survival trees that are proven to be optimal, with honest performance on new data."
myst_html_meta = {
    "description": _SAYS,
    "keywords": "survival tree, optimal decision tree, stability, C-index, overfitting, risk "
    "groups, nomogram, competing risks, treatment effects, Kaplan-Meier",
    "property=og:title": "surtree",
    "property=og:description": _SAYS,
    "property=og:image": "_static/card.png",
    "name=twitter:card": "summary_large_image",
}
templates_path = ["_templates"]
html_copy_source = False
html_show_copyright = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f5f99", "color-brand-content": "#1f5f99"},
    "dark_css_variables": {"color-brand-primary": "#7db8f0", "color-brand-content": "#7db8f0"},
}


def _is_of_others(app, what, name, member, skip, options):
    """Leave out what estimators have from scikit-learn, whose pages describe it."""
    made = name.startswith("set_") and name.endswith("_request")
    return skip or made or (getattr(member, "__module__", None) or "").startswith("sklearn")


def setup(app) -> None:
    """Leave out members of others; Sphinx calls this."""
    app.connect("autodoc-skip-member", _is_of_others)

"""Elements escape what is not HTML yet, in texts and in attributes."""

from surtree.report._html import Markup, details, element, markup, table, terms, verdict

BAD = """<b a="1">&'"""
SAFE = "&lt;b a=&quot;1&quot;&gt;&amp;&#x27;"


def test_texts_and_attributes_are_escaped_once():
    inner = element("i", BAD, title=BAD)
    assert inner == f'<i title="{SAFE}">{SAFE}</i>'
    assert element("p", inner, BAD, None, "") == f"<p>{inner}{SAFE}</p>"
    assert markup(inner, BAD) == inner + SAFE
    assert isinstance(markup(), Markup)


def test_attributes_are_named_as_in_html():
    made = element("input", class_="x", data_node="1", aria_label=None, hidden=True, checked=False)
    assert made == '<input class="x" data-node="1" hidden>'
    assert element("path", d="M0 0", x=0.5) == '<path d="M0 0" x="0.5"/>'


def test_patterns_of_a_page_escape():
    rows = [(BAD, BAD), (markup("1"), element("b", "2"))]
    for made in (
        table(("one", BAD), rows, "numbers", BAD),
        terms([(BAD, BAD, BAD), ("left out", "", BAD)], "figures"),
        details(BAD, BAD),
        verdict(BAD, BAD, is_good=True),
    ):
        assert SAFE in made
        assert BAD not in made
        assert "left out" not in made
    made = table(("one", "two"), rows, "numbers")
    assert made.count("<th ") == 4
    assert '<td data-heading="two"><b>2</b></td>' in made

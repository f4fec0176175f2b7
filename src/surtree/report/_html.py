"""HTML that is escaped by itself: elements, and the few patterns that a page is made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from surtree.words.quoting import html_text

# Elements without an end tag, and those of a picture that are closed at once.
_VOID = frozenset({"br", "input", "wbr"})
_EMPTY = frozenset({"circle", "path"})


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


Content = str | None


def markup(*parts: Content) -> Markup:
    """Return parts one after the other; those that are no HTML yet are escaped."""
    return Markup(
        "".join(part if isinstance(part, Markup) else html_text(part) for part in parts if part)
    )


def element(tag: str, *children: Content, **attributes: str | float | bool | None) -> Markup:
    """Return an element; ``class_`` is the attribute class, and ``data_x`` is ``data-x``."""
    written = "".join(
        _attribute(name.rstrip("_").replace("_", "-"), value)
        for name, value in attributes.items()
        if value is not None and value is not False
    )
    if tag in _VOID:
        return Markup(f"<{tag}{written}>")
    if tag in _EMPTY:
        return Markup(f"<{tag}{written}/>")
    return Markup(f"<{tag}{written}>{markup(*children)}</{tag}>")


def _attribute(name: str, value: str | float | bool) -> str:
    if value is True:
        return f" {name}"
    return f' {name}="{html_text(value if isinstance(value, str) else f"{value:g}")}"'


def note(*texts: Content) -> Markup:
    """Return a paragraph in small print."""
    return element("p", *texts, class_="note")


def verdict(heading: str, text: Content, *, is_good: bool) -> Markup:
    """Return a finding that the eye falls on."""
    strong = element("strong", heading) if heading else None
    good = str(is_good).lower()
    return element("p", strong, " " if strong else None, text, class_="verdict", data_good=good)


def small(text: Content, kind: str | None = None) -> Markup:
    """Return a text below or beside a figure; nothing for an empty one."""
    return element("small", text, class_=kind) if text else Markup()


def terms(facts: Iterable[tuple[str, Content, Content]], kind: str) -> Markup:
    """Return a list of terms with figures and remarks; a term without a figure is left out."""
    pairs = (
        element("div", element("dt", term), element("dd", figure, small(remark)))
        for term, figure, remark in facts
        if figure
    )
    return element("dl", *pairs, class_=kind)


def details(summary: str, *inside: Content) -> Markup:
    """Return what is hidden until a reader asks for it."""
    return element("details", element("summary", summary), *inside)


def table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], kind: str, name: str | None = None
) -> Markup:
    """Return a table that scrolls where it is too wide; the first cell of a row is its heading.

    With a name it can be scrolled by keys, too.
    """
    head = element("tr", *(element("th", heading, scope="col") for heading in headings))
    body = [
        element(
            "tr",
            element("th", first, scope="row"),
            *(
                element("td", cell, data_heading=heading)
                for cell, heading in zip(cells, headings[1:], strict=True)
            ),
        )
        for first, *cells in rows
    ]
    whole = element("table", element("thead", head), element("tbody", *body), class_=kind)
    if name is None:
        return element("div", whole, class_="scroll")
    return element("div", whole, class_="scroll", tabindex="0", role="region", aria_label=name)

"""Tables as HTML, for notebooks, and as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from surtree.words.quoting import html_text as escape


def table_html(heading: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """Return a table as HTML that can stand anywhere in a page; all texts are escaped."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heading)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    above = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{above}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def text_table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows of cells, the heading among them, as lines of aligned text."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
        for row in rows
    )

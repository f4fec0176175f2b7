r"""Text of the user in other languages: each has one function, and nothing else quotes.

A name, category, label, unit or title may hold any characters, and come from a stranger's file.
In every language it must stay text: never code, markup or the end of a comment.
"""

from __future__ import annotations

import html
import json
import re
from functools import lru_cache
from typing import Any

# Characters that nobody sees and that change what is seen: they move the cursor, break a line,
# turn the direction of writing, or are half of a character.
UNSEEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
_UNSEEN_BUT_LAYOUT = re.compile(UNSEEN.pattern.replace(r"\x00-\x1f", r"\x00-\x08\x0b-\x1f"))

# Marks that Mermaid, Markdown or HTML could take for their own; letters of all languages are none.
_MERMAID = re.compile(r"[^\w\s.,:=+()'-]|^\d+(?=[.)])|^[+-](?= )")
# Marks that Markdown would take for its own; "<" only where HTML could begin, "_" only where
# emphasis could begin or end.
_MARKDOWN = re.compile(r"[\\|*`\[\]~$]|<(?=[A-Za-z/!?])|&(?=#?\w+;)|(?<![^\W_])_|_(?![^\W_])")
# A spreadsheet would take a cell that begins so for a formula.
_FORMULA = ("=", "+", "-", "@")
# Letters, digits and blanks stand for themselves in a regular expression.
_PATTERN = re.compile(r"[\x00-\x1f!-/:-@\[-`{-\x7f]")


def printable(text: str) -> str:
    r"""Return a text on one line whose characters are all seen; others are as ``\n`` in Python."""
    return UNSEEN.sub(_escape, text)


def terminal_text(text: str) -> str:
    """Return lines for a terminal: tabs and ends of lines stay, what else controls it is shown."""
    return _UNSEEN_BUT_LAYOUT.sub(_escape, text)


def python_literal(value: bool | int | float | str | None) -> str:
    """Return a value as the source of Python."""
    text = repr(value)
    return f'float("{text}")' if text in ("inf", "-inf") else text


def python_docstring(text: str) -> str:
    """Return a text for the inside of a docstring, whatever quotation marks are in it."""
    return printable(text).replace("\\", "\\\\").replace('"', '\\"')


def sql_text(text: str) -> str:
    r"""Return a text as SQL that is the same text in every database.

    A backslash is a character in standard SQL, and an escape in Snowflake, MySQL and others, where
    a literal such as ``'\'`` would not end. The first character of ``'\\'`` is a backslash in all.
    """
    if "\\" not in text:
        return _between("'", text)
    mark = next(mark for mark in (*"~^=+", *map(chr, range(0xE000, 0xF8FF))) if mark not in text)
    inside = _between("'", text.replace("\\", mark))
    return f"REPLACE({inside}, '{mark}', SUBSTR('\\\\', 1, 1))"


def sql_name(name: str) -> str:
    """Return the name of a column in standard SQL."""
    if re.search(r'\\("|\Z)', name):
        raise ValueError(
            f"The column {name!r} has a backslash at its end or before a quotation mark, which "
            "some databases read as an escape: pass feature_names."
        )
    return _between('"', name)


def sql_comment(text: str) -> str:
    """Return a comment; one within it would be another in some databases, and its end in others."""
    inside = re.sub(r"[*](?=/)|/(?=[*])", r"\g<0> ", printable(text))
    return f"/* {inside} */"


def dot_text(text: str) -> str:
    """Return a text for the inside of a quoted label of Graphviz, which reads entities, too."""
    text = printable(text)
    for mark, written in (("\\", "\\\\"), ('"', '\\"'), ("&", "&amp;")):
        text = text.replace(mark, written)
    return text


def mermaid_text(text: str) -> str:
    """Return a text for the inside of a quoted label of Mermaid: marks as #, number, semicolon."""
    return _MERMAID.sub(
        lambda mark: "".join(f"#{ord(sign)};" for sign in mark.group()), printable(text)
    )


def markdown_text(text: str) -> str:
    """Return a text for a cell of a table in Markdown."""
    return _MARKDOWN.sub(lambda mark: f"\\{mark.group()}", " ".join(printable(text).split()))


def csv_text(text: str) -> str:
    """Return a text for a cell of a CSV file: a spreadsheet would run what begins as a formula."""
    text = printable(text)
    return f"'{text}" if text.startswith(_FORMULA) else text


@lru_cache(maxsize=1024)  # a page has the same names and classes hundreds of times
def html_text(text: str) -> str:
    """Return a text for an element of a page, or for an attribute in quotation marks."""
    return html.escape(terminal_text(text))


def script_json(data: Any) -> str:
    """Return data as JSON that may stand in a script element, whatever texts are in it."""
    text = json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return re.sub(f"[<>&]|{UNSEEN.pattern}", _json_escape, text)


def terminal_json(data: Any) -> str:
    """Return data as JSON that may be printed, whatever texts are in it."""
    text = json.dumps(data, indent=2, allow_nan=False, ensure_ascii=False)
    return _UNSEEN_BUT_LAYOUT.sub(_json_escape, text)


def pattern_text(text: str) -> str:
    """Return a regular expression that matches a text and nothing else."""
    return _PATTERN.sub(lambda mark: f"\\x{ord(mark.group()):02x}", text)


def _between(mark: str, text: str) -> str:
    if "\0" in text:
        raise ValueError(f"SQL cannot hold the character 0 in {text!r}.")
    return mark + text.replace(mark, mark * 2) + mark


def _escape(character: re.Match[str]) -> str:
    return character.group().encode("unicode_escape").decode()


def _json_escape(character: re.Match[str]) -> str:
    return f"\\u{ord(character.group()):04x}"

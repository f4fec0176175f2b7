"""A table of texts as Markdown, LaTeX or a Word document."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from typing import Literal
from xml.sax.saxutils import escape

from surtree.words.quoting import markdown_text, printable

PageFormat = Literal["markdown", "latex", "docx"]
PAGE_FORMATS: tuple[PageFormat, ...] = ("markdown", "latex", "docx")

_LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "\u2013": "--",
}
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_MAIN = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_PARTS = {
    "[Content_Types].xml": (
        f'{_HEAD}<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{_MAIN}"/></Types>'
    ),
    "_rels/.rels": (
        f'{_HEAD}<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" '
        f'Type="{_OFFICE}" Target="word/document.xml"/></Relationships>'
    ),
}


def written(
    format: PageFormat,
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    note: str = "",
    counted: Sequence[bool] = (),
) -> str | bytes:
    """Return a table with a note below it; columns of counts are aligned to the right."""
    if format not in PAGE_FORMATS:
        raise ValueError(f"format must be one of {PAGE_FORMATS}; got {format!r}.")
    right = [*counted, *[False] * (len(head) - len(counted))]
    if format == "latex":
        return _latex(head, rows, note, right)
    return _docx(head, rows, note) if format == "docx" else _markdown(head, rows, note, right)


def _markdown(
    head: Sequence[str], rows: Sequence[Sequence[str]], note: str, right: Sequence[bool]
) -> str:
    lines = [
        map(markdown_text, head),
        ["---:" if counts else "---" for counts in right],
        *(map(markdown_text, row) for row in rows),
    ]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{table}\n\n{note}\n" if note else f"{table}\n"


def _latex(
    head: Sequence[str], rows: Sequence[Sequence[str]], note: str, right: Sequence[bool]
) -> str:
    def line(cells: Sequence[str]) -> str:
        return " & ".join(map(_latex_text, cells)) + r" \\"

    return "\n".join(
        [
            "% needs \\usepackage{booktabs}",
            rf"\begin{{tabular}}{{{''.join('r' if counts else 'l' for counts in right)}}}",
            r"\toprule",
            line(head),
            r"\midrule",
            *map(line, rows),
            r"\bottomrule",
            r"\end{tabular}",
            *([rf"\par\smallskip {_latex_text(note)}"] if note else []),
            "",
        ]
    )


def _latex_text(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in printable(text))


def _docx(head: Sequence[str], rows: Sequence[Sequence[str]], note: str) -> bytes:
    """Return a Word document of a table and a note; the same table gives the same bytes."""
    borders = "".join(
        f'<w:{side} w:val="single" w:sz="4" w:space="0" w:color="808080"/>'
        for side in ("top", "bottom", "insideH")
    )
    lines = [(head, True), *((row, False) for row in rows)]
    table = "".join(
        f"<w:tr>{''.join(_cell(text, bold) for text in line)}</w:tr>" for line, bold in lines
    )
    body = (
        f'<w:tbl><w:tblPr><w:tblW w:w="0" w:type="auto"/><w:tblBorders>{borders}</w:tblBorders>'
        f"</w:tblPr><w:tblGrid>{'<w:gridCol/>' * len(head)}</w:tblGrid>{table}</w:tbl>"
        f"{_paragraph(note)}"
    )
    parts = _PARTS | {
        "word/document.xml": (
            f'{_HEAD}<w:document xmlns:w="{_WORD}"><w:body>{body}<w:sectPr><w:pgSz w:w="16838" '
            'w:h="11906" w:orient="landscape"/></w:sectPr></w:body></w:document>'
        )
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as package:
        for name, text in parts.items():
            package.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_DEFLATED)
    return file.getvalue()


def _cell(text: str, bold: bool) -> str:
    return f"<w:tc><w:tcPr/>{_paragraph(text, bold)}</w:tc>"


def _paragraph(text: str, bold: bool = False) -> str:
    how = "<w:rPr><w:b/></w:rPr>" if bold else ""
    return f'<w:p><w:r>{how}<w:t xml:space="preserve">{escape(printable(text))}</w:t></w:r></w:p>'

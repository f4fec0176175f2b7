"""A tree as text for other programs: rules, Graphviz, Mermaid, SQL, Python and JSON."""

from surtree.export._dot import export_dot
from surtree.export._json import export_json
from surtree.export._mermaid import export_mermaid
from surtree.export._python import export_python
from surtree.export._sql import export_sql
from surtree.export._text import export_text

__all__ = [
    "export_dot",
    "export_json",
    "export_mermaid",
    "export_python",
    "export_sql",
    "export_text",
]

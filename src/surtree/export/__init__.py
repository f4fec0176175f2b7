"""A tree for other programs and for papers: rules, pictures, code, tables and sentences."""

from surtree.export._diagrams import export_dot, export_mermaid
from surtree.export._methods import export_methods
from surtree.export._python import export_python
from surtree.export._sql import export_sql
from surtree.export._text import export_json, export_text
from surtree.export.leaves import export_leaves
from surtree.export.onnx import export_onnx
from surtree.export.table_one import export_table_one
from surtree.export.tripod import export_tripod

__all__ = [
    "export_dot",
    "export_json",
    "export_leaves",
    "export_mermaid",
    "export_methods",
    "export_onnx",
    "export_python",
    "export_sql",
    "export_table_one",
    "export_text",
    "export_tripod",
]

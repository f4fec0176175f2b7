"""A tree as one interactive HTML page that needs no network."""

from surtree.report._notebook import notebook_html
from surtree.report._page import write_report

__all__ = ["notebook_html", "write_report"]

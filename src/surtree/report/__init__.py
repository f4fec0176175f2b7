"""A tree as one HTML page to explore, to ask and to share, without any network."""

from surtree.report._notebook import notebook_html
from surtree.report._page import write_report

__all__ = ["notebook_html", "write_report"]

"""Which surtree this is."""

from importlib.metadata import version

VERSION = version("surtree")

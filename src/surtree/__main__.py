"""``python -m surtree`` is the command line."""

from surtree.cli import main

main()

"""Counted things in words."""

from __future__ import annotations


def plural(count: int, noun: str) -> str:
    """Return a number with its noun, such as "1 leaf" and "2 leaves".

    Parameters
    ----------
    count : int
        How many there are.
    noun : str
        What is counted, in the singular.
    """
    many = "leaves" if noun == "leaf" else f"{noun}s"
    return f"{count} {noun if count == 1 else many}"

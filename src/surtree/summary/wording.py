"""Rules in words: shortened, and broken into lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from surtree.cuts.cut import Cut
from surtree.summary.labels import NO_BREAK_SPACE, Labels
from surtree.tree.resolve import needed_steps
from surtree.tree.reversals import reversal_text, steps_to
from surtree.tree.tree import Tree

LONGEST_NAME = 60
LONGEST_CATEGORY = 32
MOST_CATEGORIES = 5

# After a space, but never between a comparison and its number, or a number and its unit (which have
# a no-break space between them); within a word after a mark that joins two words, or before a
# capital.
_BREAK = re.compile(
    r"(?<=[^\S\xa0])(?<!> )(?<!= )|(?<=[^\W\d][_\-./])(?=[^\W\d])|(?<=[a-z])(?=[A-Z])"
)


def rule_texts(tree: Tree, labels: Labels | None = None, *, whole: bool = False) -> list[str]:
    """Return, for each node, what holds for its rows and not for those of its sibling."""
    texts = ["all rows"] * tree.n_nodes
    for node, _, *sides in _sides(tree, labels or Labels(), whole=whole):
        texts[tree.left[node]], texts[tree.right[node]] = sides
    return texts


def question_texts(tree: Tree, labels: Labels) -> tuple[dict[int, str], list[str]]:
    """Return what each split asks about, and, for each node, the answer that leads to it."""
    asked, answers = {}, ["all rows"] * tree.n_nodes
    for node, name, *sides in _sides(tree, labels, whole=False):
        asked[node] = name
        no, yes = (rule.removeprefix(f"{name} ").removeprefix("is ") for rule in sides)
        answers[tree.left[node]], answers[tree.right[node]] = no, yes
    return asked, answers


def _sides(tree: Tree, labels: Labels, *, whole: bool) -> Iterator[tuple[int, str, str, str]]:
    """Yield each split, the name of its column, and what holds on both sides."""
    for node, cut in tree.worded_cuts.items():
        shown = labels.labelled(cut) if whole else _shortened(labels.labelled(cut))
        yield node, shown.shown_name, *labels.rules(cut, shown)


def leaf_texts(tree: Tree, labels: Labels | None = None, *, whole: bool = False) -> dict[int, str]:
    """Return all that holds for the rows of each leaf, without what later rules imply."""
    rules = rule_texts(tree, labels, whole=whole)
    return {
        leaf: ", ".join(rules[child] for _, child in steps) or rules[leaf]
        for leaf, steps in needed_steps(tree).items()
    }


def reversals_sentence(tree: Tree, labels: Labels | None = None) -> str:
    """Return which columns have an effect that turns round inside a tree; empty where none has."""
    labels, rules = labels or Labels(), rule_texts(tree, labels)
    named = (
        replace(
            turn,
            name=labels.name(turn.name),
            conditions=tuple(rules[child] for _, child in steps_to(tree, turn.leaves, turn.column)),
        )
        for turn in tree.reversals()
    )
    return reversal_text(tuple(named))


def pieces(text: str) -> list[str]:
    """Return a text in pieces, between which a line may be broken."""
    joined = [""]
    for piece in _BREAK.split(text):
        # A unit is never broken, whatever marks are in it, as in "12 fmol/l".
        in_unit = NO_BREAK_SPACE in joined[-1] and not joined[-1].endswith(" ")
        if in_unit or joined == [""]:
            joined[-1] += piece
        else:
            joined.append(piece)
    return joined


def wrap(text: str, width: float, measure: Callable[[str], float]) -> str:
    """Break a text into lines that are no wider than a width."""
    lines = [""]
    for piece in pieces(text):
        # A word wider than a line is broken anywhere, so that no text is lost.
        whole = measure(piece.rstrip()) <= width
        for part in [piece] if whole else piece:
            if lines[-1] and measure((lines[-1] + part).rstrip()) > width:
                lines.append("")
            lines[-1] += part
    return "\n".join(line.strip() for line in lines)


def _shortened(cut: Cut) -> Cut:
    cut = replace(cut, name=_elided(cut.name, LONGEST_NAME))
    if cut.categories is None:
        return cut
    categories, others = (
        tuple(
            _elided(category, LONGEST_CATEGORY) if isinstance(category, str) else category
            for category in listed
        )
        for listed in (cut.categories, cut.others)
    )
    if len(categories) > MOST_CATEGORIES:
        listed = categories[: MOST_CATEGORIES - 1]
        categories = (*listed, f"… {len(categories) - len(listed)} more")
    return replace(cut, categories=categories, known=(*categories, *others))


def _elided(text: str, longest: int) -> str:
    """Leave out a part of a long text that is not its end: names in a row often differ there."""
    text = " ".join(text.split())
    if len(text) <= longest:
        return text
    tail = longest // 4
    return f"{text[: longest - 1 - tail].rstrip()}…{text[-tail:].lstrip()}"

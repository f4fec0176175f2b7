"""The recipes of docs/architecture.md: what they name is there, and the one for an export works."""

import re
from pathlib import Path

import numpy as np

import surtree.export
from surtree import SurTree
from surtree.datasets import load_gbsg2
from surtree.export._tree import leaf_lines, named_tree

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text()
RECIPES = PAGE[PAGE.index("## Three recipes") : PAGE.index("## Further")]


def test_files_of_the_recipes_are_there():
    named = set(re.findall(r"`((?:src|cpp|tests)/[\w/.]+)`", RECIPES))
    assert len(named) > 8
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_every_room_of_the_core_is_described():
    rooms = {path.name for path in (ROOT / "cpp").iterdir() if path.is_dir()} - {"tests"}
    table = PAGE[PAGE.index("## Rooms in C++") : PAGE.index("## Three recipes")]
    assert rooms == set(re.findall(r"^\| `(\w+)/` \|", table, re.MULTILINE)) - {"cpp"}
    for folder in rooms:
        stems = {path.stem for path in (ROOT / "cpp" / folder).iterdir()}
        assert [stem for stem in sorted(stems) if not re.search(rf"`{stem}\b", table)] == []


def export_indented(model, *, feature_names=None):
    """Return a tree as an indented list: an export made as the recipe says."""
    tree = named_tree(model, feature_names)

    def lines(node, depth):
        if tree.is_leaf[node]:
            yield "  " * depth + ", ".join(leaf_lines(tree, node))
            return
        yield "  " * depth + tree.worded_cuts[node].rule
        yield from lines(tree.left[node], depth + 1)
        yield from lines(tree.right[node], depth + 1)

    return "\n".join(lines(0, 0))


def test_a_new_export_needs_no_more_than_the_recipe_says():
    X, y = load_gbsg2()
    model = SurTree(max_depth=2).fit(X, y)
    text = export_indented(model)
    assert text == export_indented(model.tree_)
    leaves = re.findall(r"leaf (\w+), theta", text)
    assert leaves == list(model.tree_.leaf_names.values())
    assert all(cut.rule in text for cut in model.tree_.worded_cuts.values())
    renamed = export_indented(model, feature_names=[f"c{k}" for k in range(X.shape[1])])
    assert np.unique(re.findall(r"c\d+", renamed)).size > 0


def test_exports_are_named_alike():
    assert all(name.startswith("export_") for name in surtree.export.__all__)

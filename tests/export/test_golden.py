"""What exports look like, character by character; ``golden.py`` says how to renew the files."""

import json

import pytest
from golden import DIRECTORY, EXPORTS, golden_model, golden_tree

import surtree
from surtree import Tree


def golden(name):
    return (DIRECTORY / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_is_what_it_was(name):
    assert EXPORTS[name](golden_tree()).rstrip("\n") == golden(name).rstrip("\n")


def test_json_is_read_as_it_was_written():
    assert Tree.from_dict(json.loads(golden("tree.json"))) == golden_tree()


def same(one, other):
    """Compare what JSON held; numbers may differ in the last digits from machine to machine."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float):
        return other == pytest.approx(one, rel=1e-12, abs=1e-12)
    return one == other and type(one) is type(other)


def test_a_model_is_written_as_it_was(tmp_path):
    golden_model().save(tmp_path / "model.json")
    written = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))
    expected = json.loads(golden("model.json"))
    # The last digit of a number changes a digest.
    assert len(written.pop("digest")) == len(expected.pop("digest"))
    assert written.pop("surtree_version") == surtree.__version__
    expected.pop("surtree_version")
    assert same(expected, written)

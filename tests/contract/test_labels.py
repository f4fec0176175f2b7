"""Names and units that replace those of the table."""

import pytest

from surtree.cuts.cut import Cut
from surtree.summary.labels import Labels, read_labels
from surtree.summary.wording import pieces


def test_rules_have_the_label_and_the_unit_of_a_column():
    labels = Labels({"tsize": "tumour size"}, {"tsize": "mm"})
    plain = Cut(0, "tsize", threshold=12.5)
    assert labels.rules(plain) == ("tumour size <= 12.5\u00a0mm", "tumour size > 12.5\u00a0mm")
    missing = Cut(0, "tsize", threshold=12.5, missing=True)
    assert labels.rules(missing)[1] == "tumour size > 12.5\u00a0mm or missing"
    # A category and a missing value have no unit.
    assert labels.rules(Cut(0, "tsize", categories=("a",)))[1] == "tumour size is a"
    assert labels.rules(Cut(0, "tsize", missing=True))[1] == "tumour size is missing"
    assert Labels().rules(plain)[1] == "tsize > 12.5"


def test_a_name_with_spaces_signs_and_line_breaks_keeps_its_unit_at_the_number():
    labels = Labels({"a": "size > x\nof it"}, {"a": "per cent of all"})
    no, _ = labels.rules(Cut(0, "a", threshold=-1e-20))
    assert no == "size > x\\nof it <= -1e-20\u00a0per cent of all"


def test_no_line_is_broken_between_a_number_and_its_unit():
    assert pieces("size > 12\u00a0mm or missing") == ["size ", "> 12\u00a0mm ", "or ", "missing"]
    assert pieces("of_it > 1\u00a0fmol/l or b") == ["of_", "it ", "> 1\u00a0fmol/l ", "or ", "b"]


@pytest.mark.parametrize("wrong", [["a"], "a", {"a": 1}, {1: "a"}, 5])
def test_only_mappings_of_texts_are_labels(wrong):
    with pytest.raises(TypeError, match="units must be a mapping from names of columns to texts"):
        read_labels(None, wrong)


def test_nothing_is_no_labels():
    assert read_labels(None, {}) == Labels()

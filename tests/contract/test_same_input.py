"""The same rows mean the same to every entry point, in every form; or they are refused in words."""

import pytest
from entry_points import BEGIN, END, FORMS, PAGE, entry_points, page, table, try_form

POINTS = entry_points()


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.title)
@pytest.mark.parametrize("point", POINTS, ids=lambda point: point.title)
def test_the_same_rows_give_the_same_result_or_one_clear_sentence(point, form):
    cell = try_form(point, form)
    assert cell.text != "DIFFERENT", cell.sentence
    if cell.text == "refused":
        assert "needs its rows in memory: collect them first" in cell.sentence
        assert form.title in ("lazy frame", "Parquet path")


def test_the_page_shows_what_was_tried():
    text = PAGE.read_text()
    assert BEGIN in text
    assert END in text
    assert text == page(text, table(POINTS)), (
        "run: python tests/contract/entry_points.py, and read what has changed"
    )

"""Every verb knows every kind of outcome, or refuses it in words; a page shows which."""

import pytest
from outcome_matrix import BEGIN, CASES, END, NO_ARMS, PAGE, VERBS, WORKS, cells, page, table


@pytest.fixture(scope="module")
def tried():
    return cells()


def test_the_page_shows_what_was_tried(tried):
    text = PAGE.read_text()
    assert BEGIN in text
    assert END in text
    assert text == page(text, table(tried)), (
        "run: python tests/contract/outcome_matrix.py, and read what has changed"
    )


def test_every_verb_knows_an_outcome(tried):
    assert all(WORKS in [tried[verb, case.title] for case in CASES] for verb in VERBS)


def test_what_is_refused_has_a_sentence(tried):
    refused = {text for text in tried.values() if text not in (WORKS, NO_ARMS)}
    assert all(len(text.split()) > 5 for text in refused)

"""A browser that is not there must be noticed where it matters."""

import pytest
from chromium import find_chromium


@pytest.mark.parametrize(
    ("ci", "outcome"), [("true", pytest.fail.Exception), ("", pytest.skip.Exception)]
)
def test_without_a_browser_tests_fail_in_ci_and_are_skipped_elsewhere(monkeypatch, ci, outcome):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome, match="Chromium is not installed"):
        find_chromium()

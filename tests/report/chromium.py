"""Where the browser is that pages are tested in."""

import os
import shutil

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_chromium():
    """Return where Chromium is; without it tests are skipped, but never where CI runs them."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        missing = "Chromium is not installed: apt-get install chromium, and run the tests again."
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    return found

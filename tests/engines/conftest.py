"""Small batches, so that tests of a few rows meet many of them."""

import pytest

from surtree.engines import _memory_caps as memory_caps


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(memory_caps, "BATCH_ROWS", 700)


@pytest.fixture
def few_values(monkeypatch):
    """Columns of more than a few values are summarised, and their quantiles selected."""
    monkeypatch.setattr(memory_caps, "MOST_VALUES", 30)
    monkeypatch.setattr(memory_caps, "RANKS_KEPT", 8)

"""Small batches, so that tests of a few rows meet many of them."""

import pytest

from surtree.streaming import limits


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(limits, "BATCH_ROWS", 700)


@pytest.fixture
def few_values(monkeypatch):
    """Columns of more than a few values are summarised, and their quantiles selected."""
    monkeypatch.setattr(limits, "MOST_VALUES", 30)
    monkeypatch.setattr(limits, "RANKS_KEPT", 8)

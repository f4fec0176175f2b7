"""Model files that something has happened to."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from fuzz.family import Wrong
from fuzz.tables import Rng, pick
from tests.damage import damaged, outcome, sample_models, write_damaged


@cache
def _texts() -> list[str]:
    """Return the files of some models."""
    texts = []
    with TemporaryDirectory() as directory:
        path = Path(directory) / "model.json"
        for model in sample_models():
            model.save(path)
            texts.append(path.read_text(encoding="utf-8"))
    return texts


def model_files(rng: Rng) -> None:
    """Damaged model files: each loads and works in every use, or is refused with one line."""
    text = damaged(pick(rng, _texts()), rng)
    with TemporaryDirectory() as directory:
        path = Path(directory) / "model.json"
        write_damaged(path, text)
        try:
            outcome(path)
        except AssertionError as error:
            raise Wrong(str(error)) from error

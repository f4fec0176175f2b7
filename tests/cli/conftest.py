"""Tables in files, and the command line with what it writes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from surtree.cli._app import app
from surtree.datasets import load_gbsg2, load_lung


@dataclass(frozen=True)
class Files:
    directory: Path
    csv: Path
    parquet: Path

    def write(self, name: str, text: str) -> str:
        path = self.directory / name
        path.write_text(text)
        return str(path)

    def __truediv__(self, name: str) -> str:
        return str(self.directory / name)


def table(load) -> pd.DataFrame:
    X, y = load()
    return X.assign(days=y["time"], died=y["event"].astype(int))


@pytest.fixture(scope="session")
def gbsg2() -> pd.DataFrame:
    return table(load_gbsg2)


@pytest.fixture(scope="session")
def lung() -> pd.DataFrame:
    return table(load_lung)


@pytest.fixture
def files(tmp_path, lung) -> Files:
    found = Files(tmp_path, tmp_path / "lung.csv", tmp_path / "lung.parquet")
    lung.to_csv(found.csv, index=False)
    lung.to_parquet(found.parquet)
    return found


@pytest.fixture
def surtree():
    """Run a command, and require an exit code; 0 by default."""

    def run(*arguments: object, code: int = 0, stdin: str | None = None):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, result.output
        return result

    return run

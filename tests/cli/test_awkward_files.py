"""Files as people have them: what is read, what is said, and what is refused."""

from typing import Annotated

import pytest
import typer
from awkward_files import FILES
from target import TARGET
from typer.testing import CliRunner

from surtree.cli._command import Take, command
from surtree.cli._options import Data, FileOptions
from surtree.cli._target import TargetColumns
from surtree.cli._training import Asked, read_training


def read(path, options=()):
    """Return what a command reads with some options, and how it ends."""
    tables = []

    def columns(
        data: Data,
        target: Annotated[TargetColumns, Take("time event drop_incomplete")],
        asked: Asked,
        form: FileOptions,
    ):
        tables.append((read_training(data, target, asked, form, quiet=True), asked, form))

    app = typer.Typer()
    app.command()(command(columns))
    result = CliRunner().invoke(app, [str(path), *TARGET, *options])
    return tables, result


def test_there_are_forty_of_them():
    assert len(FILES) >= 40
    assert len({awkward.name for awkward in FILES}) == len(FILES)


@pytest.mark.parametrize("awkward", FILES, ids=lambda awkward: awkward.name)
def test_what_becomes_of_a_file(awkward, tmp_path):
    tables, result = read(awkward.write(tmp_path), awkward.options)
    stderr = result.stderr
    for words in awkward.says:
        assert words in stderr
    if awkward.kinds is None:
        assert result.exit_code == 1
        assert len(stderr.splitlines()) == 1
        return
    ((found, _, _),) = tables
    if not awkward.says:
        assert stderr == ""
    assert {column.name: column.kind for column in found.columns} == awkward.kinds
    for name, values in awkward.values.items():
        assert found.frame[name].to_list() == pytest.approx(values, abs=1e-12), name
    left_out = {name for name, kind in awkward.kinds.items() if kind in ("id", "date", "free text")}
    asked = set(awkward.kinds) - {"days", "died"} - left_out
    assert set(found.X.columns) == asked
    assert set(found.left_out) == left_out

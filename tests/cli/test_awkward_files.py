"""Files as people have them: what is read, what is said, and what is refused."""

import pytest
import typer
from awkward_files import FILES
from target import TARGET

from surtree.cli._app import app
from surtree.cli._console import guarded
from surtree.cli._files import Format
from surtree.cli._survival import TargetColumns
from surtree.cli._training import Asked, read_training


def parsed(arguments):
    """Return what `surtree columns` makes of its options."""
    command = typer.main.get_command(app).commands["columns"]
    return command.make_context("columns", arguments).params


def read(path, options=()):
    given = parsed([str(path), *TARGET, *options])
    form = [given[name] for name in ("separator", "decimal", "encoding", "sheet")]
    target = TargetColumns("days", "died", drop_incomplete=given["drop_incomplete"])
    asked = Asked(given["columns"], given["exclude"], given["types"])
    return read_training(path, target, asked, Format(*form, given["missing"] or ()), quiet=True)


def test_there_are_forty_of_them():
    assert len(FILES) >= 40
    assert len({awkward.name for awkward in FILES}) == len(FILES)


@pytest.mark.parametrize("awkward", FILES, ids=lambda awkward: awkward.name)
def test_what_becomes_of_a_file(awkward, tmp_path, capsys):
    path = awkward.write(tmp_path)
    if awkward.kinds is None:
        with pytest.raises(typer.Exit) as ended, guarded():
            read(path, awkward.options)
        assert ended.value.exit_code == 1
        stderr = capsys.readouterr().err
        assert len(stderr.splitlines()) == 1
        for words in awkward.says:
            assert words in stderr
        return
    found = read(path, awkward.options)
    stderr = capsys.readouterr().err
    for words in awkward.says:
        assert words in stderr
    if not awkward.says:
        assert stderr == ""
    assert {column.name: column.kind for column in found.columns} == awkward.kinds
    for name, values in awkward.values.items():
        assert found.frame[name].to_list() == pytest.approx(values, abs=1e-12), name
    left_out = {name for name, kind in awkward.kinds.items() if kind in ("id", "date", "free text")}
    asked = set(awkward.kinds) - {"days", "died"} - left_out
    assert set(found.X.columns) == asked
    assert set(found.left_out) == left_out

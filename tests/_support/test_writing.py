"""What was in a file survives every write that fails, and a write that succeeds changes no more."""

import errno
import os
import resource
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from surtree import SurTree, write_report
from surtree._support.writing import write_bytes, write_text
from surtree.datasets import load_lung

OLD = b"what was there\n"


@pytest.fixture(scope="module")
def fitted():
    return SurTree(max_depth=2).fit(*load_lung())


def save(model, path):
    model.save(path)


WRITERS = {"model": save, "report": write_report}


def require_untouched(path):
    assert path.read_bytes() == OLD
    assert list(path.parent.iterdir()) == [path]


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "kept" / "file"
    path.parent.mkdir()
    path.write_bytes(OLD)
    return path


@pytest.mark.parametrize("name", ["fsync", "replace"])
@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_a_full_device_leaves_the_old_file(fitted, old, monkeypatch, name, write):
    def fail(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, name, fail)
    with pytest.raises(OSError, match=r"No space left on device.*file") as caught:
        write(fitted, old)
    assert caught.value.errno == errno.ENOSPC
    require_untouched(old)


def test_ctrl_c_leaves_the_old_file(old, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_bytes(old, b"new")
    require_untouched(old)


COMMANDS = {
    "m.json": ["fit", "lung.csv", "--time", "days", "--event", "died", "--model"],
    "r.html": ["report", "model.json", "--output"],
    "p.csv": ["predict", "model.json", "lung.csv", "--output"],
    "p.parquet": ["predict", "model.json", "lung.csv", "--output"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_limit_on_the_size_of_files_leaves_the_old_file(fitted, old, name):
    directory = old.parent.parent
    X, y = load_lung()
    table = pd.DataFrame(X).assign(days=y["time"], died=y["event"].astype(int))
    table.to_csv(directory / "lung.csv", index=False)
    fitted.save(directory / "model.json")
    path = old.rename(old.with_name(name))
    result = subprocess.run(
        [sys.executable, "-m", "surtree", *COMMANDS[name], path],
        cwd=directory,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512)),
    )
    assert result.returncode == 1
    *read, fault = result.stderr.splitlines()
    assert fault.startswith(f"surtree: cannot write {path}: [Errno {errno.EFBIG}] ")
    # Before it, fit says what it has read.
    assert read == [] if name != "m.json" else read[0].startswith("surtree: lung.csv, 228 rows")
    require_untouched(path)


@pytest.mark.parametrize("place", ["name", "category"])
def test_half_a_character_is_refused_before_anything_is_lost(old, tmp_path, place):
    half = "Zo\ud800"
    X = pd.DataFrame({"site": ["a", "a", "b", "b"]}, dtype=object)
    if place == "name":
        X.columns = pd.Index([half], dtype=object)
    else:
        X.loc[:1, "site"] = half
    model = SurTree(max_depth=1).fit(X, [4.0, 3.0, 2.0, 1.0])
    with pytest.raises(ValueError, match=r"half of a character, '\\ud800'.* Replace") as error:
        model.save(old)
    assert type(error.value) is ValueError
    assert len(str(error.value).splitlines()) == 1
    require_untouched(old)
    # A page shows what it is instead.
    page = write_report(model, tmp_path / "page.html", title="\udcff")
    assert "Zo\\ud800" in page.read_text(encoding="utf-8")
    assert "<h1>\\udcff</h1>" in page.read_text(encoding="utf-8")


def test_what_is_written_takes_the_place_of_the_old_file(fitted, old):
    fitted.save(old)
    assert SurTree.load(old).loss_ == fitted.loss_
    assert list(old.parent.iterdir()) == [old]


def test_a_new_file_has_the_permissions_of_any_other(tmp_path):
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "new", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


def test_an_old_file_keeps_its_permissions(old):
    old.chmod(0o604)
    write_text(old, "x")
    assert stat.S_IMODE(old.stat().st_mode) == 0o604
    assert old.read_text() == "x"


def test_a_file_that_may_not_be_written_is_not_replaced(old, monkeypatch):
    # The superuser may write everywhere, so permissions alone would not stop every tester.
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermissionError, match="file"):
        write_text(old, "x")
    require_untouched(old)


@pytest.mark.parametrize("target", ["file", "new"])
def test_a_link_stays_a_link(old, tmp_path, target):
    link = tmp_path / "link"
    link.symlink_to(Path("kept") / target)
    write_text(link, "x")
    assert link.is_symlink()
    assert (old.parent / target).read_text() == "x"
    assert {path.name for path in old.parent.iterdir()} == {"file", target}


def test_links_in_a_circle_are_an_error(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="symbolic links"):
        write_text(tmp_path / "a", "x")
    assert (tmp_path / "a").is_symlink()


def test_a_pipe_is_written_directly(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_text(pipe, "x")
    reader.join()
    assert read == ["x"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_device_is_written_directly():
    write_text(Path("/dev/null"), "x")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


@pytest.mark.parametrize("through", ["a pipe", "a file"])
def test_standard_output_keeps_the_order_of_what_is_written(tmp_path, through):
    code = (
        "from pathlib import Path; from surtree._support.writing import write_text; "
        "print('first'); "
        "write_text(Path('/dev/stdout'), 'second\\n'); print('third')"
    )
    command = [sys.executable, "-c", code]
    if through == "a pipe":
        text = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    else:
        with (tmp_path / "out").open("w") as file:
            subprocess.run(command, stdout=file, check=True)
        text = (tmp_path / "out").read_text()
    assert text == "first\nsecond\nthird\n"


def test_a_directory_that_is_not_there(fitted, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none.m\.json"):
        fitted.save(tmp_path / "none" / "m.json")


def test_a_long_name(tmp_path):
    path = tmp_path / ("n" * 255)
    write_text(path, "x")
    assert path.read_text() == "x"


def test_numbers_that_json_cannot_hold_leave_the_old_file(fitted, old):
    model = SurTree(max_depth=1).fit([[0], [0], [1], [1]], [4.0, 3.0, 2.0, 1.0])
    model.loss_ = np.inf
    with pytest.raises(ValueError, match="JSON"):
        model.save(old)
    require_untouched(old)

"""Which tests of the core are left out because nothing changed: only where that is sure."""

import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "packaging" / "changed.sh"


def git(repository, *arguments):
    settings = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *settings, *arguments], cwd=repository, check=True, capture_output=True)


def changed(repository):
    script = repository / "packaging" / "changed.sh"
    return subprocess.check_output([script, "cpp"], text=True) == "yes\n"


def commit(repository, *paths):
    for path in paths:
        file = repository / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(file.read_text() + "more\n" if file.exists() else "first\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "--allow-empty", "-m", "next")


@pytest.fixture(scope="module")
def long_history(tmp_path_factory):
    """A repository whose last fifty commits leave cpp/ alone."""
    repository = tmp_path_factory.mktemp("long")
    git(repository, "init", "-q", "-b", "main")
    (repository / "packaging").mkdir()
    shutil.copy(SCRIPT, repository / "packaging")
    commit(repository, "cpp/core.cpp")
    for _ in range(50):
        commit(repository)
    return repository


@pytest.fixture
def landed(long_history, tmp_path):
    """A clone of it, whose origin/main is what has landed."""
    git(tmp_path, "clone", "-q", long_history, "clone")
    return tmp_path / "clone"


def test_on_main_the_last_fifty_commits_count(landed):
    assert not changed(landed)
    commit(landed, "docs/page.md", "cpp/core.cpp")
    git(landed, "update-ref", "refs/remotes/origin/main", "HEAD")  # as if it had landed
    assert changed(landed)
    for _ in range(49):
        commit(landed)
    git(landed, "update-ref", "refs/remotes/origin/main", "HEAD")
    assert changed(landed)
    commit(landed)
    git(landed, "update-ref", "refs/remotes/origin/main", "HEAD")
    assert not changed(landed)


def test_ahead_of_main_all_new_commits_count(landed):
    commit(landed, "docs/page.md")
    assert not changed(landed)
    commit(landed, "cpp/core.cpp")
    commit(landed, "docs/page.md")
    assert changed(landed)


def test_what_is_not_committed_counts(landed):
    commit(landed, "docs/page.md")
    (landed / "cpp" / "core.cpp").write_text("other\n")
    assert changed(landed)


def test_who_cannot_tell_says_yes(long_history, landed, tmp_path):
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{long_history}", "shallow")
    assert changed(tmp_path / "shallow")
    shutil.rmtree(landed / ".git")
    assert changed(landed)

"""The command line in a real terminal: the progress bar, and Ctrl-C."""

import json
import re
import signal
import subprocess
import sys
from functools import partial

import pexpect
import pytest
from target import TARGET, UNTUNED

from surtree import SurTree
from surtree.cli._console import wrapped

# Hours of work, so that a test ends when it wants to.
SLOW = ("--max-depth", "6", "--n-thresholds", "200")
PROOF = r"(?:bound ([\d.]+) +gap ([\d.]+)%|nothing proven yet)"
BAR = rf"Searching .*\d+ % .*loss ([\d.]+) +{PROOF} +(?:ETA|stops in) (\S+)"


@pytest.fixture
def terminal(files, gbsg2):
    """Start a command in a terminal of its own."""
    gbsg2.to_csv(files.csv, index=False)
    started = []

    def start(*arguments):
        child = pexpect.spawn(
            sys.executable,
            ["-m", "surtree", *map(str, arguments)],
            cwd=files.directory,
            dimensions=(40, 120),
            encoding="utf-8",
            timeout=120,
            # A shell that starts the tests in the background makes its children ignore Ctrl-C.
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        )
        started.append(child)
        return child

    yield start
    for child in started:
        child.close(force=True)


def end(child):
    """Return what a command writes until it ends, without colours, and its exit code."""
    child.expect(pexpect.EOF)
    child.close()
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", child.before), child.exitstatus


def joined(text):
    """Return a text without the breaks of its lines."""
    return " ".join(text.split())


def test_ctrl_c_saves_the_best_tree_so_far(terminal, files):
    child = terminal("fit", "lung.csv", *UNTUNED, *SLOW, "--model", "m.json", "--report", "r.html")
    child.expect(BAR)
    loss, bound, gap = (float(child.match[number] or 0) for number in (1, 2, 3))
    assert 0 <= bound < loss
    if bound:  # else nothing is proven yet, and the line says so
        assert gap == pytest.approx(100 * (loss - bound) / loss, abs=0.1)
    child.sendintr()
    text, code = end(child)
    assert code == 130
    assert "Ctrl-C stopped the search: this is the best tree so far" in text
    assert "saved: m.json, r.html" in text
    assert "Traceback" not in text
    saved = SurTree.load(files / "m.json")
    assert saved.status_ == "interrupted"
    assert saved.gap_ > 0
    assert saved.loss_ <= loss + 1e-3
    assert (files.directory / "r.html").stat().st_size > 0


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_while_tuning(terminal, files, jobs):
    child = terminal(
        "fit", "lung.csv", *TARGET, *SLOW, "--tune", "--jobs", jobs, "--model", "m.json"
    )
    child.expect("Tuning")
    child.sendintr()
    text, code = end(child)
    assert code == 130
    assert "Ctrl-C stopped the tuning before two folds were done" in text
    assert "a tree of at most 3 splits with shrinkage 3, and neither is tuned" in joined(text)
    assert "Traceback" not in text
    saved = SurTree.load(files / "m.json")
    assert saved.status_ == "interrupted"
    assert saved.shrinkage == 3.0
    assert saved.tree_.n_splits <= 3


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_while_tuning_keeps_the_folds_that_are_done(terminal, files, jobs):
    limits = ("--max-depth", "5", "--folds", "50", "--jobs", jobs)
    outputs = ("--model", "m.json", "--report", "r.html")
    child = terminal("fit", "lung.csv", *TARGET, *limits, *outputs)
    child.expect(r"([2-9]) of 50 folds")
    child.sendintr()
    text, code = end(child)
    assert code == 130
    said = re.search(r"Ctrl-C stopped the tuning after (\d+) of 50 folds", joined(text))
    assert said is not None, text
    assert "saved: m.json, r.html" in joined(text)
    assert "gap" in text
    assert "Traceback" not in text
    saved = SurTree.load(files / "m.json")
    assert saved.status_ == "interrupted"
    assert saved.sizes_.held_out.shape[1] == int(said[1])
    assert saved.shrinkage in (1.0, 3.0, 10.0)
    assert saved.held_out_ is None
    assert saved.time_limit is None
    assert (files.directory / "r.html").stat().st_size > 0


def test_a_second_ctrl_c_ends_at_once(terminal, files):
    child = terminal("fit", "lung.csv", *TARGET, *SLOW, "--tune", "--model", "m.json")
    child.expect("Tuning")
    child.sendintr()
    child.expect("Searching")
    child.sendintr()
    child.sendintr()
    text, code = end(child)
    assert code == 130
    assert "Traceback" not in text


def test_a_bar_is_gone_when_the_search_is_done(terminal):
    child = terminal("fit", "lung.csv", *UNTUNED, "--max-depth", "4")
    child.expect("Searching")
    text, code = end(child)
    assert code == 0
    assert "gap 0.00% (optimal" in text


def test_there_is_no_bar_in_a_file(files, gbsg2):
    gbsg2.to_csv(files.csv, index=False)
    arguments = ("fit", files.csv, *UNTUNED, "--max-depth", "4", "--json")
    result = subprocess.run(
        [sys.executable, "-m", "surtree", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stderr == ""
    assert json.loads(result.stdout)["status"] == "optimal"


def test_sentences_are_broken_between_words_and_tables_stay_whole():
    sentence = "no tree within these limits fits the rows better than this one does"
    assert wrapped(sentence, 0) == sentence
    assert max(map(len, wrapped(sentence, 30).split("\n"))) <= 30
    assert " ".join(wrapped(sentence, 30).split("\n")) == sentence
    for row in (
        "splits  leaves  depth  loss  lower bound",
        "├─ nodes <= 3 and many words",
    ):
        assert wrapped(row, 20) == row

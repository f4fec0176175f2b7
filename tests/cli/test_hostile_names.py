"""Names and texts of tables that try to control a terminal, or that a tool could take for more."""

from __future__ import annotations

import json
import re
import sys

import numpy as np
import pandas as pd
import pexpect
import pytest
from target import TARGET, UNTUNED

from surtree import EffectTree, SurTree

HOSTILE = "a\x1b[2J\u202eb"
UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


@pytest.fixture
def table(files):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            HOSTILE: rng.choice([0.0, 1.0], 80),
            "kind\x9b": rng.choice(["x\x1b]0;t\x07", "y"], 80),
            "arm": rng.choice(["placebo", "drug\x1b[31m"], 80),
            "days": rng.exponential(size=80) + 0.1,
            "died": 1,
        }
    )
    frame.loc[frame[HOSTILE] > 0, "days"] *= 5
    frame.to_csv(files.csv, index=False)
    return files.csv


@pytest.mark.parametrize(
    "command",
    [
        ("fit", "{csv}", *UNTUNED, "--max-depth", 2),
        ("fit", "{csv}", *TARGET, "--folds", 2, "--max-depth", 1, "--json"),
        ("fit", "{csv}", *TARGET, "--treatment", "arm", "--max-depth", 1),
        ("columns", "{csv}"),
        ("columns", "{csv}", *TARGET, "--max-depth", 1),
        ("validate", "{csv}", *TARGET, "--bootstraps", 2, "--max-depth", 1),
        ("evaluate", "{model}", "{csv}", *TARGET),
        ("audit", "{csv}", *TARGET, "--model", "{model}"),
        ("show", "{model}"),
        ("show", "{model}", "--format", "methods"),
        ("path", "{model}"),
        ("predict", "{model}", "{csv}", "--json"),
        ("predict", "{model}", "{csv}", "--keep", "nothing\x1b[2J"),
    ],
    ids=lambda command: " ".join(map(str, command[:1])),
)
def test_no_name_and_no_label_controls_the_terminal(surtree, files, table, command):
    surtree("fit", table, *UNTUNED, "--max-depth", 2, "--model", files / "m.json")
    filled = [str(part).format(csv=table, model=files / "m.json") for part in command]
    result = surtree(*filled, code=1 if "--keep" in filled else 0)
    assert not UNSEEN.search(result.stdout + result.stderr)
    if "--json" in filled:
        json.loads(result.stdout)


def test_code_goes_to_a_file_as_it_is_and_to_a_terminal_without_control(files, table, surtree):
    model = SurTree(max_depth=1).fit(pd.DataFrame({"x\x1b[2J": [0, 0, 1, 1]}), [4.0, 3.0, 2.0, 1.0])
    model.save(files / "m.json")
    assert '"x\x1b[2J" > 0' in surtree("show", files / "m.json", "--format", "sql").stdout
    arguments = ["-m", "surtree", "show", files / "m.json", "--format", "sql"]
    shown = pexpect.run(f"{sys.executable} {' '.join(arguments)}", encoding="utf-8")
    assert '"x\\x1b[2J" > 0' in shown


def test_predictions_for_arms_of_any_name_are_read_again(surtree, files):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.choice([0.0, 1.0], 60)})
    arm = np.where(np.arange(60) % 2, "a", 'b,"c"\r\n=1+1')
    EffectTree(max_depth=1).fit(X, rng.exponential(size=60), arm).save(files / "m.json")
    X.to_csv(files.csv, index=False)
    surtree("predict", files / "m.json", files.csv, "--output", files / "p.csv")
    read = pd.read_csv(files / "p.csv", lineterminator=None)
    assert len(read) == 60
    assert 'risk_b,"c"\r\n=1+1' in read.columns


def test_a_column_that_polars_takes_for_a_pattern_is_refused_in_one_line(surtree, files, lung):
    lung.rename(columns={"age": "^age$"}).to_csv(files.csv, index=False)
    result = surtree("fit", files.csv, *UNTUNED, code=1)
    (line,) = result.stderr.splitlines()
    assert "'^age$' begins with ^ and ends with $" in line
    lung.rename(columns={"age": "*", "sex": "^"}).to_csv(files.csv, index=False)
    surtree("fit", files.csv, *UNTUNED, "--max-depth", 1)

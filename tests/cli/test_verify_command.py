"""``surtree verify`` confirms a model, or says in sentences what differs."""

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

import surtree
from surtree.cli._app import app
from surtree.datasets import load_gbsg2, load_rossi

TARGET = ("--time", "time", "--event", "event")


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def files(tmp_path):
    X, y = load_gbsg2()
    table = pd.DataFrame(X).assign(event=y["event"].astype(int), time=y["time"])
    table.to_csv(tmp_path / "rows.csv", index=False)
    fitted = run(
        "fit", tmp_path / "rows.csv", *TARGET, "--no-tune", "--max-depth", 2,
        "--model", tmp_path / "model.json",
    )  # fmt: skip
    assert fitted.exit_code == 0, fitted.output
    return tmp_path, table


def test_a_true_model_is_confirmed_and_keeps_the_receipt(files):
    folder, _ = files
    done = run("verify", folder / "model.json", folder / "rows.csv", *TARGET)
    assert done.exit_code == 0, done.output
    assert "optimum  confirmed" in done.output
    assert surtree.load(folder / "model.json").receipt_ is not None
    assert "confirmed by a second program on" in run("show", folder / "model.json").output


def test_without_a_receipt_the_file_stays_as_it_was(files):
    folder, _ = files
    before = (folder / "model.json").read_bytes()
    done = run(
        "verify", folder / "model.json", folder / "rows.csv", *TARGET, "--no-receipt", "--json"
    )
    assert done.exit_code == 0
    assert json.loads(done.stdout)["confirmed"] is True
    assert (folder / "model.json").read_bytes() == before


def test_other_rows_are_a_sentence_and_exit_code_1(files):
    folder, table = files
    table.assign(age=table["age"].where(table.index != 17, 80)).to_csv(
        folder / "other.csv", index=False
    )
    done = run("verify", folder / "model.json", folder / "other.csv", *TARGET)
    assert done.exit_code == 1
    assert "1 of 686 rows are not those of the fit; the first is row 17" in done.output


def test_export_writes_the_program_the_rows_and_the_claim(files):
    folder, _ = files
    run("verify", folder / "model.json", folder / "rows.csv", *TARGET, "--export", folder / "claim")
    assert {path.name for path in (folder / "claim").iterdir()} == {
        "verify.py",
        "claim.json",
        "data.csv",
    }


@pytest.mark.parametrize(
    ("given", "what"),
    [
        (("--time", "time", "--cause", "event"), "a model of one event: give --event"),
        ((*TARGET, "--treatment", "menopause"), "and not --treatment"),
    ],
)
def test_options_of_another_kind_of_model_are_refused(files, given, what):
    folder, _ = files
    done = run("verify", folder / "model.json", folder / "rows.csv", *given)
    assert done.exit_code == 1
    assert what in done.output


def test_a_model_of_effects_asks_for_the_arm(tmp_path):
    X, y = load_rossi()
    table = pd.DataFrame(X).assign(event=y["event"].astype(int), time=y["time"])
    table.to_csv(tmp_path / "rows.csv", index=False)
    arm = ("--treatment", "financial_aid")
    run(
        "fit",
        tmp_path / "rows.csv",
        *TARGET,
        *arm,
        "--max-depth",
        1,
        "--model",
        tmp_path / "m.json",
    )
    done = run("verify", tmp_path / "m.json", tmp_path / "rows.csv", *TARGET)
    assert done.exit_code == 1
    assert "--treatment COLUMN" in done.output
    done = run("verify", tmp_path / "m.json", tmp_path / "rows.csv", *TARGET, *arm)
    assert done.exit_code == 0, done.output

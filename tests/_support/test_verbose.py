"""``verbose=1``: one line on standard error that is written over until the search is done."""

import re

import polars as pl
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from surtree import (
    CompetingRisksTree,
    CompetingRisksTreeCV,
    EffectTree,
    SurTree,
    SurTreeBayes,
    SurTreeCV,
    correct_effects,
    heterogeneity_test,
    load,
    validate,
)
from surtree.datasets import load_gbsg2, load_melanoma, load_rossi
from surtree.solver.problem import Progress
from surtree.solver.verbose import search_text, searching

X, Y = load_gbsg2()
CAUSES = load_melanoma()
TRIAL, TRIAL_Y = load_rossi()
AID = TRIAL.pop("financial_aid")

MODELS = {
    "SurTree": (SurTree(max_depth=1), (X, Y), r"Searching: .*"),
    "SurTreeCV": (SurTreeCV(max_depth=1, cv=3), (X, Y), r"Tuning: 1 of 3 folds .*\nSearching: .*"),
    "SurTreeBayes": (SurTreeBayes(1, 2), (X, Y), r"Averaging: 1 of 2 stages .*"),
    "CompetingRisksTree": (CompetingRisksTree(max_depth=1), CAUSES, r"Searching: .*"),
    "CompetingRisksTreeCV": (
        CompetingRisksTreeCV(max_depth=1, cv=3),
        CAUSES,
        r"Tuning: 1 of 3 folds .*\nSearching: .*",
    ),
    "EffectTree": (EffectTree(max_depth=1), (TRIAL, TRIAL_Y, AID), r"Searching: .*"),
}


def lines(text):
    """Return what a terminal would show at the end."""
    return [line.split("\r")[-1].rstrip() for line in text.removesuffix("\n").split("\n")]


@pytest.mark.parametrize("name", MODELS)
def test_a_model_says_how_far_it_is_only_if_asked(name, capsys):
    model, given, expected = MODELS[name]
    silent = clone(model).fit(*given)
    assert capsys.readouterr() == ("", "")
    loud = clone(model).set_params(verbose=1).fit(*given)
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(expected, err.replace("\r", "").strip(), re.DOTALL)
    assert all(re.fullmatch(r"\w+: done after \d+\.\d s", line) for line in lines(err))
    for one in ("tree_", "trees_"):
        assert getattr(loud, one, None) == getattr(silent, one, None)


@pytest.mark.parametrize("name", MODELS)
def test_the_hook_of_the_user_is_called_too(name, capsys):
    model, given, _ = MODELS[name]
    seen = []
    clone(model).set_params(verbose=True, progress=seen.append).fit(*given)
    if "folds" in MODELS[name][2] or "trees" in MODELS[name][2]:
        assert len(seen) == seen[-1].total
    assert capsys.readouterr().err


@pytest.mark.parametrize("name", MODELS)
def test_files_do_not_know_of_it(name, tmp_path, capsys):
    model, given, _ = MODELS[name]
    for verbose in (0, 1):
        fitted = clone(model).set_params(verbose=verbose).fit(*given)
        fitted.save(tmp_path / f"{verbose}.json")
    assert (tmp_path / "0.json").read_bytes() == (tmp_path / "1.json").read_bytes()
    assert b'"verbose"' not in (tmp_path / "1.json").read_bytes()
    assert load(tmp_path / "1.json").verbose == 0


def test_a_hook_that_ends_the_search_still_does(capsys):
    hook = searching("Searching", 1, lambda now: now.fraction > 0.5)
    with hook as show:
        assert not show(Progress(0.25, 10.0, 5.0))
        assert show(Progress(0.75, 10.0, 9.0))
    err = capsys.readouterr().err
    assert "Searching:  25%  loss 10  bound 5  gap 50.0%  ETA 0:00" in err
    assert lines(err)[-1].startswith("Searching: done after ")


def test_the_line_ends_where_the_search_fails(capsys):
    def fail(now):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), searching("Searching", 1, fail) as show:
        show(Progress(0.25, 10.0, 5.0))
    err = capsys.readouterr().err
    (line,) = lines(err)
    assert line.startswith("Searching: stopped after ")
    assert err.endswith("\n")


def test_times_are_read_as_hours_and_minutes():
    now = Progress(0.5, 10.0, 5.0)
    assert search_text(now, 3725.0, None).endswith("ETA 1:02:05")
    assert search_text(now, 3725.0, 3785.0).endswith("stops in 1:00")
    assert search_text(Progress(0.0, 10.0, 5.0), 1.0, None).endswith("ETA -:--")
    late = search_text(Progress(0.5, 10.0, 1e-10), 1.0, 31.0)
    assert late == "loss 10  nothing proven yet  ETA 0:01"
    assert search_text(Progress(0.0, 10.0, 5.0, "pass 1"), 1.0, None) == "pass 1"


def test_a_lazy_table_says_what_it_reads(capsys):
    frame = pl.from_pandas(X[["age", "tumor_size"]]).with_columns(
        event=pl.Series(Y["event"]), time=pl.Series(Y["time"])
    )
    SurTree(max_depth=1, verbose=1).fit(frame.lazy(), ("event", "time"))
    err = capsys.readouterr().err
    labels = [line.split(":")[0] for line in lines(err)]
    labels.remove("Searching")
    assert labels == [f"Pass {number}" for number in range(1, len(labels) + 1)]
    assert all(": done after " in line for line in lines(err))
    assert "686 rows" in err


def test_a_validation_has_one_line_whatever_its_model_says(capsys):
    pipe = make_pipeline("passthrough", SurTree(max_depth=1, verbose=1))
    for model in (SurTree(max_depth=1, verbose=1), pipe):
        validate(model, X, Y, n_bootstraps=2)
        assert capsys.readouterr().err == ""
        validate(model, X, Y, n_bootstraps=2, verbose=1)
        err = capsys.readouterr().err
        assert "Validating: 1 of 2 samples" in err
        assert len(lines(err)) == 1


def test_what_is_fitted_many_times_is_silent(capsys):
    model = EffectTree(max_depth=1, verbose=1).fit(TRIAL, TRIAL_Y, AID)
    capsys.readouterr()
    correct_effects(model, TRIAL, TRIAL_Y, AID, n_repeats=1)
    heterogeneity_test(model, TRIAL, TRIAL_Y, AID, n_draws=3)
    assert capsys.readouterr().err == ""


def test_threads_write_no_lines_of_their_own(capsys):
    with parallel_config("threading"):
        SurTreeCV(max_depth=1, cv=3, n_jobs=2, verbose=1).fit(X, Y)
    assert len(lines(capsys.readouterr().err)) == 2


@pytest.mark.parametrize("name", MODELS)
def test_what_is_no_number_is_refused(name):
    model, given, _ = MODELS[name]
    for wrong in (-1, 0.5, "yes", None):
        with pytest.raises(ValueError, match="verbose must be a whole number, 0 or more"):
            clone(model).set_params(verbose=wrong).fit(*given)
    with pytest.raises(ValueError, match="verbose must be"):
        validate(SurTree(max_depth=1), X, Y, verbose="yes")

"""A second program confirms what a model claims, and catches every kind of lie."""

import ast
import copy
import json
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_limits
from verify_problems import fit_some

import surtree
from surtree import CompetingRisksTree, EffectTree, SurTree, SurTreeBayes, SurTreeCV, verify
from surtree._support.json_file import digest
from surtree.data.named import RowInputs
from surtree.datasets import load_gbsg2, load_melanoma, load_rossi
from surtree.fitting.training import read_training_data
from surtree.heuristics import GreedyTree
from surtree.solver import reference
from surtree.verification import program
from surtree.verification._bounds import GappedSearch, TimedSearch, prove
from surtree.verification._claim import NOTHING, read_claim, read_claimed_rows

FOLDER = Path(program.__file__).parent


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Let small matrix products run in one thread: several wait for each other."""
    with threadpool_limits(1, "blas"):
        yield


def checked(fitted):
    """Return what verify says of a random problem."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return verify(fitted.model, fitted.X, fitted.y, **fitted.given)


def claim_and_rows(model, X, y, **given):
    """Return what the program takes."""
    claim, estimator, _ = read_claim(model)
    claim["cuts"] = claim["cuts"] or [NOTHING]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = read_claimed_rows(claim, estimator, RowInputs(X, y, **given))
    claim["below"] = program.below(claim)
    return claim, rows


@pytest.mark.parametrize("batch", range(10))
def test_the_program_agrees_with_the_reference_solver_and_confirms_every_kind_of_model(batch):
    for seed in range(30 * batch, 30 * batch + 30):
        fitted = fit_some(seed)
        claim, rows = claim_and_rows(fitted.model, fitted.X, fitted.y, **fitted.given)
        objective = program.Objective(claim, rows)
        best = prove(claim, rows, objective, np.inf).upper
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data = read_training_data(fitted.model, RowInputs(fitted.X, fitted.y, **fitted.given))
        holds = np.array(
            [program.answer(claim, cut, rows["codes"][cut["column"]]) for cut in claim["cuts"]]
        )
        limits = fitted.model._limits(data.target)
        solution = reference.solve(holds.T.astype(bool), data.sums, limits)
        expected = np.maximum(data.sums.constant - solution.gains, 0.0)
        np.testing.assert_allclose(
            best, expected[: best.size], rtol=1e-9, atol=1e-9, err_msg=str(seed)
        )
        verification = checked(fitted)
        assert verification.confirmed, f"{seed}\n{verification}"


def test_neither_the_program_nor_what_reads_columns_for_it_imports_surtree():
    for name, allowed in (("program.py", {"json", "math", "fractions", "pathlib", "numpy"}),):
        tree = ast.parse((FOLDER / name).read_text(encoding="utf-8"))
        imported = {
            module.split(".")[0]
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for module in (
                [node.module] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
            )
        }
        assert imported <= allowed
    assert "surtree" not in (FOLDER / "_columns.py").read_text(encoding="utf-8")
    assert len((FOLDER / "program.py").read_text(encoding="utf-8").splitlines()) <= 250


GBSG2 = load_gbsg2()


@pytest.fixture(scope="module")
def claimed():
    """A true claim about GBSG-2, with a missing value and weights, and its rows."""
    X, y = GBSG2
    X = pd.DataFrame(X).copy()
    X["progesterone_receptor"] = X["progesterone_receptor"].astype(float)
    X.loc[::9, "progesterone_receptor"] = np.nan
    weight = np.where(np.arange(len(X)) % 7 == 0, 2.5, 1.0)
    model = SurTree(max_depth=3, max_splits=4, min_events_leaf=5, shrinkage=1.0)
    model.fit(X, y, weight)
    return claim_and_rows(model, X, y, sample_weight=weight)


def refuted(claim, rows):
    """Return the parts that the program refutes."""
    claim = {**claim, "below": program.below(claim)}
    objective = program.Objective(claim, rows)
    known = prove(claim, rows, objective, np.inf).known
    return {part for part, wrong in program.check(claim, rows, objective, known).items() if wrong}


def test_a_true_claim_is_not_refuted(claimed):
    assert refuted(*copy.deepcopy(claimed)) == set()


def nodes(claim):
    return claim["trees"][0]["nodes"]


def worse_tree(claim, rows):
    """The tree of three splits is called the best of four, with everything that goes with it."""
    smaller = claim["path"][3]
    claim["path"][4] = {**smaller, "splits": 4}
    claim["trees"][0] = {**claim["trees"][smaller["tree"]], "risk": []}
    for name in ("loss", "lower_bound"):
        claim[name] = smaller["loss"]
    leaf = np.zeros(len(rows["time"]), dtype=int)
    for node, cut in enumerate(nodes(claim)["cut"]):
        left, right = nodes(claim)["left"][node], nodes(claim)["right"][node]
        if cut >= 0:
            asked = claim["trees"][0]["cuts"][cut]
            yes = program.answer(claim, asked, rows["codes"][asked["column"]])
            leaf = np.where(leaf == node, np.where(yes, right, left), leaf)
    rows["leaf"] = leaf


def change(path, by):
    """Return a lie that changes one number of a claim."""

    def lie(claim, rows):
        *way, last = path
        place = claim
        for step in way:
            place = place[step]
        place[last] = by(place[last])

    return lie


def row_lie(name, by):
    """Return a lie about the first row."""

    def lie(claim, rows):
        rows[name] = rows[name].copy()
        rows[name][0] = by(rows[name][0])

    return lie


def swapped_rule(claim, rows):
    nodes(claim)["left"][0], nodes(claim)["right"][0] = (
        nodes(claim)["right"][0],
        nodes(claim)["left"][0],
    )


def moved_threshold(claim, rows):
    asked = next(cut for cut in claim["trees"][0]["cuts"] if cut["threshold"] is not None)
    others = {c["threshold"] for c in claim["cuts"] if c["column"] == asked["column"]}
    asked["threshold"] = max(others - {None, asked["threshold"]})


def invented_threshold(claim, rows):
    next(cut for cut in claim["trees"][0]["cuts"] if cut["threshold"])["threshold"] += 0.25


def moved_missing(claim, rows):
    place = next(c["column"] for c in claim["cuts"] if c["missing"] is not None)
    asked = next(cut for cut in claim["trees"][0]["cuts"] if cut["column"] == place)
    asked["missing"] = not asked["missing"]


def left_out_question(claim, rows):
    claim["cuts"].remove(claim["trees"][0]["cuts"][0])


def another_code(claim, rows):
    codes = next(iter(rows["codes"].values()))
    codes[0] += 1


def fewer_rows(claim, rows):
    for name in ("time", "cause", "arm", "entry", "weight", "leaf"):
        rows[name] = rows[name][:-1]
    rows["codes"] = {column: codes[:-1] for column, codes in rows["codes"].items()}


LIES = {
    "a worse tree is called optimal": (worse_tree, "optimum"),
    "a theta": (change(("trees", 0, "nodes", "theta", -1), lambda x: 1.01 * x), "leaves"),
    "a count of rows": (change(("trees", 0, "nodes", "n_samples", -1), lambda x: x + 1), "leaves"),
    "a count of events": (change(("trees", 0, "nodes", "n_events", 2), lambda x: x - 1), "leaves"),
    "a weight of a leaf": (change(("trees", 0, "nodes", "weight", 1), lambda x: x + 0.5), "leaves"),
    "events of a leaf": (
        change(("trees", 0, "nodes", "sums", "events", -1), lambda x: x + 1),
        "leaves",
    ),
    "a hazard": (change(("trees", 0, "nodes", "sums", "hazard", -1), lambda x: 0.9 * x), "leaves"),
    "a loss of a leaf": (change(("trees", 0, "nodes", "loss", -1), lambda x: x - 0.1), "leaves"),
    "a leaf of another size": (
        change(("trees", 1, "nodes", "loss", 0), lambda x: x - 0.1),
        "leaves",
    ),
    "a swapped rule": (swapped_rule, "rules"),
    "a moved threshold": (moved_threshold, "rules"),
    "a question that nobody could ask": (invented_threshold, "rules"),
    "missing values on the other side": (moved_missing, "rules"),
    "a question that is left out": (left_out_question, "rules"),
    "another row": (another_code, "rows"),
    "a row less": (fewer_rows, "rows"),
    "a changed weight": (row_lie("weight", lambda x: x + 1), "rows"),
    "a changed time": (row_lie("time", lambda x: x + 1), "rows"),
    "a changed event": (row_lie("cause", lambda x: 1 - x), "rows"),
    "a digest": (change(("rows", 1), lambda x: x ^ 1), "rows"),
    "the loss of the model": (change(("loss",), lambda x: x - 1), "path"),
    "a path entry": (change(("path", 2, "loss"), lambda x: x - 1), "path"),
    "a bound above the optimum": (change(("path", 2, "lower_bound"), lambda x: x + 1), "bounds"),
    "the bound of the model": (change(("lower_bound",), lambda x: x + 1), "bounds"),
    "the gap": (change(("gap",), lambda x: x + 0.01), "bounds"),
    "a baseline": (change(("baseline", "cumulative_hazard", 5), lambda x: 1.001 * x), "curves"),
    "an event time": (change(("baseline", "times", 5), lambda x: x + 0.5), "curves"),
    "a weight at risk": (change(("trees", 0, "risk", 0, "at_risk", 2), lambda x: x + 1), "curves"),
    "events of a curve": (change(("trees", 0, "risk", 0, "deaths", 2), lambda x: x + 1), "curves"),
    "more levels than were searched": (
        change(("parameters", "max_splits"), lambda x: x + 1),
        "bounds",
    ),
    "a limit that a leaf breaks": (
        change(("parameters", "min_events_leaf"), lambda x: 40),
        "leaves",
    ),
    "another shrinkage": (change(("objective", "parameters", 0), lambda x: x + 1), "leaves"),
}


@pytest.mark.parametrize("name", LIES)
def test_a_lie_is_caught(claimed, name):
    lie, part = LIES[name]
    claim, rows = copy.deepcopy(claimed)
    lie(claim, rows)
    assert part in refuted(claim, rows)


def test_rows_in_another_order_are_the_same_rows():
    X, y = GBSG2
    order = np.random.default_rng(0).permutation(len(X))
    model = SurTree(max_depth=2).fit(X, y)
    assert verify(model, pd.DataFrame(X).iloc[order], y[order]).confirmed


def test_a_changed_value_is_named_with_its_row_and_what_it_was():
    X, y = GBSG2
    model = SurTree(max_depth=2).fit(X, y)
    X = pd.DataFrame(X).copy()
    X.loc[17, "age"] = 80
    X.loc[30, "tumor_grade"] = "I"
    verification = verify(model, X, y)
    assert not verification.confirmed
    assert verification.receipt is None
    assert verification.differences == (
        "rows: 2 of 686 rows are not those of the fit; the first is row 17, counted from 0: "
        "age 80, not above 64 and up to 68.",
    )


@pytest.mark.parametrize(
    ("spoil", "what"),
    [
        (lambda X, y: (X[:-2], y[:-2]), "has 684 rows, and lacks 2 rows of the fit, which had 686"),
        (lambda X, y: (X.sample(frac=1, random_state=1), y), "686 rows of the table are not those"),
        (lambda X, y: (X, later(y)), "row 5, counted from 0: time 449, not 448"),
        (lambda X, y: (pd.concat([X, X[:1]]), np.append(y, y[:1])), "1 of 687 rows are not those"),
    ],
)
def test_other_rows_are_one_sentence(spoil, what):
    X, y = GBSG2
    model = SurTree(max_depth=1).fit(X, y)
    (difference,) = verify(model, *spoil(pd.DataFrame(X), y)).differences
    assert what in difference


def later(y):
    """Return a target whose row 5 ends a day later."""
    y = y.copy()
    y[y.dtype.names[1]][5] += 1
    return y


def test_a_column_of_another_type_is_an_error_that_names_it():
    X, y = GBSG2
    model = SurTree(max_depth=1).fit(X, y)
    X = pd.DataFrame(X).assign(tumor_grade=1.0)
    with pytest.raises(ValueError, match=r"'tumor_grade' held categories.* holds numbers"):
        verify(model, X, y)


def test_models_that_prove_nothing_are_refused():
    X, y = GBSG2
    for model in (GreedyTree(1).fit(X, y), SurTreeBayes(1, 1).fit(X, y)):
        with pytest.raises(ValueError, match="models of one optimal tree"):
            verify(model, X, y)
    persons = SurTree(max_depth=1).fit(X, y, id=np.arange(len(X)))
    with pytest.raises(ValueError, match="start-stop rows"):
        verify(persons, X, y)


def test_a_search_over_sizes_and_models_of_causes_and_arms_are_confirmed():
    X, y = GBSG2
    assert verify(SurTreeCV(max_depth=2, cv=3).fit(X, y), X, y).confirmed
    assert verify(SurTree(max_depth=2, ccp_alpha=3.0).fit(X, y), X, y).confirmed
    X, y = load_melanoma()
    assert verify(CompetingRisksTree(max_depth=2).fit(X, y), X, y).confirmed
    X, y = load_rossi()
    arm = X.pop("financial_aid")
    for aim in ("effect", "both"):
        model = EffectTree(max_depth=2, objective=aim).fit(X, y, arm)
        assert verify(model, X, y, treatment=arm).confirmed


def test_a_tree_without_questions_is_confirmed():
    _, y = GBSG2
    constant = np.ones((len(y), 1))
    assert verify(SurTree(max_depth=2).fit(constant, y), constant, y).confirmed


def saved_claim(path, change):
    """Change the content of a model file; with its digest, as a careful liar does."""
    saved = json.loads(path.read_text(encoding="utf-8"))
    change(saved)
    saved.pop("digest")
    saved["digest"] = digest(saved)
    path.write_text(json.dumps(saved), encoding="utf-8")


def test_a_file_that_was_edited_is_refuted(tmp_path):
    X, y = GBSG2
    path = tmp_path / "model.json"
    SurTree(max_depth=2).fit(X, y).save(path)
    assert verify(path, X, y).confirmed
    text = path.read_text(encoding="utf-8").replace('"time_unit": null', '"time_unit": "years"')
    path.write_text(text, encoding="utf-8")
    verification = verify(path, X, y)
    assert verification.differences == ("file: The file was edited since it was written.",)


def test_a_bound_that_a_careful_liar_raised_is_refuted(tmp_path):
    X, y = GBSG2
    path = tmp_path / "model.json"
    SurTree(max_depth=2, max_splits=2).fit(X, y).save(path)
    shorter = SurTree(max_depth=1).fit(X, y)
    shorter.save(tmp_path / "shorter.json")
    # The best tree of depth one, in a file that says that depth two was searched.
    saved_claim(tmp_path / "shorter.json", lambda saved: saved["parameters"].update(max_depth=2))
    verification = verify(tmp_path / "shorter.json", X, y)
    assert verification.outcome == "refuted"
    assert {text.split(":")[0] for text in verification.differences} == {"optimum", "bounds"}


def test_a_file_without_a_digest_of_rows_says_that_it_is_not_kept(tmp_path):
    X, y = GBSG2
    path = tmp_path / "model.json"
    SurTree(max_depth=2).fit(X, y).save(path)
    saved_claim(path, lambda saved: saved.pop("rows"))
    verification = verify(path, X, y)
    assert {part.outcome for part in verification.parts} == {"confirmed", "not checked"}
    assert "keeps no digest" in verification.parts[1].sentences[0]
    assert verification.differences == ()
    assert repr(verification) == "Verification(partly confirmed: 7 of 8 parts)"


def test_every_threshold_is_confirmed_in_part_where_time_is_short():
    X, y = GBSG2
    X = pd.DataFrame(X)[["age", "positive_nodes", "menopause", "estrogen_receptor"]]
    model = SurTree(max_depth=4, n_thresholds=None).fit(X, y)
    with pytest.warns(UserWarning, match="All trees of this claim would take about"):
        verification = verify(model, X, y, time_limit=2)
    assert verification.outcome == "not checked"
    assert 0 < verification.share < 1
    assert "% of those of the file" in str(verification)
    assert [part.outcome for part in verification.parts][:6] == ["confirmed"] * 6


@pytest.mark.parametrize("size", [2, 8, 1000])
def test_gapped_cuts_are_below_the_optimum_and_meet_it_with_a_group_for_each_question(size):
    X, y = GBSG2
    X = pd.DataFrame(X)[["age", "positive_nodes", "tumor_grade"]]
    model = SurTree(max_depth=3, n_thresholds=20, shrinkage=0.5).fit(X, y)
    claim, rows = claim_and_rows(model, X, y)
    objective = program.Objective(claim, rows)
    search = TimedSearch(claim, rows, objective, np.inf, lambda share: None)
    bounds = GappedSearch(search, claim["cuts"], size).root(3)
    losses = np.array([size["loss"] for size in claim["path"]])
    assert (bounds <= losses * (1 + 1e-12)).all()
    assert bounds[-1] > (0.05 if size == 2 else 0.7) * losses[-1]
    if size == 1000:
        np.testing.assert_allclose(bounds, losses, rtol=1e-9)


def test_the_exported_program_repeats_the_check_with_numpy_alone(tmp_path):
    X, y = GBSG2
    model = SurTree(max_depth=2).fit(X, y)
    verify(model, X, y, export=tmp_path)
    run = [sys.executable, "-I", str(tmp_path / "verify.py")]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "optimum: confirmed" in done.stdout
    claim = json.loads((tmp_path / "claim.json").read_text(encoding="utf-8"))
    assert claim["questions"][0] == "age > 36"
    assert set((tmp_path / "data.csv").read_text()) <= set(
        "0123456789-,.\n_abcdefghijklmnopqrstuvwxyz"
    )
    claim["path"][1]["loss"] -= 1
    (tmp_path / "claim.json").write_text(json.dumps(claim), encoding="utf-8")
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "loss with 1 splits 0 is 445.7462809, not 444.7462809" in done.stdout


def test_a_receipt_stays_in_the_file_and_in_the_report_and_goes_with_another_fit(tmp_path):
    X, y = GBSG2
    model = SurTree(max_depth=2).fit(X, y)
    model.receipt_ = verify(model, X, y).receipt
    model.time_unit_ = "days"  # nothing that was confirmed
    model.save(tmp_path / "model.json")
    again = surtree.load(tmp_path / "model.json")
    assert again.receipt_ == model.receipt_
    surtree.write_report(again, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert f"confirmed by a second program on {model.receipt_.date}" in page
    saved_claim(tmp_path / "model.json", lambda saved: saved["parameters"].update(max_depth=3))
    assert surtree.load(tmp_path / "model.json").receipt_ is None
    assert model.fit(X, y).receipt_ is None


def test_progress_is_told_as_a_growing_share():
    X, y = GBSG2
    model, shares = SurTree(max_depth=3).fit(X, y), []
    verify(model, X, y, progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_a_table_in_which_most_rows_differ_is_refuted_without_an_endless_search():
    random = np.random.default_rng(0)
    X = pd.DataFrame({"a": random.normal(size=150), "b": random.normal(size=150)})
    y = random.random(150) < 0.7, random.exponential(size=150)
    model = SurTree(max_depth=1).fit(X, y)
    for seed in range(30):
        shuffled = np.random.default_rng(seed).permutation(150)
        found = verify(model, X.iloc[shuffled].reset_index(drop=True), y)
        assert not found.confirmed
        assert "rows" in {part.name for part in found.parts if part.outcome == "refuted"}

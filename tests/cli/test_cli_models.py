"""What is done with a model: predictions, pictures, path, report, audit; and the demo."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from target import TARGET, UNTUNED

import surtree as package
from surtree import Encoder, SurTree, SurTreeCV, audit_tree
from surtree.datasets import load_gbsg2, load_lung
from surtree.export import (
    export_dot,
    export_json,
    export_mermaid,
    export_python,
    export_sql,
    export_text,
)


@pytest.fixture(scope="module")
def fitted():
    return SurTree(max_depth=3).fit(*load_lung())


@pytest.fixture
def model(files, fitted):
    fitted.save(files / "m.json")
    return files / "m.json"


def assert_read(found, expected):
    """Not every pandas reads the last digit of a number."""
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-15)


class TestPredict:
    def read(self, result):
        return pd.read_csv(io.StringIO(result.stdout))

    @pytest.mark.parametrize("kind", ["csv", "parquet"])
    def test_leaf_risk_and_median(self, surtree, files, model, fitted, kind):
        found = self.read(surtree("predict", model, getattr(files, kind)))
        X, _ = load_lung()
        assert list(found) == ["leaf", "risk", "median"]
        np.testing.assert_array_equal(found["leaf"], fitted.apply(X))
        assert_read(found["risk"], fitted.predict(X))
        np.testing.assert_array_equal(found["median"], fitted.predict_median(X))

    def test_survival_at_times(self, surtree, files, model, fitted):
        options = ("--survival", "180,365", "--survival", 730.5, "--only", "risk", "--keep", "age")
        found = self.read(surtree("predict", model, files.csv, *options))
        assert list(found) == ["age", "risk", "survival_180", "survival_365", "survival_730.5"]
        X, _ = load_lung()
        for time in (180, 365, 730.5):
            expected = [curve(time) for curve in fitted.predict_survival_function(X)]
            assert_read(found[f"survival_{time}"], expected)

    def test_survival_after_the_last_follow_up_is_empty_and_a_line_says_why(
        self, surtree, files, model, fitted
    ):
        last = fitted.tree_.baseline.last_time
        result = surtree("predict", model, files.csv, "--survival", f"365,{last:g},5000")
        assert result.stderr == (
            f"surtree: survival_5000 is empty: 5000 is after the last follow-up of the training "
            f"rows, {last:g}\n"
        )
        assert result.stdout.splitlines()[1].endswith(",")
        found = self.read(result)
        assert found["survival_5000"].isna().all()
        assert found[f"survival_{last:g}"].notna().all()
        result = surtree("predict", model, files.csv, "--survival", "5000", "--json")
        assert json.loads(result.stdout)["predictions"][0]["survival_5000"] is None

    def test_the_curve_of_the_model_is_used(self, surtree, files):
        X, y = load_lung()
        fitted = SurTree(max_depth=2, leaf_curve="kaplan-meier").fit(X, y)
        fitted.save(files / "km.json")
        found = self.read(surtree("predict", files / "km.json", files.csv))
        np.testing.assert_array_equal(found["median"], fitted.predict_median(X))

    def test_a_category_that_training_never_had_is_said_in_one_line(self, surtree, files):
        X, y = load_gbsg2(backend="pandas")
        SurTree(max_depth=3).fit(X, y).save(files / "g.json")
        one = X[(X["positive_nodes"] <= 3) & (X["tumor_size"] > 22.5)].head(1)
        rows = pd.concat([one] * 5).assign(tumor_grade=[" iii", "IV", "III ", "  ", None])
        rows.to_csv(files / "new.csv", index=False)
        result = surtree("predict", files / "g.json", files / "new.csv")
        assert result.stderr == (
            "surtree: Categories that training never had count as missing values: 'IV', 'iii' in "
            "2 rows of column 'tumor_grade'\n"
        )
        leaf = self.read(result)["leaf"].tolist()
        assert leaf[0] == leaf[1] == leaf[3] == leaf[4]
        in_json = surtree("predict", files / "g.json", files / "new.csv", "--json")
        assert [row["leaf"] for row in json.loads(in_json.stdout)["predictions"]] == leaf
        assert in_json.stderr == result.stderr

    @pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
    def test_files(self, surtree, files, model, fitted, name):
        result = surtree("predict", model, files.csv, "--output", files / name)
        assert result.output == ""
        read = pd.read_csv if name.endswith("csv") else pd.read_parquet
        assert_read(read(files / name)["risk"], fitted.predict(load_lung()[0]))

    def test_json(self, surtree, files, model):
        found = json.loads(surtree("predict", model, files.csv, "--json").stdout)
        assert found["rows"] == len(found["predictions"]) == 228
        assert set(found["predictions"][0]) == {"leaf", "risk", "median"}
        options = ("--output", files / "o.csv", "--json")
        found = json.loads(surtree("predict", model, files.csv, *options).stdout)
        assert found == {"rows": 228, "output": files / "o.csv"}

    def test_columns_that_the_tree_does_not_ask_about_may_be_absent(
        self, surtree, files, model, fitted, lung
    ):
        asked = {cut.name for cut in fitted.tree_.cuts}
        assert len(asked) < lung.shape[1] - 2
        lung[sorted(asked)].to_csv(files.csv, index=False)
        found = self.read(surtree("predict", model, files.csv))
        np.testing.assert_array_equal(found["leaf"], fitted.apply(load_lung()[0]))

    @pytest.mark.filterwarnings("ignore::surtree.UnseenCategoryWarning")
    def test_columns_are_read_as_in_training(self, surtree, files):
        # Alone, each of these rows looks like numbers, or like nothing at all.
        X = pd.DataFrame({"ward": ["007", "8a", "007", "8a"], "ill": [True, False, None, True]})
        fitted = SurTree(max_depth=2, min_support=0).fit(X, [4.0, 3.0, 2.0, 1.0])
        fitted.save(files / "w.json")
        for ward, ill in (("007", "1"), ("007", ""), ("8a", "no"), ("9", "TRUE")):
            table = files.write("one.csv", f"ward,ill\n{ward},{ill}\n")
            found = self.read(surtree("predict", files / "w.json", table))
            truth = {"1": True, "TRUE": True, "no": False, "": None}[ill]
            row = pd.DataFrame({"ward": [ward], "ill": pd.Series([truth], dtype=object)})
            np.testing.assert_array_equal(found["leaf"], fitted.apply(row))

    def test_a_model_of_columns_without_names(self, surtree, files):
        X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), [4.0, 3.0, 2.0, 1.0]
        fitted = SurTree(max_depth=1).fit(X, y)
        fitted.save(files / "n.json")
        table = files.write("one.csv", "any\n0\n1\n")
        found = self.read(surtree("predict", files / "n.json", table))
        assert found["leaf"].tolist() == [1, 2]


class TestShow:
    @pytest.mark.parametrize(
        ("style", "expected"),
        [
            ("text", export_text),
            ("dot", export_dot),
            ("mermaid", export_mermaid),
            ("sql", export_sql),
            ("python", export_python),
            ("json", export_json),
        ],
    )
    def test_formats(self, surtree, model, fitted, style, expected):
        text = expected(fitted.tree_)
        assert surtree("show", model, "--format", style).stdout == text.rstrip("\n") + "\n"
        found = json.loads(surtree("show", model, "--format", style, "--json").stdout)
        assert found == (json.loads(text) if style == "json" else {"format": style, "text": text})

    def test_the_drawn_tree_has_its_certificate(self, surtree, model, fitted):
        text = surtree("show", model).stdout
        assert text.startswith(str(fitted.tree_))
        assert f"loss {fitted.loss_:.6g}, lower bound {fitted.lower_bound_:.6g}" in text

    @pytest.mark.parametrize("value", ["risk", "median"])
    def test_values(self, surtree, model, fitted, value):
        for style, export in (("sql", export_sql), ("python", export_python)):
            text = surtree("show", model, "--format", style, "--value", value).stdout
            assert text.rstrip("\n") == export(fitted.tree_, value=value).rstrip("\n")

    def test_smaller_trees(self, surtree, model, fitted):
        for splits in (0, 2, 99):
            tree = fitted.path_[min(splits, 7)].tree
            text = surtree("show", model, "--splits", splits, "--format", "text").stdout
            assert text == export_text(tree) + "\n"


def test_path(surtree, model, fitted):
    lines = surtree("path", model).stdout.splitlines()
    assert len(lines) == 1 + len(fitted.path_)
    assert lines[-1].endswith("chosen")
    assert f"{fitted.path_[3].loss:.6g}" in lines[4]
    found = json.loads(surtree("path", model, "--json").stdout)["path"]
    assert [size["lower_bound"] for size in found] == [s.lower_bound for s in fitted.path_]


def test_report(surtree, model, files):
    path = files / "r.html"
    assert surtree("report", model, "-o", path, "--title", "Lungs").stdout == f"{path}\n"
    assert "Lungs" in Path(path).read_text()
    found = json.loads(surtree("report", model, "--output", path, "--json").stdout)
    assert found == {"report": path}


class TestAudit:
    def test_a_model(self, surtree, files):
        X, y = load_lung()
        fitted = SurTree(max_depth=2, max_splits=2).fit(X, y)
        fitted.save(files / "m.json")
        expected = audit_tree(fitted, X, y)
        options = (files.csv, *TARGET, "--model", files / "m.json")
        assert surtree("audit", *options).stdout == f"{expected}\n"
        found = json.loads(surtree("audit", *options, "--json").stdout)
        assert found["loss"] == expected.loss
        assert found["same_size"]["loss"] == expected.same_size.loss
        assert [cost["rule"] for cost in found["split_costs"]] == [
            cost.rule for cost in expected.split_costs
        ]

    def test_labels_of_another_tool(self, surtree, files):
        X, y = load_lung()
        options = (files.csv, *TARGET, "--leaf", "sex", "--max-depth", 2, "--json")
        found = json.loads(surtree("audit", *options).stdout)
        expected = audit_tree(X["sex"].to_numpy(), X.drop(columns="sex"), y, max_depth=2)
        assert (found["gap"], found["missed"]) == pytest.approx((expected.gap, expected.missed))
        assert found["depth"] is None

    def test_questions_that_are_asked_for(self, surtree, files):
        X, y = load_lung(backend="pandas")
        options = (files.csv, *TARGET, "--leaf", "sex", "--max-depth", 1, "--json")
        asked = ("--n-thresholds", 2, "--category-cuts", "one")
        found = json.loads(surtree("audit", *options, *asked).stdout)
        encoder = Encoder(2, 60, 0.0, "one")
        labels = X["sex"].to_numpy()
        expected = audit_tree(labels, X.drop(columns="sex"), y, max_depth=1, encoder=encoder)
        assert found["same_size"]["loss"] == pytest.approx(expected.same_size.loss)
        assert found["missed"] == pytest.approx(expected.missed)
        assert "No tree of questions about one column each" in found["notes"][0]

    def test_a_tree_of_r(self, surtree, files):
        X, y = load_lung(backend="pandas")
        node = {"id": 1, "column": "age", "kids": [2, 3], "threshold": 70, "above": "left"}
        tree = {"format": "surtree.r-tree", "package": "rpart", "nodes": [node]}
        tree["nodes"] += [{"id": 2}, {"id": 3}]
        path = files.write("r.json", json.dumps(tree))
        found = json.loads(surtree("audit", files.csv, *TARGET, "--r-tree", path, "--json").stdout)
        expected = audit_tree((X["age"] >= 70).to_numpy(), X, y)
        assert found["loss"] == pytest.approx(expected.loss)
        assert found["name"] == "rpart"
        wrong = files.write("wrong.json", "{}")
        result = surtree("audit", files.csv, *TARGET, "--r-tree", wrong, code=1)
        assert "is no tree of R" in result.stderr


def test_demo(surtree, files):
    directory = files.directory / "new" / "demo"
    result = surtree("demo", directory, "--max-depth", 2)
    expected = SurTreeCV(max_depth=2).fit(*load_gbsg2())
    model = SurTree.load(directory / "model.json")
    assert model.loss_ == expected.best_estimator_.loss_
    np.testing.assert_allclose(model.held_out_.loss, expected.held_out_.loss)
    assert "days" in (directory / "report.html").read_text()
    assert result.stdout.endswith(f"report  {directory / 'report.html'}\n")
    found = json.loads(surtree("demo", directory, "--max-depth", 1, "--json").stdout)
    assert found["rows"] == 686


def test_version(surtree):
    assert surtree("--version").stdout == f"surtree {package.__version__}\n"


class TestEdited:
    """A model whose file was changed by hand: its certificate is void wherever it is shown."""

    @pytest.fixture
    def edited(self, model):
        saved = json.loads(Path(model).read_text())
        saved["trees"][0]["nodes"]["loss"][0] += 1.0
        Path(model).write_text(json.dumps(saved))
        return model

    def test_is_shown_without_a_proof(self, surtree, edited):
        result = surtree("show", edited)
        assert "nothing proven (edited: certificate void)" in result.stdout
        assert "optimal" not in result.stdout
        (note,) = result.stderr.splitlines()
        assert "was edited, or has no digest: its certificate is void" in note

    def test_has_a_path_without_bounds(self, surtree, edited):
        lines = surtree("path", edited).stdout.splitlines()
        assert lines[-1] == "edited: certificate void"
        found = json.loads(surtree("path", edited, "--json").stdout)
        assert found["status"] == "edited"
        assert {size["lower_bound"] for size in found["path"]} == {0.0}

    def test_has_a_report_that_says_so(self, surtree, edited, files):
        surtree("report", edited, "-o", files / "r.html")
        page = Path(files / "r.html").read_text()
        assert 'data-good="false"><strong>Not known. Edited: certificate void</strong>' in page
        assert "Proven optimal" not in page
        assert "The same search found the smallest loss" not in page

    def test_predicts_with_a_note(self, surtree, edited, files):
        result = surtree("predict", edited, files.csv)
        assert "certificate is void" in result.stderr
        assert result.stdout.startswith("leaf,risk,median\n")

    def test_in_a_notebook(self, edited):
        assert "Edited: certificate void" in SurTree.load(edited)._repr_html_()


def test_the_unit_of_time_is_kept_for_the_report(surtree, files):
    options = ("--max-depth", 1, "--model", files / "u.json", "--time-unit", "fortnights")
    surtree("fit", files.csv, *UNTUNED, *options)
    surtree("report", files / "u.json", "-o", files / "r.html")
    assert "time (fortnights)" in Path(files / "r.html").read_text()
    surtree("report", files / "u.json", "-o", files / "r.html", "--time-unit", "days")
    page = Path(files / "r.html").read_text()
    assert "time (days)" in page
    assert "fortnights" not in page


def test_files_that_hold_no_model_of_one_tree_say_what_they_hold(surtree, files, fitted):
    files.write("tree.json", export_json(fitted))
    result = surtree("show", files / "tree.json", code=1)
    assert "tree.json holds a Tree, and the commands read fitted models" in result.stderr

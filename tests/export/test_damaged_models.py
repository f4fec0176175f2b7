"""Model files from strangers: each works in every use, or is refused with one line."""

import copy
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from damage import damaged, outcome, rows_for, sample_models, use_everywhere, write_damaged
from problems import cases
from surtree import EffectTree, SurTree, Tree, UnseenCategoryWarning
from surtree.cuts.cut import Cut
from surtree.heuristics import ConditionalInferenceTree, GreedyTree, LocalSearchTree

DATA = Path(__file__).parent / "old_files"


@pytest.fixture(scope="module")
def models():
    return sample_models()


@pytest.fixture(scope="module")
def saved(tmp_path_factory, models):
    """The models as text."""
    path = tmp_path_factory.mktemp("models") / "model.json"
    texts = []
    for model in models:
        model.save(path)
        texts.append(path.read_text(encoding="utf-8"))
    return texts


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.json"


def test_damaged_files_work_or_are_refused_with_one_line(saved, path):
    rng = np.random.default_rng(14)
    old = [(DATA / f"version_1_{name}.json").read_text("utf-8") for name in ("weights", "entry")]
    texts = saved + old
    outcomes = []
    for number in range(400):
        write_damaged(path, damaged(texts[number % len(texts)], rng))
        outcomes.append(outcome(path))
    assert set(outcomes) == {"used", "refused"}


@pytest.mark.parametrize("number", range(8))
def test_models_of_every_kind_are_read_as_they_are(models, saved, path, number):
    path.write_text(saved[number], encoding="utf-8")
    model = models[number]
    loaded = SurTree.load(path)
    assert loaded.status_ == model.status_
    assert loaded.path_ == model.path_
    use_everywhere(loaded, plots=True)


@settings(max_examples=30, deadline=None)
@given(cases())
def test_any_fitted_model_is_read_and_works(tmp_path_factory, case):
    path = tmp_path_factory.mktemp("model") / "model.json"
    for leaf_curve in ("baseline", "kaplan-meier"):
        model = SurTree(**case.limits, leaf_curve=leaf_curve)
        model.fit(case.X, case.y, case.weight, case.entry).save(path)
        loaded = SurTree.load(path)
        assert loaded.status_ == "optimal"
        use_everywhere(loaded)


@settings(max_examples=15, deadline=None)
@given(cases())
def test_trees_of_every_method_are_read_as_they_are(case):
    for method in (GreedyTree(), ConditionalInferenceTree(alpha=0.5), LocalSearchTree()):
        tree = method.fit(case.X, case.y, case.weight, case.entry).tree_
        assert Tree.from_dict(json.loads(json.dumps(tree.to_dict()))) == tree


def first(name):
    """Change a field of the first node of the first tree."""
    return lambda model, value: model["trees"][0]["nodes"][name].__setitem__(0, value)


def first_sum(name):
    """Change a sum of the first node of the first tree."""
    return lambda model, value: model["trees"][0]["nodes"]["sums"][name].__setitem__(0, value)


def all_sums(name):
    """Multiply a sum of all nodes of the first tree."""

    def change(model, factor):
        sums = model["trees"][0]["nodes"]["sums"]
        sums[name] = [factor * value for value in sums[name]]

    return change


def in_cuts(name, column):
    """Change a field of all questions about a column."""

    def change(model, value):
        for cut in [*model["cuts"], *(cut for tree in model["trees"] for cut in tree["cuts"])]:
            if cut["name"] == column:
                cut[name] = value

    return change


def in_risk(name):
    """Change the first risk count of the leaf with the most of them."""

    def change(model, value):
        counts = max(model["trees"][0]["risk"], key=lambda counts: len(counts["step"]))
        counts[name][0] = value

    return change


def of_leaf(name):
    """Change what the first leaf has once."""
    return lambda model, value: model["trees"][0]["risk"][0].update({name: value})


def in_known(name):
    """Change the categories that training knew of a column."""
    return lambda model, value: model["known"].update({str(model["columns"].index(name)): value})


CHANGES = [
    (first("theta"), 0.0, "theta is not what the sums of its nodes give"),
    (first("theta"), 99.0, "theta is not what the sums of its nodes give"),
    (first("theta"), 1.7e308, "theta[0] is 1.7e+308, not a finite number"),
    (first("theta"), "0.5", "theta[0] is '0.5', not a finite number"),
    (first("theta"), True, "theta[0] is True, not a finite number"),
    (first("n_samples"), 0.5, "n_samples[0] is 0.5, not a whole number"),
    (first("n_events"), -1, "n_events[0] is -1, not a whole number"),
    (first("weight"), -1.0, "weight[0] is -1.0, not a weight, zero or more"),
    (first_sum("events"), 1e9, "do not add up"),
    (first_sum("hazard"), 1e9, "do not add up"),
    (first_sum("hazard"), "1", "nodes.sums.hazard[0] is '1', not a finite number"),
    (all_sums("events"), -1, "no rows have the sums of its nodes"),
    (all_sums("events"), 0, "no rows have the sums of its nodes"),
    (all_sums("events"), 99, "no rows have the sums of its nodes"),
    (all_sums("hazard"), 0, "no rows have the sums of its nodes"),
    (all_sums("hazard"), 1e-308, "a leaf's hazard is out of all proportion"),
    (lambda m, v: m["trees"][0]["nodes"].update(sums=v), [], "nodes.sums is [], not an object"),
    (lambda m, v: m["trees"][0]["nodes"]["sums"].pop(v), "events", "'events' is not there"),
    (lambda m, v: m["trees"][0]["nodes"]["sums"].update(x=v), [], "'x' is not a field in nodes"),
    (lambda m, v: m["trees"][0].update(version=v), 1, "trees[0]: 'objective' is not a field"),
    (lambda m, v: m.update(objective=v), "x", "objective is 'x', not an object"),
    (lambda m, v: m["objective"].update(parameters=v), [1.0, 2.0], "2 parameters are not those"),
    (lambda m, v: m["objective"].update(parameters=v), [-1.0], "shrinkage must be 0 or a number"),
    (
        lambda m, v: m["objective"].update(name=v),
        "squared_error",
        "fitted for the objective 'squared_error', and this surtree knows 'relative_risk', ",
    ),
    (in_risk("deaths"), -1, "deaths[0] is -1, not a weight, zero or more"),
    (in_risk("deaths"), 999, "its at-risk counts are not those of its leaves"),
    (in_risk("at_risk"), -1, "at_risk[0] is -1, not a weight, zero or more"),
    (in_risk("step"), -1, "step[0] is -1, not a whole number"),
    (in_risk("step"), 0.5, "step[0] is 0.5, not a whole number"),
    (in_risk("step"), 30, "its at-risk counts are not those of its leaves"),
    (in_risk("censored"), 1e9, "its last times are not those of its rows"),
    (in_risk("censored"), -1, "censored[0] is -1, not a time from 0 to 1e100"),
    (of_leaf("last_time"), 1e9, "its last times are not those of its rows"),
    (of_leaf("last_time"), None, "its last times are not those of its rows"),
    (of_leaf("last_time"), "x", "last_time is 'x', not a time from 0 to 1e100"),
    (lambda m, v: m["baseline"].update(last_time=v), 1, "its last times are not those of its rows"),
    (lambda m, v: m["trees"][0].update(leaf_curve=v), "cox", "leaf_curve is 'cox', not one of"),
    (
        lambda m, v: m["trees"][1].update(leaf_curve=v),
        "kaplan-meier",
        "its leaves have no curves of the kind that it says",
    ),
    (in_risk("round_at_risk"), -1, "round_at_risk[0] is -1, not a weight, zero or more"),
    (in_cuts("categories", "site"), [], "a question has no category in its list"),
    (in_cuts("categories", "site"), ["a", 1], "a question has categories of different kinds"),
    (in_cuts("categories", "site"), ["a", "a"], "a question has a category twice"),
    (in_cuts("categories", "site"), [["a"]], "not a text or a finite number"),
    (in_cuts("categories", "site"), ["\ud800"], "has half of a character"),
    (in_cuts("categories", "ill"), [False], "a question has booleans that are not just true"),
    (in_known("sex"), {}, "is {}, not a list"),
    (lambda m, v: m["known"].pop(v), "4", "categories of the column 'sex' are not there"),
    (in_known("sex"), [[]], "not a text or a finite number"),
    (in_known("sex"), ["f", 1], "are not the categories of a column"),
    (in_known("sex"), ["f", "f"], "are not the categories of a column"),
    (in_known("sex"), ["f", "m", ""], "has a text as no cell is read, with blanks: ''"),
    (in_known("sex"), ["f", "m", "x "], "has a text as no cell is read, with blanks: 'x '"),
    (in_known("sex"), ["x", "y"], "a question has categories that are not some of those known"),
    (in_known("age"), ["x", "y"], "a question has a threshold and known categories"),
    (lambda m, v: m.update(known=v), [], "known is [], not an object"),
    (in_cuts("threshold", "age"), "x", "threshold is 'x', not a finite number"),
    (in_cuts("threshold", "age"), True, "threshold is True, not a finite number"),
    (in_cuts("threshold", "age"), 10**400, "not a finite number"),
    (in_cuts("threshold", "age"), float("inf"), "Infinity is no number"),
    (in_cuts("threshold", "site"), 1.0, "a question has a threshold and categories"),
    (in_cuts("negated", "site"), [], "negated is [], not true or false"),
    (in_cuts("missing", "age"), 1, "missing is 1, not true or false"),
    (in_cuts("name", "age"), {}, "name is {}, not a text"),
    (in_cuts("name", "age"), "years", "a question calls the column 'age' 'years'"),
    (in_cuts("seen", "age"), "x", "seen is 'x', not a list"),
    (in_cuts("seen", "age"), [3.0, 1.0], "a question has a range that does not ascend"),
    (in_cuts("column", "age"), 10**400, "not the position of a column"),
    (in_cuts("column", "age"), 1, "its questions are not all there"),
    (lambda m, v: m["path"][0].update(lower_bound=v), "<script>", "lower_bound is '<script>'"),
    (lambda m, v: m["path"][0].update(lower_bound=v), 1e9, "belongs to a loss of"),
    (lambda m, v: m["path"][1].update(splits=v), 7, "does not count the splits from zero"),
    (lambda m, v: m["path"][1].update(tree=v), -1, "path[1].tree is -1"),
    (lambda m, v: m["path"][0].update(tree=v), 0, "does not have each of its trees"),
    (lambda m, v: m.update(gap=v), 0.5, "a gap of 0.5 is not that of loss and bound"),
    (lambda m, v: m.update(status=v), "\ud800", "not one of 'optimal'"),
    (lambda m, v: m.update(status=v), "optimal!!", "status is 'optimal!!', not one of 'optimal'"),
    (lambda m, v: m.update(columns=v), ["age"] * 7, "two columns have the same name"),
    (lambda m, v: m.update(columns=v), [[[]]] * 7, "columns[0] is [[]], not a text"),
    (lambda m, v: m.update(n_columns=v), True, "n_columns is True, not a whole number"),
    (lambda m, v: m.update(colour=v), "red", "'colour' is not a field"),
    (lambda m, v: m["parameters"].update(ccp_alpha=v), 10**400, "not a plain value"),
    (lambda m, v: m["parameters"].update(min_support=v), 7, "min_support must be"),
    (lambda m, v: m["encoder"].update(min_support=v), "x", "min_support must be"),
    (lambda m, v: m["baseline"].update(floor=v), 0, "floor is 0, not a number above zero"),
    (lambda m, v: m["baseline"].update(times=v), [], "its baseline is not a curve"),
    (lambda m, v: m["baseline"]["times"].__setitem__(-1, v), 1e300, "not a time from 0 to 1e100"),
    (in_risk("at_risk"), 1e-300, "its at-risk counts are not those of its leaves"),
    (lambda m, v: m["trees"][0].update(risk=m["trees"][0]["risk"][::-1]), None, "risk counts"),
    (lambda m, v: m["trees"][0].update(risk=v), [], "the at-risk counts of its tree are not there"),
]


@pytest.mark.parametrize(("change", "value", "message"), CHANGES)
def test_what_could_not_be_used_is_refused(saved, path, change, value, message):
    model = json.loads(saved[0])
    assert model["trees"][0]["risk"]
    change(model, value)
    path.write_text(json.dumps(model))
    assert outcome(path) == "refused"
    with pytest.raises(ValueError, match="damaged") as error:
        SurTree.load(path)
    assert message in str(error.value)


def test_a_question_about_truth_that_became_one_about_a_text_is_refused(path):
    """Where no other question about the column says that it holds booleans."""
    X = pd.DataFrame({"ill": [True, False] * 20, "age": np.arange(40) % 13})
    SurTree(max_depth=1).fit(X, np.arange(40) + 1.0).save(path)
    model = json.loads(path.read_text())
    (cut,) = (cut for cut in model["cuts"] if cut["name"] == "ill")
    cut["categories"] = ["I"]
    path.write_text(json.dumps(model))
    with pytest.raises(ValueError, match="lists 'I', and the categories of the column 'ill' are"):
        SurTree.load(path)


def test_a_file_that_does_not_say_which_categories_there_were_can_be_saved_again(saved, path):
    model = json.loads(saved[0])
    del model["known"]
    path.write_text(json.dumps(model))
    SurTree.load(path).save(path)
    assert SurTree.load(path).tree_.n_leaves == len(model["trees"][0]["risk"])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a", "b\ud800"], "labels[1] has half of a character"),
        (["a", 10**400], "not a text or a finite number"),
        (["a", "a"], "not a list of different labels"),
        ([1, "1"], "not a list of different labels"),
        (["a", None], "not a text or a finite number"),
    ],
)
def test_labels_of_arms_that_could_not_be_told_are_refused(path, labels, message):
    rng = np.random.default_rng(0)
    X, arm = rng.normal(size=(60, 1)), np.arange(60) % 2
    EffectTree(max_depth=1).fit(X, rng.exponential(size=60), arm).save(path)
    model = json.loads(path.read_text())
    model["trees"][0]["arms"]["labels"] = labels
    path.write_text(json.dumps(model))
    with pytest.raises(ValueError, match="damaged") as error:
        EffectTree.load(path)
    assert message in str(error.value)


@pytest.mark.parametrize("depth", [600, 100_000])
@pytest.mark.parametrize("inside", [False, True])
def test_values_that_are_nested_too_deeply(saved, path, depth, inside):
    nested = "[" * depth + "]" * depth
    whole = saved[0].replace('"status": "optimal"', f'"status": {nested}')
    path.write_text(whole if inside else nested)
    assert outcome(path) == "refused"


def test_a_field_that_stands_twice_is_refused(saved, path):
    path.write_text(saved[0].replace("{", '{"status": "optimal", ', 1))
    with pytest.raises(ValueError, match="'status' stands twice"):
        SurTree.load(path)


def test_a_chain_of_questions_that_no_export_can_hold():
    tree = SurTree(max_depth=1).fit([[0], [0], [1], [1]], [4.0, 3.0, 2.0, 1.0]).tree_
    saved = tree.to_dict()
    for _ in range(100):
        # One more question above all others, whose other answer nobody gives.
        nodes = saved["nodes"]
        for name in ("left", "right"):
            nodes[name] = [-1, -1, *(place if place < 0 else place + 2 for place in nodes[name])]
            nodes[name][0] = {"left": 1, "right": 2}[name]
        for name in ("cut", "column"):
            nodes[name] = [0, -1, *nodes[name]]
        for name in ("theta", "n_samples", "n_events", "weight", "loss"):
            nodes[name] = [nodes[name][0], 0, *nodes[name]]
        for sums in nodes["sums"].values():
            sums[:0] = [sums[0], 0]
    saved["risk"] = []
    with pytest.raises(ValueError, match="its nodes do not form a tree"):
        Tree.from_dict(saved)


@pytest.mark.parametrize("wrong", [None, [], "x", 3, {}, {"column": 0}])
def test_what_is_no_question_and_no_tree(wrong):
    for read in (Cut.from_dict, Tree.from_dict):
        with pytest.raises(ValueError, match=r"not there|not an object|not a tree"):
            read(wrong)


def test_rows_for_a_model_ask_both_sides_of_each_question(saved, path):
    path.write_text(saved[0], encoding="utf-8")
    model = SurTree.load(path)
    with pytest.warns(UnseenCategoryWarning):
        leaf = model.apply(rows_for(model, 400))
    assert set(leaf) == set(model.tree_.leaves)


class TestEdited:
    """A file that was changed by hand, but so that it can still be used."""

    @pytest.fixture
    def model(self, saved):
        return json.loads(saved[0])

    def load(self, path, model):
        path.write_text(json.dumps(model))
        return SurTree.load(path)

    def edit_loss(self, model):
        edited = copy.deepcopy(model)
        edited["trees"][0]["nodes"]["loss"][0] += 1.0
        return edited

    @pytest.mark.parametrize(
        ("change", "value"),
        [
            (first("loss"), 99.0),
            (in_cuts("threshold", "age"), 31.0),
            (in_cuts("missing", "age"), True),
            (lambda m, v: m.update(status=v), "time_limit"),
            (lambda m, v: m["parameters"].update(max_depth=v), 5),
            (lambda m, v: m["parameters"].pop(v), "max_depth"),
            (lambda m, v: m["cuts"].pop() and m["heavier_side"].pop(), None),
            (lambda m, v: m["baseline"]["times"].__setitem__(0, v), 0.5),
            (lambda m, v: m.update(digest=v), "0" * 64),
            (lambda m, v: m.pop(v), "digest"),
        ],
    )
    def test_has_no_certificate(self, path, model, change, value):
        change(model, value)
        edited = self.load(path, model)
        assert (edited.status_, edited.lower_bound_, edited.gap_) == ("edited", 0.0, 1.0)
        assert {size.lower_bound for size in edited.path_} == {0.0}
        use_everywhere(edited)

    def test_stays_without_one_when_it_is_saved_again(self, path, model):
        edited = self.load(path, self.edit_loss(model))
        edited.save(path)
        again = SurTree.load(path)
        assert (again.status_, again.lower_bound_, again.gap_) == ("edited", 0.0, 1.0)
        written = json.loads(path.read_text())
        assert self.load(path, written | {"status": "optimal", "gap": 1.0}).status_ == "edited"

    def test_fitted_again_it_has_one(self, path, model):
        edited = self.load(path, self.edit_loss(model))
        assert edited.fit([[0], [0], [1], [1]], [4.0, 3.0, 2.0, 1.0]).status_ == "optimal"

    def test_layout_is_no_edit(self, path, model):
        def turned(value):
            if isinstance(value, dict):
                return {name: turned(value[name]) for name in reversed(value)}
            if isinstance(value, list):
                return [turned(item) for item in value]
            # As programs do that know one kind of number.
            return int(value) if isinstance(value, float) and value.is_integer() else value

        path.write_text(json.dumps(turned(model), indent=3, ensure_ascii=True))
        loaded = SurTree.load(path)
        assert (loaded.status_, loaded.gap_) == ("optimal", 0.0)
        use_everywhere(loaded)

import math
from importlib.util import find_spec

import narwhals as nw
import numpy as np
import pytest
from scipy import stats

from surtree.datasets import (
    GroundTruthTree,
    _load,
    load_gbsg2,
    load_lung,
    load_regimes,
    load_rossi,
    make_survival_tree_data,
)
from surtree.datasets._distributions import DISTRIBUTIONS, Distribution
from surtree.datasets._synthetic import Leaf, _censoring_constant

FACTS = [
    # loader, rows, columns, events, missing values, latest time
    (load_gbsg2, 686, 8, 299, 0, 2659),
    (load_lung, 228, 7, 165, 66, 1022),
    (load_regimes, 1808, 5, 1468, 0, 47),
    (load_rossi, 432, 7, 114, 0, 52),
]


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize(("load", "n_rows", "n_columns", "n_events", "n_missing", "last"), FACTS)
def test_tables_are_as_their_sources_say(
    backend, load, n_rows, n_columns, n_events, n_missing, last
):
    pytest.importorskip(backend)
    X, y = load(backend=backend)
    frame = nw.from_native(X, eager_only=True)
    assert frame.implementation.value == backend
    assert frame.shape == (n_rows, n_columns)
    assert sum(int(frame[name].is_null().sum()) for name in frame.columns) == n_missing
    assert y.dtype.names == ("event", "time")
    assert y.dtype["event"] == np.bool_
    assert (len(y), y["event"].sum(), y["time"].max()) == (n_rows, n_events, last)
    assert y["time"].min() > 0


def test_columns_are_what_a_reader_expects():
    X, _ = load_gbsg2(backend="pandas")
    assert X["tumor_grade"].cat.ordered
    assert list(X["tumor_grade"].cat.categories) == ["I", "II", "III"]
    assert set(X["hormone_therapy"]) == {"no", "yes"}
    assert X["age"].dtype == np.int64
    X, _ = load_lung(backend="pandas")
    assert X["weight_loss"].min() < 0
    assert X.isna().sum().to_dict() == {
        "age": 0,
        "sex": 0,
        "ecog": 1,
        "karnofsky_physician": 1,
        "karnofsky_patient": 3,
        "calories": 47,
        "weight_loss": 14,
    }


def test_gbsg2_has_the_numbers_that_scikit_survival_has():
    datasets = pytest.importorskip("sksurv.datasets")
    X, y = load_gbsg2(backend="pandas")
    expected_X, expected_y = datasets.load_gbsg2()
    names = {
        "age": "age",
        "tumor_size": "tsize",
        "positive_nodes": "pnodes",
        "progesterone_receptor": "progrec",
        "estrogen_receptor": "estrec",
    }
    for ours, theirs in names.items():
        assert X[ours].tolist() == expected_X[theirs].tolist()
    assert X["tumor_grade"].tolist() == expected_X["tgrade"].tolist()
    assert X["hormone_therapy"].tolist() == expected_X["horTh"].tolist()
    assert y["event"].tolist() == expected_y["cens"].tolist()
    assert y["time"].tolist() == expected_y["time"].tolist()


def test_the_first_installed_library_is_the_default(monkeypatch):
    monkeypatch.setattr(_load, "find_spec", lambda name: None if name == "pandas" else find_spec)
    assert type(load_rossi()[0]).__module__.startswith("polars")
    monkeypatch.setattr(_load, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match="install one of them"):
        load_rossi()


def test_an_unknown_library_is_refused():
    with pytest.raises(ValueError, match="backend must be one of pandas, polars, pyarrow"):
        load_rossi(backend="excel")


@pytest.mark.parametrize("factor", [1, 2])
def test_synthetic_columns(factor):
    X, y, tree = make_survival_tree_data(2000, 0.3, factor, 0, backend="pandas")
    assert list(X.columns) == [f"F{j}" for j in range(6 * factor)]
    for block in range(factor):
        continuous = X.iloc[:, 6 * block : 6 * block + 3].to_numpy()
        assert continuous.min() >= 0
        assert continuous.max() <= 1
        assert stats.kstest(continuous.ravel(), "uniform").pvalue > 0.001
        for j, values in ((3, [0, 1]), (4, list("XYZ")), (5, list("ABCDE"))):
            shares = X.iloc[:, 6 * block + j].value_counts(normalize=True)
            assert sorted(shares.index) == values
            assert shares.to_numpy() == pytest.approx(1 / len(values), abs=0.05)
    assert len(y) == 2000
    assert len(tree.leaves) == 16


@pytest.mark.parametrize(("n", "censoring"), [(1, 0.5), (7, 0.5), (100, 0.29), (500, 0.8)])
def test_the_asked_share_is_censored(n, censoring):
    _, y, tree = make_survival_tree_data(n, censoring, random_state=3)
    assert (~y["event"]).sum() == math.floor(round(censoring * n, 9))
    assert y["time"].min() > 0
    assert y["time"].max() <= tree.censoring_constant


def test_the_constant_is_the_lowest_that_censors_no_more():
    rng = np.random.default_rng(0)
    time, unit = rng.exponential(size=40), 1 - rng.random(40) ** 2
    constant = _censoring_constant(time, unit, 0.5)
    assert (constant * (1 + 1e-12) * unit < time).sum() == 20
    assert (constant * (1 - 1e-12) * unit < time).sum() == 21


def test_without_censoring_every_row_has_its_event():
    _, y, tree = make_survival_tree_data(300, 0, random_state=0)
    assert y["event"].all()
    assert tree.sample(2000, random_state=1)[1]["event"].all()


def test_a_seed_gives_the_same_data_and_one_tree_for_all_sizes():
    first = make_survival_tree_data(50, random_state=8, backend="pandas")
    again = make_survival_tree_data(50, random_state=8, backend="pandas")
    larger = make_survival_tree_data(90, random_state=8, backend="pandas")
    other = make_survival_tree_data(50, random_state=9, backend="pandas")
    assert first[0].equals(again[0])
    assert first[1].tolist() == again[1].tolist()
    assert first[2] == again[2]
    assert first[2].root == larger[2].root
    assert first[2].root != other[2].root


@pytest.mark.parametrize("seed", range(5))
def test_every_leaf_is_possible(seed):
    tree = make_survival_tree_data(1, 0, factor=1, random_state=seed, depth=3)[2]
    X, _ = tree.sample(30_000, random_state=seed)
    assert set(tree.apply(X)) == set(range(8))


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_leaves_follow_the_printed_rules(backend):
    pytest.importorskip(backend)
    X, _, tree = make_survival_tree_data(60, random_state=2, depth=2, backend=backend)
    columns = nw.from_native(X, eager_only=True).to_dict(as_series=False)

    def follow(row):
        """Read the text: go below the first rule of each indent that is true."""
        indent = ""
        for line in str(tree).splitlines():
            if not line.startswith(indent) or line[len(indent)] == "|":
                continue
            text = line[len(indent) :]
            if text.startswith("leaf "):
                return int(text.removeprefix("leaf ").split(":")[0])
            name, rule = text.split(" ", 1)
            value = columns[name][row]
            if rule.startswith("is not "):
                holds = value != rule.removeprefix("is not ")
            elif rule.startswith("is "):
                holds = value == rule.removeprefix("is ")
            elif rule.startswith("<= "):
                holds = value <= float(rule.removeprefix("<= "))
            else:
                holds = value > float(rule.removeprefix("> "))
            if holds:
                indent += "|   "
        raise AssertionError(f"row {row} has no leaf in\n{tree}")

    assert tree.apply(X).tolist() == [follow(row) for row in range(60)]


def test_times_follow_the_distribution_of_the_leaf():
    tree = make_survival_tree_data(10, 0, random_state=6, depth=1)[2]
    X, y = tree.sample(20_000, random_state=0)
    numbers = tree.apply(X)
    for leaf in tree.leaves:
        rows = numbers == leaf.number
        below = 1 - leaf.distribution.survival(y["time"][rows])
        assert stats.kstest(below, "uniform").pvalue > 0.001
        expected = leaf.distribution.survival([0.2, 1.0])
        assert (tree.survival_function(X, [0.2, 1.0])[rows] == expected).all()


def test_more_rows_are_censored_alike():
    _, _, tree = make_survival_tree_data(5000, 0.5, random_state=0)
    _, y = tree.sample(20_000, random_state=1)
    assert y["event"].mean() == pytest.approx(0.5, abs=0.03)
    assert y["time"].max() < tree.censoring_constant


def test_censoring_times_are_the_constant_times_one_minus_a_squared_uniform():
    immortal = Leaf(0, Distribution("exponential", (1e9,)))
    _, y = GroundTruthTree(immortal, factor=1, censoring_constant=2.0).sample(5000, random_state=0)
    assert not y["event"].any()
    assert stats.kstest(np.sqrt(1 - y["time"] / 2), "uniform").pvalue > 0.001


def test_distributions():
    assert len(DISTRIBUTIONS) == len(set(DISTRIBUTIONS)) == 32
    at = np.array([0.0, 0.5, 2.0])
    assert Distribution("exponential", (0.8,)).survival(at) == pytest.approx(np.exp(-at / 0.8))
    assert Distribution("weibull", (0.9, 1.5)).survival(at) == pytest.approx(
        np.exp(-((at / 1.5) ** 0.9))
    )
    # Median of a lognormal, and mean of a gamma.
    assert Distribution("lognormal", (0.4, 0.32)).survival(math.exp(0.4)) == pytest.approx(0.5)
    generator = np.random.default_rng(0)
    assert Distribution("gamma", (1.4, 0.9)).sample(200_000, generator).mean() == pytest.approx(
        1.26, rel=0.01
    )
    with pytest.raises(ValueError, match=r"no distribution pareto\(1\)"):
        Distribution("pareto", (1.0,)).survival(1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 0}, "n must be a whole number, from 1 to 100000000; got 0"),
        ({"n": 2.5}, r"n must be a whole number, from 1 to 100000000; got 2\.5"),
        ({"n": 9, "censoring": 1.0}, "from 0 to below 1; got 1"),
        ({"n": 9, "censoring": 50}, "from 0 to below 1; got 50"),
        ({"n": 9, "censoring": math.nan}, "from 0 to below 1; got nan"),
        ({"n": 9, "factor": 0}, "factor must be a whole number, from 1 to 10000; got 0"),
        ({"n": 9, "depth": -1}, "depth must be a whole number, from 0 to 10; got -1"),
        ({"n": 9, "depth": 40}, "depth must be a whole number, from 0 to 10; got 40"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_survival_tree_data(**arguments)


def test_bad_rows_for_the_true_tree():
    tree = make_survival_tree_data(5, random_state=0)[2]
    with pytest.raises(ValueError, match="has 6 columns, but X has 2"):
        tree.apply([[0.1, 0.2]])
    with pytest.raises(ValueError, match="n must be a whole number, from 1 to 100000000; got -1"):
        tree.sample(-1)

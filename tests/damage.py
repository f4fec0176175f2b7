"""Damaged model files, and every use of a model: for tests and for the fuzzer.

``damaged(model_json, rng) -> str``
    The text of a model file after some damage. ``model_json`` is what ``SurTree.save`` wrote, as
    text or as the parsed dictionary; ``rng`` is a ``numpy.random.Generator``. Write it with
    ``write_damaged``: flipped bytes are in the text as surrogate escapes.
``use_everywhere(model, table=None, *, plots=False) -> None``
    Every use of a loaded ``SurTree``: predictions, rules, exports, report, command line, pickle,
    saving. It raises whatever a use raises, and AssertionError where two uses disagree. ``table``
    holds rows that the model can predict; by default they are made from its questions
    (``rows_for``).
``sample_models() -> list[SurTree]``
    Small fitted models with every kind of column, weights, entry times and end of a search.
``outcome(path, *, plots=False) -> str``
    Load a file: "used" after ``use_everywhere``, or "refused" where ``SurTree.load`` raised a
    ValueError of one line. Anything else is raised.

``python tests/damage.py 5000 14`` tries so many files with a seed, and counts the outcomes; every
fiftieth model that can be used is drawn too.
"""

from __future__ import annotations

import copy
import io
import json
import pickle
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from surtree import SurTree, SurTreeCV, Tree, leaf_hazard_ratios, validate, write_report
from surtree._support.parameters import LEAF_CURVES
from surtree._support.status import STATUSES
from surtree.cli._summary import certificate, model_json, path_json, path_text
from surtree.cuts.cut import Cut
from surtree.export import (
    export_dot,
    export_json,
    export_leaves,
    export_mermaid,
    export_methods,
    export_python,
    export_sql,
    export_text,
)
from surtree.tree.curves import confidence_band, leaf_curves
from surtree.tree.leaf_curve import median_limits

Rng = np.random.Generator

# Values that a stranger's file may hold anywhere.
NASTY: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 3, 7, 99, 2**31, 2**53 + 1, -(2**63), 2**64, 10**400),
    *(0.0, -0.0, 0.5, -0.5, 1.5, 1e-320, 5e-324, 1e-12, 1e12, 1e300, -1e300, 1.7e308),
    *(float("nan"), float("inf"), float("-inf")),
    *("", "x", "0", "3", "nan", "optimal", "edited", "\ud800", "a\0b", "a\nb", "<script>"),
    *('"', "'", "\\", "\u2028", "é", "東京", "x" * 5000, "__class__", "baseline", "kaplan-meier"),
    *([], [[]], [0], [0.5, 1.5], ["a", "b"], [None], [True], [[0, 1], [2]], [1, "a"]),
    *(
        {},
        {"a": 1},
        {"column": 0},
        {"format": "surtree.tree", "version": 2},
        {"name": "x", "parameters": []},
    ),
)


def damaged(model_json: dict[str, Any] | str, rng: Rng) -> str:
    """Return the text of a model file with one to three faults in it."""
    if isinstance(model_json, dict):
        model_json = json.dumps(model_json)
    if rng.random() < 0.2:
        text = model_json
        for _ in range(_few(rng)):
            text = _pick(rng, _TEXT_FAULTS)(text, rng)
        return text
    holder = [json.loads(model_json)]
    for _ in range(_few(rng)):
        _damage_value(holder, rng)
    return json.dumps(holder[0] if holder else None)


def sample_models() -> list[SurTree]:
    """Return small models that together have everything that a file can hold."""
    rng = np.random.default_rng(14)
    n = 60
    X = pd.DataFrame(
        {
            "age": rng.integers(20, 80, n) / 2,
            "dose": np.where(rng.random(n) < 0.3, np.nan, rng.integers(0, 4, n)),
            "grade": pd.Categorical(rng.choice(["I", "II", "III"], n), ordered=True),
            "site": rng.choice(["Köln", "東京", "l'eau", 'a"b', "x,y"], n),
            "sex": rng.choice(["f", "m"], n),
            "ill": rng.choice([True, False, None], n),
            "ward": pd.Categorical(rng.choice([1, 2, 30], n)),
        }
    )
    y = np.empty(n, dtype=[("event", bool), ("time", float)])
    y["time"] = rng.integers(1, 40, n) + (X["age"] > 25) * 9 + (X["site"] == "Köln") * 9
    y["event"] = (rng.random(n) < 0.7) & (X["sex"] == "f")
    weight, entry = rng.choice([0.5, 1.0, 2.7], n), y["time"] * rng.choice([0.0, 0.4], n)
    numbers = X[["age", "dose"]].to_numpy()
    return [
        SurTree(max_depth=3, min_support=0.0).fit(X, y),
        SurTree(max_depth=2, n_thresholds=None, leaf_curve="kaplan-meier").fit(X, y, weight),
        SurTree(max_depth=3, ccp_alpha=2.0, max_categories=3).fit(X, y, None, entry),
        SurTree(max_depth=5, max_splits=5, progress=lambda _: True).fit(X, y),
        SurTree(max_depth=4, time_limit=1e-6).fit(X, y),
        SurTree(max_depth=0).fit(numbers, y),
        SurTree(max_depth=1).fit([[0], [0], [1], [1]], ([True] * 4, [4.0, 3.0, 2.0, 1.0])),
        _tuned(X, y),
    ]


def _tuned(X: pd.DataFrame, y: Any) -> SurTree:
    """Return a model that keeps all that can be known of it."""
    search = SurTreeCV(max_depth=2, cv=2, shrinkage=(1.0, 3.0)).fit(X, y)
    search.validation_ = validate(search, X, y, n_bootstraps=2, horizons=[20, 30])
    search.time_unit_, search.horizons_ = "days", (20, 30)
    return search.best_estimator_


def write_damaged(path: Path, text: str) -> None:
    """Write what `damaged` returned."""
    path.write_bytes(text.encode("utf-8", "surrogateescape"))


def outcome(path: Path, *, plots: bool = False) -> str:
    """Load a file and use it, or require that it is refused with one line."""
    try:
        model = SurTree.load(path)
    except ValueError as error:
        refusal = error
    else:
        use_everywhere(model, plots=plots)
        return "used"
    said = str(refusal)
    assert type(refusal) is ValueError, repr(refusal)
    assert said.startswith(str(path)), said
    assert len(said.splitlines()) == 1, said
    assert len(said) < 1000, f"a message of {len(said)} characters"
    return "refused"


# What is done to parsed values ------------------------------------------------------------------


def _few(rng: Rng) -> int:
    return int(rng.choice([1, 1, 1, 2, 3]))


def _pick(rng: Rng, choices: Any) -> Any:
    return choices[int(rng.integers(len(choices)))]


def _damage_value(holder: list[Any], rng: Rng) -> None:
    """Change something anywhere below a list of one value."""
    if not holder:
        return
    # Level by level, so that a field is hit as often as a list of a thousand numbers.
    inside: Any = holder
    while True:
        keys = list(inside) if isinstance(inside, dict) else list(range(len(inside)))
        key = _pick(rng, keys)
        value = inside[key]
        if not (isinstance(value, dict | list) and value) or rng.random() < 0.1:
            break
        inside = value
    _pick(rng, _VALUE_FAULTS)(inside, key, rng)


def _replace(inside: Any, key: Any, rng: Rng) -> None:
    inside[key] = copy.deepcopy(_pick(rng, NASTY))


def _delete(inside: Any, key: Any, rng: Rng) -> None:
    del inside[key]


def _duplicate(inside: Any, key: Any, rng: Rng) -> None:
    if isinstance(inside, list):
        inside.insert(int(rng.integers(len(inside) + 1)), copy.deepcopy(inside[key]))
    else:
        inside[_pick(rng, (f"{key}_", "extra", ""))] = copy.deepcopy(inside[key])


def _shuffle(inside: Any, key: Any, rng: Rng) -> None:
    value = inside[key] if isinstance(inside[key], list) else inside
    if isinstance(value, list):
        order = rng.permutation(len(value))
        value[:] = [value[place] for place in order]
    elif len(value) > 1:
        _swap(value, key, rng)


def _swap(inside: Any, key: Any, rng: Rng) -> None:
    keys = list(inside) if isinstance(inside, dict) else list(range(len(inside)))
    other = _pick(rng, keys)
    inside[key], inside[other] = inside[other], inside[key]


def _nudge(inside: Any, key: Any, rng: Rng) -> None:
    """Change a value to one of the same kind, which may well be sound."""
    value = inside[key]
    if isinstance(value, bool) or value is None:
        inside[key] = not value
    elif isinstance(value, int):
        inside[key] = value + int(_pick(rng, (-2, -1, 1, 2, 10)))
    elif isinstance(value, float):
        inside[key] = float(value * _pick(rng, (0.0, -1.0, 0.5, 1 + 1e-12, 1.001, 2.0, 1e150)))
    elif isinstance(value, str):
        inside[key] = _pick(rng, (value + "x", value[1:], value.upper(), f" {value}"))
    else:
        _shuffle(inside, key, rng)


def _scale(inside: Any, key: Any, rng: Rng) -> None:
    """Multiply all numbers of a list, or of those beside it too: they stay in proportion."""
    factor = _pick(rng, (0.0, 1e-300, 1e-9, 0.5, 2.0, 1e9, 1e300))

    def scaled(value: Any) -> Any:
        if isinstance(value, list):
            return [scaled(item) for item in value]
        return value * factor if isinstance(value, float) else value

    if isinstance(inside, list):
        inside[:] = scaled(inside)
    else:
        for name in inside if rng.random() < 0.5 else [key]:
            inside[name] = scaled(inside[name])


def _retype(inside: Any, key: Any, rng: Rng) -> None:
    value = inside[key]
    kinds: tuple[Any, ...] = (str(value), [value], {"value": value})
    if isinstance(value, bool | int) and abs(value) < 2**64:
        kinds += (float(value), bool(value), int(value))
    elif isinstance(value, float) and np.isfinite(value):
        kinds += (int(value), bool(value))
    inside[key] = _pick(rng, kinds)


_VALUE_FAULTS: tuple[Callable[[Any, Any, Rng], None], ...] = (
    *(_replace, _replace, _replace, _nudge, _nudge, _nudge),
    *(_delete, _duplicate, _shuffle, _swap, _retype, _scale),
)


# What is done to text ---------------------------------------------------------------------------


def _truncate(text: str, rng: Rng) -> str:
    return text[: int(rng.integers(len(text) + 1))]


def _flip(text: str, rng: Rng) -> str:
    data = bytearray(text.encode("utf-8", "surrogateescape")) or bytearray(b" ")
    for _ in range(_few(rng)):
        data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
    return data.decode("utf-8", "surrogateescape")


def _token_everywhere(text: str, rng: Rng) -> str:
    """Replace a word or a number wherever it stands, so that parts still agree."""
    tokens = text.replace('"', " ").replace(",", " ").replace("[", " ").replace("]", " ").split()
    old = _pick(rng, tokens) if tokens else "x"
    new = _pick(rng, ("0", "-1", "1e999", "NaN", "null", "true", "x", "\\ud800", "10", "0.25"))
    return text.replace(old, new)


def _insert(text: str, rng: Rng) -> str:
    place = int(rng.integers(len(text) + 1))
    depth = int(_pick(rng, (3, 1_000, 200_000)))
    part = _pick(
        rng,
        ("NaN", "Infinity", "-Infinity", "1e999", "9" * 5000, "\\ud800", "[" * depth, "\0", " "),
    )
    return text[:place] + part + text[place:]


def _cut_out(text: str, rng: Rng) -> str:
    first, last = sorted(int(place) for place in rng.integers(len(text) + 1, size=2))
    return text[:first] + text[min(last, first + 50) :]


def _nest(text: str, rng: Rng) -> str:
    """Put lists around a value, as many as no parser that calls itself can read."""
    depth = int(_pick(rng, (500, 5_000, 200_000)))
    place = text.find(": ", int(rng.integers(len(text) + 1)))
    if place < 0:
        return "[" * depth + text + "]" * depth
    return text[: place + 2] + "[" * depth + "]" * depth + text[place + 2 :]


def _repeat(text: str, rng: Rng) -> str:
    """Write a field twice: the last one counts for most readers of JSON."""
    return text.replace("{", '{"status": "optimal", "loss": 0.0, ', int(rng.integers(1, 4)))


def _mark_of_order(text: str, rng: Rng) -> str:
    return "\ufeff" + text


_TEXT_FAULTS: tuple[Callable[[str, Rng], str], ...] = (
    *(_truncate, _flip, _flip, _token_everywhere, _token_everywhere),
    *(_insert, _cut_out, _nest, _repeat, _mark_of_order),
)


# Every use --------------------------------------------------------------------------------------


def use_everywhere(model: SurTree, table: Any = None, *, plots: bool = False) -> None:
    """Do with a loaded model all that can be done with it; raise whatever goes wrong."""
    with warnings.catch_warnings():
        # A note to the user is no fault; a number that overflows is.
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)
        X = rows_for(model) if table is None else table
        _predict(model, X)
        for tree in {id(tree): tree for tree in _trees(model)}.values():
            _write(tree, model)
        _show(model)
        _save_again(model, X)
        if plots:
            _plot(model)


def rows_for(model: SurTree, n_rows: int = 40) -> Any:
    """Return rows on both sides of every question of a model, some of their values missing."""
    rng = np.random.default_rng(0)
    values: list[list[Any]] = [[None] for _ in range(model.n_features_in_)]
    for cut in [*model.encoder_.cuts_, *(cut for tree in _trees(model) for cut in tree.cuts)]:
        values[cut.column] += _answers(cut)
    cells = np.empty((n_rows, model.n_features_in_), dtype=object)
    for place, known in enumerate(values):
        for row in range(n_rows):
            cells[row, place] = known[int(rng.integers(len(known)))]
    names = getattr(model, "feature_names_in_", None)
    return cells if names is None else pd.DataFrame(cells, columns=list(names))


def _answers(cut: Cut) -> list[Any]:
    """Return values of both sides of a question."""
    if cut.threshold is not None:
        return [cut.threshold, np.nextafter(cut.threshold, np.inf), cut.threshold - 1.0]
    if cut.categories is None:
        return []
    unseen = {str: "never seen", bool: False}.get(type(cut.categories[0]), 12345)
    return [*cut.categories, *cut.others[:3], unseen]


def _trees(model: SurTree) -> Iterator[Tree]:
    yield model.tree_
    for size in model.path_:
        yield size.tree


def _predict(model: SurTree, X: Any) -> None:
    leaf = model.apply(X)
    risk = model.predict(X)
    assert np.isfinite(risk).all()
    assert (risk > 0).all()
    survival = model.predict_survival_function(X, return_array=True)
    assert ((survival >= 0) & (survival <= 1)).all()
    assert (np.diff(survival, axis=1) <= 0).all()
    hazard = model.predict_cumulative_hazard_function(X, return_array=True)
    assert np.isfinite(hazard).all()
    assert (np.diff(hazard, axis=1) >= 0).all()
    assert all(0 <= curve(1.0) <= 1 for curve in model.predict_survival_function(X))
    # Zero, where half of the rows have their event at zero.
    assert (model.predict_median(X) >= 0).all()
    assert (model.decision_path(X)[np.arange(len(leaf)), leaf] == 1).all()
    assert model.encoder_.transform(X).shape == (len(leaf), len(model.encoder_.cuts_))
    assert len(model.encoder_.get_feature_names_out()) == len(model.encoder_.cuts_)
    assert np.isfinite(model.feature_importances_).all()
    rows = X if isinstance(X, pd.DataFrame) else pd.DataFrame(X).rename(columns=lambda i: f"x{i}")
    namespace: dict[str, Any] = {}
    exec(export_python(model.tree_), namespace)
    found = [namespace["predict"](row) for row in rows.to_dict(orient="records")]
    assert found == leaf.tolist()


def _write(tree: Tree, model: SurTree) -> None:
    """Write a tree in every format."""
    texts = [str(tree), repr(tree), *map(str, tree.rules()), tree._repr_html_()]
    texts += [export(tree) for export in (export_text, export_dot, export_mermaid, export_json)]
    kinds = ("baseline", "kaplan-meier", "shrunk") if tree.risk else ("baseline",)
    if tree.risk and all(counts.of_all_times for counts in tree.risk):
        kinds = LEAF_CURVES
        for one in leaf_hazard_ratios(tree):
            assert one.limits[0] <= one.limits[1]
    # Of a path, only the chosen tree has Kaplan-Meier curves.
    for kind in kinds:
        for curve in leaf_curves(tree, kind):
            assert ((curve.survival.y >= 0) & (curve.survival.y <= 1)).all()
            assert (np.diff(curve.survival.y) <= 0).all()
            assert np.isfinite(curve.cumulative_hazard.y).all()
            lower, upper = (limit.y for limit in confidence_band(tree, curve.leaf, kind=kind))
            known = ~np.isnan(lower)
            assert known.tolist() == (~np.isnan(upper)).tolist()
            assert known.all() or kind != "baseline"
            lower, upper = lower[known], upper[known]
            assert ((lower >= 0) & (lower <= upper) & (upper <= 1)).all()
            low, high = median_limits(tree, curve.leaf, kind)
            assert low <= high or np.isnan(low)
        for value in ("leaf", "risk", "median"):
            source = export_python(tree, value=value, leaf_curve=kind)
            compile(source, "exported", "exec")
            texts.append(source)
            if all(map(_sql_can_hold, tree.cuts)):
                texts.append(export_sql(tree, value=value, leaf_curve=kind))
    for text in texts:
        text.encode("utf-8")
    assert Tree.from_dict(json.loads(export_json(tree))) == tree


def _sql_can_hold(cut: Cut) -> bool:
    """Return whether SQL has a way to write a question; of others, exports say that it has none."""
    texts = [cut.name, *(text for text in cut.categories or () if isinstance(text, str))]
    return cut.name != "" and not any("\0" in text for text in texts)


def _show(model: SurTree) -> None:
    """Write what the command line, a notebook and a page show."""
    assert model.status_ in STATUSES
    texts = [repr(model), model._repr_html_(), certificate(model), path_text(model)]
    texts.append(json.dumps([model_json(model), path_json(model)], allow_nan=False))
    texts += [export_methods(model), export_leaves(model), export_leaves(model, "csv")]
    for text in texts:
        text.encode("utf-8")
    with tempfile.TemporaryDirectory() as directory:
        page = write_report(model, Path(directory) / "report.html")
        assert page.read_text(encoding="utf-8").rstrip().endswith("</html>")


def _save_again(model: SurTree, X: Any) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "model.json"
        model.save(path)
        again = SurTree.load(path)
    assert again.get_params() == model.get_params() | {"progress": None}
    assert again.status_ == model.status_
    assert (again.loss_, again.lower_bound_, again.gap_) == (
        *(model.loss_, model.lower_bound_, model.gap_),
    )
    assert again.path_ == model.path_
    assert again.encoder_.cuts_ == model.encoder_.cuts_
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    pickled = io.BytesIO()
    pickle.dump(again, pickled)
    assert pickle.loads(pickled.getvalue()).tree_ == model.tree_


def _plot(model: SurTree) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    from surtree.plot import plot_curves, plot_tree

    for plot in (plot_tree, plot_curves):
        plot(model.tree_).figure.canvas.draw()
        pyplot.close("all")


def main(count: int, seed: int) -> None:
    """Try many damaged files; the first that neither works nor is refused ends it."""
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "model.json"
        texts = []
        for model in sample_models():
            model.save(path)
            texts.append(path.read_text(encoding="utf-8"))
        outcomes: Counter[str] = Counter()
        for number in range(count):
            write_damaged(path, damaged(texts[number % len(texts)], rng))
            outcomes[outcome(path, plots=number % 50 == 0)] += 1
    print(dict(outcomes))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

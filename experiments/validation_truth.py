"""Simulated tables with a known truth: is the corrected performance right, do intervals cover."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter

import numpy as np
import pandas as pd
from scipy.special import ndtr

from experiments.bag import Bag
from experiments.experiment import Measures
from experiments.task import Status
from surtree import (
    PointsTable,
    SurTree,
    SurTreeBayes,
    SurTreeCV,
    TaughtTree,
    Validation,
    confidence_band,
    validate,
)
from surtree.data.target import read_target
from surtree.datasets import make_survival_tree_data
from surtree.heuristics import ConditionalInferenceTree, GreedyTree, LocalSearchTree
from surtree.outcomes.measures import JudgedTimes, Metric, brier_interval, one_event_metrics
from surtree.validation._corrections import correct
from surtree.validation._predictions import predict
from surtree.validation.verdict import prediction_verdicts

N_BOOTSTRAPS = 40
TEST_ROWS = 10_000
ASKED_ROWS = 300  # of the test rows: those whose survival gets an interval
LEVEL = 0.9
RISKIEST = 0.1  # the share of persons with the highest true risk
_TEST_SEED = 1_000_000
BAG = "SurTreeBag of 20"
HEAVY_NOISE = "nothing, heavy censoring"
# The measures in the order of `Validation.measures`.
FIGURES = {
    "concordance": "Harrell's C",
    "uno": "Uno's C",
    "brier": "Brier score saved",
    "slope": "Calibration slope",
    "mean": "Predicted - observed survival at the median event time",
}
MODELS: dict[str, Callable[[], object]] = {
    "depth 2": lambda: SurTree(max_depth=2),
    "depth 3": lambda: SurTree(max_depth=3),
    "tuned depth 2": lambda: SurTreeCV(max_depth=2),
    "greedy depth 2": lambda: GreedyTree(max_depth=2),
    "ConditionalInferenceTree": lambda: ConditionalInferenceTree(),
    "ConditionalInferenceTree, level 0.5": lambda: ConditionalInferenceTree(alpha=0.5),
    "LocalSearchTree": lambda: LocalSearchTree(),
    BAG: lambda: Bag(20, max_depth=3),
    "SurTreeBayes": lambda: SurTreeBayes(),
    "TaughtTree": lambda: TaughtTree(),
    "PointsTable": lambda: PointsTable(),
}
# Survival of each row at some times.
Survival = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class TruthCase:
    """One simulated table, and what is validated on it."""

    design: str
    rows: int
    model: str
    number: int
    method: str = "632+"
    n_bootstraps: int = N_BOOTSTRAPS
    test_rows: int = TEST_ROWS


# Designs, their numbers of rows, models, the number of tables.
CELLS = (
    ("lognormal", (150, 300, 800), ("depth 2",), 30),
    ("changing", (300,), ("depth 2",), 30),
    ("noise columns", (300,), ("depth 2",), 30),
    ("heavy censoring", (300, 800), ("depth 2",), 30),
    ("lognormal", (300,), ("depth 3",), 30),
    ("noise columns", (300,), ("depth 3",), 30),
    ("paper", (300,), ("depth 3",), 30),
    ("lognormal", (300,), ("tuned depth 2",), 12),
    ("changing", (300,), ("tuned depth 2",), 12),
    ("noise columns", (150,), ("tuned depth 2",), 12),
    ("nothing", (100, 200), ("depth 2",), 60),
    ("nothing", (200,), ("depth 3", "greedy depth 2"), 40),
    ("nothing", (150,), ("tuned depth 2",), 60),
)
FOLDS = (("lognormal", 300, "depth 2", 20), ("nothing", 200, "depth 2", 30))
# Models of which only the verdict on noise is asked: tables of each kind, and tables for folds.
NOISE_MODELS = {
    "ConditionalInferenceTree": (16, 0),
    "ConditionalInferenceTree, level 0.5": (16, 7),
    "LocalSearchTree": (16, 7),
    BAG: (32, 0),
    "SurTreeBayes": (16, 7),
    "TaughtTree": (16, 7),
    "PointsTable": (16, 7),
}
# Scores of models with a risk of its own for each row are slow: samples and test rows are fewer.
SMOOTH_MODELS = (BAG, "SurTreeBayes", "PointsTable")
FEW_BOOTSTRAPS, FEW_TEST_ROWS = 25, 2_000
NOISE = tuple((design, rows) for design in ("nothing", HEAVY_NOISE) for rows in (200, 400))
OPTIMISM = (
    *(("lognormal", rows, "depth 2", 20) for rows in (150, 300, 800)),
    ("changing", 300, "depth 2", 20),
    ("noise columns", 300, "depth 2", 20),
    *(("heavy censoring", rows, "depth 2", 20) for rows in (300, 800)),
    *((design, 300, "depth 3", 20) for design in ("lognormal", "noise columns", "paper")),
    *((design, 300, "tuned depth 2", 12) for design in ("lognormal", "changing")),
    ("nothing", 200, "depth 2", 20),
    ("nothing", 150, "tuned depth 2", 12),
)


def cases(quick: bool) -> list[TruthCase]:
    """Return all cases; the quick ones are a few tables with few samples."""
    if quick:
        return [
            *(TruthCase("lognormal", 200, "depth 2", k, "632+", 20, 1000) for k in range(2)),
            *(
                TruthCase(design, 200, "depth 2", 0, "optimism", 20, 1000)
                for design in ("lognormal", "nothing")
            ),
            TruthCase(HEAVY_NOISE, 200, BAG, 0, "632+", 20, 1000),
        ]
    by_number = attrgetter("number")
    return sorted(_first_cases(), key=by_number) + sorted(_later_cases(), key=by_number)


def _first_cases() -> list[TruthCase]:
    return [
        *(
            TruthCase(design, n, model, number)
            for design, rows, models, n_tables in CELLS
            for n in rows
            for model in models
            for number in range(n_tables)
        ),
        # Four repetitions of ten folds cost as many fits.
        *(
            TruthCase(design, n, model, number, "folds", 4)
            for design, n, model, n_tables in FOLDS
            for number in range(n_tables)
        ),
    ]


def _later_cases() -> list[TruthCase]:
    """Return other models on noise, and the optimism bootstrap."""
    return [
        *(
            _noise_case(design, rows, model, number, "632+")
            for model, (n_tables, _) in NOISE_MODELS.items()
            for design, rows in NOISE
            for number in range(n_tables)
        ),
        *(
            TruthCase(design, rows, model, number, "optimism")
            for design, rows, model, n_tables in OPTIMISM
            for number in range(n_tables)
        ),
        *(
            _noise_case("nothing", 100, model, number, "folds")
            for model, (_, n_tables) in NOISE_MODELS.items()
            for number in range(n_tables)
        ),
    ]


def _noise_case(design: str, rows: int, model: str, number: int, method: str) -> TruthCase:
    is_smooth = model in SMOOTH_MODELS
    n_bootstraps = FEW_BOOTSTRAPS if is_smooth else N_BOOTSTRAPS
    return TruthCase(
        design,
        rows,
        model,
        number,
        method,
        4 if method == "folds" else n_bootstraps,
        FEW_TEST_ROWS if is_smooth else TEST_ROWS,
    )


def draw(design: str, n: int, seed: list[int]) -> tuple[pd.DataFrame, np.ndarray, Survival | None]:
    """Draw rows; return X, y and the true survival of each row, where it is known."""
    rng = np.random.default_rng(seed)
    if design == "paper":
        _, _, truth = make_survival_tree_data(
            50, censoring=0.5, random_state=100 + seed[0] % _TEST_SEED, backend="pandas"
        )
        X, y = truth.sample(n, int(rng.integers(2**31)), backend="pandas")
        return X, y, None
    n_columns = 20 if design == "noise columns" else 5
    X = pd.DataFrame(rng.normal(size=(n, n_columns)), columns=[f"x{k}" for k in range(n_columns)])
    X["a"], X["b"] = rng.integers(0, 2, n), rng.integers(0, 3, n)
    x0, x1, a = (X[name].to_numpy() for name in ("x0", "x1", "a"))
    chance, last = rng.exponential(size=n), 3.0
    if design == "lognormal":
        middle = 0.1 - 0.5 * x0 - 0.6 * (x1 > 0.5) - 0.4 * a
        time = np.exp(middle + 0.8 * rng.normal(size=n))

        def survival(times: np.ndarray) -> np.ndarray:
            return ndtr((middle[:, np.newaxis] - np.log(times)) / 0.8)

    elif design == "changing":  # an effect that turns round
        early = 0.8 * np.exp(1.2 * (x0 > 0) + 0.4 * x1)
        late, turn = 0.8 * np.exp(-0.5 * (x0 > 0) + 0.4 * x1), 0.6
        time = np.where(
            chance < early * turn, chance / early, turn + (chance - early * turn) / late
        )

        def survival(times: np.ndarray) -> np.ndarray:
            before, after = np.minimum(times, turn), np.maximum(times - turn, 0)
            return np.exp(-np.outer(early, before) - np.outer(late, after))

    else:
        hazard = np.ones(n)
        if design == "noise columns":  # a tree of three questions
            high = np.where(a == 1, 1.2, 0.4)
            hazard = np.exp(np.where(x0 > 0.3, high, np.where(x1 > 0, 0.0, -0.9)))
        elif design == "heavy censoring":
            hazard, last = np.exp(0.6 * x0 + 0.4 * x1 + 0.5 * a), 0.7
        elif design == HEAVY_NOISE:
            last = 0.7
        time = (chance / hazard) ** (1 / 1.3)

        def survival(times: np.ndarray) -> np.ndarray:
            return np.exp(-np.outer(hazard, times**1.3))

    end = rng.uniform(0, last, n)
    y = np.empty(n, dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = time <= end, np.minimum(time, end)
    return X, y, survival


def measure(case: TruthCase) -> Measures:
    """Validate a model on a table, and compare with many more rows."""
    X, y, _ = draw(case.design, case.rows, [case.number, case.rows])
    far_X, far_y, survival = draw(case.design, case.test_rows, [_TEST_SEED + case.number])
    model = MODELS[case.model]()
    times = np.quantile(y["time"][y["event"]], [0.25, 0.5, 0.75])
    found = validate(
        model,
        X,
        y,
        n_bootstraps=case.n_bootstraps,
        method=case.method,
        horizons=times[1],
        level=LEVEL,
        random_state=case.number,
    )
    model.fit(X, y)
    metrics = one_event_metrics(JudgedTimes(times[1:2], brier_interval(read_target(y, len(y)))))
    target = read_target(far_y, len(far_y))
    predicted = predict(model, far_X, target)
    far = [metric.score(predicted, target, None).value for metric in metrics]
    result = _performance(found, np.array(far), metrics)
    tree = getattr(model, "tree_", None)
    result["splits"] = np.nan if tree is None else tree.n_splits
    (verdict,) = prediction_verdicts(found, None, 0)
    result["verdict"] = int(verdict.is_good)
    asked = far_X.head(ASKED_ROWS)
    for name in ("interval", "leaf"):
        covers = width = riskiest = np.nan
        known = survival is not None and (name == "interval" or tree is not None)
        if known and case.method != "folds":
            true = survival(times)[:ASKED_ROWS]
            high = true[:, 1] <= np.quantile(true[:, 1], RISKIEST)
            lower, upper = (
                found.survival_interval(asked, times, LEVEL)
                if name == "interval"
                else _leaf_bands(model, asked, times)
            )
            held = (lower <= true) & (true <= upper)
            covers, riskiest = held.mean(), held[high].mean()
            width = np.nanmean(upper - lower)
        result |= {
            f"{name}_covers": float(covers),
            f"{name}_covers_riskiest": float(riskiest),
            f"{name}_width": float(width),
        }
    return result | {"status": str(Status.DONE)}


def _performance(found: Validation, truth: np.ndarray, metrics: tuple[Metric, ...]) -> Measures:
    """Return each figure, its truth and its limits; the optimism bootstrap beside it."""
    assert found.repetitions is not None
    apparent = np.array([one.apparent for one in found.measures])
    optimism = np.full(apparent.size, np.nan)
    if found.method != "folds":
        optimism = correct("optimism", apparent, found.repetitions, LEVEL, metrics).values
    result: Measures = {}
    # Those at horizons come after these.
    for name, one, true, other in zip(FIGURES, found.measures, truth, optimism, strict=False):
        result |= {
            f"{name}_true": float(true),
            f"{name}_apparent": one.apparent,
            f"{name}_corrected": one.value,
            f"{name}_optimism": float(other),
            f"{name}_lower": one.lower,
            f"{name}_upper": one.upper,
            f"{name}_error": one.monte_carlo_error,
        }
    return result


def _leaf_bands(model: object, X: pd.DataFrame, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the limits that the leaf of each row has by itself."""
    bands = {
        leaf: [limit(times) for limit in confidence_band(model, leaf, LEVEL)]
        for leaf in model.tree_.leaves.tolist()
    }
    limits = np.array([bands[leaf] for leaf in model.apply(X).tolist()])
    return limits[:, 0], limits[:, 1]

"""Simulated trials: how often a subgroup is found, and how often one that is not there."""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from experiments.experiment import Measures
from experiments.page import table
from experiments.task import Status
from surtree import EffectTree, correct_effects, heterogeneity_test
from surtree.data.target import read_target
from surtree.survival.baseline import nelson_aalen

N_TRIALS = 200
ROWS = 500
_SHAPE = 1.5
# So many trials are given to R at once.
_BLOCK = 20
_R = Path(__file__).with_name("effects.R")


@dataclass(frozen=True)
class Scenario:
    """What is true in a trial, as coefficients of the log hazard.

    Parameters
    ----------
    words : str
        What it is, in words.
    main : float
        The effect that all rows share.
    subgroup : float
        The effect that rows with ``a > 0.5`` (three in ten) have beside it.
    prognosis : {"none", "steps", "slopes"}
        How the risk of rows differs: not at all; by a step in one column and a slope in another;
        by two steep slopes, which no small tree can follow.
    """

    words: str
    main: float = 0.0
    subgroup: float = 0.0
    prognosis: str = "none"


SCENARIOS = {
    "nothing": Scenario("no effect, no prognosis"),
    "main": Scenario("hazard ratio 0.5 for all", np.log(0.5)),
    "prognosis": Scenario("no effect, prognosis", 0.0, 0.0, "steps"),
    "both": Scenario("hazard ratio 0.5 for all, prognosis", np.log(0.5), 0.0, "steps"),
    "strong": Scenario("hazard ratio 0.3 for all, strong prognosis", np.log(0.3), 0.0, "slopes"),
    "subgroup": Scenario("hazard ratio 0.4 in a subgroup, 1 elsewhere", 0.0, np.log(0.4)),
    "subgroup and both": Scenario(
        "0.28 in a subgroup, 0.7 elsewhere, prognosis", np.log(0.7), np.log(0.4), "steps"
    ),
}


@dataclass(frozen=True)
class EffectCase:
    """One simulated trial."""

    scenario: str
    rows: int
    number: int
    method: Literal["tree", "mob"] = "tree"
    n_permutations: int = 199
    n_bootstraps: int = 30


def cases(quick: bool) -> list[EffectCase]:
    """Return all cases; the quick ones are two trials without R."""
    if quick:
        return [EffectCase(name, 120, 0, "tree", 9, 3) for name in ("both", "subgroup")]
    methods: tuple[Literal["tree", "mob"], ...] = ("tree", "mob")
    return [
        EffectCase(name, ROWS, number, method)
        for method in methods
        for number in range(N_TRIALS)
        for name in SCENARIOS
    ]


def draw(
    scenario: Scenario, n: int, seed: list[int]
) -> tuple[pd.DataFrame, np.ndarray, np.ndarray, np.ndarray]:
    """Draw a trial: X, y, the arm of each row, and the effect that is true for it."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            **{name: rng.normal(size=n) for name in "abc"},
            "d": rng.integers(0, 2, n),
            "e": rng.choice(["u", "v", "w"], n),
            "f": rng.random(n),
        }
    )
    arm = rng.permutation(np.arange(n) % 2)
    risk = {
        "none": 0.0 * X["a"],
        "steps": 1.0 * (X["a"] > 0) + 0.5 * X["b"],
        "slopes": 1.2 * X["a"] + 0.8 * X["b"],
    }[scenario.prognosis]
    effect = (scenario.main + scenario.subgroup * (X["a"] > 0.5)).to_numpy()
    time = (rng.exponential(size=n) / np.exp(risk + effect * arm)) ** (1 / _SHAPE)
    end = rng.uniform(0, 2.5, n)
    y = np.empty(n, dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = time <= end, np.minimum(time, end)
    return X, y, arm, effect


def _draw_case(
    name: str, n: int, number: int
) -> tuple[pd.DataFrame, np.ndarray, np.ndarray, np.ndarray]:
    return draw(SCENARIOS[name], n, [number, list(SCENARIOS).index(name)])


# All rows have the same columns; those of the other method are empty.
_EMPTY: Measures = dict.fromkeys(
    (
        *("status", "events", "p_depth_1", "p_depth_2", "effect_column", "effect_agreement"),
        *("both_column", "both_agreement", "excess_found", "excess_corrected", "slope"),
        *("mob_column", "mob_agreement"),
    )
)


def measure(case: EffectCase) -> Measures:
    """Test for heterogeneity, look for the subgroup, and compare effects with the truth."""
    found = _mob(case) if case.method == "mob" else _tree(case)
    return _EMPTY | {"status": str(Status.DONE)} | found


def _tree(case: EffectCase) -> Measures:
    X, y, arm, effect = _draw_case(case.scenario, case.rows, case.number)
    result: Measures = {"events": int(y["event"].sum())}
    inside = (X["a"] > 0.5).to_numpy()
    for depth in (1, 2):
        test = heterogeneity_test(EffectTree(depth), X, y, arm, n_permutations=case.n_permutations)
        result[f"p_depth_{depth}"] = test.p_value
    for objective in ("effect", "both"):
        model = EffectTree(1, objective=objective).fit(X, y, arm)
        side = model.apply(X) == model.tree_.leaves[-1]
        result[f"{objective}_column"] = model.tree_.cuts[0].name if model.tree_.cuts else ""
        result[f"{objective}_agreement"] = _agreement(side, inside)
    model = EffectTree(1).fit(X, y, arm)
    found = correct_effects(EffectTree(1), X, y, arm, n_bootstraps=case.n_bootstraps)
    overall = np.log(found.overall[0])
    strongest = max(found.leaves, key=lambda one: abs(np.log(one.ratio) - overall))
    rows = model.apply(X) == strongest.leaf
    sign = np.sign(np.log(strongest.ratio) - overall)
    truth = float(effect[rows].mean())
    result["excess_found"] = float(sign * (np.log(strongest.ratio) - truth))
    result["excess_corrected"] = float(sign * (np.log(strongest.corrected) - truth))
    result["slope"] = found.slope
    return result


def _agreement(side: np.ndarray, inside: np.ndarray) -> float:
    """Return the share of rows on the side of a split that their subgroup has."""
    share = float((side == inside).mean())
    return max(share, 1 - share)


def _mob(case: EffectCase) -> Measures:
    """Ask R's partykit for a tree of the effect, of one split at most."""
    first = case.number - case.number % _BLOCK
    return _mob_of_block(case.scenario, case.rows, first)[case.number - first]


@cache
def _mob_of_block(name: str, n_rows: int, first: int) -> list[Measures]:
    """Ask about some trials at once: R takes longer to start than to answer."""
    trials = [_draw_case(name, n_rows, number) for number in range(first, first + _BLOCK)]
    with tempfile.TemporaryDirectory() as scratch:
        paths = [Path(scratch) / f"{place}.csv" for place in range(len(trials))]
        for path, (X, y, arm, _) in zip(paths, trials, strict=True):
            target = read_target(y, len(y))
            hazard = nelson_aalen(target, np.ones(len(y))).row_hazard(target)
            frame = X.assign(event=y["event"].astype(int), hazard=hazard, arm=arm)
            frame.to_csv(path, index=False, float_format="%.17g")
        said = subprocess.run(
            ["Rscript", _R, *paths], check=True, capture_output=True, text=True
        ).stdout.splitlines()
    found: list[Measures] = []
    for (X, *_), column, nodes in zip(trials, said[0::2], said[1::2], strict=True):
        leaf = np.array([int(node) for node in nodes.split()])
        inside = (X["a"] > 0.5).to_numpy()
        found.append(
            {
                "mob_column": column.strip(),
                "mob_agreement": _agreement(leaf == leaf.max(), inside),
            }
        )
    return found


def page(rows: pd.DataFrame, folder: Path) -> list[str]:
    """Return the page.

    Parameters
    ----------
    rows : data frame
        All rows.
    folder : Path
        Where figures go; there are none.
    """
    done = rows[rows["status"] == str(Status.DONE)]
    peers = done[done["method"] == "mob"]
    done = done[done["method"] == "tree"]
    tested, named, sizes = [], [], []
    for name, scenario in SCENARIOS.items():
        own = done[done["scenario"] == name]
        if own.empty:
            continue
        peer = peers[peers["scenario"] == name]
        mob = peer["mob_column"].fillna("").astype(str) if len(peer) >= _BLOCK else None
        rejected = {
            depth: (own[f"p_depth_{depth}"].astype(float) <= 0.05).to_numpy() for depth in (1, 2)
        }
        tested.append(
            {
                "truth": scenario.words,
                "trials": len(own),
                "events": f"{own['events'].astype(float).mean():.0f}",
                "rejected, one split": _share(rejected[1]),
                "rejected, depth two": _share(rejected[2]),
                "mob splits": "" if mob is None else _share(mob.to_numpy() != ""),
                "of trials": "" if mob is None else str(len(mob)),
            }
        )
        sizes.append(
            {
                "truth": scenario.words,
                "found less true": _mean(own["excess_found"]),
                "corrected less true": _mean(own["excess_corrected"]),
                "slope (median)": f"{own['slope'].astype(float).median():.2f}",
            }
        )
        if scenario.subgroup == 0:
            continue
        right = {
            aim: (own[f"{aim}_column"] == "a").to_numpy()
            & (own[f"{aim}_agreement"].astype(float) >= 0.9).to_numpy()
            for aim in ("effect", "both")
        }
        line = {
            "truth": scenario.words,
            'tree, "effect"': _share(right["effect"]),
            'tree, "both"': _share(right["both"]),
            'tree "effect", and the test rejects': _share(right["effect"] & rejected[1]),
        }
        if mob is not None:
            close = (peer["mob_agreement"].astype(float) >= 0.9).to_numpy()
            line["mob"] = _share((mob == "a").to_numpy() & close)
        named.append(line)
    return [
        f"Trials of {int(done['rows'].iloc[0])} rows, two arms drawn by lot, six columns, Weibull "
        "hazards, censored at uniform times. The subgroup are the rows with `a > 0.5`, three in "
        "ten.",
        "",
        "## Does the test keep its level?",
        "",
        "How often `heterogeneity_test` rejects at the 5% level that the effect is the same for "
        "all, and how often partykit's `glmtree` splits at all: model-based recursive partitioning "
        "of a Poisson model with our hazards as offset, one split, tests of the stability of the "
        "arm's coefficient at 5% (Bonferroni), the arm coded -1/2 and 1/2 (coded 0 and 1, the test "
        "reacts to prognosis far more often). Where there is no subgroup 5% is right: of 200 "
        "trials, 2% to 8% is what chance allows.",
        "",
        *table(pd.DataFrame(tested)),
        "",
        "## Is the subgroup found?",
        "",
        "How often the one split is on `a` and at least nine in ten rows are on their side of it. "
        "A tree always splits; that it does so for a reason is what the test is for.",
        "",
        *table(pd.DataFrame(named)),
        "",
        "## The winner's curse",
        "",
        "The leaf whose effect is furthest from that of all rows: by how much its logarithmic "
        "hazard ratio is further out than the true effect of its rows, as found and as "
        "`correct_effects` expects it. The mean and its standard error. Where rows of a leaf "
        "differ in risk, its hazard ratio is nearer to one than that of any of its rows (hazard "
        "ratios do not average), so that strong prognosis makes all differences smaller.",
        "",
        *table(pd.DataFrame(sizes)),
    ]


def _share(hits: np.ndarray) -> str:
    return f"{hits.mean():.1%}"


def _mean(values: pd.Series) -> str:
    numbers = values.astype(float)
    return f"{numbers.mean():+.2f} ({numbers.std(ddof=0) / np.sqrt(len(numbers)):.2f})"

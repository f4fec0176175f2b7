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
from surtree.survival.cox import CoxFit, RiskSets, fit_cox

N_TRIALS = 150
# Trials before are of the version that the page calls the first; the file has them as "fixed".
_FIRST = 100
_SHAPE = 1.5
# The effect of some scenarios changes at this time.
_TURN = 0.4
# This many trials are given to R at once.
_BLOCK = 20
_R = Path(__file__).with_name("effects.R")

Prognosis = Literal["none", "steps", "slopes", "crossed"]


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
    prognosis : {"none", "steps", "slopes", "crossed"}
        How the risk of rows differs: not at all; by a step in one column and a slope in another;
        by two steep slopes, which no small tree can follow; by whether two columns have the same
        sign.
    later : float, optional
        The effect after a time at which it changes.
    treated : float
        The share of rows that are treated.
    ends : tuple of two floats
        The last time at which a row is censored, by arm.
    frailty : float
        The standard deviation of a risk that no column tells.
    lognormal : bool
        Whether times are lognormal, and effects change their logarithm.
    rows : int
        How many rows there are.
    """

    words: str
    main: float = 0.0
    subgroup: float = 0.0
    prognosis: Prognosis = "none"
    later: float | None = None
    treated: float = 0.5
    ends: tuple[float, float] = (2.5, 2.5)
    frailty: float = 0.0
    lognormal: bool = False
    rows: int = 500

    @property
    def has_ratio(self) -> bool:
        """Whether the effect of a row is one hazard ratio."""
        return self.later is None and not self.lognormal and self.frailty == 0


def _log(ratio: float) -> float:
    return float(np.log(ratio))


# New scenarios come last: the seed of a trial has the position of its scenario.
SCENARIOS = {
    "nothing": Scenario("no effect, no prognosis"),
    "main": Scenario("0.5 for all", _log(0.5)),
    "prognosis": Scenario("no effect, prognosis", 0.0, 0.0, "steps"),
    "both": Scenario("0.5 for all, prognosis", _log(0.5), 0.0, "steps"),
    "strong": Scenario("0.3 for all, strong prognosis", _log(0.3), 0.0, "slopes"),
    "subgroup": Scenario("0.4 in a subgroup, 1 elsewhere", 0.0, _log(0.4)),
    "subgroup and both": Scenario(
        "0.28 in a subgroup, 0.7 elsewhere, prognosis", _log(0.7), _log(0.4), "steps"
    ),
    "delayed": Scenario(
        "1, later 0.25 for all, strong prognosis", 0.0, 0.0, "slopes", later=_log(0.25)
    ),
    "early": Scenario(
        "0.25, later 1.3 for all, strong prognosis", _log(0.25), 0.0, "slopes", later=_log(1.3)
    ),
    "4:1": Scenario(
        "0.4 for all, strong prognosis, 4:1, few events",
        _log(0.4),
        prognosis="slopes",
        treated=0.8,
        ends=(0.6, 0.6),
    ),
    "1:4": Scenario(
        "0.4 for all, strong prognosis, 1:4, few events",
        _log(0.4),
        prognosis="slopes",
        treated=0.2,
        ends=(0.45, 0.45),
    ),
    "frailty": Scenario(
        "0.4 for all, prognosis, and as much that no column tells",
        _log(0.4),
        prognosis="steps",
        frailty=1.0,
    ),
    "censoring": Scenario(
        "0.5 for all, strong prognosis, one arm censored early",
        _log(0.5),
        prognosis="slopes",
        ends=(0.8, 4.0),
    ),
    "lognormal": Scenario(
        "times 1.8 times as long for all, lognormal, prognosis",
        _log(0.55),
        prognosis="steps",
        lognormal=True,
    ),
    "crossed": Scenario(
        "0.4 for all, prognosis by two columns together", _log(0.4), prognosis="crossed"
    ),
    "subgroup and strong": Scenario(
        "0.3 in a subgroup, 0.8 elsewhere, strong prognosis", _log(0.8), _log(0.375), "slopes"
    ),
    "small subgroup": Scenario(
        "0.35 in a subgroup, 1 elsewhere, prognosis, 250 rows",
        0.0,
        _log(0.35),
        "steps",
        rows=250,
    ),
}


# Of these, R was asked too.
_WITH_PEER = ("nothing", "both", "strong", "subgroup", "subgroup and both")


@dataclass(frozen=True)
class EffectCase:
    """One simulated trial."""

    scenario: str
    rows: int
    number: int
    method: Literal["tree", "mob"] = "tree"
    n_draws: int = 99
    n_repeats: int = 3


def cases(quick: bool) -> list[EffectCase]:
    """Return all cases; the quick ones are two trials without R."""
    if quick:
        return [EffectCase(name, 120, 0, "tree", 9, 1) for name in ("both", "subgroup")]
    return [
        EffectCase(name, scenario.rows, number)
        for number in range(_FIRST, _FIRST + N_TRIALS)
        for name, scenario in SCENARIOS.items()
    ] + [
        EffectCase(name, SCENARIOS[name].rows, number, "mob")
        for number in range(6 * _BLOCK)
        for name in _WITH_PEER
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
    # Of ten rows in a row, or of two where arms are even.
    turn = 2 if scenario.treated == 0.5 else 10
    arm = rng.permutation((np.arange(n) % turn >= turn * (1 - scenario.treated)).astype(int))
    risk = {
        "none": 0.0 * X["a"],
        "steps": 1.0 * (X["a"] > 0) + 0.5 * X["b"],
        "slopes": 1.2 * X["a"] + 0.8 * X["b"],
        "crossed": 1.6 * ((X["a"] > 0) == (X["b"] > 0)),
    }[scenario.prognosis].to_numpy()
    effect = (scenario.main + scenario.subgroup * (X["a"] > 0.5)).to_numpy()
    hazard = rng.exponential(size=n)
    end = rng.uniform(0, np.where(arm == 1, scenario.ends[1], scenario.ends[0]))
    if scenario.frailty > 0:
        risk = risk + scenario.frailty * rng.normal(size=n)
    time = (hazard / np.exp(risk + effect * arm)) ** (1 / _SHAPE)
    if scenario.later is not None:
        # The hazard that is left when the effect changes is used up at the later one.
        rest = hazard - _TURN**_SHAPE * np.exp(risk + effect * arm)
        after = _TURN**_SHAPE + np.maximum(rest, 0.0) / np.exp(risk + scenario.later * arm)
        time = np.where(rest > 0, after ** (1 / _SHAPE), time)
    if scenario.lognormal:
        time = np.exp(rng.normal(size=n) - 0.8 * (risk + effect * arm))
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
        *("both_column", "both_agreement", "slope", "crude", "common", "common_covers"),
        *("excess_found", "excess_corrected", "error_found", "error_corrected", "error_predicted"),
        *("found_covers", "corrected_covers", "mob_column", "mob_agreement"),
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
    tests = [
        heterogeneity_test(EffectTree(depth), X, y, arm, n_draws=case.n_draws) for depth in (1, 2)
    ]
    result |= {"p_depth_1": tests[0].p_value, "p_depth_2": tests[1].p_value}
    for objective in ("both", "effect"):
        model = EffectTree(1, objective=objective).fit(X, y, arm)
        side = model.apply(X) == model.tree_.leaves[-1]
        result[f"{objective}_column"] = model.tree_.cuts[0].name if model.tree_.cuts else ""
        result[f"{objective}_agreement"] = _agreement(side, inside)
    model.heterogeneity_ = tests[0]
    model.correction_ = correct_effects(model, X, y, arm, n_repeats=case.n_repeats)
    if SCENARIOS[case.scenario].has_ratio:
        result |= _compare(model, (X, y, arm, effect))
    return result


def _compare(
    model: EffectTree, trial: tuple[pd.DataFrame, np.ndarray, np.ndarray, np.ndarray]
) -> Measures:
    """Compare the effects of leaves with the mean effect of their rows, on the log scale."""
    X, y, arm, effect = trial
    test, correction = model.heterogeneity_, model.correction_
    assert test is not None
    assert correction is not None
    leaf = model.apply(X)
    leaves = correction.leaves
    truth = np.array([effect[leaf == one.leaf].mean() for one in leaves])
    fits = [_cox(y, arm, leaf == one.leaf) for one in leaves]
    found = np.array([fit.coefficients[0] for fit in fits])
    corrected = np.log([one.corrected for one in leaves])
    predicted = np.log(model.expected_effects()[1, [one.leaf for one in leaves]])
    overall, mean = np.log(test.overall[0]), effect.mean()
    furthest = int(np.abs(found - overall).argmax())
    sign = np.sign(found[furthest] - overall)
    return {
        "slope": correction.slope,
        "crude": _cox(y, arm, np.ones(arm.size, dtype=bool)).coefficients[0] - mean,
        "common": overall - mean,
        "common_covers": _covers(np.log(test.limits[0]), mean),
        "excess_found": sign * (found[furthest] - truth[furthest]),
        "excess_corrected": sign * (corrected[furthest] - truth[furthest]),
        "error_found": np.abs(found - truth).mean(),
        "error_corrected": np.abs(corrected - truth).mean(),
        "error_predicted": np.abs(predicted - truth).mean(),
        "found_covers": np.mean(
            [_covers(np.log(fit.limits()[0]), one) for fit, one in zip(fits, truth, strict=True)]
        ),
        "corrected_covers": np.mean(
            [_covers(np.log(leaf.limits), one) for leaf, one in zip(leaves, truth, strict=True)]
        ),
    }


def _cox(y: np.ndarray, arm: np.ndarray, rows: np.ndarray) -> CoxFit:
    """Return the Cox model of the arms in some rows."""
    target = read_target(y[rows], int(rows.sum()))
    sets = RiskSets.of(target, np.ones(target.time.size), np.zeros(target.time.size, dtype=np.intp))
    return fit_cox(sets, target.event, arm[None, rows].astype(float), np.zeros(target.time.size))


def _covers(limits: np.ndarray, truth: float) -> bool:
    return bool(limits[0] <= truth <= limits[1])


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
    peers, first = done[done["method"] == "mob"], done[done["method"] == "fixed"]
    # How the test draws trials changes neither the common effect nor the correction.
    corrected = done[done["method"].isin(("tree", "fixed"))]
    done = done[done["method"] == "tree"]
    tested, named, common, sizes = [], [], [], []
    for name, scenario in SCENARIOS.items():
        own = done[done["scenario"] == name]
        if own.empty:
            continue
        peer = peers[peers["scenario"] == name]
        mob = peer["mob_column"].fillna("").astype(str) if len(peer) >= _BLOCK else None
        tested.append(
            {
                "hazard ratio": scenario.words,
                "trials": len(own),
                "events": f"{own['events'].astype(float).mean():.0f}",
                "rejected, one split": _rejected(own, 1),
                "rejected, depth two": _rejected(own, 2),
                "mob splits": "" if mob is None else _share(mob.to_numpy() != ""),
                "of trials": "" if mob is None else str(len(mob)),
            }
        )
        every = corrected[corrected["scenario"] == name]
        if scenario.has_ratio:
            sizes.append(
                {
                    "hazard ratio": scenario.words,
                    "trials": len(every),
                    "too far out, found": _mean(every["excess_found"]),
                    "corrected": _mean(every["excess_corrected"]),
                    "error, found": _mean(every["error_found"], sign=""),
                    "corrected ": _mean(every["error_corrected"], sign=""),
                    "predicted": _mean(own["error_predicted"], sign=""),
                    "covered, found": _share(every["found_covers"].astype(float).to_numpy()),
                    "corrected  ": _share(every["corrected_covers"].astype(float).to_numpy()),
                    "slope": f"{every['slope'].astype(float).mean():.2f}",
                }
            )
        if scenario.has_ratio and scenario.subgroup == 0:
            common.append(
                {
                    "hazard ratio": scenario.words,
                    "trials": len(every),
                    "crude Cox less true": _mean(every["crude"]),
                    "adjusted less true": _mean(every["common"]),
                    "95% limits cover": _share(every["common_covers"].astype(float).to_numpy()),
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
            "hazard ratio": scenario.words,
            'tree, "effect"': _share(right["effect"]),
            'tree, "both"': _share(right["both"]),
            'tree "effect", and the test rejects': _share(
                right["effect"] & (own["p_depth_1"].astype(float) <= 0.05).to_numpy()
            ),
            "mob": "",
        }
        if mob is not None:
            close = (peer["mob_agreement"].astype(float) >= 0.9).to_numpy()
            line["mob"] = _share((mob == "a").to_numpy() & close)
        named.append(line)
    alike = [name for name, scenario in SCENARIOS.items() if scenario.subgroup == 0]
    null, first = (one[one["scenario"].isin(alike)] for one in (done, first))
    tested.append(
        {
            "hazard ratio": "all that have no subgroup",
            "trials": len(null),
            "events": f"{null['events'].astype(float).mean():.0f}",
            "rejected, one split": _rejected(null, 1),
            "rejected, depth two": _rejected(null, 2),
            "mob splits": "",
            "of trials": "",
        }
    )
    n_trials = done.groupby("scenario").size().min()
    error, of_all = (100 * np.sqrt(0.05 * 0.95 / n) for n in (n_trials, max(len(null), 1)))
    return [
        "Trials of 500 rows, two arms drawn by lot, six columns, Weibull hazards, and uniform "
        "times of censoring, unless a line says otherwise. The subgroup are the rows with "
        '`a > 0.5`, three in ten. "Strong" prognosis has slopes of 1.2 and 0.8 in two columns, '
        "other prognosis a step of 1 in one and a slope of 0.5 in another; effects that change do "
        f"so at time {_TURN}. The method was fixed on other designs and other trials. A test has "
        f"{_first(done, 'n_draws')} draws, and a correction {_first(done, 'n_repeats')} repeats of "
        "ten folds (499 and 10 by default).",
        "",
        "## Does the test keep its level?",
        "",
        "How often `heterogeneity_test` rejects at the 5% level that the effect is the same for "
        "all, and how often partykit's `glmtree` splits at all: model-based recursive partitioning "
        "of a Poisson model with our hazards as offset, one split, tests of the stability of the "
        "arm's coefficient at 5% (Bonferroni), the arm coded -1/2 and 1/2 (coded 0 and 1, the test "
        "reacts to prognosis far more often). Where there is no subgroup 5% or less is right; the "
        f"standard error of a share of 5% is {error:.1f}% in a line of {n_trials} trials, and "
        f"{of_all:.1f}% in the last line. The first version of the test kept who is at risk "
        "fixed and drew events only. On other trials of these designs, without a subgroup, it "
        f"rejected {_rejected(first, 1)} with one split and {_rejected(first, 2)} at depth two (of "
        f"{len(first)}), and was replaced.",
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
        "## The effect that all rows share",
        "",
        "The logarithm of the hazard ratio of all rows: by a Cox model of the arms alone, and "
        "adjusted for prognosis as `heterogeneity_test` and `correct_effects` report it, less the "
        "true one. The mean and its standard error, and how often the 95% limits cover the truth. "
        "Trials of the first version of the test count here and below: it had the same effects.",
        "",
        *table(pd.DataFrame(common)),
        "",
        "## The winner's curse",
        "",
        "The effects of the two leaves of one split, on the logarithmic scale, as found (the Cox "
        "ratio of the arms in the leaf), as `correct_effects` expects them, and as "
        "`predict_effect(corrected=True)` predicts them, which is the effect of all rows where the "
        "test finds no evidence. The truth is the mean effect of the rows of the leaf. *Too far "
        "out*: by how much the leaf whose effect is furthest from that of all rows is further out "
        "than the truth. *Error*: the mean distance of a leaf from the truth. In brackets are "
        "standard errors. *Covered*: how often 95% limits cover the truth; those of the ratio as "
        "found take the leaf as given.",
        "",
        *table(pd.DataFrame(sizes)),
    ]


def _rejected(rows: pd.DataFrame, depth: int) -> str:
    return _share((rows[f"p_depth_{depth}"].astype(float) <= 0.05).to_numpy())


def _first(rows: pd.DataFrame, column: str) -> int:
    return int(rows[column].iloc[0])


def _share(hits: np.ndarray) -> str:
    return f"{hits.mean():.1%}" if hits.size else "none"


def _mean(values: pd.Series, sign: str = "+") -> str:
    numbers = values.astype(float)
    error = numbers.std(ddof=0) / np.sqrt(len(numbers))
    return f"{format(numbers.mean(), f'{sign}.2f')} ({error:.2f})"

"""The tables of the page on agreement: what R found, which is stored, beside what this build finds.

R ran in ``tests/r/make_reference.py``. The models here are fitted while the site is built. A cell
is the largest difference between a number of R, or of scikit-survival, and ours.
"""

from __future__ import annotations

import gzip
import json
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parents[2] / "tests" / "r"
sys.path.insert(0, str(FOLDER))

SKSURV = find_spec("sksurv") is not None
ABSENT = "scikit-survival was not installed when this page was made, so this is not compared here."


@cache
def _stored(name: str) -> Any:
    content = (FOLDER / name).read_bytes()
    return json.loads(gzip.decompress(content) if name.endswith(".gz") else content)


def _numbers(values: Any) -> np.ndarray:
    """Return an array in which what R calls NA is not a number."""
    return np.array(values, dtype=np.float64)


def _apart(ours: Any, theirs: Any) -> float:
    """Return the largest difference; infinity where only one of two has no number."""
    ours, theirs = np.broadcast_arrays(_numbers(ours), _numbers(theirs))
    if (np.isnan(ours) != np.isnan(theirs)).any():
        return math.inf
    known = ~np.isnan(ours)
    return float(np.abs(ours[known] - theirs[known]).max(initial=0.0))


def _relative(ours: Any, theirs: Any) -> float:
    ours, theirs = _numbers(ours), _numbers(theirs)
    return float((np.abs(ours - theirs) / np.maximum(np.abs(theirs), 1e-300)).max(initial=0.0))


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "0" if value == 0 else f"{value:.1e}"
    return str(value)


def _table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    rule = ["---", *["---:"] * (len(head) - 1)]
    lines = [head, rule, *([_cell(value) for value in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _largest(rows: list[list[Any]], label: str = "**all**") -> list[Any]:
    """Return a last row: the largest of differences, the sum of counts."""
    columns = list(zip(*rows, strict=True))[1:]
    total = [max(column) if isinstance(column[0], float) else sum(column) for column in columns]
    return [label, *total]


def restricted() -> str:
    """Restricted means of leaves, arms and causes, with standard errors."""
    from restricted_cases import RESTRICTED

    from surtree import restricted_means

    rows = []
    stored = _stored("restricted.json.gz")
    for name, groups in [*stored["rows"].items(), *stored["causes"].items()]:
        case, arm, horizon = RESTRICTED[name]
        ours: dict[str, list[Any]] = {}
        for mean in restricted_means(case.model, horizon):
            key = str(mean.leaf) if name in stored["causes"] else f"{mean.leaf} 0"
            ours.setdefault(key if arm is None else f"{mean.leaf} {mean.channel}", []).append(mean)
        means, errors, compared = 0.0, 0.0, 0
        for key, found in groups.items():
            means = max(means, _relative([one.value for one in ours[key]], found["mean"]))
            errors = max(errors, _apart([one.standard_error for one in ours[key]], found["error"]))
            compared += len(ours[key])
        rows.append([name.replace("_", " "), compared, means, errors])
    return _table(["table", "means", "mean (relative)", "standard error"], [*rows, _largest(rows)])


def smooth() -> str:
    """Smooth calibration, and the AUC of causes."""
    from smooth_cases import smooth_case

    from surtree.data.target import read_target
    from surtree.metrics import cumulative_dynamic_auc, smooth_calibration

    rows = []
    for name, found in _stored("smooth.json").items():
        table, cause = smooth_case(name), None
        horizon, risk = float(table["horizon"][0]), table["risk"].to_numpy()
        y = table["cause"].to_numpy(), table["time"].to_numpy()
        if table["cause"].max() > 1:
            cause = 1
        else:
            y = read_target((y[0] > 0, y[1]), entry=table["entry"].to_numpy())
        ours = smooth_calibration(
            y,
            1 - risk if cause is None else risk,
            horizon,
            cause=cause,
            sample_weight=table["weight"].to_numpy(),
        )
        observed = 1 - ours.observed if cause is None else ours.observed
        distances = [_apart(getattr(ours, kind), found[kind]) for kind in ("ici", "e50", "e90")]
        auc = "-"
        if cause is not None:
            area, _ = cumulative_dynamic_auc(y, y, risk, horizon, cause=cause)
            auc = _cell(_apart(area[0], found["auc"]))
        rows.append([name.replace("_", " "), _apart(observed, found["observed"]), *distances, auc])
    return _table(["table", "curve", "ICI", "E50", "E90", "AUC"], rows)


def partykit() -> str:
    """CTree, node by node, on ten real tables."""
    if not SKSURV:
        return ABSENT
    from real_tables import TABLES, by_rows, our_nodes

    from surtree.heuristics import ConditionalInferenceTree

    rows = []
    for name, load in sorted(TABLES.items()):
        X, y = load()
        model = ConditionalInferenceTree().fit(X, y)
        ours = our_nodes(model.tree_, model.decision_path(X))
        theirs = by_rows(_stored("reference.json.gz")["ctree"][name])
        tests, statistic, p_value = 0, 0.0, 0.0
        for key in ours.keys() & theirs.keys():
            found, node = model.tests_[ours[key]], theirs[key]
            if found is None or node["p_value"] is None:
                continue
            for column in np.flatnonzero(~np.isnan(found.p_value)):
                label = X.columns[column]
                tests += 1
                statistic = max(
                    statistic, _relative(found.statistic[column], node["statistic"][label])
                )
                p_value = max(p_value, _apart(found.p_value[column], node["p_value"][label]))
        shared = len(ours.keys() & theirs.keys())
        rows.append([name, len(y), len(theirs), len(ours), shared, tests, statistic, p_value])
    head = ["table", "rows", "nodes of R", "nodes of ours", "the same rows in both"]
    head += ["tests", "statistic (relative)", "p-value"]
    return _table(head, [*rows, _largest(rows)])


def rpart() -> str:
    """Greedy trees, node by node, grown on the same hazard."""
    if not SKSURV:
        return ABSENT
    from real_tables import TABLES, by_rows, numbers, our_nodes

    from surtree.heuristics import GreedyTree

    rows = []
    for name, found in sorted(_stored("reference.json.gz")["rpart"].items()):
        X, y = TABLES[name]()
        X = numbers(X)
        model = GreedyTree(
            20, min_samples_split=20, min_samples_leaf=7, n_thresholds=None, min_support=0.0
        ).fit(X, y)
        ours = our_nodes(model.tree_, model.decision_path(X))
        theirs = by_rows(found["poisson"]["nodes"])
        shared = ours.keys() & theirs.keys()
        deviance = [theirs[key]["deviance"] for key in shared]
        twice = [2 * model.path_[0].tree.loss[ours[key]] for key in shared]
        rows.append([name, len(y), len(theirs), len(ours), len(shared), _apart(twice, deviance)])
    head = ["table", "rows", "nodes of R", "nodes of ours", "the same rows in both", "deviance"]
    return _table(head, [*rows, _largest(rows)])


def curves() -> str:
    """Kaplan-Meier curves of leaves, with bands, numbers at risk and medians."""
    from curve_cases import CURVES

    from surtree import confidence_band, leaf_curves

    rows = []
    for name, leaves in _stored("curves.json.gz")["curves"].items():
        tree = CURVES[name]().model.tree_
        kaplan_meier = {curve.leaf: curve for curve in leaf_curves(tree, "kaplan-meier")}
        apart = np.zeros(4)
        n_times = 0
        for leaf, found in leaves.items():
            times, curve = _numbers(found["time"]), kaplan_meier[int(leaf)]
            lower, upper = confidence_band(tree, int(leaf), kind="kaplan-meier")
            counts = tree.risk[tree.leaves.tolist().index(int(leaf))]
            at_risk = counts.at_events(tree.baseline.times.size).at_risk
            shared = np.isin(tree.baseline.times, times)
            there = np.isin(times, tree.baseline.times)
            now = [
                _apart(curve.survival(times), found["survival"]),
                _apart(lower(times), found["lower"]),
                _apart(upper(times), found["upper"]),
                _apart(at_risk[shared], _numbers(found["at_risk"])[there]),
            ]
            apart = np.maximum(apart, now)
            n_times += times.size
        rows.append([name.replace("_", ", "), len(leaves), n_times, *apart.tolist()])
    head = ["table", "leaves", "times", "survival", "lower limit", "upper limit", "at risk"]
    return _table(head, [*rows, _largest(rows)])


def incidence() -> str:
    """Cumulative incidence of competing risks in leaves, and the loss as a Poisson likelihood."""
    from cause_cases import CAUSE_CASES

    from surtree import leaf_incidence, leaf_incidence_band

    rows = []
    for name, found in _stored("incidence.json.gz").items():
        tree = CAUSE_CASES[name]().model.tree_
        jackknife = name in ("weighted", "late_entry")
        apart = np.zeros(3)
        for leaf, theirs in found["leaves"].items():
            times, expected = _numbers(theirs["time"]), _numbers(theirs["incidence"])
            place = tree.leaves.tolist().index(int(leaf))
            cmprsk = dict(
                zip(
                    np.atleast_1d(theirs.get("cmprsk_cause", [])).tolist(),
                    _numbers(theirs.get("cmprsk", [])),
                    strict=True,
                )
            )
            for k, cause in enumerate(tree.objective.causes):
                curve = leaf_incidence(tree, cause, "kaplan-meier")[place](times)
                lower, upper = leaf_incidence_band(tree, int(leaf), cause, kind="kaplan-meier")
                inside = (expected[:, k] > 0) & (expected[:, k] < 1)
                band = max(
                    _apart(limit(times)[inside], _numbers(theirs[field])[inside, k])
                    for limit, field in ((lower, "lower"), (upper, "upper"))
                )
                other = cmprsk.get(cause, np.full(times.size, np.nan))
                known = ~np.isnan(other)
                now = [
                    _apart(curve, expected[:, k]),
                    _apart(curve[known], other[known]),
                    0.0 if jackknife else band,
                ]
                apart = np.maximum(apart, now)
        cells = [name, len(found["leaves"]), *apart.tolist()]
        if jackknife:  # another variance, and nothing in cmprsk
            cells[3:] = ["-", "-"]
        rows.append(cells)
    head = ["table", "leaves", "incidence, survfit", "incidence, cmprsk", "limits, survfit"]
    return _table(head, rows)


def hazard_ratios() -> str:
    """Hazard ratios of leaves and arms, limits and Breslow curves, against coxph."""
    from curve_cases import CURVES
    from effect_cases import EFFECTS

    from surtree import confidence_band, leaf_curves, leaf_hazard_ratios

    stored, rows = _stored("hazard_ratios.json.gz"), []
    for name, found in stored["ratios"].items():
        model = CURVES[name]().model
        ratios = {str(one.leaf): one for one in leaf_hazard_ratios(model)}
        own = [ratios[leaf] for leaf in found["leaf"]]
        cells = [
            _relative([one.ratio for one in own], found["ratio"]),
            _relative([one.limits for one in own], found["limits"]),
            *("-", "-"),
        ]
        if "survival" in found:
            curves = {str(one.leaf): one for one in leaf_curves(model, "breslow")}
            drawn = [curves[leaf].survival.y for leaf in found["leaf"]]
            bands = [confidence_band(model, int(leaf), kind="breslow") for leaf in found["leaf"]]
            limits = [[one.y for one in side] for side in zip(*bands, strict=True)]
            cells[2] = _apart(drawn, found["survival"])
            cells[3] = _apart(limits, [found["lower"], found["upper"]])
        rows.append([name.replace("_", ", "), len(own), *cells])
    for name, leaves in stored["arms"].items():
        effects = {str(one.leaf): one for one in EFFECTS[name]()[0].model.effects_}
        pairs = [(effects[leaf], theirs) for leaf, theirs in leaves.items()]
        cells = [
            _relative([one.ratio for one, _ in pairs], [theirs["ratio"][0] for _, theirs in pairs]),
            _relative([one.limits for one, _ in pairs], [theirs["limits"] for _, theirs in pairs]),
        ]
        rows.append([f"arms: {name.replace('_', ', ')}", len(pairs), *cells, "-", "-"])
    return _table(["table", "leaves", "hazard ratio", "limits", "Breslow curve", "its band"], rows)


def effects() -> str:
    """Ratios of thetas of arms in leaves, and the loss, against a generalised linear model."""
    from effect_cases import EFFECTS

    from surtree.outcomes.arm_effects import theta_ratios

    rows = []
    for name, found in _stored("effects.json.gz")["effects"].items():
        model = EFFECTS[name]()[0].model
        ratio = theta_ratios(model.tree_)[0]
        ours = np.log([ratio[int(leaf)] for leaf in found["leaf"]])
        both = "both" in name
        loss = _relative(model.loss_, found["deviance"][0] / 2) if both else "-"
        rows.append([name.replace("_", ", "), len(ours), _apart(ours, found["effect"]), loss])
    return _table(["table", "leaves", "log ratio of thetas", "loss (relative)"], rows)


def optimism() -> str:
    """Compare what the bootstrap takes off a concordance with rms."""
    from optimism_cases import optimism_case

    from surtree import SurTree, validate

    rows = []
    for name, theirs in _stored("optimism.json").items():
        table = optimism_case(name)
        y = np.empty(len(table), dtype=[("event", bool), ("time", float)])
        y["event"], y["time"] = table["event"], table["time"]
        found = validate(SurTree(max_depth=1), table[["x"]], y, n_bootstraps=60, method="optimism")
        concordance = found["concordance"]
        place = found.names.index("concordance")
        lost = 2 * (found.repetitions.resampled - found.repetitions.original)[:, place]
        error = lost.std(ddof=1) / math.sqrt(lost.size)
        rows.append(
            [
                name,
                f"{theirs['apparent']:.4f}",
                f"{2 * concordance.apparent - 1:.4f}",
                f"{theirs['optimism']:.4f} ± {theirs['error']:.4f}",
                f"{2 * concordance.optimism:.4f} ± {error:.4f}",
            ]
        )
    return _table(["table", "Dxy, R", "Dxy, ours", "optimism, R", "optimism, ours"], rows)


def tied() -> str:
    """Compare metrics of rows with tied times with riskRegression and survival."""
    from tied_cases import tied_case

    from surtree import metrics

    rows = []
    for name, theirs in _stored("tied.json").items():
        table = tied_case(name)
        y = table["event"].to_numpy(bool), table["time"].to_numpy()
        causes = table["cause"].to_numpy(), y[1]
        times, survival = table.loc[0, ["first", "second"]], table[["early", "late"]].to_numpy()
        ours = {
            "brier": metrics.brier_score(y, y, survival, times),
            "auc": metrics.cumulative_dynamic_auc(y, y, 1 - survival, times)[0],
            "incidence_brier": metrics.brier_score(
                causes, causes, (1 - survival) / 2, times, cause=1
            ),
            "uno": metrics.concordance_index_ipcw(y, y, table["risk"]).cindex,
        }
        rows.append([name, *(_apart(ours[metric], theirs[metric]) for metric in ours)])
    return _table(["table", "Brier score", "AUC", "Brier score of incidence", "Uno's C"], rows)


def start_stop() -> str:
    """Compare the concordance of (start, stop] rows and of weights, and follow-up, with R."""
    from start_stop_cases import START_STOP, start_stop_case

    from surtree import metrics
    from surtree.data.target import Target
    from surtree.survival.follow_up import follow_up

    rows = []
    for name in START_STOP:
        theirs, table = _stored("start_stop.json")[name], start_stop_case(name)
        y, weight = (table["event"].to_numpy(bool), table["stop"].to_numpy()), table["weight"]
        found = metrics.concordance_index_censored(
            *y, table["risk"], sample_weight=weight, entry=table["start"]
        )
        cells = [name.replace("_", " "), len(table), _apart(found.cindex, theirs["concordance"])]
        pairs = [getattr(found, each) for each in ("concordant", "discordant", "tied_risk")]
        cells.append(
            _relative(pairs, [theirs[each] for each in ("concordant", "discordant", "tied_risk")])
        )
        if "uno" in theirs:
            uno = metrics.concordance_index_ipcw(
                y, y, table["risk"], sample_weight=weight, train_weight=weight
            )
            quartiles = follow_up(Target(*y), weight.to_numpy())
            cells += [_apart(uno.cindex, theirs["uno"]), _apart(quartiles, theirs["follow_up"])]
        rows.append([*cells, *["-"] * (6 - len(cells))])
    head = ["table", "rows", "Harrell's C", "pairs (relative)", "Uno's C", "follow-up (quartiles)"]
    return _table(head, rows)


def _held_out(load: Callable[..., Any]) -> tuple[Any, Any, Any, Any]:
    """Return a tree of two thirds of the rows, these rows, the others, and times to ask about."""
    from surtree import SurTree

    X, y = load(backend="pandas")
    # No row is censored when another has its event: scikit-survival weighs such ties differently.
    y = np.array(y, dtype=[("event", bool), ("time", float)])
    y["time"] = np.where(y["event"], y["time"], np.nextafter(y["time"], np.inf))
    order = np.random.default_rng(0).permutation(len(y))
    fitted, other = np.split(order, [2 * len(y) // 3])
    # scikit-survival refuses rows to score that outlive all training rows.
    other = other[y["time"][other] < y["time"][fitted].max()]
    model = SurTree(max_depth=2, shrinkage=3).fit(X.iloc[fitted], y[fitted])
    times = np.quantile(y["time"][other], np.linspace(0.1, 0.8, 8))
    return model, y[fitted], (X.iloc[other], y[other]), np.unique(times)


def scikit_survival() -> str:
    """Metrics on rows that the tree has not seen, and the estimates of all rows."""
    if not SKSURV:
        return ABSENT
    import sksurv.metrics as theirs
    from scipy.integrate import trapezoid
    from sksurv.nonparametric import kaplan_meier_estimator, nelson_aalen_estimator

    from surtree import SurTree, datasets, leaf_curves, metrics

    rows = []
    for load in (
        datasets.load_gbsg2,
        datasets.load_lung,
        datasets.load_regimes,
        datasets.load_rossi,
    ):
        model, train, (X, test), times = _held_out(load)
        risk = model.predict(X)
        survival = np.stack([curve(times) for curve in model.predict_survival_function(X)])
        event, time = test["event"], test["time"]
        tau = times[-1]
        brier = metrics.brier_score(train, test, survival, times)
        auc, _ = metrics.cumulative_dynamic_auc(train, test, risk, times)
        harrell = metrics.concordance_index_censored(event, time, risk)
        uno = metrics.concordance_index_ipcw(train, test, risk, tau=tau)
        integral = trapezoid(brier, times) / (times[-1] - times[0])
        all_rows = SurTree(max_depth=0).fit(np.zeros((len(train), 1)), train)
        (curve,) = leaf_curves(all_rows.tree_, "kaplan-meier")
        at, kaplan_meier = kaplan_meier_estimator(train["event"], train["time"])
        _, nelson_aalen = nelson_aalen_estimator(train["event"], train["time"])
        rows.append(
            [
                load.__name__.removeprefix("load_"),
                len(test),
                _apart(harrell[0], theirs.concordance_index_censored(event, time, risk)[0]),
                _apart(uno[0], theirs.concordance_index_ipcw(train, test, risk, tau=tau)[0]),
                _apart(brier, theirs.brier_score(train, test, survival, times)[1]),
                _apart(integral, theirs.integrated_brier_score(train, test, survival, times)),
                _apart(auc, theirs.cumulative_dynamic_auc(train, test, risk, times)[0]),
                _apart(curve.survival(at), kaplan_meier),
                _apart(curve.cumulative_hazard(at), nelson_aalen),
            ]
        )
    head = ["table", "rows scored", "Harrell's C", "Uno's C", "Brier score", "integrated Brier"]
    head += ["AUC", "Kaplan-Meier", "Nelson-Aalen"]
    return _table(head, [*rows, _largest(rows)])


def versions() -> str:
    """Which versions are compared."""
    from importlib.metadata import version

    found = {**_stored("reference.json.gz")["versions"], **_stored("curves.json.gz")["versions"]}
    found["rms"] = next(iter(_stored("optimism.json").values()))["version"]
    if SKSURV:
        found["scikit-survival"] = version("scikit-survival")
    found["surtree"] = version("surtree")
    flat = {name: value[0] if isinstance(value, list) else value for name, value in found.items()}
    return ", ".join(f"{name} {value}" for name, value in sorted(flat.items(), key=str)) + "."

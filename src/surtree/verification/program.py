"""Confirm an optimal survival tree: a program of its own that shares no code with the solver.

It reads a model file (the claim) and its rows, and computes everything anew. Values of columns are
whole numbers: how many of the file's thresholds are below, or which of the file's categories it is;
-1 is missing. ``python verify.py`` reads claim.json and data.csv from its own folder.
"""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np

TOLERANCE = 1e-9  # smaller differences, relative to numbers and to all events, are rounding


def below(claim):
    """Return, for each column and threshold of the file, how many of its thresholds are lower."""
    asked = {(cut["column"], cut["threshold"]) for cut in claim["cuts"]}
    edges = sorted(edge for edge in asked if edge[1] is not None)
    columns = [column for column, _ in edges]
    return dict(zip(edges, np.arange(len(edges)) - np.searchsorted(columns, columns)))


def answer(claim, cut, codes):
    """Return for which rows a question of the file has the answer yes."""
    if cut["threshold"] is None and cut["categories"] is None:
        return codes < 0
    if str(cut["column"]) in claim["known"]:
        known = claim["known"][str(cut["column"])]
        yes = np.isin(codes, [known.index(label) for label in cut["categories"]]) ^ cut["negated"]
    else:  # a number is above a threshold, or a boolean is true
        yes = codes > claim["below"].get((cut["column"], cut["threshold"]), 0)
    return np.where(codes < 0, bool(cut["missing"]), yes)


def digest(rows):
    """Return numbers that tell rows apart, whatever their order: sums of a hash and its square."""
    row = np.zeros(len(rows["time"]), dtype=np.uint64)
    outcome = [rows[name] for name in ("cause", "arm", "time", "entry", "weight")]
    for values in (*rows["codes"].values(), *outcome):
        word = (np.asarray(values, dtype=np.float64) + 0.0).view(np.uint64)
        row = (row ^ word ^ (row >> np.uint64(29))) * np.uint64(0x9E3779B97F4A7C15)
    row ^= row >> np.uint64(32)
    return [len(row), *np.array([row.sum(), (row * row).sum()]).view(np.uint32).tolist()]


def at_risk(rows, times, some, event):
    """Return the weight of some rows at risk, and of their events, at each of the times: exact."""
    enter = np.searchsorted(times, np.where(rows["entry"] > 0, rows["entry"], -1.0), side="right")
    leave = np.searchsorted(times, rows["time"], side="right")
    weight = np.array([Fraction(value) for value in rows["weight"].tolist()])
    exposed, deaths = np.zeros((2, len(times) + 1), dtype=object)
    np.add.at(exposed, enter[some], weight[some])
    np.subtract.at(exposed, leave[some], weight[some])
    np.add.at(deaths, leave[some & event] - 1, weight[some & event])
    return np.cumsum(exposed)[:-1], deaths[:-1], enter, leave


def nelson_aalen(rows, event):
    """Return times, cumulative hazard and floor, and the hazard that each row was exposed to."""
    times = np.unique(rows["time"][event])
    exposed, deaths, enter, leave = at_risk(rows, times, event | True, event)
    steps = (deaths / exposed).astype(float)
    curve = np.array([0, *np.cumsum([Fraction(step) for step in steps])], dtype=float)
    floor = min(1 / (math.fsum(rows["weight"]) + 1), *steps)
    return (times, curve[1:], floor), np.maximum(curve[leave] - curve[enter], floor)


class Objective:
    """What each row adds to a leaf, and what a leaf gains; a single leaf is always allowed."""

    def __init__(self, claim, rows):
        name, (self.prior, *rest) = claim["objective"]["name"], claim["objective"]["parameters"]
        event, weight, asked = rows["cause"] > 0, rows["weight"], claim["parameters"]
        baseline, hazard = nelson_aalen(rows, event)
        self.baselines, channels = [baseline], [(1.0, event, hazard)]  # weight, events, hazards
        if name == "cause_hazards":
            events = [rows["cause"] == cause for cause in rest[::2]]
            curves, hazards = zip(*(nelson_aalen(rows, own) for own in events))
            self.baselines, channels = [baseline, *curves], list(zip(rest[1::2], events, hazards))
        elif name.startswith("arm_"):
            arms = [rows["arm"] == k for k in range(int(rest[0]))]
            channels = [(1.0, event & arm, hazard * arm) for arm in arms]
        self.weights, self.events, _ = zip(*channels)
        self.values = np.array([weight * part for _, *pair in channels for part in pair])
        # A row in a leaf of its own costs nothing: no tree fits it better.
        alone = [-counts * e * np.log(np.where(e, h, 1.0)) for counts, e, h in channels]
        self.constants, self.is_contrast = weight * np.sum(alone, axis=0), name == "arm_contrasts"
        if self.is_contrast:  # the zero of this loss is arbitrary
            expected = math.fsum(self.values[1::2].ravel()) / weight[event].min()
            self.constants += max(math.log(expected), 0.0) * weight * event
        counted = np.any([own for counts, own, _ in channels if counts > 0], axis=0)
        limits = [(event | True, asked["min_samples_leaf"]), (counted, asked["min_events_leaf"])]
        limits += [(own, asked.get("min_events_arm", 0)) for _, own, _ in channels]
        self.limits = [(count, min(least, count.sum())) for count, least in limits if least > 0]

    def gain(self, sums):
        """Return what leaves gain: E log(E / H), a prior added to both, over all channels."""
        events, hazard, prior = np.maximum(sums[0::2], 0.0), sums[1::2], self.prior
        if not self.is_contrast:
            return np.tensordot(self.weights, log_ratio(events + prior, hazard + prior), 1)
        total, expected, n = events.sum(axis=0), hazard.sum(axis=0), len(events)
        share = prior * expected / np.where(total > 0, total, 1.0)
        apart = log_ratio(events + prior, hazard + share).sum(axis=0)
        gain = apart - log_ratio(total + n * prior, expected + n * share)
        return np.where(total > 0, np.maximum(gain, 0.0), 0.0)


def log_ratio(events, hazard):
    """Return E log(E / H), which is zero without an event."""
    return events * np.log(np.maximum(events, 1e-300) / np.maximum(hazard, 1e-300))


class Search:
    """The least loss with 0, 1, 2, ... splits, by the paper's recurrence; equal rows are added."""

    def __init__(self, claim, rows, objective):
        codes, row = np.unique([*rows["codes"].values()], axis=1, return_inverse=True)
        values = [*objective.values, objective.constants, *(own for own, _ in objective.limits)]
        self.values = np.array([np.bincount(row.ravel(), weights=value) for value in values])
        merged = dict(zip(rows["codes"], codes))
        self.yes = np.array([answer(claim, c, merged[c["column"]]) for c in claim["cuts"]]).T
        self.objective, self.memo = objective, {}

    def cost(self, sums):
        """Return the loss of leaves, which is not negative; infinity if a limit forbids a leaf."""
        n = len(self.objective.values)
        loss = np.maximum(sums[n] - self.objective.gain(sums[:n]), 0.0)
        for count, (_, least) in zip(sums[n + 1 :], self.objective.limits):
            loss = np.where(count > least - 0.5, loss, np.inf)
        return loss

    def best(self, rows, depth):
        """Return the least loss on some rows of trees of some depth, by the number of splits."""
        key = depth, np.packbits(rows).tobytes()
        if key not in self.memo:
            losses = self.pairs(rows) if depth <= 2 else self.recur(rows, depth)
            self.memo[key] = np.minimum.accumulate(losses)[: 2**depth]
        return self.memo[key]

    def recur(self, rows, depth):
        """Try every first question: i splits where it holds and j elsewhere are i + j + 1."""
        losses = np.full(2**depth, self.cost(self.values[:, rows].sum(axis=1)))
        for yes in self.yes.T:
            if yes[rows].any() and not yes[rows].all():
                right, left = self.best(rows & yes, depth - 1), self.best(rows & ~yes, depth - 1)
                for i, loss in enumerate(right):
                    here = losses[i + 1 : i + 1 + len(left)]
                    np.minimum(here, loss + left, out=here)
        return losses

    def pairs(self, rows):
        """Try all pairs of questions at once: matrix products add up the rows of each answer."""
        values, yes = self.values[:, rows], self.yes[rows].astype(float)
        total, right = values.sum(axis=1)[:, None], values @ yes
        both = (values[:, None] * yes.T) @ yes  # of rows with two answers yes, for every pair
        leaf, split = [], []  # the loss of either side as a leaf, and with its best question
        for side, holds in ((right, both), (total - right, right[:, None] - both)):
            leaf.append(self.cost(side))
            split.append((self.cost(holds) + self.cost(side[:, :, None] - holds)).min(axis=-1))
        two, three = np.minimum(split[0] + leaf[1], split[1] + leaf[0]), split[0] + split[1]
        return np.array([self.cost(total)[0], min(leaf[0] + leaf[1]), min(two), min(three)])


def facts(claim, rows, objective, best):
    """Yield part, name, claim and fact of all numbers of the file that the rows decide."""
    yield "rows", "digest of the rows, number", claim["rows"][:5], digest(rows)
    first, event, times = claim["baseline"], rows["cause"] > 0, objective.baselines[0][0]
    for curve, own in zip([first, *first.get("of_cause", [])], objective.baselines):
        for name, values in zip(("times", "cumulative_hazard", "floor"), own):
            yield "curves", f"baseline, {name}, number", curve[name], values
    prior, losses = 0.0 if objective.is_contrast else objective.prior, {}
    for number, tree in reversed(list(enumerate(claim["trees"]))):
        nodes, reach = tree["nodes"], [event | True] * len(tree["nodes"]["cut"])
        for node, (cut, *sides) in enumerate(zip(nodes["cut"], nodes["left"], nodes["right"])):
            if cut >= 0:
                asked = tree["cuts"][cut]
                yield "rules", f"tree {number}, question {cut} known", asked in claim["cuts"], True
                yes = answer(claim, asked, rows["codes"][asked["column"]])
                reach[sides[0]], reach[sides[1]] = reach[node] & ~yes, reach[node] & yes
        sums = np.array([[math.fsum(own[some]) for some in reach] for own in objective.values])
        alone = np.array([math.fsum(objective.constants[some]) for some in reach])
        events, hazard = sums[0::2].sum(axis=0) + prior, sums[1::2].sum(axis=0) + prior
        own = dict(zip(nodes["sums"], sums))
        own["theta"] = np.where(events > 0, events / hazard, np.minimum(0.5 / hazard, 1.0))
        own["loss"] = np.maximum(alone - objective.gain(sums), 0.0)
        own["weight"] = [math.fsum(rows["weight"][some]) for some in reach]
        own["n_samples"] = [some.sum() for some in reach]
        own["n_events"] = [(some & event).sum() for some in reach]
        for name, values in own.items():
            yield "leaves", f"tree {number}, {name} of node", (nodes["sums"] | nodes)[name], values
        leaves = [node for node, cut in enumerate(nodes["cut"]) if cut < 0]
        losses[number] = math.fsum(own["loss"][leaves])
        for count, least in objective.limits:
            fewest = min(count[reach[leaf]].sum() for leaf in leaves)
            yield "leaves", f"tree {number}, smallest leaf", max(least, fewest), fewest
    yield "rules", "leaf of row", rows["leaf"], np.array(reach)[leaves].T @ leaves
    curves = [(counts, reach[leaf], event) for counts, leaf in zip(tree["risk"], leaves)]
    for counts, some, _ in curves[:]:
        causes = zip(objective.events, counts.get("by_cause", []))
        curves += [({**counts, "deaths": own}, some, part) for part, own in causes]
    for leaf, arms in zip(leaves, tree.get("arms", {"risk": []})["risk"]):
        curves += [(own, reach[leaf] & (rows["arm"] == k), event) for k, own in enumerate(arms)]
    for number, (counts, some, event) in enumerate(curves):
        exposed, deaths, *_ = at_risk(rows, times, some, event)
        stay = np.repeat([0, *counts["at_risk"]], np.diff([0, *counts["step"], len(times)]))
        died = np.bincount(counts["step"], weights=counts["deaths"], minlength=len(times))
        yield "curves", f"curve {number}, number", [*stay, *died], [*exposed, *deaths]
    yield "path", "loss of the model", claim["loss"], losses[0]
    for k, size in enumerate(claim["path"]):  # the last one stands for all larger sizes
        at, least = f"with {k} splits", best[k if k + 1 < len(claim["path"]) else -1]
        yield "path", f"loss {at}", size["loss"], losses[size["tree"]]
        claimed = min(size["loss"], size["loss"] if size["loss"] <= size["lower_bound"] else least)
        yield "optimum", f"least loss {at}", claimed, least
        yield "bounds", f"bound {at} of the loss", max(size["lower_bound"], least), least
    price = claim["parameters"]["ccp_alpha"] * (np.arange(len(best)) - len(leaves) + 1)
    lower = min(claim["lower_bound"], (best + price).min())
    yield "bounds", "bound of the loss", claim["lower_bound"], lower
    gap = 0.0 if claim["status"] == "optimal" else 1 - lower / max(claim["loss"], 1e-300)
    yield "bounds", "gap", claim["gap"], gap


def check(claim, rows, objective, best):
    """Return, for each part of a claim, a sentence for each of its fields that is not a fact."""
    wrong, scale = {}, math.fsum(rows["weight"][rows["cause"] > 0])
    for part, name, claimed, fact in facts(claim, rows, objective, best):
        claimed, fact = (np.atleast_1d(np.array(own, dtype=float)) for own in (claimed, fact))
        sentences = wrong.setdefault(part, [])
        if claimed.shape != fact.shape:
            name, claimed, fact = f"count, {name}", *map(np.atleast_1d, (claimed.size, fact.size))
        room = TOLERANCE * (np.abs(fact) + scale * ("loss" in name)) * (part != "rows")
        for k in np.flatnonzero(~(np.abs(claimed - fact) <= room) & (fact == fact))[:1]:
            sentences.append(f"{name} {k} is {fact[k]:.10g}, not {claimed[k]:.10g}")
    return wrong


if __name__ == "__main__":
    data = np.genfromtxt(Path(__file__).with_name("data.csv"), delimiter=",", names=True, ndmin=1)
    rows = {name: data[name] for name in data.dtype.names}
    rows["codes"] = {int(name[7:]): rows[name] for name in rows if name.startswith("column_")}
    claim = json.loads(Path(__file__).with_name("claim.json").read_text(encoding="utf-8"))
    claim["below"], objective = below(claim), Objective(claim, rows)
    depth, splits = claim["parameters"]["max_depth"], claim["parameters"]["max_splits"]
    splits, search = 2**depth - 1 if splits is None else splits, Search(claim, rows, objective)
    best = search.best(np.ones(search.values.shape[1], bool), min(depth, splits))[: splits + 1]
    for part, sentences in (wrong := check(claim, rows, objective, best)).items():
        print(f"{part}: {'refuted' if sentences else 'confirmed'}", *sentences, sep="\n  ")
    raise SystemExit(any(wrong.values()))

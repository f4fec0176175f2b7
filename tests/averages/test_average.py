"""The average over all trees, against a list of all trees."""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import chi2

from surtree.solver.average import TreePrior
from surtree.solver.core import Problem
from surtree.solver.problem import BinnedRows, Limits
from surtree.survival.objective import RELATIVE_RISK
from surtree.survival.row_sums import RowSums


@dataclass(frozen=True)
class EveryTree:
    """One of all trees: its prior, the rows of its leaves, its columns, and its first cut."""

    log_prior: float
    leaves: tuple[np.ndarray, ...]
    columns: frozenset[int] = frozenset()
    first: int = -1
    # Its nodes from the root on, the side where the cut does not hold first: column, rows.
    nodes: tuple[tuple[int, bytes], ...] = ()


def cut_holds(binned, cut):
    bins = binned.bins[binned.cut_column[cut]].astype(int)
    inside = (bins >= binned.cut_first[cut]) & (bins <= binned.cut_last[cut])
    inside &= (int(binned.cut_gaps[cut]) >> bins) & 1 == 0
    missing = bins == binned.missing_bin[binned.cut_column[cut]]
    return inside | (missing & bool(binned.cut_missing[cut]))


def every_tree(rows, levels, binned, samples, least, split):
    """List all trees of some rows; two cuts of a column that divide them alike are one."""
    divisions: dict[int, dict] = {}
    for cut in range(len(binned.cut_column) if levels else 0):
        yes = rows & cut_holds(binned, cut)
        no = rows & ~yes
        if min(samples[yes].sum(), samples[no].sum()) < least or not (yes.any() and no.any()):
            continue
        same = divisions.setdefault(int(binned.cut_column[cut]), {})
        same.setdefault(frozenset((yes.tobytes(), no.tobytes())), (cut, no, yes))
    if not divisions:
        return [EveryTree(0.0, (rows,), nodes=((-1, rows.tobytes()),))]
    trees = [EveryTree(float(np.log1p(-split)), (rows,), nodes=((-1, rows.tobytes()),))]
    for column, same in divisions.items():
        log_prior = float(np.log(split / len(divisions) / len(same)))
        for cut, no, yes in same.values():
            sides = [
                every_tree(side, levels - 1, binned, samples, least, split) for side in (no, yes)
            ]
            trees += [
                EveryTree(
                    log_prior + one.log_prior + other.log_prior,
                    one.leaves + other.leaves,
                    one.columns | other.columns | {column},
                    cut,
                    ((column, rows.tobytes()), *one.nodes, *other.nodes),
                )
                for one in sides[0]
                for other in sides[1]
            ]
    return trees


def log_evidence(events, expected, a):
    return lgamma(events + a) - lgamma(a) + a * np.log(a) - (events + a) * np.log(expected + a)


def weighed_trees(problem, limits, prior):
    """Return all trees, and the logarithm of prior times evidence of each, by strength."""
    events, expected = problem.sums.values
    trees = every_tree(
        np.ones(events.size, dtype=bool),
        limits.max_depth,
        problem.binned,
        problem.sums.counts["samples"],
        limits.min_samples_leaf,
        prior.split,
    )
    logs = [
        [
            tree.log_prior
            + sum(log_evidence(events[leaf].sum(), expected[leaf].sum(), a) for leaf in tree.leaves)
            for tree in trees
        ]
        for a in prior.strengths
    ]
    return trees, np.array(logs)


def random_problem(random):
    """Return bins with thresholds, categories or missing values, and rows with odd sums."""
    levels = int(random.integers(0, 4))
    n_columns, n = int(random.integers(1, 3 if levels == 3 else 4)), int(random.integers(2, 14))
    n_bins = random.integers(2, 3 if levels == 3 else 4, size=n_columns).astype(np.int32)
    bins = np.stack([random.integers(0, size, size=n) for size in n_bins]).astype(np.uint16)
    missing = np.full(n_columns, -1, dtype=np.int32)
    cuts = []  # column, first, last, missing, gaps
    for column, size in enumerate(n_bins.tolist()):
        kind = random.random() if size == 3 else 1.0
        if kind < 0.3:
            cuts += [(column, bin_, bin_, False, 0) for bin_ in range(3)]
            cuts += [(column, 0, 2, False, 2)]
        elif kind < 0.6:
            missing[column] = 2
            cuts += [(column, 1, 1, False, 0), (column, 1, 1, True, 0), (column, 2, 2, False, 0)]
        else:
            cuts += [(column, first, size - 1, False, 0) for first in range(1, size)]
    kinds = (np.int32, np.int32, np.int32, np.bool_, np.uint64)
    arrays = [
        np.array(part, dtype=kind)
        for part, kind in zip(zip(*cuts, strict=True), kinds, strict=True)
    ]
    binned = BinnedRows(bins, n_bins, missing, *arrays)
    whole = random.random() < 0.5
    events = random.integers(0, 3, size=n) if whole else random.integers(0, 4096, size=n) / 2048
    expected = random.integers(1, 4096, size=n) / 1024
    samples = random.integers(1, 3, size=n).astype(float)
    limits = Limits(levels, min_samples_leaf=int(random.integers(1, 4)))
    return problem_of(binned, events, expected, samples), limits


def problem_of(binned, events, expected, samples):
    values = np.stack([events, expected]).astype(float)
    n = values.shape[1]
    counts = {"samples": samples, "events": np.zeros(n)}
    return Problem(binned, RowSums(RELATIVE_RISK, values, counts, np.ones(n), np.zeros(n)))


@pytest.mark.parametrize("seed", range(300))
def test_the_average_is_that_of_a_list_of_all_trees(seed):
    random = np.random.default_rng(seed)
    problem, limits = random_problem(random)
    strengths = (1.0, 3.0, 9.0)[: random.integers(1, 4)]
    prior = TreePrior(float(random.uniform(0.1, 0.9)), strengths, logarithm=seed % 3 == 0)
    average = problem.average(limits, prior, n_jobs=int(random.integers(1, 3)))

    binned, (events, expected) = problem.binned, problem.sums.values
    n = events.size
    trees, logs = weighed_trees(problem, limits, prior)
    np.testing.assert_allclose(average.log_evidence, np.logaddexp.reduce(logs, axis=1), atol=1e-12)
    posterior = np.exp(logs - np.logaddexp.reduce(logs.ravel()))
    mean, asked = np.zeros(n), np.zeros(len(binned.n_bins))
    first = np.zeros(len(binned.cut_column))
    for a, shares in zip(prior.strengths, posterior, strict=True):
        for share, tree in zip(shares, trees, strict=True):
            for leaf in tree.leaves:
                theta = (events[leaf].sum() + a) / (expected[leaf].sum() + a)
                mean[leaf] += share * (np.log(theta) if prior.logarithm else theta)
            asked[list(tree.columns)] += share
            if tree.first >= 0:
                first[tree.first] += share
    np.testing.assert_allclose(average.mean.at(binned.bins), mean, atol=1e-12)
    np.testing.assert_allclose(average.asked, asked, atol=1e-12)
    np.testing.assert_allclose(average.first, first, atol=1e-12)


def test_the_average_does_not_depend_on_the_order_of_rows_nor_on_merging_them_nor_on_threads():
    random = np.random.default_rng(1)
    n, n_bins = 60, np.array([4, 3, 5], dtype=np.int32)
    bins = np.stack([random.integers(0, size, size=n) for size in n_bins]).astype(np.uint16)
    cuts = [(c, first, size - 1) for c, size in enumerate(n_bins) for first in range(1, size)]
    column, first, last = np.array(cuts, dtype=np.int32).T
    no_gaps = np.zeros(len(cuts), dtype=np.uint64)

    def average(rows, repeats, n_jobs):
        binned = BinnedRows(
            np.ascontiguousarray(bins[:, rows]),
            n_bins,
            np.full(3, -1, dtype=np.int32),
            *(np.ascontiguousarray(part) for part in (column, first, last)),
            no_gaps > 0,
            no_gaps,
        )
        share = 1.0 / repeats
        problem = problem_of(binned, events[rows] * share, expected[rows] * share, share[:])
        return problem.average(Limits(2), TreePrior(), n_jobs=n_jobs)

    events, expected = random.integers(0, 2, size=n) * 1.0, random.integers(1, 512, size=n) / 256
    one = average(np.arange(n), np.ones(n), 1)
    shuffled = average(random.permutation(n), np.ones(n), 2)
    # Each row cut in two halves: sums of halves are exact.
    halves = average(np.repeat(np.arange(n), 2), np.full(2 * n, 2.0), 1)
    for other in (shuffled, halves):
        np.testing.assert_array_equal(one.log_evidence, other.log_evidence)
        np.testing.assert_array_equal(one.mean.values, other.mean.values)
        np.testing.assert_array_equal(one.asked, other.asked)


def test_draws_have_the_probabilities_of_the_average():
    random = np.random.default_rng(6)
    problem, _ = random_problem(random)
    limits = Limits(2)
    average = problem.average(limits, TreePrior())
    draws = problem.draw(limits, TreePrior(), n_draws=20_000, seed=3)
    roots = np.array([tree.cut[0] for tree in draws.topologies])
    n_cuts = len(problem.binned.cut_column)
    seen = np.bincount(roots[roots >= 0], minlength=n_cuts) / roots.size
    np.testing.assert_allclose(seen, average.first, atol=4 * np.sqrt(0.25 / roots.size))
    columns = problem.binned.cut_column
    asked = np.mean(
        [
            np.isin(np.arange(len(problem.binned.n_bins)), columns[tree.cut[tree.cut >= 0]])
            for tree in draws.topologies
        ],
        axis=0,
    )
    np.testing.assert_allclose(asked, average.asked, atol=4 * np.sqrt(0.25 / roots.size))
    strengths = np.exp(average.log_evidence - np.logaddexp.reduce(average.log_evidence))
    drawn = np.bincount(draws.strength, minlength=4) / roots.size
    np.testing.assert_allclose(drawn, strengths, atol=4 * np.sqrt(0.25 / roots.size))
    again = problem.draw(limits, TreePrior(), n_draws=5, seed=3)
    assert [t.key for t in again.topologies] == [t.key for t in draws.topologies[:5]]


def nodes_of(tree, binned):
    """Return the column and the rows of each node, as `EveryTree` has them."""

    def below(node, rows):
        cut = int(tree.cut[node])
        if cut < 0:
            return ((-1, rows.tobytes()),)
        yes = cut_holds(binned, cut)
        return (
            (int(binned.cut_column[cut]), rows.tobytes()),
            *below(tree.left[node], rows & ~yes),
            *below(tree.right[node], rows & yes),
        )

    return below(0, np.ones(binned.bins.shape[1], dtype=bool))


@pytest.mark.parametrize("seed", [1, 6, 9, 31])
def test_each_tree_is_drawn_as_often_as_its_posterior_says(seed):
    """Draws are random: 1e-12 is about the probabilities above, and this is a chi-square test.

    Its level is 1e-4, and the seeds are fixed: it passes or fails for good. Draws that split a node
    with probability .62 in place of .6 fail it with each of these seeds.
    """
    problem, _ = random_problem(np.random.default_rng(seed))
    limits, prior = Limits(2), TreePrior(0.6, (1.0, 9.0))
    trees, logs = weighed_trees(problem, limits, prior)
    posterior = np.exp(logs - np.logaddexp.reduce(logs.ravel()))
    index = {tree.nodes: k for k, tree in enumerate(trees)}
    assert len(index) == len(trees) > 1

    draws = problem.draw(limits, prior, n_draws=40_000, seed=seed)
    seen = np.zeros_like(posterior)
    for tree, strength in zip(draws.topologies, draws.strength, strict=True):
        seen[strength, index[nodes_of(tree, problem.binned)]] += 1  # each is in the list
    expected = posterior * seen.sum()
    often = expected >= 5
    cells = [np.append(part[often], part[~often].sum()) for part in (seen, expected)]
    statistic = ((cells[0] - cells[1]) ** 2 / np.maximum(cells[1], 5)).sum()
    assert statistic < chi2.isf(1e-4, often.sum())


@pytest.mark.parametrize("a", [1.0, 9.0, 27.0])
@pytest.mark.parametrize(("events", "expected"), [(0, 2.5), (1, 0.25), (7.5, 3.125), (300, 410)])
def test_the_evidence_of_a_leaf_is_the_integral_over_its_theta(a, events, expected):
    one = np.zeros((1, 2), dtype=np.uint16)  # two rows of one bin: no cut, one leaf
    nothing = [np.zeros(0, dtype=kind) for kind in (np.int32,) * 3 + (np.bool_, np.uint64)]
    flat = np.array([1], dtype=np.int32), np.array([-1], dtype=np.int32)
    problem = problem_of(BinnedRows(one, *flat, *nothing), [events, 0], [expected] * 2, np.ones(2))
    average = problem.average(Limits(1), TreePrior(strengths=(a,)))

    def log_integral(shape, rate):
        """Integrate theta ** (shape - 1) * exp(-rate * theta) over the logarithm of theta."""
        top = np.log(shape / rate)
        height = shape * top - shape
        value, _ = quad(
            lambda u: np.exp(shape * u - rate * np.exp(u) - height),
            top - 40 / min(shape, np.sqrt(shape)),
            top + 8 / min(1, np.sqrt(shape)),
            points=[top],
            epsabs=0,
            epsrel=1e-12,
            limit=500,
        )
        return height + np.log(value)

    by_quadrature = log_integral(a + events, a + 2 * expected) - log_integral(a, a)
    assert average.log_evidence[0] == pytest.approx(by_quadrature, rel=1e-9, abs=1e-9)

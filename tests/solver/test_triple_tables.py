"""Trees from tables over triples of columns: the same as from the rows, to the last bit."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from surtree.solver.core import Problem, TripleTables
from surtree.solver.problem import BinnedRows, Limits, Rounding, Solution
from surtree.survival._channels import Channels
from surtree.survival.competing_risks import CauseHazards
from surtree.survival.objective import Objective, RelativeRisk
from surtree.survival.row_sums import RowSums
from surtree.survival.treatment import ArmContrasts, ArmHazards

check = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
OBJECTIVES: list[Objective] = [
    RelativeRisk(),
    RelativeRisk(shrinkage=1.5),
    CauseHazards(causes=(1, 2), weights=(1.0, 0.4)),
    ArmHazards.of(3),
    ArmContrasts.of(2, shrinkage=0.5),
]


def draw_columns(rng: np.random.Generator, n_columns: int, most_bins: int) -> BinnedRows:
    """Draw columns of any kind, with missing values and sets of categories, without rows."""
    n_bins, missing_bin, cuts = [], [], []
    for line in range(n_columns):
        q = int(rng.integers(2, most_bins + 1))
        missing, nominal = rng.random(2) < 0.3
        missing_bin.append(q if missing else -1)
        n_bins.append(q + missing)
        for first in range(0 if nominal else 1, q):
            last = first if nominal else q - 1
            cuts.append((line, first, last, False, 0))
            if missing:
                cuts.append((line, first, last, True, 0))
        if nominal:
            sets = [(first, 1 << (first + 1)) for first in range(q - 2)]
            cuts += [(line, first, first + 2, bool(missing), gaps) for first, gaps in sets]
        if missing:
            cuts.append((line, q, q, True, 0))
    column, first, last, held, gaps = zip(*cuts, strict=True)
    return BinnedRows(
        np.empty((n_columns, 0), dtype=np.uint16),
        *(np.array(each, dtype=np.int32) for each in (n_bins, missing_bin, column, first, last)),
        np.array(held),
        np.array(gaps, dtype=np.uint64),
    )


def draw_rows(
    rng: np.random.Generator, columns: BinnedRows, n: int, objective: Objective
) -> tuple[BinnedRows, RowSums]:
    """Draw rows with weights, events in one channel at most, and hazards in all of them or one."""
    bins = np.stack([rng.integers(0, n_bins, n) for n_bins in columns.n_bins])
    weight = rng.uniform(0.2, 4.0, n) if rng.random() < 0.7 else np.ones(n)
    hazard = weight * rng.exponential(size=n) + 1e-3
    if rng.random() < 0.3:  # ties: few sums, and columns that say the same
        weight, hazard = np.ones(n), rng.choice([0.5, 1.0], n)
        bins[1:] = np.where(
            rng.random(n) < 0.95, np.minimum(bins[0], columns.n_bins[1:, None] - 1), bins[1:]
        )
    event = rng.random(n) < 0.6
    channels = objective.n_channels if isinstance(objective, Channels) else 1
    own = rng.integers(0, channels, n)
    lines = []
    for channel in range(channels):
        has_hazard = own == channel if isinstance(objective, ArmHazards) else True
        lines += [weight * (event & (own == channel)), hazard * has_hazard]
    counts = {"samples": np.ones(n), "events": event.astype(float)}
    sums = RowSums(objective, np.stack(lines), counts, weight, np.zeros(n))
    return replace(columns, bins=bins.astype(np.uint16)), sums


def same(one: Solution, other: Solution) -> None:
    n = min(len(one.gains), len(other.gains))
    assert one.status == other.status
    for name in ("gains", "gain_bounds"):
        assert getattr(one, name)[:n].tolist() == getattr(other, name)[:n].tolist()
        assert (getattr(other, name)[n:] == getattr(other, name)[n - 1]).all()
    for tree, expected in zip(one.topologies[:n], other.topologies[:n], strict=True):
        for name in ("cut", "left", "right"):
            assert getattr(tree, name).tolist() == getattr(expected, name).tolist()
    assert one.proven_depth == other.proven_depth


def rounding_of(sums: RowSums) -> Rounding:
    return Rounding(sums.unit, sums.is_uneven)


def tables_of(binned: BinnedRows, sums: RowSums, limits: Limits, parts) -> TripleTables:
    """Add up the rows of some parts, each by itself."""
    made = [
        TripleTables(binned, sums.objective, rounding_of(sums), limits, tuple(sums.counts))
        for _ in parts
    ]
    for tables, part in zip(made, parts, strict=True):
        for batch in np.array_split(part, 2):
            chosen = {name: count[batch] for name, count in sums.counts.items()}
            tables.add(binned.bins[:, batch], sums.core[:, batch], chosen)
    for other in made[1:]:
        made[0].merge(other.sums)
    return made[0]


@check
@given(st.integers(0, 2**32), st.sampled_from(OBJECTIVES))
def test_tables_have_the_solution_of_the_rows(seed, objective):
    rng = np.random.default_rng(seed)
    columns = draw_columns(rng, int(rng.integers(1, 6)), int(rng.integers(2, 8)))
    binned, sums = draw_rows(rng, columns, int(rng.integers(2, 200)), objective)
    depth = int(rng.choice([0, 1, 2, 3, 3, 3, 3]))
    limits = Limits(
        depth,
        max_splits=int(rng.integers(0, 2**depth)) if rng.random() < 0.3 else None,
        min_samples_leaf=int(rng.integers(1, 9)) if rng.random() < 0.5 else 1,
        min_events_leaf=int(rng.integers(0, 5)) if rng.random() < 0.5 else 0,
    )
    order = rng.permutation(sums.weight.size)
    parts = np.array_split(order, int(rng.integers(1, 4)))
    same(Problem(binned, sums).solve(limits), tables_of(binned, sums, limits, parts).solve())


@pytest.mark.parametrize("seed", range(3))
def test_so_have_tables_that_the_solver_would_not_keep(seed):
    # With limits, all tables of so many columns together are too large for it: made one by one.
    rng = np.random.default_rng(seed)
    columns = draw_columns(rng, 10, 12)
    binned, sums = draw_rows(rng, columns, 3000, RelativeRisk())
    limits = Limits(3, min_samples_leaf=20, min_events_leaf=5)
    same(
        Problem(binned, sums).solve(limits),
        tables_of(binned, sums, limits, [np.arange(3000)]).solve(),
    )


@pytest.mark.parametrize("seed", range(4))
def test_rows_too_light_for_the_unit_are_counted_alike(seed):
    rng = np.random.default_rng(seed)
    columns = draw_columns(rng, 4, 6)
    binned, even = draw_rows(rng, columns, 150, RelativeRisk())
    factor = 10.0 ** rng.uniform(-14, 4, 150)
    sums = replace(even, values=even.values * factor, weight=even.weight * factor)
    assert sums.is_uneven
    limits = Limits(3, min_samples_leaf=4)
    order = rng.permutation(150)
    found = tables_of(binned, sums, limits, np.array_split(order, 3)).solve()
    same(Problem(binned, sums, rounding_of(sums)).solve(limits), found)
    assert (found.gain_bounds > found.gains).all()


def test_sums_of_partitions_are_plain_arrays():
    rng = np.random.default_rng(1)
    columns = draw_columns(rng, 4, 6)
    binned, sums = draw_rows(rng, columns, 90, RelativeRisk())
    limits = Limits(3)
    parts = [tables_of(binned, sums, limits, [part]).sums for part in np.split(np.arange(90), 3)]
    assert (sum(parts) == tables_of(binned, sums, limits, [np.arange(90)]).sums).all()
    assert sum(parts).dtype == np.float64


def test_what_does_not_fit_is_refused():
    rng = np.random.default_rng(2)
    columns = draw_columns(rng, 3, 4)
    made = {"objective": RelativeRisk(), "rounding": Rounding(1.0), "counts": ("samples", "events")}
    with pytest.raises(ValueError, match="three levels, not for 4"):
        TripleTables(columns, limits=Limits(4), **made)
    wide = replace(columns, n_bins=np.array([70, 4, 4], dtype=np.int32))
    with pytest.raises(ValueError, match="70 bins: tables over three columns have at most 64"):
        TripleTables(wide, limits=Limits(3), **made)
    with pytest.raises(ValueError, match=r"three of 80 columns would take \d+ MiB"):
        TripleTables(draw_columns(rng, 80, 12), limits=Limits(3), **made)
    with pytest.raises(ValueError, match="memory"):
        TripleTables(columns, limits=Limits(3), memory_limit=100, **made)
    tables = TripleTables(columns, limits=Limits(3), **made)
    binned, sums = draw_rows(rng, columns, 5, RelativeRisk())
    with pytest.raises(ValueError, match="a bin that its column does not have"):
        tables.add(binned.bins + np.uint16(9), sums.core, sums.counts)
    with pytest.raises(ValueError, match="different numbers of rows"):
        tables.add(binned.bins[:, :3], sums.core, sums.counts)
    with pytest.raises(ValueError, match="sums of other tables"):
        tables.merge(np.zeros(3))

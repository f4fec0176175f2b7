"""Searches that are divided by their first cuts, as workers of a cluster share them."""

import numpy as np

from fuzz.checks import require, shown
from fuzz.tables import Rng, chance, draw_case, pick
from surtree import SurTree
from surtree.cuts.encoder import encoder_of
from surtree.data.named import RowInputs
from surtree.estimators.parameters import check_parameters
from surtree.fitting.training import make_problem, read_training_data
from surtree.solver._cluster import join_parts
from surtree.solver.problem import Solution, Switches


def parts(rng: Rng) -> None:
    """Cuts in any division, one task knowing of the gains of another or not: the same trees."""
    case = draw_case(rng, int(rng.integers(2, 40)), int(rng.integers(1, 5)), pick(rng, [3, 4, 5]))
    switches = Switches(bisect=pick(rng, [0, 100]), kernel_depth=pick(rng, [1, 2, 3]))
    with shown(case, switches=switches):
        model = SurTree(**case.limits)
        rows = read_training_data(model, RowInputs(case.X, case.y, case.weight, case.entry))
        problem, limits = make_problem(encoder_of(model), rows), check_parameters(model)
        n_cuts = problem.binned.cut_column.size
        whole = problem.core.solve(limits, switches=switches)
        if n_cuts == 0:
            return
        owner = rng.integers(0, pick(rng, [1, 2, 3, 9]), n_cuts)
        divided = [owner == number for number in np.unique(owner)]
        found: dict[int, Solution] = {}
        for number in rng.permutation(len(divided)):
            before = list(found.values())
            knows = bool(before) and chance(rng, 0.7)
            found[int(number)] = problem.core.solve(
                limits,
                leads=divided[number],
                switches=switches,
                known_gains=np.max([one.gains for one in before], axis=0) if knows else None,
            )
        joined = join_parts(rows.sums, divided, found, "time_limit")
        require(joined.status == "optimal", joined.status)
        require(
            np.allclose(joined.gains, whole.gains, rtol=1e-13, atol=1e-13 * rows.sums.scale),
            f"gains {joined.gains}, not {whole.gains}",
        )
        for mine, theirs in zip(joined.topologies, whole.topologies, strict=True):
            require(np.array_equal(mine.cut, theirs.cut), f"cuts {mine.cut}, not {theirs.cut}")

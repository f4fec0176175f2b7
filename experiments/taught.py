"""Trees taught by the average over all trees, on draws that nothing was developed on.

The first rows (the averages, the trees tuned by cross-validation, Cox) were made on ten draws of
seed 2, and whole tables by the folds of the small cohorts. What came later was written down before
any of its rows was run:

- a bag of optimal trees, a forest and boosting (100 trees each, nothing tuned, the settings of the
  ensembles) on draws 0 and 1 of each real table and size; on whole tables they are among the
  ensembles, and
  so are the average, the taught tree and the score card, on the folds there;
- the taught tree with as many splits as the tuned one has, and the average that corrects a Cox
  model (``cox="offset"``), on the first two draws of each real and synthetic table and size, and on
  whole tables;
- the average of stages of depth three, and the tree that it teaches, on all synthetic tables: the
  bar is that this tree is ahead of that of stages of depth two in C and loss (p < .05), and not
  behind the tuned tree in any measure (p < .05);
- on whole tables, trees of others are those of `real-d3`, which have the same folds
  (`taught_whole`).

Measures are Harrell's C, the Brier score and the held-out loss; tests are two-sided Wilcoxon
signed-rank tests over tables, of means over the draws that both methods have. The bars: the taught
tree is ahead of every other tree on real small cohorts, at p < .01 in all three; it is behind no
other tree on whole tables (no test with p < .05 against it); the score card is less than .005
behind Cox in C, and the average after Cox behind Cox in nothing (p < .05). The average is ahead of
the bag in quality and time if no measure is behind on small cohorts or whole tables (p < .05) and
its median time is shorter.
"""

from __future__ import annotations

from dataclasses import replace

from experiments.experiment import Measures
from experiments.small_cohorts import DEPTH, CohortCase, measure_by
from experiments.small_cohorts import cases as cohort_cases
from experiments.taught_methods import DEEP, ENSEMBLES, LATER, METHODS, TREES

# The seed of the real tables' draws, and the first of the synthetic tables: nothing was chosen on
# them.
SEED, FIRST_SYNTHETIC = 2, 20
# How many draws of a table the later methods have, of which ensembles take long.
ENSEMBLE_DRAWS, LATER_DRAWS = 2, 2


def cases(quick: bool) -> list[CohortCase]:
    """Return all cases: small cohorts of other draws, and whole tables by folds."""
    shown = [
        replace(
            case,
            seed=case.seed if case.kind == "full" else SEED,
            draw=case.draw + (FIRST_SYNTHETIC if case.kind == "synthetic" else 0),
        )
        for case in cohort_cases(quick)
        if case.method == "surtree" and case.depth <= DEPTH
    ]
    return [
        replace(case, method=method)
        for case in shown
        for method in METHODS
        if _is_run(case, method)
    ]


def _is_run(case: CohortCase, method: str) -> bool:
    if case.kind == "full" and method in TREES:
        return method == "surtree"
    if method in DEEP:
        return case.kind == "synthetic"
    if method in ENSEMBLES:
        return case.kind == "real" and case.draw < ENSEMBLE_DRAWS
    number = case.draw - (FIRST_SYNTHETIC if case.kind == "synthetic" else 0)
    return method not in LATER or number < LATER_DRAWS


def measure(case: CohortCase) -> Measures:
    """Fit a method on the training rows, and score what it predicts of the test rows."""
    return measure_by(METHODS[case.method], case)

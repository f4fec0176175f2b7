"""All experiments, by name."""

from __future__ import annotations

from functools import partial

from experiments import real, real_page
from experiments.experiment import Experiment

EXPERIMENTS: dict[str, Experiment] = {
    f"real-d{depth}": Experiment(
        title=f"the paper's 15 real tables, every method tuned, depth up to {depth}",
        cases=partial(real.cases, depth),
        measure=real.measure,
        page=real_page.page,
    )
    for depth in (3, 4)
}

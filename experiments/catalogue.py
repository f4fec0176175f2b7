"""All experiments, by name."""

from __future__ import annotations

from functools import partial

from experiments import (
    ablation,
    category_cuts,
    category_speed,
    censoring_weights,
    effects,
    ensembles,
    ensembles_page,
    gaps,
    held_out,
    leaf_curves,
    leaf_curves_page,
    paper_size,
    preparation,
    real,
    real_page,
    runtime,
    scalability,
    second_program,
    small_cohorts,
    small_cohorts_again,
    small_cohorts_page,
    synthetic,
    taught,
    teacher,
    teacher_page,
    theta,
    threshold_curve,
    threshold_held_out,
    threshold_speed,
    thresholds,
    training_score,
    validation_truth,
    verdicts,
)
from experiments.experiment import Experiment

EXPERIMENTS: dict[str, Experiment] = {
    "tables": Experiment(
        title="the real tables beside the paper's description of them",
        cases=preparation.cases,
        measure=preparation.measure,
        page=preparation.page,
    ),
    **{
        f"real-d{depth}": Experiment(
            title=f"15 real tables, every method tuned, depth up to {depth}",
            cases=partial(real.cases, depth),
            measure=real.measure,
            pilot_of=real.pilot_of,
            page=real_page.page,
        )
        for depth in (3, 4)
    },
    "paper-size": Experiment(
        title="SurTree at the sizes that the authors' tuning chose",
        cases=paper_size.cases,
        measure=paper_size.measure,
        page=paper_size.page,
    ),
    "runtime": Experiment(
        title="run time on the real tables, tuning included",
        page=runtime.page,
        rows_of=("real-d3", "real-d4"),
    ),
    "second-program": Experiment(
        title="the second program on the real tables: the optimum confirmed",
        cases=second_program.cases,
        measure=second_program.measure,
        page=second_program.page,
    ),
    "gaps": Experiment(
        title="how far heuristics are from the optimum on the real tables",
        cases=gaps.cases,
        measure=gaps.measure,
        page=gaps.page,
    ),
    "synthetic": Experiment(
        title="scores on synthetic data against rows and censoring",
        cases=synthetic.cases,
        measure=synthetic.measure,
        page=synthetic.page,
    ),
    "small-cohorts": Experiment(
        title="a few hundred rows: with and without shrinkage, and other methods",
        cases=small_cohorts.cases,
        measure=small_cohorts.measure,
        page=small_cohorts_page.page,
    ),
    "small-cohorts-again": Experiment(
        title="shrinkage on other draws of small cohorts, which nothing was chosen on",
        cases=small_cohorts.cases_again,
        measure=small_cohorts.measure,
        page=small_cohorts_again.page,
    ),
    "validation": Experiment(
        title="whether corrected scores are right and intervals cover, where the truth is known",
        cases=validation_truth.cases,
        measure=validation_truth.measure,
        page=validation_truth.page,
    ),
    "held-out": Experiment(
        title="whether held-out scores are right, corrected for the choice of size",
        cases=held_out.cases,
        measure=held_out.measure,
        page=held_out.page,
    ),
    "censoring-weights": Experiment(
        title="scores weighed against censoring and late entry, beside those of everybody",
        cases=censoring_weights.cases,
        measure=censoring_weights.measure,
        page=censoring_weights.page,
    ),
    "verdicts": Experiment(
        title="how often noise alone is said to predict new data",
        cases=verdicts.cases,
        measure=verdicts.measure,
        page=verdicts.page,
    ),
    "leaf-curves": Experiment(
        title="hazard ratios, bands and curves of leaves and arms",
        cases=leaf_curves.cases,
        measure=leaf_curves.measure,
        page=leaf_curves_page.page,
    ),
    "effects": Experiment(
        title="treatment effects in simulated trials: subgroups that are there, and that are not",
        cases=effects.cases,
        measure=effects.measure,
        page=effects.page,
    ),
    "ensembles": Experiment(
        title="many trees beside one: the bag, and ensembles of others",
        cases=ensembles.cases,
        measure=ensembles.measure,
        page=ensembles_page.page,
    ),
    "taught": Experiment(
        title="trees that are taught by the average over all trees, and that average itself",
        cases=taught.cases,
        measure=taught.measure,
        page=taught.page,
    ),
    "teacher": Experiment(
        title="trees that are taught by a bag, at equal size",
        cases=teacher.cases,
        measure=teacher.measure,
        page=teacher_page.page,
    ),
    "training-score": Experiment(
        title="how far heuristics are from the optimum on synthetic data",
        cases=training_score.cases,
        measure=training_score.measure,
        page=training_score.page,
    ),
    "scalability": Experiment(
        title="run time of one fit against the depth, every method",
        cases=scalability.cases,
        measure=scalability.measure,
        pilot_of=scalability.pilot_of,
        page=scalability.page,
    ),
    "ablation": Experiment(
        title="what the depth-two algorithm and other ideas are worth",
        cases=ablation.cases,
        measure=ablation.measure,
        pilot_of=ablation.pilot_of,
        page=ablation.page,
    ),
    "theta": Experiment(
        title="how theta bends a survival curve",
        cases=theta.cases,
        measure=theta.measure,
        page=theta.page,
    ),
    "thresholds": Experiment(
        title="every threshold on the real tables, beside ten quantiles and the heuristics",
        cases=thresholds.cases,
        measure=thresholds.measure,
        page=thresholds.page,
    ),
    "thresholds-speed": Experiment(
        title="how long every threshold takes on synthetic tables",
        cases=threshold_speed.cases,
        measure=threshold_speed.measure,
        page=threshold_speed.page,
    ),
    "thresholds-held-out": Experiment(
        title="whether every threshold helps out of sample, sizes tuned",
        cases=threshold_held_out.cases,
        measure=threshold_held_out.measure,
        page=threshold_held_out.page,
    ),
    "thresholds-curve": Experiment(
        title="training and held-out loss against the number of thresholds",
        cases=threshold_curve.cases,
        measure=threshold_curve.measure,
        page=threshold_curve.page,
    ),
    "category-cuts": Experiment(
        title="one category against the rest, or any set, in and out of sample",
        cases=category_cuts.cases,
        measure=category_cuts.measure,
        page=category_cuts.page,
    ),
    "category-speed": Experiment(
        title="how long sets of categories take, by their number",
        cases=category_speed.cases,
        measure=category_speed.measure,
        page=category_speed.page,
    ),
}

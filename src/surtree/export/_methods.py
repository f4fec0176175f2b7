"""How a tree was found, as sentences for the methods of a paper: only what the model knows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from surtree._support.package import VERSION
from surtree._support.status import VOID, WORDS
from surtree.export._methods_data import (
    concordance_name,
    data,
    definitions,
    questions,
    references,
    with_unit,
)
from surtree.outcomes.risk_groups import RiskGroups
from surtree.summary.certificate import WEAK, free_text, percent
from surtree.summary.findings import Certificate, Findings, read_findings
from surtree.summary.labels import read_labels
from surtree.summary.wording import reversals_sentence
from surtree.tree.resolve import chosen_model, time_unit_of
from surtree.tree.tree import Tree
from surtree.validation import Measure, Validation
from surtree.validation.held_out import CORRECTED, HeldOutScores
from surtree.validation.sizes import SizeScores, Tuning
from surtree.words.numbers import figure, limits_text, missing_figures, plural
from surtree.words.quoting import printable

_TO_ADD = (
    "[Not known to the model, to be added: where the rows come from and how they were selected, "
    "what the event and time zero are, and why rows were censored.]"
)
_HEURISTICS = {
    "GreedyTree": "chooses questions one at a time, each the best at its node",
    "ConditionalInferenceTree": "chooses questions one at a time, by permutation tests",
    "LocalSearchTree": "improves random trees, one node at a time",
}
_RULES = {
    "best": "with the best mean score",
    "1se": "the smallest whose mean score is within one standard error of the best",
}
_VALIDATED = {
    "632+": (
        "bootstrap sample",
        "(.632+ rule; .632 for the Brier score and mean calibration; Efron and Tibshirani, 1997)",
    ),
    "optimism": ("bootstrap sample", "(optimism subtracted; Harrell and others, 1996)"),
    "folds": ("repetition", "of cross-validation"),
    "groups": ("division", "into groups, each predicted by the model of the others"),
}


def export_methods(
    model: Any, *, time_unit: str | None = None, labels: Mapping[str, str] | None = None
) -> str:
    """Return how a tree was found and what is proven about it, as a paragraph for a paper.

    It says on which rows the tree was fitted, which questions it could ask, what was minimised and
    within which limits, how its size was chosen, what is proven, and how it was validated. It says
    only what the model holds, and names what it does not know.

    Parameters
    ----------
    model : fitted estimator or Tree
        A model of this package; of a tree alone, nothing is known but its rows and leaves.
    time_unit : str, optional
        What time is counted in, for example "days"; by default the ``time_unit_`` of the model.
    labels : mapping of str to str, optional
        What columns are called.

    Returns
    -------
    str
        A paragraph, then what is left to the authors, then references, with an empty line between.

    Examples
    --------
    >>> from surtree import SurTree
    >>> from surtree.datasets import load_gbsg2
    >>> from surtree.export import export_methods
    >>> model = SurTree(max_depth=2).fit(*load_gbsg2())
    >>> text = export_methods(model, time_unit="days")
    >>> text[: text.index(";")]
    'A survival tree was fitted to 686 rows with 299 events (56% of the rows were censored)'
    """
    topics = methods_by_topic(model, time_unit, labels)
    findings = read_findings(model)
    paragraph = " ".join(filter(None, topics.values()))
    return "\n\n".join([paragraph, _TO_ADD, *references(findings)]) + "\n"


def methods_by_topic(
    model: Any, time_unit: str | None = None, labels: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the sentences by what they are about, in the order of the paragraph."""
    chosen_model(model)
    if time_unit is None:
        time_unit = time_unit_of(model)
    findings = replace(read_findings(model), time_unit=time_unit)
    names = read_labels(labels, None)
    about_columns = list(questions(findings, names))
    topics: dict[str, Iterable[str]] = {
        "data": [data(findings)],
        "questions": about_columns[:1],
        "missing": about_columns[1:],
        "objective": [*_objective(findings), *_teacher(findings)],
        "tuning": _tuning(findings, model),
        "proof": _proof(findings.certificate),
        "result": [
            _result(findings.tree),
            *([] if findings.recalibration is None else [f"It was {findings.recalibration}."]),
            *_risk_groups(findings.risk_groups),
            *filter(None, [reversals_sentence(findings.tree, names)]),
        ],
        "validation": _validation(findings),
        "measures": definitions(findings),
        "software": [_software(findings)],
    }
    return {topic: " ".join(map(printable, sentences)) for topic, sentences in topics.items()}


def _objective(findings: Findings) -> Iterator[str]:
    tree, certificate = findings.tree, findings.certificate
    exact = certificate is not None and certificate.status not in (None, "kept")
    loss = "the tree minimises" if exact else "the loss of the tree is"
    yield findings.outcome.objective_text(loss)
    shrinkage = float(tree.objective.shrinkage)
    if shrinkage > 0:
        yield (
            f"Shrinkage: a prior worth {shrinkage:g} events draws the risk of each leaf towards "
            "the average, and its cost is part of the loss."
        )


def _teacher(findings: Findings) -> Iterator[str]:
    teaching = findings.teaching
    if teaching is None:
        return
    yield (
        f"The teacher was {teaching.teacher}; the tree explains {findings.explained[-1]:.1%} of "
        "the deviance between it and one risk for all rows."
    )
    if teaching.training_loss is not None and teaching.plain_loss is not None:
        yield (
            "The negative log-likelihood on the events of the same rows (in sample) is "
            f"{teaching.training_loss:.6g}; the smallest of any tree with as many splits is "
            f"{teaching.plain_loss:.6g}."
        )


def _tuning(findings: Findings, model: Any) -> Iterator[str]:
    certificate = findings.certificate
    if hasattr(model, "named_steps"):  # of a pipeline, the last step may be a search
        model = model[-1]
    if findings.scores is not None:
        yield _tuned(findings.scores, findings.tuning)
    elif certificate is None or certificate.status is None:
        return
    elif findings.fitted_with is None or certificate.status in (*VOID, "kept"):
        yield "Whether size and shrinkage were tuned is not recorded."
    elif hasattr(model, "best_estimator_"):
        yield f"Parameters were chosen by {type(model).__name__}."
    else:
        size = (
            "The size was a parameter"
            if findings.teaching
            else "Size and shrinkage were parameters"
        )
        yield f"{size} of the fit; surtree did not tune {'it' if findings.teaching else 'them'}."


def _tuned(sizes: SizeScores, tuning: Tuning | None) -> str:
    n_folds = sizes.held_out.shape[1]
    chosen, tried = "The number of splits and the depth were", ""
    if tuning is None:
        tried = "; which values of shrinkage were tried is not recorded"
    elif len(tuning.shrinkages) > 1:
        values = ", ".join(f"{value:g}" for value in tuning.shrinkages)
        chosen = "The number of splits, the depth and the shrinkage were"
        tried = f", shrinkage of {values} events"
    folds = plural(n_folds, "fold")
    if tuning is not None and tuning.stratified:
        folds += ", stratified by events, drawn with the seed 0"
    score = "log-likelihood" if sizes.scoring == "loss" else sizes.scoring
    return (
        f"{chosen} chosen by cross-validation ({folds}; trees of up to depth "
        f"{sizes.max_depth.max()} and {plural(int(sizes.max_splits.max()), 'split')}{tried}): the "
        f"size {_RULES[sizes.rule]}, the {score} of held-out rows."
    )


def _proof(certificate: Certificate | None) -> Iterator[str]:
    if certificate is None:
        yield "How the tree was found is not recorded."
        return
    if certificate.status is None or certificate.gap is None:
        how = _HEURISTICS.get(certificate.method, "is a heuristic")
        yield f"{certificate.method} {how}: nothing is proven about the tree."
        return
    if certificate.status in VOID:
        yield f"Nothing is proven about the tree: {WORDS[certificate.status].clause}."
        return
    if certificate.kept is not None:
        yield f"The tree was chosen by hand: {certificate.kept} (on the rows of the fit)."
        return
    limits = ", ".join(certificate.limits)
    if certificate.status == "optimal":
        yield (
            f"The search was exact (dynamic programming): among all trees of these questions with "
            f"{limits}, none {certificate.is_best} on these rows."
        )
    else:
        how = "exact but for rounding" if certificate.status == "rounded" else "not completed"
        yield (
            f"The search for the best tree with {limits} was {how}: "
            f"{WORDS[certificate.status].clause}. {_bound(certificate.gap)}"
        )
    if certificate.free_loss is not None:
        yield free_text(certificate).strip()
    if certificate.fold_status != "optimal":
        end = WORDS[certificate.fold_status].clause
        yield f"In cross-validation, {end} at least once."
    yield "This is about the rows of the fit, not about new ones."


def _bound(gap: float) -> str:
    if not gap < WEAK:
        return "No useful bound of the smallest loss was found."
    return f"No such tree has a loss that is smaller by more than {percent(gap)}."


def _result(tree: Tree) -> str:
    curves = {
        "baseline": "those that its relative risk predicts",
        "kaplan-meier": "product-limit estimates of its rows",
        "shrunk": "product-limit estimates of its rows, shrunk towards all rows",
        "breslow": "those of a Cox model with a factor for the leaf, with Breslow's baseline",
    }[tree.leaf_curve]
    return (
        f"The tree has {plural(tree.n_leaves, 'leaf')} and depth {tree.depth}; the curves of a "
        f"leaf are {curves}. Confidence intervals of leaves take the leaves as given; these were "
        "found on the same rows, so the intervals are too narrow."
    )


def _risk_groups(groups: RiskGroups | None) -> Iterator[str]:
    if groups is None:
        return
    yield (
        f"Its leaves were merged into {plural(len(groups), 'risk group')} by a dynamic programme "
        "that finds the division of the leaves with the largest likelihood."
    )
    if groups.n_folds:
        ratios = "; ".join(
            f"{group.name} {group.ratio_text}, {own.ratio_text} on the rows of the fit"
            for number, (group, own) in enumerate(zip(groups.held_out, groups.groups, strict=True))
            if number != groups.reference
        )
        yield (
            f"Curves and hazard ratios of groups were corrected by {groups.n_folds}-fold "
            f"cross-validation of tree and groups (over {groups.names[groups.reference]}: "
            f"{ratios})."
        )
    else:
        yield "Their curves were not corrected for being found on the same rows."


def _validation(findings: Findings) -> Iterator[str]:
    if findings.outcome.judged_by == "effects":
        yield from _heterogeneity(findings)
    if findings.validation is not None:
        yield _validated(findings.validation, findings.time_unit)
    elif findings.outcome.judged_by == "effects":
        return
    elif findings.held_out is not None:
        yield _held_out(findings)
    elif findings.certificate is None:
        yield "Whether the tree was validated is not recorded."
    else:
        yield "How well the tree predicts new data was not assessed."


def _validated(result: Validation, time_unit: str | None) -> str:
    measures = "; ".join(
        f"{with_unit(one.words, time_unit)} {one.value:.3f} ({_interval(one, result.level)}"
        f"{figure(one.apparent)} on the rows of the fit)"
        for one in result.measures
        if np.isfinite(one.value)
    )
    noun, rest = _VALIDATED[result.method]
    seed = "" if result.random_state is None else f", drawn with the seed {result.random_state}"
    text = (
        f"Internal validation by {plural(result.n_repetitions, noun)} {rest}{seed}, in which "
        f"everything that builds the model was repeated: {measures}."
    )
    absent = (one for one in result.measures if not np.isfinite(one.value))
    text += "".join(
        f" {text}." for text in missing_figures((one.words, one.reason, False) for one in absent)
    )
    if result.n_failed:
        text += f" {plural(result.n_failed, 'sample')} had no model."
    if result.stopped_early:
        text += f" It was stopped early: {result.n_asked} repetitions were planned."
    return text


def _interval(measure: Measure, level: float) -> str:
    limits = limits_text(measure.lower, measure.upper)
    return "" if limits == "-" else f"{100 * level:g}% interval {limits}; "


def _held_out(findings: Findings) -> str:
    scores = findings.held_out
    assert scores is not None
    parts = [
        f"{words}{f' of {cause}' if cause else ''} {one.mean(name):.3f}{_standard_error(one, name)}"
        for cause, one in scores.by_cause(findings.cause_names)
        for name, words in (
            ("concordance", concordance_name(findings)),
            ("brier", "reduction of the Brier score"),
        )
        if np.isfinite(one.mean(name))
    ]
    parts.append(
        f"loss per row {scores.mean('loss'):.4f}, {scores.mean('loss_without_tree'):.4f} without a "
        "tree"
    )
    correction = (
        f"These are {CORRECTED}: the size and shrinkage of each fold's tree were chosen by the "
        "scores of the other folds less half of its own, as trees of the others were fitted on its "
        "rows. Standard errors count that folds share training rows (Nadeau and Bengio)."
        if scores.corrected
        else f"These are not {CORRECTED}, so they are too good."
    )
    return (
        f"On the held-out rows of these {plural(scores.n_folds, 'fold')}: {'; '.join(parts)}. "
        f"{correction}" + "".join(f" {text}." for text in scores.missing)
    )


def _standard_error(scores: HeldOutScores, name: str) -> str:
    error = scores.standard_error(name)
    return f" (standard error {error:.3f})" if np.isfinite(error) else ""


def _heterogeneity(findings: Findings) -> Iterator[str]:
    test, correction = findings.heterogeneity, findings.correction
    if test is None:
        yield "The model holds no test of whether effects differ between rows."
        return
    verdict = "evidence" if test.is_evidence else "no evidence"
    yield (
        f"A Monte Carlo test ({test.drawn.size} trials drawn from a Cox model with the arms as "
        f"strata and one prognosis, p = {test.p_value:.3g}) found {verdict} that the effect "
        f"differs between rows. {test.overall_text}"
    )
    if correction is not None and np.isfinite(correction.slope):
        yield (
            f"By ten-fold cross-validation, repeated {plural(correction.n_repeats, 'time')}, "
            f"{correction.slope:.0%} of the differences between leaves are to be expected in new "
            "data."
        )


def _software(findings: Findings) -> str:
    given = ", ".join(f"{name}={value}" for name, value in findings.parameters)
    method = "" if findings.certificate is None else findings.certificate.method
    text = f"Parameters of {method}: {given}. " if given else ""
    if findings.fitted_with is None:
        return f"{text}Written by surtree {VERSION}; which version fitted the model is not known."
    return f"{text}Fitted with surtree {findings.fitted_with}."

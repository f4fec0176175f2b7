"""How a tree was found, as sentences for the methods of a paper: only what the model knows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from surtree._quoting import printable
from surtree._version import VERSION
from surtree._words import figure, limits_text, plural
from surtree.display.cause_leaves import cause_names
from surtree.display.labels import Labels, read_labels
from surtree.display.leaves import read_leaves
from surtree.display.wording import number
from surtree.report._certificate import WEAK, percent
from surtree.report._findings import Certificate, Findings, read_findings
from surtree.report._time import last_time
from surtree.scores.sizes import SizeScores
from surtree.scores.tuning import Tuning
from surtree.scores.validation import Measure, Validation
from surtree.status import WORDS
from surtree.survival.treatment import ArmContrasts
from surtree.tree.causes import cause_events, causes_of, has_causes
from surtree.tree.resolve import fitted, time_unit_of
from surtree.tree.tree import Tree

_PAPER = (
    "Huisman T, van der Linden JGM, Demirović E. Optimal Survival Trees: A Dynamic Programming "
    "Approach. Proceedings of the AAAI Conference on Artificial Intelligence 38, 2024. "
    "arXiv:2401.04489."
)
_LIKELIHOOD = (
    "LeBlanc M, Crowley J. Relative risk trees for censored survival data. Biometrics 48, 1992."
)
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
    "632+": ("bootstrap sample", "(.632+ rule)"),
    "optimism": ("bootstrap sample", "(optimism subtracted)"),
    "folds": ("repetition", "of cross-validation"),
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
    fitted(model)
    if time_unit is None:
        time_unit = time_unit_of(model)
    findings = read_findings(model)
    names = read_labels(labels, None)
    sentences = [
        _data(findings, time_unit),
        *_questions(findings, names),
        *_objective(findings),
        *_tuning(findings, model),
        *_proof(findings.certificate),
        _result(findings.tree),
        *_validation(findings),
        _software(findings),
    ]
    paragraph = " ".join(map(printable, sentences))
    return "\n\n".join([paragraph, _TO_ADD, *_references(findings)]) + "\n"


def _data(findings: Findings, time_unit: str | None) -> str:
    tree = findings.tree
    rows, events = int(tree.n_samples[0]), int(tree.n_events[0])
    said = f"A survival tree was fitted to {plural(rows, 'row')}"
    if tree.n_persons is not None:
        said += f" of {plural(int(tree.n_persons[0]), 'person')}"
    said += f" with {plural(events, 'event')}"
    if tree.n_persons is None:
        said += f" ({1 - events / rows:.0%} of the rows were censored)"
    if has_causes(tree):
        names = cause_names(tree, findings.cause_names)
        counts = (f"{cause_events(tree, cause)[0]:g} of {names[cause]}" for cause in names)
        said += f", {' and '.join(counts)}"
    if tree.arms is not None:
        arms = zip(tree.arms.names, tree.arms.n_samples[0], tree.arms.n_events[0], strict=True)
        counted = [
            f"arm {label}: {plural(int(n), 'row')}, {plural(int(e), 'event')}"
            for label, n, e in arms
        ]
        said += f"; {', '.join(counted)}; the reference is {tree.arms.names[0]}"
    unit = f" {time_unit}" if time_unit else ""
    end = last_time(tree, read_leaves(tree))
    event = number(float(tree.baseline.times[-1]), 6) + unit
    said += f"; the last event was at {event}"
    if np.isfinite(end):
        said += f", and follow-up ended at {number(end, 6)}{unit}"
    said += "."
    if tree.weighted:
        said += (
            f" Rows were weighted (total weight {number(float(tree.weight[0]), 6)}); weights count "
            "as repeated rows."
        )
    if tree.enters_late:
        said += " Rows that came under observation late are at risk from then on."
    return said


def _questions(findings: Findings, labels: Labels) -> Iterator[str]:
    certificate = findings.certificate
    if findings.columns:
        said = f"The tree could ask about {plural(len(findings.columns), 'column')}"
        if certificate is not None and certificate.questions:
            said += f"; candidate questions: {certificate.questions}"
        yield f"{said}."
        missing = [
            labels.name(column.name)
            for column in findings.columns
            if any(cut.missing is not None for cut in column.cuts)
        ]
        if missing:
            noun = "column" if len(missing) == 1 else "columns"
            yield (
                f"Values were missing in the {noun} {', '.join(missing)}; none was imputed, each "
                "question sends missing values to the side with the smaller loss."
            )
        else:
            yield "No value was missing in a column that questions ask about."


def _objective(findings: Findings) -> Iterator[str]:
    tree, certificate = findings.tree, findings.certificate
    exact = certificate is not None and certificate.status is not None
    loss = "the tree minimises" if exact else "the loss of the tree is"
    if isinstance(tree.objective, ArmContrasts):
        yield (
            "Each leaf has a hazard for each arm; the gain of the tree is what these add to the "
            "log-likelihood over one hazard for all arms of a leaf."
        )
    elif tree.arms is not None:
        yield (
            "Each leaf has a hazard for each arm, proportional to the Nelson-Aalen estimate; "
            f"{loss} the negative log-likelihood."
        )
    elif has_causes(tree):
        names = cause_names(tree, findings.cause_names).values()
        weights = zip(names, causes_of(tree).weights, strict=True)
        told = ", ".join(name for name, weight in weights if weight > 0)
        yield (
            "Each leaf has a hazard for each cause, a multiple of that of all rows (Nelson-Aalen "
            f"estimate); {loss} the negative log-likelihood with that hazard of all rows held "
            f"fixed, summed over {told}."
        )
    else:
        yield (
            "Each leaf has a multiple of the hazard of all rows (Nelson-Aalen estimate); "
            f"{loss} the negative log-likelihood with that hazard of all rows held fixed (LeBlanc "
            "and Crowley, 1992)."
        )
    shrinkage = float(tree.objective.shrinkage)
    if shrinkage > 0:
        yield (
            f"Shrinkage: a prior worth {shrinkage:g} events draws the risk of each leaf towards "
            "the average, and its cost is part of the loss."
        )


def _tuning(findings: Findings, model: Any) -> Iterator[str]:
    certificate = findings.certificate
    if hasattr(model, "named_steps"):  # of a pipeline, the last step may be a search
        model = model[-1]
    if findings.scores is not None:
        yield _tuned(findings.scores, findings.tuning)
    elif certificate is None or certificate.status is None:
        return
    elif findings.fitted_with is None or certificate.status == "edited":
        yield "Whether size and shrinkage were tuned is not recorded."
    elif hasattr(model, "best_estimator_"):
        yield f"Parameters were chosen by {type(model).__name__}."
    else:
        yield "Size and shrinkage were parameters of the fit; surtree did not tune them."


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
        folds += ", stratified by events"
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
    if certificate.status == "edited":
        yield f"Nothing is proven about the tree: {WORDS['edited'].clause}."
        return
    limits = ", ".join(certificate.limits)
    if certificate.status == "optimal":
        yield (
            f"The search was exact (dynamic programming): among all trees of these questions with "
            f"{limits}, none has a smaller loss on these rows."
        )
    else:
        how = "exact but for rounding" if certificate.status == "rounded" else "not completed"
        yield (
            f"The search for the best tree with {limits} was {how}: "
            f"{WORDS[certificate.status].clause}. {_bound(certificate.gap)}"
        )
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
    }[tree.leaf_curve]
    return (
        f"The tree has {plural(tree.n_leaves, 'leaf')} and depth {tree.depth}; the curves of a "
        f"leaf are {curves}. Confidence intervals of leaves take the leaves as given; these were "
        "found on the same rows, so the intervals are too narrow."
    )


def _validation(findings: Findings) -> Iterator[str]:
    if findings.tree.arms is not None:
        yield from _heterogeneity(findings)
        return
    if findings.validation is not None:
        yield _validated(findings.validation)
    elif findings.held_out is not None:
        yield _held_out(findings)
    elif findings.certificate is None:
        yield "Whether the tree was validated is not recorded."
    else:
        yield "How well the tree predicts new rows was not assessed."


def _validated(found: Validation) -> str:
    measures = "; ".join(
        f"{one.words} {one.corrected:.3f} ({_interval(one, found.level)}"
        f"{figure(one.apparent)} on the rows of the fit)"
        for one in found.measures
        if np.isfinite(one.corrected)
    )
    noun, rest = _VALIDATED[found.method]
    said = (
        f"Internal validation by {plural(found.n_repetitions, noun)} {rest}, in which everything "
        f"that builds the model was repeated: {measures}."
    )
    if found.n_failed:
        said += f" {plural(found.n_failed, 'sample')} had no model."
    if found.stopped_early:
        said += f" It was stopped early: {found.n_asked} repetitions were planned."
    return said


def _interval(measure: Measure, level: float) -> str:
    limits = limits_text(measure.lower, measure.upper)
    return "" if limits == "-" else f"{100 * level:g}% interval {limits}; "


def _held_out(findings: Findings) -> str:
    scores, tree = findings.held_out, findings.tree
    assert scores is not None
    of = ""
    if has_causes(tree):
        of = f" of {cause_names(tree, findings.cause_names)[causes_of(tree).main_cause]}"
    parts = [
        f"{words}{of} {scores.mean(name):.3f} (standard error {scores.standard_error(name):.3f})"
        for name, words in (("concordance", "Harrell's C"), ("brier", "Brier score saved"))
        if np.isfinite(scores.mean(name))
    ]
    parts.append(
        f"loss per row {scores.mean('loss'):.4f}, {scores.mean('loss_without_tree'):.4f} without a "
        "tree"
    )
    return (
        f"On the held-out rows of these {plural(scores.n_folds, 'fold')}: {'; '.join(parts)}. The "
        "size was chosen on the same folds, so this is slightly optimistic."
    )


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
    said = f"Parameters of {method}: {given}. " if given else ""
    if findings.fitted_with is None:
        return f"{said}Written by surtree {VERSION}; which version fitted the model is not known."
    return f"{said}Fitted with surtree {findings.fitted_with}."


def _references(findings: Findings) -> Iterator[str]:
    tree = findings.tree
    if tree.arms is None and not has_causes(tree):
        yield _LIKELIHOOD
    if findings.certificate is not None and findings.certificate.status is not None:
        yield _PAPER

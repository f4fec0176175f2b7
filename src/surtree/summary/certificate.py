"""The certificate in words: what is proven about a tree, and what is not."""

from __future__ import annotations

from dataclasses import dataclass, replace

from surtree._support.status import VOID, WORDS, Status
from surtree.summary.findings import Audited, Certificate
from surtree.survival.objective import Objective
from surtree.tree.provenance import Kept

# A bound with a larger gap says next to nothing.
WEAK = 0.5


# A share of what a tree explains is a quotient of losses: it is rounded by more than they are.
ROUNDING = 1e-8


@dataclass(frozen=True)
class Verdict:
    """What is proven about a tree, in words."""

    proven: bool  # whether it is proven to be optimal
    answer: str  # whether a better tree is possible
    heading: str  # what is proven, in a few words and in a few sentences
    text: str


def verdict(certificate: Certificate | None) -> Verdict:
    """Return what is proven about a tree."""
    if certificate is None:
        return Verdict(
            False,
            "Not known.",
            "A tree without its certificate",
            "This page was made from a tree alone. Make it from the model to see what was proven.",
        )
    if certificate.status is None or certificate.gap is None:
        return Verdict(
            False,
            "Not known.",
            "Found by a heuristic",
            f"{certificate.method} does not prove how good its trees are. surtree.audit_tree tells "
            "how far this one is from the best.",
        )
    if certificate.status in VOID:
        words = WORDS[certificate.status]
        return Verdict(
            False,
            "Not known.",
            f"{words.title.capitalize()}: certificate void",
            f"Nothing is known of how good this tree is: {words.clause}. What a search has proven "
            "was about another tree, or about other predictions.",
        )
    if certificate.kept is not None:
        return _of_choice(certificate, certificate.kept, certificate.gap)
    proof = _of_search(certificate, certificate.status, certificate.gap)
    if certificate.confirmed_on:
        confirmed = f"All of this was confirmed by a second program on {certificate.confirmed_on}."
        proof = replace(proof, text=f"{proof.text} {confirmed}")
    if certificate.fold_status == "optimal":
        return proof
    end = WORDS[certificate.fold_status].clause
    return replace(proof, text=f"{proof.text} In cross-validation, {end} at least once.")


def _of_choice(certificate: Certificate, kept: Kept, gap: float) -> Verdict:
    best = "No." if kept.best_is_proven else "Perhaps."
    text = str(kept)
    limits = ", ".join(certificate.limits)
    return Verdict(
        False,
        "Yes." if kept.missed else best,
        f"Kept by choice: {text}",
        f"This tree was chosen by hand. No tree with {limits} has a {certificate.loss_name} below "
        f"the bound, which is {percent(gap)} less. Questions to choose from: "
        f"{certificate.questions}.",
    )


def _of_search(certificate: Certificate, status: Status, gap: float) -> Verdict:
    limits = ", ".join(certificate.limits)
    choice = f"Questions to choose from: {certificate.questions}."
    if certificate.shrinkage > 0:
        choice += (
            f" The loss includes what a shrinkage of {certificate.shrinkage:g} events costs, a "
            "prior in every leaf that draws its risk towards the average."
        )
    choice += free_text(certificate)
    if status == "optimal":
        return Verdict(
            True,
            "No.",
            f"Proven {certificate.proven}",
            f"Of all trees with {limits}, none {certificate.is_best} on these rows. {choice}",
        )
    end = WORDS[status].clause
    is_rounded = status == "rounded"
    if not certificate.any_split and not is_rounded:
        return Verdict(
            False,
            "Very likely.",
            "Stopped before any split was tried",
            f"This is no result: {end}, and a single group is where every search starts. Give it "
            f"more time, fewer columns or less depth. {choice}",
        )
    # The bound of a search that has just begun is zero.
    best = f"{'Best' if certificate.proven == Objective.proven else 'Nearest'} tree found"
    if gap < WEAK:
        heading = f"{best}; at most {percent(gap)} from the optimum"
    else:
        heading = f"{best}, with a weak bound{'' if is_rounded else ' so far'}"
    return Verdict(
        False,
        "Perhaps.",
        heading,
        f"Not proven {certificate.proven}: {end}. No tree with {limits} has a "
        f"{certificate.loss_name} below the bound: another tree could save at most {percent(gap)} "
        f"of it.{_shallow(certificate)} {choice}",
    )


def free_text(certificate: Certificate) -> str:
    """Return what the conditions of a model cost, as a sentence; empty where it has none."""
    free, leaf = certificate.free_loss, certificate.leaf_loss
    if free is None:
        return ""
    lost = certificate.loss - free
    share = f"{100 * lost / (leaf - free):.1f} %" if lost > ROUNDING * leaf else "nothing"
    return (
        f" Without these conditions the best tree has a {certificate.loss_name} of {free:.6g}: of "
        f"what it explains, {share} is lost."
    )


def _shallow(certificate: Certificate) -> str:
    """Return what is proven of trees that are less deep."""
    if not certificate.proven_depth:
        return ""
    return f" Of depth {certificate.proven_depth}, the best tree of every size is known."


def audit_verdict(audited: Audited) -> Verdict:
    """Return how far an audited tree is from the best tree of its size."""
    best = "the best tree of its size" if audited.proven else "the best tree found in time"
    comparison = f"{audited.comparison[0].upper()}{audited.comparison[1:]}."
    if audited.missed >= ROUNDING:
        heading = f"Misses {100 * audited.missed:.1f} % of what {best} explains"
        return Verdict(False, "Yes.", heading, comparison)
    answer = "No." if audited.proven else "Perhaps."
    return Verdict(audited.proven, answer, f"As good as {best}", comparison)


def percent(share: float) -> str:
    """Return a share in per cent; a positive share is never shown as zero."""
    if 0 < share < 0.0001:
        return "less than 0.01 %"
    return f"{100 * share:.2f} %"

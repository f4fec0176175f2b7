"""The certificate in words: what is proven about a tree, and what is not."""

from __future__ import annotations

from dataclasses import dataclass

from surtree.report._findings import Audited, Certificate
from surtree.status import WORDS

# A bound with a larger gap says next to nothing.
WEAK = 0.5


# A share below this is rounding.
ROUNDING = 1e-8


@dataclass(frozen=True)
class Verdict:
    """What is proven about a tree, in words.

    Parameters
    ----------
    proven : bool
        Whether it is proven to be optimal.
    heading, text : str
        In a few words, and in a few sentences.
    """

    proven: bool
    heading: str
    text: str


def verdict(certificate: Certificate | None) -> Verdict:
    """Return what is proven about a tree.

    Parameters
    ----------
    certificate : Certificate, optional
        What the search proved.
    """
    if certificate is None:
        return Verdict(
            False,
            "A tree without its certificate",
            "This page was made from a tree alone. Make it from the model to see what was proven.",
        )
    if certificate.status is None or certificate.gap is None:
        return Verdict(
            False,
            "Found by a heuristic",
            f"{certificate.method} does not prove how good its trees are. surtree.audit_tree tells "
            "how far this one is from the best.",
        )
    if certificate.status == "edited":
        return Verdict(
            False,
            "Edited: certificate void",
            f"Nothing is known of how good this tree is: {WORDS['edited'].clause}. What a search "
            "has proven may have been about another tree.",
        )
    limits = ", ".join(certificate.limits)
    choice = f"the {certificate.n_questions} questions found in the columns"
    if certificate.status == "optimal":
        found = Verdict(
            True,
            "Proven optimal",
            f"Of all trees with {limits}, over {choice}, none has a smaller loss.",
        )
    else:
        end = WORDS[certificate.status].clause
        # The bound of a search that has just begun is zero.
        distance = f"; at most {percent(certificate.gap)} from the optimum"
        found = Verdict(
            False,
            "Best tree found"
            + (distance if certificate.gap < WEAK else ", with a weak bound so far"),
            f"Not proven optimal: {end}. No tree with {limits}, over {choice}, has a loss below "
            f"the bound: another tree could save at most {percent(certificate.gap)} of the loss.",
        )
    if certificate.fold_status == "optimal":
        return found
    end = WORDS[certificate.fold_status].clause
    return Verdict(
        found.proven, found.heading, f"{found.text} In cross-validation, {end} at least once."
    )


def audit_verdict(audited: Audited) -> Verdict:
    """Return how far an audited tree is from the best tree of its size.

    Parameters
    ----------
    audited : Audited
        What the audit found.
    """
    best = "the best tree of its size" if audited.proven else "the best tree found in time"
    if audited.missed < ROUNDING:
        heading = f"As good as {best}"
    else:
        heading = f"Misses {100 * audited.missed:.1f} % of what {best} explains"
    comparison = audited.comparison[0].upper() + audited.comparison[1:]
    return Verdict(audited.proven and audited.missed < ROUNDING, heading, f"{comparison}.")


def percent(share: float) -> str:
    """Return a share in per cent; a positive share is never shown as zero."""
    if 0 < share < 0.0001:
        return "less than 0.01 %"
    return f"{100 * share:.2f} %"

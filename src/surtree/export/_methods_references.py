"""What the sentences of the methods cite."""

from __future__ import annotations

from collections.abc import Iterator

from surtree.export._methods_measures import cited
from surtree.outcomes.legacy import has_causes
from surtree.summary.findings import Findings

_PAPER = (
    "Huisman T, van der Linden JGM, Demirović E. Optimal Survival Trees: A Dynamic Programming "
    "Approach. Proceedings of the AAAI Conference on Artificial Intelligence 38, 2024. "
    "arXiv:2401.04489."
)
_LIKELIHOOD = (
    "LeBlanc M, Crowley J. Relative risk trees for censored survival data. Biometrics 48, 1992."
)


def references(findings: Findings) -> Iterator[str]:
    """Cite what the sentences refer to."""
    tree = findings.tree
    if tree.arms is None and not has_causes(tree):
        yield _LIKELIHOOD
    if findings.certificate is not None and findings.certificate.status is not None:
        yield _PAPER
    yield from cited(findings)

"""What the sentences of the methods cite."""

from __future__ import annotations

from collections.abc import Iterator

from surtree.export._methods_measures import cited
from surtree.summary.findings import Findings

_PAPER = (
    "Huisman T, van der Linden JGM, Demirović E. Optimal Survival Trees: A Dynamic Programming "
    "Approach. Proceedings of the AAAI Conference on Artificial Intelligence 38, 2024. "
    "arXiv:2401.04489."
)


def references(findings: Findings) -> Iterator[str]:
    """Cite what the sentences refer to."""
    if findings.outcome.reference:
        yield findings.outcome.reference
    if findings.certificate is not None and findings.certificate.status is not None:
        yield _PAPER
    yield from cited(findings)

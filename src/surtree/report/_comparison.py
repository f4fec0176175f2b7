"""Models on the same folds: what this one costs against others, and what it buys."""

from __future__ import annotations

from surtree.report._html import Markup, element, note, table
from surtree.validation import Comparison


def comparison_html(comparison: Comparison | None) -> Markup:
    """Return the scores of models on the same held-out rows, and their differences."""
    if comparison is None:
        return Markup()
    heading, rows = comparison.table()
    said = "; ".join(comparison.sentences())
    return element(
        "section",
        element("h3", "Against other models"),
        element(
            "p",
            f"On the held-out rows of {comparison.n_folds} folds, the same for all models: {said}."
            if said
            else f"On the held-out rows of {comparison.n_folds} folds, the same for all models.",
        ),
        table(heading, rows, "numbers", "Models on the same folds"),
        note(
            "C: Harrell\u2019s concordance. Brier reduction: of the integrated Brier score, "
            "against one curve for all. Of the loss, less is better. After \u00b1, one standard error of "
            "the differences, fold by fold. C in sample: of the model of all rows on these rows, "
            "so it is too good."
        ),
    )

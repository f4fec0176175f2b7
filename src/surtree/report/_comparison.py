"""Models on the same folds: what this one costs against others, and what it buys."""

from __future__ import annotations

from surtree.report._html import Markup, element, markup, note, small, table
from surtree.validation import Comparison
from surtree.validation.comparison import COMPARED, IN_SAMPLE


def comparison_html(comparison: Comparison | None) -> Markup:
    """Return the scores of models on the same held-out rows, and their differences."""
    if comparison is None:
        return Markup()
    rows = (
        (
            name,
            *(_cell(*comparison.texts(name, measure)) for measure in comparison.measures),
            comparison.in_sample_text(name),
        )
        for name in comparison.names
    )
    heading = ("model", *(COMPARED[measure] for measure in comparison.measures), IN_SAMPLE)
    said = "; ".join(comparison.sentences())
    return element(
        "section",
        element("h3", "Against other models"),
        element(
            "p",
            f"On the held-out rows of {comparison.n_folds} folds, the same for all models"
            f"{f': {said}' if said else ''}.",
        ),
        table(heading, rows, "numbers compared", "Models on the same folds"),
        note(
            f"Below each figure is the difference to {comparison.names[0]}, with one standard "
            "error, fold by fold. C: Harrell\u2019s. Brier reduction: of the integrated "
            "Brier score, against one curve for all. Of the loss, less is better. C in sample is "
            "that of the model of all rows on these rows: it is too good."
        ),
        class_="comparison",
    )


def _cell(figure: str, difference: str) -> Markup:
    return markup(figure, small(difference))

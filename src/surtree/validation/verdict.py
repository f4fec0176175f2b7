"""Whether a tree predicts new data better than no tree, in words: of the page and the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite

from scipy.special import ndtri

from surtree.validation._measures import Measure
from surtree.validation.held_out import (
    CAUSE_CONCORDANCE,
    CLEARLY,
    CORRECTED,
    HeldOutScores,
    cause_name,
)
from surtree.validation.results import Validation

# A measure of resampling is above chance where it is by so many standard errors: noise passes in
# none of 567 tables of single trees and 5 of 270 of other models (docs/results/validation.md).
RESAMPLED_CLEARLY = 2.5
# From these there is no verdict: with the first, noise would pass too often
# (docs/results/validation.md), and nobody has tried how often with the second.
_NO_VERDICT = {
    "optimism": "The optimism bootstrap corrects too little to tell: validate by the .632+ rule.",
    "groups": "Leaving out groups says how they differ: validate by the .632+ rule as well.",
}
# The names of the measures that decide, for readers.
MEASURE_NAMES = {
    "concordance": "concordance (Harrell's C)",
    "calibration_slope": "calibration slope",
}


@dataclass(frozen=True)
class PredictionVerdict:
    """A heading and its reason; ``is_good`` is whether the tree predicts better than none."""

    heading: str
    text: str = ""
    is_good: bool = False

    def __str__(self) -> str:
        return f"{self.heading}. {self.text}".strip()


def prediction_verdicts(
    validation: Validation | None,
    held_out: HeldOutScores | None,
    n_splits: int,
    names: Mapping[int, str] | None = None,
    noun: str = "tree",
) -> list[PredictionVerdict]:
    """Return how well a model predicts new data: with competing risks, for each cause."""
    if validation is not None and "c_for_benefit" in {one.kind for one in validation.measures}:
        return [
            PredictionVerdict(
                "Whether effects differ is not for resampling to say",
                "heterogeneity_test tests it, and correct_effects says what to expect in new data.",
            )
        ]
    if validation is not None:
        said = [(cause, _resampled(validation, cause)) for cause in _causes(validation)]
        return [_of_cause(cause_name(cause, names), _about(noun, one)) for cause, one in said]
    if held_out is None:
        return [PredictionVerdict("Not validated: nothing is known about new data")]
    if n_splits == 0:
        return [
            PredictionVerdict(
                "No tree was better than none",
                "Trees of every size were tried on held-out rows, and a single group did best: "
                "these columns do not tell who has the event sooner.",
            )
        ]
    return [_of_cause(name, _held_out(scores)) for name, scores in held_out.by_cause(names)]


def _causes(validation: Validation) -> list[int | None]:
    """Return the causes that are judged, ascending; one event is None."""
    return [*sorted(validation.causes)] or [None]


def _about(noun: str, verdict: PredictionVerdict) -> PredictionVerdict:
    return replace(verdict, heading=verdict.heading.replace("no tree", f"no {noun}"))


def _resampled(result: Validation, cause: int | None) -> PredictionVerdict:
    if result.method in _NO_VERDICT:
        return PredictionVerdict("Not known to be better than no tree", _NO_VERDICT[result.method])
    measure, chance = _decisive(result, cause)
    name = MEASURE_NAMES[measure.name] if cause is None else CAUSE_CONCORDANCE
    if not isfinite(measure.lower):
        why = measure.reason or "it was not estimated"
        return PredictionVerdict(
            "Not known to be better than no tree", f"Its {name} has no interval: {why}."
        )
    # The verdict must not depend on the level of the limits, which the user has chosen.
    error = (measure.value - measure.lower) / ndtri((1 + result.level) / 2)
    clear = f"by more than {RESAMPLED_CLEARLY:g} standard errors"
    if not measure.value - chance > RESAMPLED_CLEARLY * error:
        return PredictionVerdict(
            "Not clearly better than chance",
            f"Its {name} is not above {chance:g} {clear}. The groups may be chance.",
        )
    curves = "survival" if cause is None else "incidence"
    if result.of_cause("brier", cause).value <= 0:  # not where it is not known
        return PredictionVerdict(
            "Not better than no tree",
            f"Its {name} is above {chance:g} {clear}, but in new data its {curves} curves are no "
            "better than one curve for all.",
        )
    return PredictionVerdict(
        "Predicts new data better than no tree",
        f"Its {name} is above {chance:g} {clear}.",
        is_good=True,
    )


def _decisive(result: Validation, cause: int | None) -> tuple[Measure, float]:
    """Return what says whether models tell rows apart, and its value for those that do not."""
    concordance = result.of_cause("concordance", cause)
    if cause is not None or isfinite(concordance.value):
        return concordance, 0.5
    return result["calibration_slope"], 0.0  # of rows with entry times


def _of_cause(name: str, verdict: PredictionVerdict) -> PredictionVerdict:
    if not name:
        return verdict
    heading = verdict.heading
    return replace(verdict, heading=f"{name}: {heading[0].lower()}{heading[1:]}")


def _held_out(scores: HeldOutScores) -> PredictionVerdict:
    if not scores.corrected:
        return PredictionVerdict(
            "Not known to be better than no tree",
            f"Its scores are not {CORRECTED}, so noise alone can look good in them.",
        )
    if scores.beats_no_tree:
        return PredictionVerdict(
            "Predicts new data better than no tree",
            f"On held-out rows its loss, {CORRECTED}, is smaller than that of a single group by "
            f"more than {CLEARLY:g} standard errors.",
            is_good=True,
        )
    return PredictionVerdict(
        "Not clearly better than no tree",
        f"On held-out rows its loss, {CORRECTED}, is not smaller than that of a single group by "
        f"more than {CLEARLY:g} standard errors. The groups may be chance.",
    )

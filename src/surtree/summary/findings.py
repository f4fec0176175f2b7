"""The contents of a page as plain values: the page never sees an estimator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from surtree._support.status import Status
from surtree.cuts.categories import MOST_FOR_SUBSETS
from surtree.cuts.cut import Cut
from surtree.cuts.encoder import Encoder
from surtree.data.names import column_names
from surtree.estimators.tree import SurTree
from surtree.fitting.conditions import condition_texts
from surtree.model_selection.cv import SurTreeCV
from surtree.outcomes import Outcome, outcome_of
from surtree.outcomes.effect_results import EffectCorrection, HeterogeneityTest, effects_warning
from surtree.outcomes.risk_groups import RiskGroups
from surtree.questions.audit_result import Audit
from surtree.questions.columns import ColumnCosts
from surtree.questions.swaps import QuestionSwaps
from surtree.summary.labels import Labels
from surtree.survival.follow_up import FollowUp
from surtree.survival.objective import Objective
from surtree.tree.provenance import Kept, Recalibration, Teaching
from surtree.tree.resolve import cause_names_of, chosen_model, shown_model
from surtree.tree.tree import Tree
from surtree.validation import Comparison, Validation
from surtree.validation.held_out import HeldOutScores
from surtree.validation.sizes import SizeScores, Tuning
from surtree.words.numbers import plural

# Parameters that no result depends on, as far as the search was completed.
_OF_THE_MACHINE = frozenset({"n_jobs", "memory_limit", "progress", "verbose"})


@dataclass(frozen=True)
class Certificate:
    """How a tree was found, and what is proven about it."""

    method: str  # the name of the estimator
    loss: float  # the loss of the tree on its training rows
    # What a search proved and how it ended; None where there is no proof.
    lower_bound: float | None = None
    gap: float | None = None
    status: Status | None = None
    limits: tuple[str, ...] = ()  # within which limits the tree is the best
    questions: str = ""  # which questions there were to choose from, in words
    shrinkage: float = 0.0  # what the prior of a leaf is worth, in events; zero for none
    any_split: bool = True  # whether the search has come to a tree with a split, of any size
    # How the searches of a cross-validation ended; "optimal" without one.
    fold_status: Status = "optimal"
    proven_depth: int = 0  # the largest depth whose optimum is known
    kept: Kept | None = None  # what is known of a tree that was chosen by hand
    # The loss of the best tree without the conditions, where there are some, and of a single leaf.
    free_loss: float | None = None
    leaf_loss: float = 0.0
    confirmed_on: str = ""  # when a second program confirmed all of it; empty where none did
    # What no other tree does more, what the tree that does it is, and what the loss is called.
    is_best: str = Objective.is_best
    proven: str = Objective.proven
    loss_name: str = Objective.loss_name


@dataclass(frozen=True)
class Audited:
    """How far a tree is from the best of its size."""

    missed: float  # the share of what the optimum explains that the tree does not
    proven: bool  # whether the optimum is one, and not the best tree that was found in time
    comparison: str  # the optimum in words
    # The node of each question of the tree, and what it costs; the costliest first.
    costs: tuple[tuple[int, float], ...]
    optimum: Tree  # the best tree of the same size


@dataclass(frozen=True)
class SizeLoss:
    """The loss of the best tree with at most this number of splits, and its lower bound."""

    splits: int
    loss: float
    lower_bound: float


@dataclass(frozen=True)
class ColumnCuts:
    """A column of the user's table, its share in the tree, and where it could be cut."""

    name: str
    importance: float
    cuts: tuple[Cut, ...]


@dataclass(frozen=True)
class Findings:
    """All that a page shows."""

    tree: Tree  # the tree
    certificate: Certificate | None = None  # what is known of how good it is
    sizes: tuple[SizeLoss, ...] = ()  # the best tree of every size, where one search found them
    scores: SizeScores | None = None  # how well every size did on held-out rows
    # The columns of the table; empty where they are not known.
    columns: tuple[ColumnCuts, ...] = ()
    # How far the tree is from the best of its size, where it was audited.
    audited: Audited | None = None
    # How well it predicts rows that were not seen, where that is known.
    held_out: HeldOutScores | None = None
    validation: Validation | None = None  # what resampling says of it, where that was done
    # The hyperparameters of the fit that a result can depend on, and their values.
    parameters: tuple[tuple[str, str], ...] = ()
    labels: Labels = field(default_factory=Labels)  # what columns are called on the page
    column_costs: ColumnCosts | None = None
    explore: str = "swaps"  # how much of them a page has
    swaps: QuestionSwaps | None = None  # what the tree would be with one question swapped
    time_unit: str | None = None  # what time is counted in
    fitted_with: str | None = None  # which surtree fitted the model, where that is known
    # Of a tree of treatment effects: whether they differ, and how much in new data.
    heterogeneity: HeterogeneityTest | None = None
    correction: EffectCorrection | None = None
    # What was tried to choose the size and the shrinkage, where that is known.
    tuning: Tuning | None = None
    follow_up: FollowUp | None = None  # the quartiles of follow-up, where they are known
    cause_names: Mapping[int, str] | None = None  # what the causes of competing risks are called
    comparison: Comparison | None = None  # with other models on the same folds
    recalibration: Recalibration | None = None  # how hazards were adapted to other rows
    risk_groups: RiskGroups | None = None  # leaves merged into a few groups
    teaching: Teaching | None = None  # of a taught tree, what is known of its teacher

    @property
    def explained(self) -> tuple[float, ...]:
        """The share of the teacher's deviance that the tree of each size explains."""
        if self.teaching is None or not self.sizes:
            return ()
        without = self.sizes[0].loss
        return tuple(1.0 - size.loss / without if without > 0 else 1.0 for size in self.sizes)

    @cached_property
    def outcome(self) -> Outcome:
        """The kind of outcome, with the names of its causes."""
        return outcome_of(self.tree, self.cause_names)

    @property
    def doubt(self) -> str:
        """Why differences between leaves may be chance; empty where nothing says so."""
        if self.outcome.judged_by == "effects" and self.tree.n_leaves > 1:
            return effects_warning(self.heterogeneity)
        return ""

    @property
    def predicts_otherwise(self) -> bool:
        """Whether the curves of the tree are other ones than the Kaplan-Meier curves of leaves."""
        return self.tree.leaf_curve != "kaplan-meier"


def read_findings(model: Any) -> Findings:
    """Gather the contents of a page from a fitted estimator, an audit, or a tree alone."""
    if isinstance(model, Audit):
        return _of_audit(model)
    shown = chosen_model(model)
    if isinstance(shown, Tree):
        return Findings(shown)
    model = shown_model(model)
    if isinstance(model, SurTreeCV):
        findings = _of_search(shown, type(model).__name__)
        return replace(findings, parameters=parameters_of(model))
    if isinstance(shown, SurTree):
        return _of_search(shown, type(shown).__name__)
    certificate = Certificate(type(shown).__name__, shown.tree_.total_loss)
    return Findings(
        shown.tree_, certificate, columns=_columns(shown), parameters=parameters_of(shown)
    )


def _of_audit(audit: Audit) -> Findings:
    if audit.tree is None:
        raise ValueError(
            "This is an audit of leaf labels, which are no tree: report its optimum.tree instead."
        )
    optimum = audit.optimum
    return Findings(
        audit.tree,
        Certificate(audit.name, audit.loss),
        audited=Audited(
            missed=audit.missed,
            proven=optimum.lower_bound >= optimum.loss,
            comparison=audit.optimum_title(),
            costs=tuple((split.node, split.cost) for split in audit.split_costs),
            optimum=optimum.tree,
        ),
    )


def _of_search(model: SurTree, method: str) -> Findings:
    tuning = model.tuning_
    return Findings(
        tree=model.tree_,
        certificate=Certificate(
            method=method,
            loss=model.loss_,
            lower_bound=model.lower_bound_,
            gap=model.gap_,
            status=model.status_,
            limits=_limits(model),
            questions=_questions(model),
            shrinkage=float(model.shrinkage),
            any_split=any(size.tree.n_splits for size in model.path_),
            fold_status="optimal" if tuning is None else tuning.status,
            proven_depth=model.proven_depth_,
            kept=model.kept_,
            free_loss=model.free_loss_,
            leaf_loss=float(model.tree_.loss[0]),
            confirmed_on="" if model.receipt_ is None else model.receipt_.date,
            is_best=model.tree_.objective.is_best,
            proven=model.tree_.objective.proven,
            loss_name=model.tree_.objective.loss_name,
        ),
        sizes=tuple(SizeLoss(size.splits, size.loss, size.lower_bound) for size in model.path_),
        columns=_columns(model),
        scores=model.sizes_,
        held_out=model.held_out_,
        validation=model.validation_,
        parameters=parameters_of(model),
        fitted_with=model.surtree_version_,
        heterogeneity=getattr(model, "heterogeneity_", None),
        correction=getattr(model, "correction_", None),
        tuning=tuning,
        follow_up=model.follow_up_,
        cause_names=cause_names_of(model),
        comparison=model.comparison_,
        risk_groups=model.risk_groups_,
        recalibration=model.recalibration_,
        teaching=model._teaching,
    )


def _questions(model: SurTree) -> str:
    """Return which questions the search could ask, in words."""
    encoder = model.encoder_
    cuts = encoder.cuts_[:]
    words = []
    given = {cut.name for cut in cuts if cut.threshold is not None} & set(model.thresholds or ())
    if any(cut.threshold is not None and cut.name not in given for cut in cuts):
        most = model.n_thresholds
        words.append("every threshold" if most is None else f"up to {most} thresholds a column")
    if given:
        words.append(f"thresholds that were given for {plural(len(given), 'column')}")
    return "; ".join(
        [*words, *_category_words(encoder, cuts), f"{plural(len(cuts), 'question')} in all"]
    )


def _category_words(encoder: Encoder, cuts: Sequence[Cut]) -> list[str]:
    """Return how the categories of columns were divided, in words."""
    by_column: dict[int, list[Cut]] = {}
    for cut in cuts:
        if cut.categories is not None and cut.known is not None:
            by_column.setdefault(cut.column, []).append(cut)
    if not by_column:
        return []
    if encoder.category_cuts == "one":
        return ["categories one at a time against the rest, ordered ones by rank"]
    words = "every set of categories against the others, ordered ones by rank"
    if any(_has_too_many(one, encoder.max_categories) for one in by_column.values()):
        words += (
            f" (of columns with more than {MOST_FOR_SUBSETS} categories not every set, but one at "
            "a time against the rest, and divisions in the order of their risk)"
        )
    return [words]


def _has_too_many(cuts: list[Cut], max_categories: int) -> bool:
    """Tell whether a column that is not ordered has more categories than sets can be made of."""
    known = cuts[0].known or ()
    is_ranked = all(cut.categories == known[-len(cut.categories or ()) :] for cut in cuts)
    return not is_ranked and min(len(known), max_categories) > MOST_FOR_SUBSETS


def parameters_of(model: Any) -> tuple[tuple[str, str], ...]:
    """Return the hyperparameters of a model, but for those of the machine."""
    given = model.get_params(deep=False)
    return tuple(
        (name, shortened(repr(given[name]))) for name in given if name not in _OF_THE_MACHINE
    )


def shortened(text: str, longest: int = 60) -> str:
    """Return a text on one line, without its end where it is long, as lists of folds are."""
    text = " ".join(text.split())
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _limits(model: SurTree) -> tuple[str, ...]:
    limits = [f"depth at most {model.max_depth}"]
    if model.max_splits is not None:
        limits.append(f"at most {model.max_splits} splits")
    if model.min_samples_leaf > 1:
        noun = "rows" if model.tree_.n_persons is None else "persons"
        limits.append(f"at least {model.min_samples_leaf} {noun} in a leaf")
    if model.min_events_leaf > 0:
        limits.append(f"at least {model.min_events_leaf} events in a leaf")
    if getattr(model, "min_events_arm", 0) > 0:
        limits.append(f"at least {model.min_events_arm} events in each arm of a leaf")
    if model.ccp_alpha > 0:
        limits.append(f"a charge of {model.ccp_alpha:g} for each split")
    return (*limits, *condition_texts(model))


def _columns(model: Any) -> tuple[ColumnCuts, ...]:
    # Some heuristics find cuts in every node, and have no list of them.
    if not hasattr(model, "encoder_"):
        return ()
    names = column_names(model)
    cuts: list[list[Cut]] = [[] for _ in names]
    for cut in model.encoder_.cuts_[:]:
        cuts[cut.column].append(cut)
    return tuple(
        ColumnCuts(name, float(share), tuple(of_column))
        for name, share, of_column in zip(names, model.feature_importances_, cuts, strict=True)
    )

"""Optimal survival trees: the provably best tree of every size, from right-censored data.

Examples
--------
>>> from surtree import SurTree
>>> from surtree.datasets import load_gbsg2
>>> X, y = load_gbsg2()
>>> model = SurTree(max_depth=2).fit(X, y)
>>> model.status_
'optimal'
"""

from typing import TYPE_CHECKING

from surtree._support.package import VERSION, late_names
from surtree.cuts import Cut, Encoder, UnseenCategoryWarning
from surtree.data.landmark import LandmarkRows, landmark_rows
from surtree.data.suspicious_columns import SuspiciousColumnWarning
from surtree.data.target import AllEventsWarning
from surtree.data.target_array import target
from surtree.estimators._arms import NotRandomisedWarning
from surtree.estimators.base import SurvivalEstimator, TreeEstimator
from surtree.estimators.causes import CompetingRisksTree
from surtree.estimators.effects import EffectTree
from surtree.estimators.tree import SurTree
from surtree.outcomes.arm_effects import LeafEffect
from surtree.outcomes.effect_results import (
    CorrectedEffect,
    EffectCorrection,
    HeterogeneityTest,
    UntestedEffectsWarning,
)
from surtree.outcomes.incidence import leaf_incidence, leaf_incidence_band
from surtree.outcomes.restricted_mean import (
    ArmDifference,
    RestrictedMean,
    arm_differences,
    restricted_means,
)
from surtree.outcomes.risk_groups import RiskGroup, RiskGroups
from surtree.solver import Progress
from surtree.survival import (
    Baseline,
    BeyondFollowUpWarning,
    CauseHazards,
    Objective,
    RelativeRisk,
    StepFunction,
)
from surtree.tree import (
    Arms,
    AtRiskCounts,
    LeafCurve,
    LeafHazardRatio,
    Receipt,
    Reversal,
    Rule,
    Size,
    Tree,
    confidence_band,
    leaf_curves,
    leaf_hazard_ratios,
)
from surtree.tree.provenance import Kept, Recalibration
from surtree.validation import (
    ColumnDrift,
    ColumnUse,
    Comparison,
    Evaluation,
    GroupPerformance,
    HeldOutScores,
    LeafCheck,
    LeafStability,
    Measure,
    SizeScores,
    Tuning,
    Validation,
    compare,
    evaluate,
    recalibrate,
    risk_groups,
    validate,
)

if TYPE_CHECKING:
    from surtree.averages.bayes import SurTreeBayes
    from surtree.averages.points import PointsCard, PointsColumn, PointsTable
    from surtree.averages.taught import TaughtTree
    from surtree.averages.usual import usual_models
    from surtree.effects.correction import correct_effects
    from surtree.effects.heterogeneity import heterogeneity_test
    from surtree.engines.sample import sample_rows
    from surtree.loading import load
    from surtree.model_selection import (
        CostComplexityPath,
        EventStratifiedKFold,
        FoldProgress,
        SurTreeCV,
        cost_complexity_path,
    )
    from surtree.model_selection.causes import CompetingRisksTreeCV
    from surtree.questions import (
        ColumnCost,
        ColumnCosts,
        FirstTree,
        ForcedTree,
        NearColumn,
        NearOptimal,
        NodeQuestions,
        PersonRanges,
        PricedQuestion,
        QuestionCosts,
        QuestionSwaps,
        Swap,
        column_costs,
        force_questions,
        near_optimal,
        question_costs,
        question_swaps,
    )
    from surtree.questions.audit import audit_tree
    from surtree.questions.audit_result import Audit, Optimum, SplitCost
    from surtree.questions.keep import keep
    from surtree.questions.r_tree import RTree, read_r_tree
    from surtree.reading import ReadingWarning, read_table
    from surtree.report import write_report
    from surtree.summary.sample_size import SampleSize, sample_size
    from surtree.verification import Verification, VerifiedPart
    from surtree.verification.verify import verify

__all__ = [
    "AllEventsWarning",
    "ArmDifference",
    "Arms",
    "AtRiskCounts",
    "Audit",
    "Baseline",
    "BeyondFollowUpWarning",
    "CauseHazards",
    "ColumnCost",
    "ColumnCosts",
    "ColumnDrift",
    "ColumnUse",
    "Comparison",
    "CompetingRisksTree",
    "CompetingRisksTreeCV",
    "CorrectedEffect",
    "CostComplexityPath",
    "Cut",
    "EffectCorrection",
    "EffectTree",
    "Encoder",
    "Evaluation",
    "EventStratifiedKFold",
    "FirstTree",
    "FoldProgress",
    "ForcedTree",
    "GroupPerformance",
    "HeldOutScores",
    "HeterogeneityTest",
    "Kept",
    "LandmarkRows",
    "LeafCheck",
    "LeafCurve",
    "LeafEffect",
    "LeafHazardRatio",
    "LeafStability",
    "Measure",
    "NearColumn",
    "NearOptimal",
    "NodeQuestions",
    "NotRandomisedWarning",
    "Objective",
    "Optimum",
    "PersonRanges",
    "PointsCard",
    "PointsColumn",
    "PointsTable",
    "PricedQuestion",
    "Progress",
    "QuestionCosts",
    "QuestionSwaps",
    "RTree",
    "ReadingWarning",
    "Recalibration",
    "Receipt",
    "RelativeRisk",
    "RestrictedMean",
    "Reversal",
    "RiskGroup",
    "RiskGroups",
    "Rule",
    "SampleSize",
    "Size",
    "SizeScores",
    "SplitCost",
    "StepFunction",
    "SurTree",
    "SurTreeBayes",
    "SurTreeCV",
    "SurvivalEstimator",
    "SuspiciousColumnWarning",
    "Swap",
    "TaughtTree",
    "Tree",
    "TreeEstimator",
    "Tuning",
    "UnseenCategoryWarning",
    "UntestedEffectsWarning",
    "Validation",
    "Verification",
    "VerifiedPart",
    "arm_differences",
    "audit_tree",
    "column_costs",
    "compare",
    "confidence_band",
    "correct_effects",
    "cost_complexity_path",
    "evaluate",
    "force_questions",
    "heterogeneity_test",
    "keep",
    "landmark_rows",
    "leaf_curves",
    "leaf_hazard_ratios",
    "leaf_incidence",
    "leaf_incidence_band",
    "load",
    "near_optimal",
    "question_costs",
    "question_swaps",
    "read_r_tree",
    "read_table",
    "recalibrate",
    "restricted_means",
    "risk_groups",
    "sample_rows",
    "sample_size",
    "target",
    "usual_models",
    "validate",
    "verify",
    "write_report",
]

__version__ = VERSION

# What a fit does not need is imported when it is asked for: it takes longer than the rest.
__getattr__, __dir__ = late_names(
    __name__,
    __all__,
    {
        "Audit": "surtree.questions.audit_result",
        "audit_tree": "surtree.questions.audit",
        "column_costs": "surtree.questions",
        "ColumnCost": "surtree.questions",
        "ColumnCosts": "surtree.questions",
        "CompetingRisksTreeCV": "surtree.model_selection.causes",
        "correct_effects": "surtree.effects.correction",
        "cost_complexity_path": "surtree.model_selection",
        "CostComplexityPath": "surtree.model_selection",
        "datasets": "surtree.datasets",
        "EventStratifiedKFold": "surtree.model_selection",
        "export": "surtree.export",
        "FirstTree": "surtree.questions",
        "FoldProgress": "surtree.model_selection",
        "force_questions": "surtree.questions",
        "ForcedTree": "surtree.questions",
        "heterogeneity_test": "surtree.effects.heterogeneity",
        "heuristics": "surtree.heuristics",
        "keep": "surtree.questions",
        "load": "surtree.loading",
        "metrics": "surtree.metrics",
        "near_optimal": "surtree.questions",
        "NearColumn": "surtree.questions",
        "NearOptimal": "surtree.questions",
        "NodeQuestions": "surtree.questions",
        "Optimum": "surtree.questions.audit_result",
        "PersonRanges": "surtree.questions",
        "plot": "surtree.plot",
        "PointsCard": "surtree.averages.points",
        "PointsColumn": "surtree.averages.points",
        "PointsTable": "surtree.averages.points",
        "PricedQuestion": "surtree.questions",
        "question_costs": "surtree.questions",
        "question_swaps": "surtree.questions",
        "QuestionCosts": "surtree.questions",
        "QuestionSwaps": "surtree.questions",
        "read_r_tree": "surtree.questions.r_tree",
        "read_table": "surtree.reading",
        "ReadingWarning": "surtree.reading",
        "report": "surtree.report",
        "RTree": "surtree.questions.r_tree",
        "sample_rows": "surtree.engines.sample",
        "sample_size": "surtree.summary.sample_size",
        "SampleSize": "surtree.summary.sample_size",
        "SplitCost": "surtree.questions.audit_result",
        "SurTreeBayes": "surtree.averages.bayes",
        "SurTreeCV": "surtree.model_selection",
        "Swap": "surtree.questions",
        "TaughtTree": "surtree.averages.taught",
        "usual_models": "surtree.averages.usual",
        "Verification": "surtree.verification",
        "VerifiedPart": "surtree.verification",
        "verify": "surtree.verification",
        "write_report": "surtree.report",
    },
)

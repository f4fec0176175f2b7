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
from surtree.averages.bayes import SurTreeBayes
from surtree.averages.points import PointsCard, PointsColumn, PointsTable
from surtree.averages.taught import TaughtTree
from surtree.averages.usual import usual_models
from surtree.cuts import Cut, Encoder, UnseenCategoryWarning
from surtree.data.landmark import LandmarkRows, landmark_rows
from surtree.data.suspicious_columns import SuspiciousColumnWarning
from surtree.data.target import AllEventsWarning
from surtree.data.target_array import target
from surtree.effects.correction import correct_effects
from surtree.effects.heterogeneity import heterogeneity_test
from surtree.estimators._arms import NotRandomisedWarning
from surtree.estimators.base import SurvivalEstimator, TreeEstimator
from surtree.estimators.causes import CompetingRisksTree
from surtree.estimators.effects import EffectTree
from surtree.estimators.tree import SurTree
from surtree.loading import load
from surtree.model_selection import (
    CostComplexityPath,
    FoldProgress,
    SurTreeCV,
    cost_complexity_path,
)
from surtree.model_selection.causes import CompetingRisksTreeCV
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
    keep,
    near_optimal,
    question_costs,
    question_swaps,
)
from surtree.questions.audit import audit_tree
from surtree.questions.audit_result import Audit, Optimum, SplitCost
from surtree.questions.r_tree import RTree, read_r_tree
from surtree.solver import Progress
from surtree.summary.sample_size import SampleSize, sample_size
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
from surtree.verification import Verification, VerifiedPart, verify

if TYPE_CHECKING:
    from surtree.model_selection import EventStratifiedKFold
    from surtree.reading import ReadingWarning, read_table
    from surtree.report import write_report

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
    "sample_size",
    "target",
    "usual_models",
    "validate",
    "verify",
    "write_report",
]

__version__ = VERSION

# A page, and model selection in scikit-learn, take as long to import as all the rest together.
__getattr__, __dir__ = late_names(
    __name__,
    __all__,
    {
        "EventStratifiedKFold": "surtree.model_selection",
        "ReadingWarning": "surtree.reading",
        "datasets": "surtree.datasets",
        "export": "surtree.export",
        "heuristics": "surtree.heuristics",
        "metrics": "surtree.metrics",
        "plot": "surtree.plot",
        "read_table": "surtree.reading",
        "report": "surtree.report",
        "write_report": "surtree.report",
    },
)

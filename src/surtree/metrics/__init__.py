"""Scores of predicted risks and curves: concordance, Brier, AUC, calibration, net benefit."""

from surtree.metrics._auc import cumulative_dynamic_auc
from surtree.metrics._brier import (
    brier_score,
    integrated_brier_score,
    normalized_integrated_brier_score,
)
from surtree.metrics._calibration import Calibration, calibration
from surtree.metrics._calibration_slope import calibration_slope
from surtree.metrics._cause_concordance import concordance_index_cause
from surtree.metrics._concordance import (
    Concordance,
    concordance_index_censored,
    concordance_index_ipcw,
)
from surtree.metrics._decision_curve import DecisionCurve, decision_curve
from surtree.metrics._incidence_brier import (
    incidence_brier_score,
    integrated_incidence_brier_score,
    normalized_integrated_incidence_brier_score,
)
from surtree.metrics._incidence_calibration import incidence_calibration
from surtree.metrics._kaplan_meier import censoring_distribution

__all__ = [
    "Calibration",
    "Concordance",
    "DecisionCurve",
    "brier_score",
    "calibration",
    "calibration_slope",
    "censoring_distribution",
    "concordance_index_cause",
    "concordance_index_censored",
    "concordance_index_ipcw",
    "cumulative_dynamic_auc",
    "decision_curve",
    "incidence_brier_score",
    "incidence_calibration",
    "integrated_brier_score",
    "integrated_incidence_brier_score",
    "normalized_integrated_brier_score",
    "normalized_integrated_incidence_brier_score",
]

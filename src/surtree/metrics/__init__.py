"""Scores of predicted risks and curves: concordance, Brier, AUC, calibration, net benefit."""

from surtree.metrics._auc import cumulative_dynamic_auc
from surtree.metrics._brier import (
    brier_score,
    integrated_brier_score,
    normalized_integrated_brier_score,
)
from surtree.metrics._concordance import (
    Concordance,
    concordance_index_censored,
    concordance_index_ipcw,
)
from surtree.metrics._decision_curve import DecisionCurve, decision_curve
from surtree.metrics._kaplan_meier import censoring_distribution
from surtree.metrics.calibration_groups import Calibration, calibration
from surtree.metrics.calibration_smooth import SmoothCalibration, smooth_calibration
from surtree.metrics.slope import calibration_slope

__all__ = [
    "Calibration",
    "Concordance",
    "DecisionCurve",
    "SmoothCalibration",
    "brier_score",
    "calibration",
    "calibration_slope",
    "censoring_distribution",
    "concordance_index_censored",
    "concordance_index_ipcw",
    "cumulative_dynamic_auc",
    "decision_curve",
    "integrated_brier_score",
    "normalized_integrated_brier_score",
    "smooth_calibration",
]

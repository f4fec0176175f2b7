"""The scores of a search in the layout of scikit-learn's ``cv_results_``."""

from __future__ import annotations

from typing import Any

import numpy as np

from surtree.model_selection._folds import FoldScores
from surtree.validation.sizes import SizeScores


def grid_results(scores: list[SizeScores], folds: list[FoldScores]) -> dict[str, Any]:
    """Return scores and times as scikit-learn's searches do: shrinkage by shrinkage."""
    from scipy.stats import rankdata

    limits = {
        "max_depth": np.concatenate([sizes.max_depth for sizes in scores]),
        "max_splits": np.concatenate([sizes.max_splits for sizes in scores]),
        "shrinkage": np.repeat(
            [sizes.shrinkage for sizes in scores], [sizes.max_depth.size for sizes in scores]
        ),
    }
    held_out = np.concatenate([sizes.held_out for sizes in scores])
    results: dict[str, Any] = {}
    for name, times in (
        ("fit_time", [fold.fit_time.ravel() for fold in folds]),
        ("score_time", [fold.score_time.ravel() for fold in folds]),
    ):
        results[f"mean_{name}"] = np.mean(times, axis=0)
        results[f"std_{name}"] = np.std(times, axis=0)
    results |= {f"param_{name}": np.ma.array(values) for name, values in limits.items()}
    results["params"] = [
        {name: values[position].item() for name, values in limits.items()}
        for position in range(len(held_out))
    ]
    kinds = {"test": held_out}
    if scores[0].scoring == "loss":
        kinds["train"] = -np.concatenate([sizes.training_loss for sizes in scores])
    for name, values in kinds.items():
        results |= {f"split{k}_{name}_score": fold for k, fold in enumerate(values.T)}
        results[f"mean_{name}_score"] = values.mean(axis=1)
        results[f"std_{name}_score"] = values.std(axis=1)
    results["rank_test_score"] = rankdata(-held_out.mean(axis=1), method="min").astype(np.int32)
    return results

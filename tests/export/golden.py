"""The tree whose exports are kept in ``golden/``, and how to write them again.

Run ``python tests/export/golden.py`` after a change that was meant, and read the difference.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from surtree import SurTree, Tree
from surtree.cuts.cut import Cut
from surtree.export import (
    export_dot,
    export_json,
    export_mermaid,
    export_python,
    export_sql,
    export_text,
)
from surtree.survival.baseline import Baseline
from surtree.survival.objective import RELATIVE_RISK
from surtree.survival.step_function import round_times
from surtree.tree.at_risk import at_risk_counts

DIRECTORY = Path(__file__).parent / "golden"

# One question of every kind, with names and categories that need care:
#
# 0 age > 0.1 + 0.2
#   no  1 "smoker" is True or missing
#     no  2   yes  3
#   yes 4 drug's kind is one of aspirin, l'eau (and none of two others)
#     no  5 site is none of Köln, 東京 and not missing: Ulm or Wien
#       no  6   yes 7 dose is missing
#         no  8   yes  9
#     yes 10
DRUGS = ("aspirin", "l'eau", "none", "opium")
SITES = ("Köln", "Ulm", "Wien", "東京")
CUTS = (
    Cut(0, "age", threshold=0.1 + 0.2),
    Cut(1, '"smoker"', categories=(True,), missing=True),
    Cut(2, "drug's kind", categories=("aspirin", "l'eau"), known=DRUGS),
    Cut(3, "site", categories=("Köln", "東京"), negated=True, missing=False, known=SITES),
    Cut(4, "dose", missing=True),
)
INNER = {0: 0, 1: 1, 4: 2, 5: 3, 7: 4}
LEFT = {0: 1, 1: 2, 4: 5, 5: 6, 7: 8}
RIGHT = {0: 4, 1: 3, 4: 10, 5: 7, 7: 9}
N_SAMPLES = [64, 24, 16, 8, 40, 24, 8, 16, 8, 8, 16]
N_EVENTS = [33, 12, 8, 4, 21, 9, 4, 5, 2, 3, 12]
LEAVES = [2, 3, 6, 8, 9, 10]


def golden_tree() -> Tree:
    """Return a tree of round numbers, made by hand: no search and no rounding can change it."""

    def of(nodes: dict[int, int]) -> np.ndarray:
        return np.array([nodes.get(node, -1) for node in range(11)], dtype=np.int32)

    events = np.array(N_EVENTS, dtype=float)
    weight = np.array(N_SAMPLES, dtype=float)
    return Tree(
        column=of({node: CUTS[cut].column for node, cut in INNER.items()}),
        cut=of(INNER),
        left=of(LEFT),
        right=of(RIGHT),
        n_samples=np.array(N_SAMPLES, dtype=np.int32),
        n_events=np.array(N_EVENTS, dtype=np.int32),
        weight=weight,
        sums=np.column_stack([events, weight / 2]),
        loss=events / 4,
        cuts=CUTS,
        objective=RELATIVE_RISK,
        baseline=Baseline(np.array([1.0, 2.5, 4.0]), np.array([0.25, 0.5, 1.0]), 0.015625, 4.5),
        risk=at_risk_counts(_risk(N_SAMPLES[leaf], N_EVENTS[leaf]) for leaf in LEAVES),
    )


def _risk(n_samples: int, n_events: int) -> dict[str, Any]:
    """Return risk counts of a leaf with half of its events at the first time, half at the last."""
    n_round = round_times(4.0).size
    return {
        "step": [0, 1, 2],
        "at_risk": [n_samples, n_samples - n_events // 2, n_samples // 2],
        "deaths": [n_events // 2, 0, n_events - n_events // 2],
        "round_at_risk": [n_samples] * n_round,
        "censored": np.array([1.5, 4.5]),
        "last_time": 4.5,
    }


def golden_model() -> SurTree:
    """Return a small fitted model, with missing values, a category and a path of four sizes."""
    X = np.empty((8, 2), dtype=object)
    X[:, 0] = [1.0, 2.0, 3.0, None, 5.0, 6.0, 7.0, 8.0]
    X[:, 1] = ["a", "b", "a", "b", "a", "b", "a", "b"]
    y = np.empty(8, dtype=[("event", bool), ("time", float)])
    y["event"] = [True, True, False, True, True, False, True, True]
    y["time"] = [8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0]
    return SurTree(max_depth=2, n_thresholds=None, min_support=0.0).fit(X, y)


EXPORTS: dict[str, Callable[[Tree], str]] = {
    "tree.txt": export_text,
    "tree.dot": export_dot,
    "tree.mmd": export_mermaid,
    "tree.sql": export_sql,
    "median.sql": lambda tree: export_sql(tree, value="median"),
    "tree.py.txt": export_python,
    "tree.json": lambda tree: export_json(tree, indent=1),
}


def main() -> None:
    DIRECTORY.mkdir(exist_ok=True)
    for name, export in EXPORTS.items():
        (DIRECTORY / name).write_text(export(golden_tree()).rstrip("\n") + "\n", encoding="utf-8")
    golden_model().save(DIRECTORY / "model.json")


if __name__ == "__main__":
    main()

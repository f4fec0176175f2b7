"""Which method is better over many tables: wins, average ranks, Wilcoxon signed-rank tests."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import rankdata, wilcoxon

# Scores are compared as the paper prints them, at two decimals.
_DECIMALS = 2
P_VALUE = "p-value"


def wins(scores: pd.DataFrame) -> pd.Series:
    """Return on how many tables each method is the best or as good, at two decimals.

    Parameters
    ----------
    scores : data frame
        A row for each table, a column for each method; higher is better, missing is a failure.
    """
    rounded = scores.round(_DECIMALS)
    return rounded.eq(rounded.max(axis=1), axis=0).sum()


def average_ranks(scores: pd.DataFrame) -> pd.Series:
    """Return the mean rank of each method, 1 being the best; those that fail share the last ranks.

    Parameters
    ----------
    scores : data frame
        As in `wins`.
    """
    worst_first = scores.round(_DECIMALS).fillna(-np.inf)
    ranks = np.apply_along_axis(lambda row: rankdata(-row), 1, worst_first.to_numpy())
    return pd.Series(ranks.mean(axis=0), scores.columns)


def signed_rank_tests(scores: pd.DataFrame) -> pd.DataFrame:
    """Return for each pair of methods the two-sided p-value that they are equally good.

    Parameters
    ----------
    scores : data frame
        As in `wins`, not rounded. A table counts where both methods have a score.
    """
    tests = []
    for one, other in combinations(scores.columns, 2):
        both = scores[[one, other]].dropna()
        difference = both[one] - both[other]
        p_value = 1.0 if (difference == 0).all() else float(wilcoxon(difference).pvalue)
        tests.append(
            {
                "one": one,
                "other": other,
                "tables": len(both),
                "mean difference": float(difference.mean()),
                P_VALUE: p_value,
            }
        )
    return pd.DataFrame(tests)


def holm(p_values: pd.Series) -> pd.Series:
    """Return p-values adjusted for their number, so that one in twenty is for all together.

    Parameters
    ----------
    p_values : series
        The p-values of a family of tests.
    """
    order = p_values.to_numpy().argsort()
    steps = p_values.to_numpy()[order] * np.arange(len(order), 0, -1)
    adjusted = np.empty(len(order))
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return pd.Series(adjusted, p_values.index)


def geometric_mean(values: pd.Series) -> float:
    """Return the geometric mean of what is not missing.

    Parameters
    ----------
    values : series
        Positive numbers.
    """
    return float(np.exp(np.log(values.dropna()).mean()))

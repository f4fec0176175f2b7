"""Leaves, arms and causes whose restricted means R is asked about, and the horizons."""

from __future__ import annotations

from cause_cases import CAUSE_CASES
from curve_cases import CURVES
from effect_cases import EFFECTS

from surtree import restricted_means

# A horizon between events, the same share of the default for all.
_SHARE = 0.7


def _case(rows, arm=None):
    (first, *_) = restricted_means(rows.model)
    return rows, arm, round(_SHARE * first.horizon, 3)


RESTRICTED = {f"curves_{name}": _case(case()) for name, case in CURVES.items()}
RESTRICTED |= {
    f"arms_{name}": _case(*case()) for name, case in EFFECTS.items() if "_effect_" in name
}
# Where rows have weights or enter late, R has the infinitesimal jackknife.
RESTRICTED |= {
    f"causes_{name}": _case(case())
    for name, case in CAUSE_CASES.items()
    if name not in ("weighted", "late_entry")
}

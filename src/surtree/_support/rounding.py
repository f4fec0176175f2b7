"""Differences that are rounding, not results; relative to losses, gains or scores."""

# Losses of one tree agree to this, however they are added up, so "optimal" promises no more.
SAME_LOSS = 1e-9
# Gains and scores this close are a tie, as in the core.
TIE = 1e-12

"""How much is kept in memory at a time; the results do not depend on it."""

# Rows that are read at a time: enough that the work on them is in NumPy, few enough to be small.
BATCH_ROWS = 2**19
# Numbers with more distinct values than this are summarised; it is more than there can be bins.
MOST_VALUES = 100_000
# Texts with more distinct values than this are refused.
MOST_CATEGORIES = 100_000
# How many values a summary of ranks keeps.
RANKS_KEPT = 8192
# Distinct outcomes of rows that are evaluated, of about a hundred bytes each.
MOST_OUTCOMES = 20_000_000
# Tables are made, where they can be, if more rows than this are distinct.
MOST_MERGED = 500_000
# Bytes for each distinct time, in all copies that there are at a time.
TIME_BYTES = 200

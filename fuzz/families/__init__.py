"""All families. Of each: what it draws is in its docstring, how it may be refused is here."""

from fuzz.families.arms import arms, persons
from fuzz.families.causes import causes
from fuzz.families.endings import early_end, interrupts, unfinished
from fuzz.families.files import model_files
from fuzz.families.heuristics import heuristics
from fuzz.families.labels import labels
from fuzz.families.long_columns import bisection, first_look
from fuzz.families.optimum import neighbours, plain, weights
from fuzz.families.parts import parts
from fuzz.families.selection import folds, zero_times
from fuzz.families.streams import changing, streams
from fuzz.families.uneven import uneven
from fuzz.families.wide import screening
from fuzz.families.words import names, unseen
from fuzz.family import Family

# Weights far apart, every threshold of a column that is too long to be kept, and times 0 and 1.
_STREAMED = ("sample_weight goes from", "distinct values, and at most", "Both columns of y")

FAMILIES = (
    Family(plain, share=3),
    Family(neighbours, share=2),
    Family(weights, refusals=("weight",), share=2),
    Family(uneven, refusals=("sample_weight goes from", "shrinkage="), share=2),
    Family(bisection),
    Family(first_look),
    Family(screening, refusals=("weight",)),
    Family(parts, refusals=("weight",)),
    Family(early_end),
    Family(unfinished),
    Family(interrupts),
    Family(model_files),
    Family(names, refusals=("differ by blanks alone",)),
    Family(unseen),
    Family(labels, share=2),
    Family(folds),
    Family(zero_times, refusals=("Every event is at time zero", "shrinkage=")),
    Family(heuristics),
    Family(causes, refusals=("shrinkage=",)),
    Family(arms, refusals=("weight",)),
    Family(persons, refusals=("weight",)),
    Family(streams, refusals=_STREAMED),
    Family(changing, refusals=_STREAMED),
)

"""A fuzzer: random problems, each compared with the slow reference solver or with rules by hand.

::

    python -m fuzz --seconds 600 --seed 7 --jobs 2       # all families
    python -m fuzz --seconds 60 --seed 7 --family weights
    python -m fuzz --seed 7 --family weights --case 123  # one case again, in full
    make fuzz SECONDS=600 SEED=7

A *family* is a function of a random generator that draws one problem and raises `Wrong` where an
answer is wrong; `fuzz.families` lists them. Every case has a generator of its own, seeded by the
seed of the run, the family and the number of the case, so that one case can be repeated without
the others (but for what depends on the clock: limits of time and interrupts).

Cases run in processes of their own. One that kills its process is reported as a crash and one
that takes too long as a hang; either way a new process goes on with the next case. Warnings are
errors. A case may be *refused*: a ``ValueError`` whose message is one that the family expects. Any
other exception is a failure.

A run ends with a table and the line ``N passed, M failed``, and with the exit code 1 if anything
failed. Nothing is written outside of temporary directories.
"""

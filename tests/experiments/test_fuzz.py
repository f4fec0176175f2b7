"""The fuzzer: it finds a planted bug, repeats it, and survives what kills a process."""

from dataclasses import replace

import pytest

from fuzz.families import FAMILIES
from fuzz.family import Family, run_case
from fuzz.runner import run
from surtree.solver.core import Problem
from victims import dies, hangs, passes

(PLAIN,) = (family for family in FAMILIES if family.name == "plain")


def test_a_planted_bug_is_found_and_the_same_case_repeats_it(monkeypatch):
    original = Problem.solve

    def forgetful(*arguments, **options):
        """Take the best tree of one split for that of every larger size."""
        found = original(*arguments, **options)
        places = [min(place, 1) for place in range(len(found.gains))]
        return replace(
            found,
            gains=found.gains[places],
            gain_bounds=found.gains[places],
            topologies=tuple(found.topologies[place] for place in places),
        )

    with monkeypatch.context() as planted:
        planted.setattr(Problem, "solve", forgetful)
        number, found = next(
            (number, outcome)
            for number in range(40)
            if (outcome := run_case(PLAIN, 14, number)).verdict == "wrong"
        )
        again = run_case(PLAIN, 14, number)
    assert "Wrong: losses [" in found.text
    assert (again.verdict, again.text) == (found.verdict, found.text)
    assert run_case(PLAIN, 14, number).verdict == "compared"


def test_a_case_that_ends_or_stalls_its_process_is_reported(capsys):
    families = [Family(dies), Family(hangs), Family(passes)]
    assert not run(families, seed=7, jobs=2, n_cases=1, patience=0.5)
    said = capsys.readouterr().out
    for words in (
        "dies, case 0: crashed",
        "python -m fuzz --seed 7 --family dies --case 0",
        "the process died: SIGABRT",
        "hangs, case 0: crashed",
        "no answer after 0.5 s",
        "in hangs",  # where it was
    ):
        assert words in said
    assert said.splitlines()[-1] == "1 passed, 2 failed"


@pytest.mark.parametrize(
    ("message", "verdict"),
    [
        ("sample_weight has 3 weights that are too small", "refused"),
        ("operands could not be broadcast together with shapes (16,) (11,)", "wrong"),
        ("sample_weight\nTraceback", "wrong"),
    ],
)
def test_only_what_a_family_expects_is_a_refusal(message, verdict):
    def refuses(rng):
        raise ValueError(message)

    assert run_case(Family(refuses, refusals=("weight",)), 0, 0).verdict == verdict


def test_a_certificate_that_is_too_good_is_found(monkeypatch):
    def trusting(problem, solution):
        """Take what the core claims for the truth, as if nothing were rounded."""
        return replace(solution, status="optimal", gain_bounds=solution.gains)

    (uneven,) = (family for family in FAMILIES if family.name == "uneven")
    cases = range(20)
    assert {run_case(uneven, 3, number).verdict for number in cases} <= {"compared", "refused"}
    monkeypatch.setattr("surtree.solver.core.can_be_wide", lambda sums: False)
    monkeypatch.setattr("surtree.solver.search.certify", trusting)
    found = [run_case(uneven, 3, number) for number in cases]
    assert "wrong" in {outcome.verdict for outcome in found}
    texts = " ".join(outcome.text for outcome in found)
    assert "is called optimal; the optimum is" in texts or "The solver reports a loss" in texts

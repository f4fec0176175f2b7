"""Runs the cases of an experiment that have no row yet, side by side where asked to."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from time import perf_counter

from joblib import Parallel, delayed

from experiments.experiment import Case, Experiment, Measures
from experiments.store import Store
from experiments.task import Status


def run(
    name: str,
    experiment: Experiment,
    folder: Path,
    *,
    quick: bool = False,
    jobs: int = 1,
    only: Mapping[str, Sequence[str]] | None = None,
    retry: bool = False,
) -> None:
    """Run what is missing, and write each row as soon as it is there.

    Parameters
    ----------
    name : str
        The name of the experiment, and of its file.
    experiment : Experiment
        What to run.
    folder : Path
        Where rows are kept.
    quick : bool
        Whether to run the small version.
    jobs : int
        How many cases run at the same time, each with one thread.
    only : mapping from column to values, optional
        Which cases to run; by default all.
    retry : bool
        Whether to run those again that failed.
    """
    cases = list(experiment.cases(quick))
    if not cases or experiment.measure is None:
        return
    store = Store(folder / f"{name}.csv", type(cases[0]))
    wanted = store.missing([case for case in cases if _is_wanted(case, only or {})], retry)
    _say(f"{name}: {len(wanted)} of {len(cases)} cases to run")
    start, n_wanted, n_done = perf_counter(), len(wanted), 0
    while wanted:
        # Pilots first, all of them, so that the number of jobs cannot decide what is tried.
        pending = set(wanted)
        ready = [case for case in wanted if experiment.pilot_of(case) not in pending]
        wanted = [case for case in wanted if experiment.pilot_of(case) in pending]
        results = Parallel(n_jobs=jobs, return_as="generator_unordered")(
            delayed(_measure)(experiment, case, _hopeless(experiment, case, store))
            for case in ready
        )
        for case, measures in results:
            store.add(case, measures)
            n_done += 1
            what = " ".join(str(value) for value in asdict(case).values())
            taken = perf_counter() - start
            _say(f"[{n_done}/{n_wanted}, {taken:.0f} s] {what}: {_summary(measures)}")
    store.sort(cases)


def _hopeless(experiment: Experiment, case: Case, store: Store) -> Measures | None:
    """Return the row of a case that is not tried, because another one like it took too long."""
    pilot = experiment.pilot_of(case)
    row = None if pilot is None else store.find(pilot)
    if row is None or row["status"] not in (Status.TIME_LIMIT, Status.NOT_TRIED):
        return None
    message = {"message": "another case like it ran out of time"} if "message" in row else {}
    return row | message | {"status": str(Status.NOT_TRIED), "seconds": ""}


def _measure(
    experiment: Experiment, case: Case, hopeless: Measures | None
) -> tuple[Case, Measures]:
    assert experiment.measure is not None
    return case, hopeless or experiment.measure(case)


def _is_wanted(case: Case, only: Mapping[str, Sequence[str]]) -> bool:
    row = asdict(case)
    unknown = only.keys() - row.keys()
    if unknown:
        raise SystemExit(f"no column {', '.join(sorted(unknown))}: there are {', '.join(row)}")
    return all(str(row[column]) in values for column, values in only.items())


def _summary(measures: Measures) -> str:
    return ", ".join(
        f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in measures.items()
        if value != ""
    )


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)

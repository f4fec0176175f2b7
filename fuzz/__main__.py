"""The command line: ``python -m fuzz --seconds 600 --seed 7 [--family NAME] [--case N]``."""

from __future__ import annotations

import argparse
import sys
from datetime import date

from fuzz.families import FAMILIES
from fuzz.runner import MOST_FAILURES, PATIENCE, run


def main(arguments: list[str] | None = None) -> bool:
    """Run a command, and return whether nothing failed.

    Parameters
    ----------
    arguments : list of str, optional
        What follows ``python -m fuzz``; by default what the user typed.
    """
    by_name = {family.name: family for family in FAMILIES}
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to go on")
    parser.add_argument(
        "--seed",
        type=lambda text: int(text, 0),  # also 0x...
        default=int(date.today().strftime("%Y%m%d")),
        help="what all cases are drawn from; by default the date",
    )
    parser.add_argument("--family", action="append", choices=by_name, help="only this one")
    parser.add_argument("--case", type=int, help="only this case of the family, in full")
    parser.add_argument("--jobs", type=int, default=1, help="cases at the same time")
    parser.add_argument(
        "--failures", type=int, default=MOST_FAILURES, help="after so many a family is left alone"
    )
    parser.add_argument(
        "--patience", type=float, default=PATIENCE, help="seconds after which a case hangs"
    )
    options = parser.parse_args(arguments)
    if options.case is not None and len(options.family or ()) != 1:
        parser.error("--case needs one --family")
    print(f"seed {options.seed}", flush=True)
    one_case = {"first_case": options.case, "n_cases": 1, "in_full": True}
    return run(
        [by_name[name] for name in options.family or by_name],
        seed=options.seed,
        jobs=options.jobs,
        patience=options.patience,
        most_failures=options.failures,
        **({"seconds": options.seconds} if options.case is None else one_case),
    )


if __name__ == "__main__":
    sys.exit(0 if main() else 1)

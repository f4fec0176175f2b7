"""The command line: ``python -m experiments list | run NAME ... | report [NAME ...]``."""

from __future__ import annotations

import argparse
from pathlib import Path

from experiments.catalogue import EXPERIMENTS
from experiments.report import write_pages
from experiments.runner import run

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"
# Quick rows are never mixed with the others.
QUICK_RESULTS = ROOT / "build" / "quick-results"


def main(arguments: list[str] | None = None) -> None:
    """Run a command.

    Parameters
    ----------
    arguments : list of str, optional
        What follows ``python -m experiments``; by default what the user typed.
    """
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="name all experiments")
    running = commands.add_parser("run", help="run what has no row yet")
    reporting = commands.add_parser("report", help="write pages and figures from the rows")
    running.add_argument("names", nargs="+", choices=[*EXPERIMENTS, "all"], metavar="NAME")
    reporting.add_argument("names", nargs="*", choices=[*EXPERIMENTS, []], metavar="NAME")
    running.add_argument("--jobs", type=int, default=1, help="cases at the same time")
    running.add_argument("--retry", action="store_true", help="run failed cases again")
    running.add_argument(
        "--only", action="append", default=[], metavar="COLUMN=VALUE,...", help="only these cases"
    )
    for command in (running, reporting):
        command.add_argument("--quick", action="store_true", help="a small version")
        command.add_argument("--results", type=Path, help="the folder of rows and pages")
    options = parser.parse_args(arguments)
    if options.command == "list":
        for name, experiment in EXPERIMENTS.items():
            print(f"{name:15} {experiment.title}")
        return
    folder = options.results or (QUICK_RESULTS if options.quick else RESULTS)
    if options.command == "report":
        write_pages(EXPERIMENTS, options.names or list(EXPERIMENTS), folder, quick=options.quick)
        return
    only = {}
    for choice in options.only:
        column, _, values = choice.partition("=")
        only[column] = values.split(",")
    names = list(EXPERIMENTS) if "all" in options.names else options.names
    for name in names:
        run(
            name,
            EXPERIMENTS[name],
            folder,
            quick=options.quick,
            jobs=options.jobs,
            only=only,
            retry=options.retry,
        )


if __name__ == "__main__":
    main()

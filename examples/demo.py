"""Tune and fit the best survival tree on a clinical table, draw it, and write its report.

Run it as ``python examples/demo.py [directory]``; pictures and report go to the directory, by
default ``demo``.
"""

import sys
from pathlib import Path
from textwrap import fill, indent
from time import perf_counter

import matplotlib as mpl

from surtree import SurTreeCV, Validation, question_swaps, validate, write_report
from surtree.datasets import load_gbsg2
from surtree.plot import plot_curves, plot_tree

# Each repeats all of the tuning; 200 are better, and take about 20 seconds.
N_BOOTSTRAPS = 40


def main(directory: Path) -> None:
    """Fit, print what was found, and write the pictures and the report."""
    X, y = load_gbsg2()
    heading("Data: German breast cancer trial, days until recurrence or death")
    print(f"  {len(y)} women, {y['event'].sum()} of them with an event, the others censored")
    columns = f"{len(X.columns)} columns: {', '.join(X.columns)}"
    print(fill(columns, 76, initial_indent="  ", subsequent_indent="  "))

    started = perf_counter()
    # At depth 3 more nodes would mean lower risk for some women (Tree.reversals).
    search = SurTreeCV(max_depth=2).fit(X, y)
    seconds = perf_counter() - started
    model = search.best_estimator_

    heading("Tree: who has which risk?")
    print(indented(model.tree_))
    print()
    print("  n       women in the leaf, and how many of them had the event")
    print("  theta   relative risk: 2 is twice the events that all women let expect")
    print("  median  days until half of them have had the event, as the tree predicts it")

    chosen = f"{model.tree_.n_splits} questions, and shrinkage {model.shrinkage:g}"
    print(f"\n  {chosen}, chosen on held-out women in {seconds:.2f} s")

    heading("How well does it predict women whom it has not seen, and is it reproduced?")
    found = search.validation_ = validate(search, X, y, n_bootstraps=N_BOOTSTRAPS, n_jobs=2)
    print(indented(found))

    n_cuts = len(model.encoder_.cuts_)
    heading("Is there a better tree of this size, on these women?")
    print(f"  loss         {model.loss_:9.3f}   what the tree costs: the lower, the better")
    print(f"  lower bound  {model.lower_bound_:9.3f}   no tree within its limits costs less")
    print(f"  gap          {model.gap_:9.2%}   what another tree could save at most")
    print(f"  status       {model.status_:>9}   over all trees of {n_cuts} questions")

    heading("So should I use it?")
    print(fill(advice(found), 76, initial_indent="  ", subsequent_indent="  "))

    directory.mkdir(parents=True, exist_ok=True)
    pictures = {"tree": plot_tree, "curves": plot_curves}
    for name, plot in pictures.items():
        plot(model, time_unit="days").figure.savefig(directory / f"{name}.png", dpi=120)
    page = write_report(
        search,
        directory / "report.html",
        title="German breast cancer study: recurrence-free survival",
        time_unit="days",
        swaps=question_swaps(search, X, y, n_folds=10),
    )
    heading("Open these")
    print(f"  {page}   explore the tree, swap its questions, see what it is worth")
    for name in pictures:
        print(f"  {directory / f'{name}.png'}")


def advice(found: Validation) -> str:
    """Return for what the tree is good, as far as samples of the women tell."""
    one, n_leaves = found["concordance"], len(found.leaves)
    predicts = "yes" if one.lower > 0.5 and found["brier"].value > 0 else "no"
    rare = sum(leaf.words == "rarely reproduced" for leaf in found.leaves)
    groups = "no" if rare else "with care"
    return (
        f"To predict a woman's risk: {predicts}; expect a concordance of {one.value:.2f} "
        f"({one.lower:.2f} to {one.upper:.2f}), where 0.5 is chance. To name kinds of patients: "
        f"{groups}; {rare} of {n_leaves} leaves are rarely reproduced, and other women would be "
        "grouped otherwise."
    )


def indented(value: object) -> str:
    """Return what a value prints, two columns to the right."""
    return indent(str(value), "  ")


def heading(text: str) -> None:
    """Print a line that begins a section."""
    print(f"\n{text}\n{'-' * len(text)}")


if __name__ == "__main__":
    # Pictures go to files, also where there is a screen.
    mpl.use("agg")
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("demo"))

"""The page of the real tables: ours beside the paper's, method beside method."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from experiments.comparison import average_ranks, signed_rank_tests, wins
from experiments.facts import paper_tables, published_folds
from experiments.methods import METHODS
from experiments.page import table
from experiments.real import N_FOLDS, PROTOCOLS
from experiments.task import Status

METRICS = {"c": "Harrell's C", "ib": "normalised integrated Brier score"}
_PUBLISHED = {"c": "harrell_c", "ib": "normalised_ibs"}
# Our methods that the paper has too: what the page calls the pair, and the name in the facts.
_IN_PAPER = {
    "surtree": ("SurTree beside the paper's SurTree", "surtree"),
    "ctree": ("CTree beside the paper's CTree", "ctree"),
    "local search": ("local search beside the paper's OST", "ost"),
}
# How far from the paper's number a mean may be before the page asks why.
_CLOSE = 0.01
# Two losses are those of the same tree if they differ by less: STreeD takes times that are closer
# than a millionth for one, so that its hazard, and the loss that is summed from it, is not ours.
_SAME_TREE = 0.01


def page(rows: pd.DataFrame, folder: Path) -> list[str]:
    """Return the page of one depth.

    Parameters
    ----------
    rows : data frame
        All rows of the depth.
    folder : Path
        Not used: there are no figures.
    """
    lines = [
        "C and IB are means over five test folds, higher is better; IB is the share of the "
        "integrated Brier score that a tree saves. A method that failed in a fold of a table has "
        "no mean there. Wins and ranks are by scores at two decimals, as in the paper.",
        "",
    ]
    for method, (name, theirs) in _IN_PAPER.items():
        ours = rows[(rows["protocol"] == "paper") & (rows["method"] == method)]
        if not ours.empty:
            lines += [f"## Our {name}", "", *_beside_paper(ours, theirs), ""]
    for protocol in ("paper", "clean"):
        of_protocol = rows[rows["protocol"] == protocol]
        if of_protocol.empty:
            continue
        lines += [f"## All methods, protocol `{protocol}`", "", _about(protocol), ""]
        for metric, title in METRICS.items():
            lines += _methods(of_protocol, metric, title)
        lines += _failures(of_protocol)
    return [*lines, *_protocols(rows)]


def means(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return the mean of a metric by table and method, where no fold that was run lacks one.

    Parameters
    ----------
    rows : data frame
        The rows of one depth and protocol.
    metric : str
        The column.
    """
    cells = rows.groupby(["table", "method"])[metric].agg(lambda fold: fold.mean(skipna=False))
    frame = cells.unstack()
    names = [name for name in paper_tables().index if name in frame.index]
    return frame.loc[names, [method for method in METHODS if method in frame]]


def _beside_paper(rows: pd.DataFrame, theirs: str) -> list[str]:
    joined = _with_published(rows, theirs)
    frame = pd.DataFrame([_table_row(part) for _, part in joined.groupby("table", sort=False)])
    is_close = {
        metric: frame[f"difference of {metric.upper()}"].abs() <= _CLOSE for metric in METRICS
    }
    close = is_close["c"] & is_close["ib"]
    same = joined[joined["same"]]
    most = {
        # Zero where there is no such fold.
        metric: (same[metric] - same[column]).abs().max() if len(same) else 0.0
        for metric, column in _PUBLISHED.items()
    }
    all_folds = {
        metric: (joined[metric] - joined[column]).mean() for metric, column in _PUBLISHED.items()
    }
    lines = [
        f"{close.sum()} of {len(frame)} tables are within {_CLOSE} of the paper in both C and IB, "
        f"{is_close['c'].sum()} in C and {is_close['ib'].sum()} in IB. In {len(same)} of "
        f"{len(joined)} folds our tuned tree has the training loss of theirs, so that it is the "
        f"same tree; there, C differs by {most['c']:.4f} at most and IB by {most['ib']:.4f}. "
        "Where tuning chose another size, its folds differ: the authors did not publish theirs. "
        f"Over all folds, ours minus theirs is {all_folds['c']:+.4f} in C and "
        f"{all_folds['ib']:+.4f} in IB on average.",
        "",
    ]
    far = frame["table"][~close]
    if len(far) and theirs == "surtree":
        lines += [
            "Larger differences, all of them gone when the sizes are those that the authors' "
            "tuning chose ([paper-size.md](paper-size.md)):",
            "",
        ]
        lines += [f"- {_why(joined[joined['table'] == name])}" for name in far]
        lines += [""]
    return [*lines, *table(frame, 4)]


def _with_published(rows: pd.DataFrame, theirs: str) -> pd.DataFrame:
    """Return our rows, each with what the authors' tree of the same fold has.

    Tables on which their method ran out of time are left out, as in the paper.
    """
    depth = rows["depth"].iloc[0]
    ended = paper_tables()[f"d{depth}_c_{theirs}"].dropna().index
    published = published_folds()
    published = published[(published["method"] == theirs) & published["dataset"].isin(ended)]
    joined = rows.merge(
        published.rename(columns={"dataset": "table"}),
        on=["table", "depth", "fold"],
        suffixes=("", "_paper"),
    )
    return joined.assign(same=(joined["loss"] - joined["train_loss"]).abs() < _SAME_TREE)


def _table_row(part: pd.DataFrame) -> dict[str, object]:
    row: dict[str, object] = {"table": part["table"].iloc[0]}
    for metric, column in _PUBLISHED.items():
        name = metric.upper()
        row[name] = part[metric].mean()
        row[f"paper's {name}"] = part[column].mean()
        row[f"difference of {name}"] = (part[metric] - part[column]).mean()
    for name, column in (("our splits", "splits"), ("their splits", "splits_paper")):
        row[name] = " ".join(str(int(splits)) for splits in part[column])
    row["same tree"] = f"{part['same'].sum()} of {len(part)}"
    return row


def _why(part: pd.DataFrame) -> str:
    """Say how much of a table's difference is in folds that have another tree."""
    texts = []
    for metric, column in _PUBLISHED.items():
        difference = part[metric] - part[column]
        if abs(difference.mean()) > _CLOSE:
            other = difference[~part["same"]]
            texts.append(
                f"{metric.upper()} {difference.mean():+.4f}, of which "
                f"{other.sum() / len(part):+.4f} in {len(other)} folds with another tree"
            )
    return f"{part['table'].iloc[0]}: {'; '.join(texts)}."


def _methods(rows: pd.DataFrame, metric: str, title: str) -> list[str]:
    scores = means(rows, metric)
    complete = [name for name in scores if _was_run_everywhere(rows, name)]
    frame = scores.reset_index()
    if rows["protocol"].iloc[0] == "paper":
        for method in ("ctree", "ost", "surtree"):
            column = f"d{rows['depth'].iloc[0]}_{metric}_{method}"
            frame[f"paper's {method}"] = frame["table"].map(paper_tables()[column])
    summary = [
        {"table": "**wins**", **wins(scores[complete]).astype(str)},
        {"table": "**average rank**", **average_ranks(scores[complete]).map("{:.2f}".format)},
    ]
    frame = pd.concat([frame.astype(object), pd.DataFrame(summary)], ignore_index=True)
    lines = [f"### {title[0].upper()}{title[1:]}", "", *table(frame, 3), ""]
    others = [name for name in scores if name not in complete]
    if others:
        names = ", ".join(others)
        lines += [f"Not run on every table and fold, so without wins and ranks: {names}.", ""]
    if len(complete) > 1:
        tests = signed_rank_tests(scores[complete])
        lines += ["Wilcoxon signed-rank tests over the tables:", "", *table(tests, 4), ""]
    return lines


def _was_run_everywhere(rows: pd.DataFrame, method: str) -> bool:
    """Tell whether a method was run on every fold of every table; failures count as run."""
    wanted = rows["table"].nunique() * rows["fold"].nunique()
    return int((rows["method"] == method).sum()) == wanted


def _failures(rows: pd.DataFrame) -> list[str]:
    failed = rows[rows["status"] != Status.DONE]
    if failed.empty:
        return []
    counts = failed.groupby(["method", "table", "status"]).size().reset_index(name="folds")
    return [f"Runs that failed, of {N_FOLDS} folds each:", "", *table(counts), ""]


def _protocols(rows: pd.DataFrame) -> list[str]:
    """Return what another protocol than the paper's makes of each method."""
    by_table = rows.groupby(["method", "protocol", "table"])[[*METRICS]].mean()
    out = []
    for protocol, methods in PROTOCOLS.items():
        for method in methods:
            if protocol == "paper" or not {(method, "paper"), (method, protocol)} <= set(
                by_table.index.droplevel("table")
            ):
                continue
            paper = by_table.loc[(method, "paper")]
            other = by_table.loc[(method, protocol)]
            shared = paper.index.intersection(other.index)
            row: dict[str, object] = {"protocol": protocol, "method": method, "tables": len(shared)}
            for metric in METRICS:
                row[metric.upper()] = other.loc[shared, metric].mean()
                difference = other.loc[shared, metric] - paper.loc[shared, metric]
                row[f"{metric.upper()}, minus paper"] = difference.mean()
            out.append(row)
    if not out:
        return []
    return [
        "## What the protocol changes",
        "",
        "Means over tables. `inside` is `paper`, with the same folds and scores, but columns are "
        "cut by the training rows alone: its difference is what the look at the test rows was "
        "worth. `clean` has other folds too, and the interval of the Brier score that the paper's "
        "text has, so that its differences have several causes.",
        "",
        *table(pd.DataFrame(out), 4),
    ]


def _about(protocol: str) -> str:
    if protocol == "paper":
        return (
            "The authors' five folds; columns cut by all rows before the folds were; SurTree, "
            "pystreed and OSST on 0/1 columns, the others on numbers and indicators of categories, "
            "with every threshold. The integrated Brier score as their numbers have it: between "
            "quantiles of the distinct test times, rows from the last training time on left out."
        )
    return (
        "Five fresh folds, stratified by event; everything is learnt from the training part, and "
        "methods that take categories as they are get them so. The integrated Brier score as the "
        "paper's text has it: between the 10% and 90% quantiles of the test times."
    )

"""Every verb of the package, called for every kind of outcome on a small table.

``python tests/contract/outcome_matrix.py`` writes the table of docs/reference/outcomes.md anew.
"""

from __future__ import annotations

import inspect
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from matplotlib import pyplot as plt
from sklearn.base import clone

import surtree
from surtree import (
    CompetingRisksTree,
    CompetingRisksTreeCV,
    EffectTree,
    PointsTable,
    SurTree,
    SurTreeBayes,
    SurTreeCV,
    TaughtTree,
    export,
    plot,
)

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "outcomes.md"
BEGIN, END = "<!-- table -->", "<!-- end of table -->"
N_ROWS = 60
WORKS, NO_ARMS = "✓", "-"


@dataclass(frozen=True)
class Case:
    """A kind of outcome: its rows, its tree, and the other models that are tried on it."""

    title: str
    tree: SurTree
    target: str
    treatment: bool = False
    search: type[Any] = SurTreeCV

    @cached_property
    def frame(self) -> pd.DataFrame:
        rng = np.random.default_rng(3)
        frame = pd.DataFrame({"age": rng.normal(60, 9, N_ROWS).round(1)})
        frame["nodes"] = rng.integers(0, 9, N_ROWS)
        frame["arm"] = np.where(np.arange(N_ROWS) % 2, "drug", "control")
        risk = np.exp(0.3 * frame["nodes"] * np.where(frame["arm"] == "drug", 1.0, 0.2))
        frame["time"] = (0.1 + rng.exponential(12 / risk)).round(2)
        frame["event"] = rng.random(N_ROWS) < 0.8
        frame["cause"] = np.where(frame["event"], rng.integers(1, 3, N_ROWS), 0)
        return frame

    @property
    def columns(self) -> pd.DataFrame:
        return self.frame[["age", "nodes"]]

    @property
    def y(self) -> pd.DataFrame:
        return self.frame[[self.target, "time"]]

    @cached_property
    def fitted(self) -> Any:
        return self.call(clone(self.tree).fit)

    @cached_property
    def validation(self) -> Any:
        return self.call(surtree.validate, self.tree, n_bootstraps=2)

    def call(
        self, verb: Callable[..., Any], *model: Any, is_model: bool = False, **more: Any
    ) -> Any:
        """Call a verb with the rows, and with their target and arms if it takes such."""
        takes = inspect.signature(verb).parameters
        needs = "treatment" in takes and takes["treatment"].default is inspect.Parameter.empty
        lacks = is_model and "treatment" not in takes
        if (lacks and self.treatment) or (needs and not self.treatment):
            raise NoArmsError
        given: dict[str, Any] = {"X": self.columns} | ({"y": self.y} if "y" in takes else {})
        if "treatment" in takes and self.treatment:
            given["treatment"] = self.frame["arm"]
        return verb(*model, **given, **more)


CASES = (
    Case("one event", SurTree(1), "event"),
    Case("causes", CompetingRisksTree(1), "cause", search=CompetingRisksTreeCV),
    Case("arms", EffectTree(max_depth=1, min_events_arm=2), "event", treatment=True),
)


class NoArmsError(Exception):
    """A verb takes no arms, or needs them, and the rows are otherwise."""


def _fit(model: Any) -> Callable[[Case], Any]:
    return lambda case: case.call(clone(model).fit, is_model=True)


def _of_class(verb: Callable[..., Any], **more: Any) -> Callable[[Case], Any]:
    """Return a verb of an estimator, fitted or not, and rows."""
    return lambda case: case.call(verb, case.fitted, **more)


def _of_tree(verb: Callable[..., Any], **more: Any) -> Callable[[Case], Any]:
    """Return a verb of a fitted model alone."""
    return lambda case: verb(case.fitted, **more)


def _exported(verb: Callable[..., Any]) -> Callable[[Case], Any]:
    if "X" in inspect.signature(verb).parameters:
        return lambda case: verb(case.fitted, case.columns, case.y)
    return _of_tree(verb)


def _lazy_fit(case: Case) -> Any:
    names = ["age", "nodes", case.target, "time", *(["arm"] if case.treatment else [])]
    more = {"treatment": "arm"} if case.treatment else {}
    lazy = pl.from_pandas(case.frame[names]).lazy()
    model = clone(case.tree).fit(lazy, (case.target, "time"), **more)
    np.testing.assert_array_equal(model.apply(case.columns), case.fitted.apply(case.columns))


def _round_trip(case: Case) -> Any:
    path = Path(tempfile.mkdtemp(prefix="surtree-contract-")) / "model.json"
    case.fitted.save(path)
    loaded = surtree.load(path)
    np.testing.assert_array_equal(loaded.predict(case.columns), case.fitted.predict(case.columns))


def _report(case: Case) -> Any:
    path = Path(tempfile.mkdtemp(prefix="surtree-contract-")) / "report.html"
    surtree.write_report(case.fitted, path)


def _cross_validation(case: Case) -> Any:
    return case.call(case.search(1, cv=2).fit, is_model=True)


def _search_then_path(case: Case) -> Any:
    return plot.plot_path(_cross_validation(case))


# What is called, in the order of the page.
VERBS: dict[str, Callable[[Case], Any]] = {
    "`fit`": lambda case: case.fitted,
    "`fit`, of a lazy table": _lazy_fit,
    "`fit`, of a search by cross-validation": _cross_validation,
    "`predict`": lambda case: case.fitted.predict(case.columns),
    "`predict_survival_function`": lambda case: case.call(case.fitted.predict_survival_function),
    "`predict_median`": lambda case: case.call(case.fitted.predict_median),
    "`score`": lambda case: case.call(case.fitted.score),
    "`loss`": lambda case: case.call(case.fitted.loss),
    "`save` and `load`": _round_trip,
    "`validate`": lambda case: case.validation,
    "`validate`, centre by centre": lambda case: case.call(
        surtree.validate, case.tree, n_bootstraps=2, method="groups", groups=np.arange(N_ROWS) // 30
    ),
    "`evaluate`": _of_class(surtree.evaluate, n_bootstraps=2),
    "`compare`": lambda case: case.call(surtree.compare, {"tree": clone(case.tree)}, n_folds=2),
    "`audit_tree`": _of_class(surtree.audit_tree),
    "`verify`": _of_class(surtree.verify),
    "`force_questions`": _of_class(surtree.force_questions, first="age"),
    "`column_costs`": _of_class(surtree.column_costs),
    "`question_costs`": _of_class(surtree.question_costs),
    "`question_swaps`": _of_class(surtree.question_swaps),
    "`near_optimal`": _of_class(surtree.near_optimal),
    "`cost_complexity_path`": lambda case: case.call(
        surtree.cost_complexity_path, estimator=clone(case.tree)
    ),
    "`SurTreeBayes` (average)": _fit(SurTreeBayes(1, 2)),
    "`TaughtTree`": _fit(TaughtTree(1)),
    "`PointsTable` (score card)": _fit(PointsTable(2)),
    "`heterogeneity_test`": _of_class(surtree.heterogeneity_test, n_draws=9),
    "`correct_effects`": _of_class(surtree.correct_effects, n_repeats=2),
    "`recalibrate`": _of_class(surtree.recalibrate),
    "`risk_groups`": _of_class(surtree.risk_groups, k=2, n_folds=2),
    "`leaf_curves`": _of_tree(surtree.leaf_curves),
    "`leaf_hazard_ratios`": _of_tree(surtree.leaf_hazard_ratios),
    "`leaf_incidence`": _of_tree(surtree.leaf_incidence, cause=1),
    "`restricted_means`": _of_tree(surtree.restricted_means),
    "`arm_differences`": _of_tree(surtree.arm_differences),
    "`confidence_band`": lambda case: surtree.confidence_band(
        case.fitted, int(case.fitted.tree_.leaves[0])
    ),
    "`write_report`": _report,
    **{f"`{name}`": _exported(getattr(export, name)) for name in export.__all__},
    "`plot_audit`": lambda case: plot.plot_audit(case.call(surtree.audit_tree, case.fitted)),
    "`plot_calibration`": lambda case: plot.plot_calibration(case.validation),
    "`plot_card`": lambda case: plot.plot_card(_fit(PointsTable(2))(case)),
    "`plot_channels`": _of_tree(plot.plot_channels),
    "`plot_curves`": _of_tree(plot.plot_curves),
    "`plot_decision_curve`": lambda case: plot.plot_decision_curve(case.validation),
    "`plot_path`": _search_then_path,
    "`plot_stability`": lambda case: plot.plot_stability(case.validation),
    "`plot_tree`": _of_tree(plot.plot_tree),
}


def try_verb(verb: str, case: Case) -> str:
    """Call a verb for an outcome; return a mark of what works, or why it is refused."""
    plt.switch_backend("Agg")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            VERBS[verb](case)
        except NoArmsError:
            return NO_ARMS
        except (ValueError, TypeError) as error:
            return str(error)
        finally:
            plt.close("all")
    return WORKS


def table(cells: dict[tuple[str, str], str]) -> str:
    """Return the table of the page, with the sentence of every refusal."""
    titles = [case.title for case in CASES]
    lines = ["| | " + " | ".join(titles) + " |", "|---" * (len(titles) + 1) + "|"]
    sentences: dict[str, int] = {}
    for verb in VERBS:
        shown = []
        for title in titles:
            text = cells[verb, title]
            if text not in (WORKS, NO_ARMS):
                text = f"[{sentences.setdefault(text, len(sentences) + 1)}]"
            shown.append(text)
        lines.append(f"| {verb} | " + " | ".join(shown) + " |")
    notes = [f"- [{number}] {text}" for text, number in sentences.items()]
    return "\n".join([*lines, "", *notes])


def cells() -> dict[tuple[str, str], str]:
    """Try everything."""
    return {(verb, case.title): try_verb(verb, case) for verb in VERBS for case in CASES}


def page(text: str, made: str) -> str:
    """Return the text of the page with a new table."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n{made}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(), table(cells())))

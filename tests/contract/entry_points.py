"""The same rows in every form that people have them in, for every entry point of the package.

``python tests/contract/entry_points.py`` writes the table of docs/reference/inputs.md anew.
"""

from __future__ import annotations

import inspect
import re
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surtree import (
    CompetingRisksTree,
    CompetingRisksTreeCV,
    EffectTree,
    PointsTable,
    SurTree,
    SurTreeBayes,
    SurTreeCV,
    TaughtTree,
    UntestedEffectsWarning,
    audit_tree,
    column_costs,
    correct_effects,
    evaluate,
    force_questions,
    heterogeneity_test,
    near_optimal,
    question_costs,
    question_swaps,
    recalibrate,
    risk_groups,
    validate,
    verify,
)
from surtree.heuristics import ConditionalInferenceTree, GreedyTree, LocalSearchTree

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "inputs.md"
BEGIN, END = "<!-- table -->", "<!-- end of table -->"
COLUMNS = ["age", "nodes", "grade"]
ZERO, UNSEEN = "censored at time zero", "Categories that training never had"


def make_rows(n_rows: int = 150, seed: int = 1) -> pd.DataFrame:
    """Return a table with everything that a row may have; `time` goes with `event` and `cause`."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(60.0, 10.0, n_rows).round(1),
            "nodes": rng.integers(0, 12, n_rows),
            "grade": rng.choice(["I", "II", "III"], n_rows),
        }
    )
    frame["arm"] = rng.choice(["control", "drug"], n_rows)
    # Every model asks about the grade: it tells the risk, and what the drug does.
    worse = np.where(frame["arm"] == "drug", 2.5, 0.8)
    risk = np.exp(0.1 * frame["nodes"] + worse * (frame["grade"] == "III"))
    frame["entry"] = np.where(rng.random(n_rows) < 0.3, rng.uniform(0.1, 2.0, n_rows), 0.0).round(2)
    # Of continuous covariates nobody is at risk for an instant only.
    frame["time"] = (frame["entry"] + 0.1 + rng.exponential(12 / risk)).round(2)
    frame["event"] = rng.random(n_rows) < 0.6
    frame["cause"] = np.where(frame["event"], rng.integers(1, 3, n_rows), 0)
    frame["weight"] = rng.integers(1, 4, n_rows).astype(float)
    frame["person"] = np.arange(n_rows) // 2 + 1000
    return frame


@dataclass(frozen=True)
class Form:
    """One form of the same rows.

    ``roles`` are what is passed for each row beside X and y, ``make`` gives the arguments, those
    of ``expect`` (by default arrays) give the same result, and ``warns`` is a part of the warning.
    ``of_fitted`` forms are for verbs of fitted models only.
    """

    title: str
    make: Callable[[EntryPoint, pd.DataFrame], dict[str, Any]]
    roles: tuple[str, ...] = ()
    warns: str | None = None
    expect: Callable[[EntryPoint, pd.DataFrame], dict[str, Any]] | None = None
    of_fitted: bool = False

    def expected(self, point: EntryPoint, frame: pd.DataFrame) -> dict[str, Any]:
        """Return the arguments that have to give the same result."""
        return self.expect(point, frame) if self.expect else arrays(point, frame, self.roles)


@dataclass(frozen=True)
class EntryPoint:
    """A verb: called with arguments, it returns numbers that say what it made of the rows."""

    title: str
    call: Callable[..., Any]
    signature: Callable[..., Any]
    outcome: str = "event"
    verb: str = "fit"
    extra: tuple[str, ...] = ()
    fixed: dict[str, Any] = field(default_factory=dict)

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns that every call names: the target, and of trials the arm."""
        return (self.outcome, "time", *self.extra) if self.verb != "predict" else ()

    def takes(self, role: str) -> bool:
        """Return whether the verb has such a parameter."""
        return role in inspect.signature(self.signature).parameters


ROLES = {"sample_weight": "weight", "entry": "entry", "id": "person", "groups": "person"}


def arrays(point: EntryPoint, frame: pd.DataFrame, roles: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the arguments as a plain frame and arrays."""
    given: dict[str, Any] = {"X": frame[COLUMNS]}
    if point.verb != "predict":
        given["y"] = frame[[point.outcome, "time"]].reset_index(drop=True)
    given |= {role: frame[ROLES[role]].to_numpy() for role in roles}
    if "arm" in point.extra:
        given["treatment"] = frame["arm"].to_numpy()
    return given


def names(point: EntryPoint, frame: pd.DataFrame, roles: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the arguments as one frame and names of its columns."""
    if point.verb == "predict":
        return {"X": frame[COLUMNS]}
    roles_given = {role: ROLES[role] for role in roles}
    if "arm" in point.extra:
        roles_given["treatment"] = "arm"
    columns = [*COLUMNS, point.outcome, "time", *dict.fromkeys(roles_given.values())]
    return {"X": frame[columns], "y": (point.outcome, "time"), **roles_given}


def _with(change: Callable[[pd.DataFrame], Any], form=names, roles: tuple[str, ...] = ()):
    """Return a form whose X is changed."""

    def make(point: EntryPoint, frame: pd.DataFrame) -> dict[str, Any]:
        given = form(point, frame, roles)
        return given | {"X": change(given["X"])}

    return make


def _nullable(X: pd.DataFrame) -> pd.DataFrame:
    return X.convert_dtypes()


def _parquet(X: pd.DataFrame) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="surtree-contract-"))
    pl.from_pandas(X).write_parquet(folder / "rows.parquet")
    return folder / "rows.parquet"


def _more(frame: pd.DataFrame, **values: Any) -> pd.DataFrame:
    """Return the rows and twenty more of them, with other values."""
    return pd.concat([frame, frame.head(20).assign(**values)], ignore_index=True)


def _at_zero(point: EntryPoint, frame: pd.DataFrame) -> dict[str, Any]:
    return arrays(point, _more(frame, time=0.0, entry=0.0, event=False, cause=0))


def _weightless(point: EntryPoint, frame: pd.DataFrame) -> dict[str, Any]:
    return arrays(point, _more(frame, weight=0.0, nodes=999, time=1e6), ("sample_weight",))


def _graded(grade: str | None):
    def make(point: EntryPoint, frame: pd.DataFrame) -> dict[str, Any]:
        return arrays(point, frame.assign(grade=frame["grade"].where(frame.index >= 20, grade)))

    return make


FORMS = (
    Form("names", lambda point, frame: names(point, frame)),
    Form(
        "named weights",
        lambda point, frame: names(point, frame, ("sample_weight",)),
        ("sample_weight",),
    ),
    Form("named entry", lambda point, frame: names(point, frame, ("entry",)), ("entry",)),
    Form("named id", lambda point, frame: names(point, frame, ("id",)), ("id",)),
    Form("named groups", lambda point, frame: names(point, frame, ("groups",)), ("groups",)),
    Form("censored at zero", _at_zero, warns=ZERO),
    Form("weight zero", _weightless, ("sample_weight",)),
    Form(
        "unseen categories",
        _graded("IV"),
        warns=UNSEEN,
        expect=_graded(None),
        of_fitted=True,
    ),
    Form("nullable types", _with(_nullable)),
    Form("polars", _with(pl.from_pandas)),
    Form("lazy frame", _with(lambda X: pl.from_pandas(X).lazy())),
    Form("Parquet path", _with(_parquet)),
)


def _shown(*numbers: Any) -> list[str]:
    """Return numbers that can be compared, to twelve digits."""
    flat = np.concatenate([np.ravel(np.asarray(each, dtype=float)) for each in numbers])
    return [f"{number:.12g}" for number in flat]


def _fit(model: Any):
    def call(X: Any, y: Any, *treatment: Any, **given: Any) -> list[str]:
        return _shown(*_learnt(clone(model).fit(X, y, *treatment, **given)))

    return call


def _learnt(fitted: Any) -> list[Any]:
    """Return numbers that say what a model has learnt."""
    if isinstance(fitted, SurTreeBayes):
        return [stage.mean.values for stage in fitted.stages_]
    if isinstance(fitted, PointsTable):
        return [*fitted.points_, fitted.log_risk_at_zero_]
    trees = getattr(fitted, "trees_", None) or (fitted.tree_,)
    return [*(tree.loss for tree in trees), *(tree.weight for tree in trees)]


def _asked(model: Any, verb: str, frame: pd.DataFrame, **fixed: Any):
    """Return a verb of a model that is fitted on a plain table."""
    outcome = "cause" if isinstance(model, CompetingRisksTree) else "event"
    point = EntryPoint("", None, None, outcome, "fit", fixed.get("extra", ()))  # type: ignore[arg-type]
    fitted = clone(model).fit(**arrays(point, frame))
    return fitted, lambda **given: _shown(getattr(fitted, verb)(**given))


def entry_points() -> list[EntryPoint]:
    """Return all entry points, with small settings."""
    frame = make_rows()
    small = {"max_depth": 2}
    tree, cv = SurTree(**small), SurTreeCV(**small, cv=3)
    bayes, taught, card = SurTreeBayes(1, 2), TaughtTree(**small), PointsTable(3)
    causes = CompetingRisksTree(**small)
    effects = EffectTree(max_depth=1, min_events_arm=2)
    points = [
        EntryPoint(
            f"{type(model).__name__}.fit", _fit(model), type(model).fit, outcome, extra=extra
        )
        for model, outcome, extra in (
            (tree, "event", ()),
            (cv, "event", ()),
            (bayes, "event", ()),
            (taught, "event", ()),
            (card, "event", ()),
            (causes, "cause", ()),
            (CompetingRisksTreeCV(**small, cv=3), "cause", ()),
            (effects, "event", ("arm",)),
            (GreedyTree(**small), "event", ()),
            (ConditionalInferenceTree(**small), "event", ()),
            (LocalSearchTree(**small), "event", ()),
        )
    ]
    for model, outcome, extra in (
        (tree, "event", ()),
        (bayes, "event", ()),
        (taught, "event", ()),
        (card, "event", ()),
        (causes, "cause", ()),
        (effects, "event", ("arm",)),
    ):
        for verb in ("loss", "score", "predict", "apply"):
            if not hasattr(model, verb):
                continue
            fitted, call = _asked(model, verb, frame, extra=extra)
            points.append(
                EntryPoint(
                    f"{type(model).__name__}.{verb}",
                    call,
                    getattr(fitted, verb),
                    outcome,
                    "predict" if verb in ("predict", "apply") else "score",
                    extra if verb in ("loss", "score") else (),
                )
            )
    fitted, _ = _asked(tree, "predict", frame)
    # The transformer knows its columns: those of the target are not among them.
    ages = ColumnTransformer([("age", StandardScaler(), ["age", "nodes"])])
    piped = make_pipeline(ages, clone(tree)).fit(**arrays(points[0], frame))

    def results(function: Callable[..., Any], numbers: Callable[[Any], Any], model: Any, **fixed):
        return lambda X, y, *treatment, **given: _shown(
            numbers(function(model, X, y, *treatment, **given, **fixed))
        )

    def measured(result: Any) -> list[float]:
        return [result["concordance"].value, *(leaf.expected for leaf in result.leaves)]

    points += [
        EntryPoint(
            "evaluate",
            results(evaluate, measured, fitted, n_bootstraps=3),
            evaluate,
            verb="evaluate",
        ),
        EntryPoint(
            "validate",
            results(
                validate,
                lambda it: [it["brier"].apparent, it["brier"].value],
                tree,
                n_bootstraps=3,
            ),
            validate,
        ),
        EntryPoint(
            "audit_tree",
            results(audit_tree, lambda it: [it.loss, it.same_size.loss], fitted),
            audit_tree,
            verb="audit",
        ),
        EntryPoint(
            "evaluate, of a pipeline",
            results(evaluate, lambda it: [it["concordance"].value], piped, n_bootstraps=3),
            evaluate,
            verb="pipeline",
        ),
        EntryPoint(
            "audit_tree, of a pipeline",
            results(audit_tree, lambda it: [it.loss, it.same_size.loss], piped),
            audit_tree,
            verb="pipeline",
        ),
        EntryPoint(
            "verify",
            results(verify, lambda it: [it.confirmed, len(it.differences)], fitted),
            verify,
            verb="verify",
        ),
        EntryPoint(
            "force_questions",
            results(force_questions, lambda it: [it.loss, it.lower_bound], tree, first="age"),
            force_questions,
        ),
        EntryPoint(
            "column_costs",
            results(column_costs, lambda it: [each.without for each in it.columns], tree),
            column_costs,
        ),
        EntryPoint(
            "near_optimal",
            lambda **given: _shown(near_optimal(clone(tree).fit(**given), **given).losses),
            near_optimal,
        ),
        EntryPoint(
            "question_costs",
            lambda **given: _shown(
                [
                    each["loss"]
                    for each in question_costs(clone(tree).fit(**given), **given).records()
                ]
            ),
            question_costs,
        ),
        EntryPoint(
            "question_swaps",
            lambda **given: _shown(
                [
                    [swap.cost, swap.n_moved]
                    for swap in question_swaps(clone(tree).fit(**given), **given).swaps
                ]
            ),
            question_swaps,
        ),
        EntryPoint(
            "recalibrate",
            results(recalibrate, lambda it: it.recalibration_.factors, fitted, method="leaves"),
            recalibrate,
            verb="evaluate",
        ),
        EntryPoint(
            "risk_groups",
            lambda **given: _shown(
                [
                    [group.ratio, group.n_samples]
                    for group in risk_groups(clone(tree).fit(**given), k=2, **given).held_out
                ]
            ),
            risk_groups,
        ),
        EntryPoint(
            "heterogeneity_test",
            results(heterogeneity_test, lambda it: [it.statistic, it.p_value], effects, n_draws=9),
            heterogeneity_test,
            extra=("arm",),
        ),
        EntryPoint(
            "correct_effects",
            results(correct_effects, lambda it: [it.slope], effects, n_repeats=2),
            correct_effects,
            extra=("arm",),
        ),
    ]
    return points


@dataclass(frozen=True)
class Cell:
    """What an entry point made of a form: the same as of arrays, a refusal, or no such argument."""

    text: str
    sentence: str = ""


def try_form(point: EntryPoint, form: Form) -> Cell:
    """Call an entry point with a form of the rows, and with arrays; compare."""
    if not all(point.takes(role) for role in form.roles):
        return Cell("no such argument")
    if point.verb == "predict" and (form.roles or form.warns == ZERO or form.title == "names"):
        return Cell("no such argument")
    if form.of_fitted and point.verb in ("fit", "pipeline"):
        return Cell("no such argument")
    frame = make_rows()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UntestedEffectsWarning)
        expected = point.call(**form.expected(point, frame))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = point.call(**form.make(point, frame))
        except ValueError as error:
            return Cell("refused", str(error))
    # That a tree of effects is not tested has nothing to do with the form of rows.
    caught = [each for each in caught if each.category is not UntestedEffectsWarning]
    said = [str(each.message) for each in caught]
    # What is only scored was fitted before, with the warning; evaluate has a table of such values.
    silent = {"score": ZERO, "verify": ZERO, "evaluate": UNSEEN}.get(point.verb)
    if form.warns not in (None, silent) and not any(form.warns in text for text in said):
        return Cell("DIFFERENT", "no warning")
    said = [text for text in said if form.warns is None or form.warns not in text]
    if said:
        return Cell("DIFFERENT", said[0])
    return Cell("same" if result == expected else "DIFFERENT", f"{expected[:4]} {result[:4]}")


def table(points: list[EntryPoint]) -> str:
    """Return the table of the page, with the sentence of every refusal."""
    marks = {"same": "✓", "no such argument": "-"}
    lines = [
        "| | " + " | ".join(form.title for form in FORMS) + " |",
        "|---" * (len(FORMS) + 1) + "|",
    ]
    sentences: dict[str, int] = {}
    for point in points:
        cells = []
        for form in FORMS:
            cell = try_form(point, form)
            if cell.text == "refused":
                # Whose rows they are, and of which file, differs.
                text = re.sub(r"and [^:]* needs", "and *…* needs", cell.sentence)
                for shown in sorted({part for part in text.split("'") if "/" in part}):
                    text = text.replace(shown, "rows.parquet")
                number = sentences.setdefault(text, len(sentences) + 1)
                cells.append(f"[{number}]")
            else:
                cells.append(marks.get(cell.text, f"**{cell.text}** {cell.sentence}"))
        lines.append(f"| `{point.title}` | " + " | ".join(cells) + " |")
    notes = [f"- [{number}] {text}" for text, number in sentences.items()]
    return "\n".join([*lines, "", *notes])


def page(text: str, made: str) -> str:
    """Return the text of the page with a new table."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n{made}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(), table(entry_points())))

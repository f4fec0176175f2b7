"""Run R on real tables, and keep what it finds.

Trees of partykit and rpart are in ``reference.json.gz``; trees of both with their own defaults, as
``docs/audits.md`` writes them, in ``default_rpart.json.gz`` and ``default_partykit.json.gz``;
Kaplan-Meier curves of the leaves of our trees, with bands and medians, in ``curves.json.gz``; Cox
models of these leaves and of arms in leaves, with limits and Breslow curves, in
``hazard_ratios.json.gz``; the
optimism that the bootstrap of rms finds in ``optimism.json``; cumulative incidences of survival and
cmprsk, and the likelihood of a Poisson model, for the leaves of our trees in ``incidence.json.gz``;
Poisson models of the leaves and arms of our trees of effects in ``effects.json.gz``; metrics of
rows with tied times in ``tied.json``, concordance of (start, stop] rows and of weights in
``start_stop.json``; Cox models in strata in ``cox.json``; restricted means of leaves, arms and
causes in ``restricted.json.gz``; smooth calibration in ``smooth.json``.

Needs R with partykit, rpart, survival, rms, cmprsk, riskRegression and jsonlite (Debian:
``apt-get install r-cran-partykit r-cran-rpart r-cran-survival r-cran-rms r-cran-cmprsk
r-cran-riskregression r-cran-jsonlite``). Run it as ``python tests/r/make_reference.py``, with
"cox", "curves", "effects", "hazard_ratios", "incidence", "optimism", "restricted", "smooth",
"start_stop", "tied" or "trees" for a part of it; the tests only read the files that it writes.
"""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from cause_cases import CAUSE_CASES
from cox_cases import COX, cox_case
from curve_cases import CURVES
from effect_cases import EFFECTS
from optimism_cases import CASES, optimism_case
from real_tables import TABLES, numbers
from restricted_cases import RESTRICTED
from smooth_cases import SMOOTH, smooth_case
from start_stop_cases import START_STOP, start_stop_case
from tied_cases import TIED, tied_case

from surtree import leaf_hazard_ratios
from surtree.data.causes import read_cause_target
from surtree.data.target import read_target
from surtree.survival.baseline import nelson_aalen

HERE = Path(__file__).parent
AUDITS = HERE.parent.parent / "docs" / "audits.md"


def write(folder: Path, name: str, X: pd.DataFrame) -> None:
    kinds = {}
    for column in X:
        if isinstance(X[column].dtype, pd.CategoricalDtype):
            kinds[column] = X[column].cat.categories.tolist()
        else:
            kinds[column] = "factor" if X[column].dtype == object else "numeric"
    (folder / f"{name}.json").write_text(json.dumps(kinds))
    X.to_csv(folder / f"{name}.csv", index=False, float_format="%.17g")


def keep(name: str, found: object) -> None:
    text = json.dumps(found, separators=(",", ":"))
    # Without the time of day, the same numbers make the same file.
    (HERE / name).write_bytes(gzip.compress(text.encode(), mtime=0))


def make_curves() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name, case in CURVES.items():
            rows = case()
            frame = pd.DataFrame(rows.y).assign(
                leaf=rows.model.apply(rows.X), entry=rows.entry, weight=rows.weight
            )
            frame.to_csv(folder / f"{name}.csv", index=False, float_format="%.17g")
        subprocess.run(["Rscript", HERE / "curves.R", folder, *CURVES], check=True)
        keep("curves.json.gz", json.loads((folder / "curves.json").read_text()))


def make_incidence() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name, case in CAUSE_CASES.items():
            rows = case()
            tree = rows.model.tree_
            target = read_cause_target(rows.y, len(rows.y), rows.entry)
            hazards = {
                f"hazard_{cause}": own.row_hazard(target)
                for cause, own in zip(target.causes, tree.baseline.of_cause, strict=True)
            }
            frame = pd.DataFrame(rows.y).assign(
                leaf=rows.model.apply(rows.X),
                entry=0.0 if rows.entry is None else rows.entry,
                weight=1.0 if rows.weight is None else rows.weight,
                **hazards,
            )
            frame.to_csv(folder / f"{name}.csv", index=False, float_format="%.17g")
        subprocess.run(["Rscript", HERE / "incidence.R", folder, *CAUSE_CASES], check=True)
        keep("incidence.json.gz", json.loads((folder / "incidence.json").read_text()))


def make_restricted() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name, (rows, arm, horizon) in RESTRICTED.items():
            frame = pd.DataFrame(rows.y).assign(
                leaf=rows.model.apply(rows.X),
                arm=0 if arm is None else arm,
                entry=0.0 if rows.entry is None else rows.entry,
                weight=1.0 if rows.weight is None else rows.weight,
                horizon=horizon,
            )
            frame.to_csv(folder / f"{name}.csv", index=False, float_format="%.17g")
        subprocess.run(["Rscript", HERE / "restricted.R", folder, *RESTRICTED], check=True)
        keep("restricted.json.gz", json.loads((folder / "restricted.json").read_text()))


def make_hazard_ratios() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name, case in CURVES.items():
            rows = case()
            frame = pd.DataFrame(rows.y).assign(
                leaf=rows.model.apply(rows.X),
                entry=rows.entry,
                weight=rows.weight,
                reference=leaf_hazard_ratios(rows.model)[0].reference,
            )
            frame.to_csv(folder / f"{name}.csv", index=False, float_format="%.17g")
        for name, case in EFFECTS.items():
            rows, treatment = case()
            frame = pd.DataFrame(rows.y).assign(
                leaf=rows.model.apply(rows.X),
                arm=(treatment != rows.model.arms_[0]).astype(int),
                entry=rows.entry,
                weight=rows.weight,
            )
            frame.to_csv(folder / f"{name}.csv", index=False, float_format="%.17g")
        names = [*CURVES, *EFFECTS]
        subprocess.run(["Rscript", HERE / "hazard_ratios.R", folder, *names], check=True)
        keep("hazard_ratios.json.gz", json.loads((folder / "hazard_ratios.json").read_text()))


def make_effects() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name, case in EFFECTS.items():
            rows, treatment = case()
            frame = pd.DataFrame(rows.y).assign(
                leaf=rows.model.apply(rows.X),
                arm=(treatment != rows.model.arms_[0]).astype(int),
                entry=rows.entry,
                weight=rows.weight,
                floor=rows.model.tree_.baseline.floor,
            )
            frame.to_csv(folder / f"{name}.csv", index=False, float_format="%.17g")
        subprocess.run(["Rscript", HERE / "effects.R", folder, *EFFECTS], check=True)
        keep("effects.json.gz", json.loads((folder / "effects.json").read_text()))


def make_optimism() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name in CASES:
            table = optimism_case(name)
            table.to_csv(folder / f"{name}.csv", index=False, float_format="%.17g")
        subprocess.run(["Rscript", HERE / "optimism.R", folder, *CASES], check=True)
        found = json.loads((folder / "optimism.json").read_text())
        (HERE / "optimism.json").write_text(json.dumps(found, indent=2) + "\n")


def make_cox() -> None:
    _make_tables("cox", {name: cox_case(name) for name in COX})


def make_smooth() -> None:
    _make_tables("smooth", {name: smooth_case(name) for name in SMOOTH})


def make_tied() -> None:
    _make_tables("tied", {name: tied_case(name) for name in TIED})


def _make_tables(name: str, tables: dict[str, pd.DataFrame]) -> None:
    """Give tables to the script of a name, and keep what it writes."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for case, rows in tables.items():
            rows.to_csv(folder / f"{case}.csv", index=False, float_format="%.17g")
        subprocess.run(["Rscript", HERE / f"{name}.R", folder, *tables], check=True)
        found = json.loads((folder / f"{name}.json").read_text())
        (HERE / f"{name}.json").write_text(json.dumps(found, indent=2) + "\n")


def make_start_stop() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name in START_STOP:
            start_stop_case(name).to_csv(folder / f"{name}.csv", index=False, float_format="%.17g")
        subprocess.run(["Rscript", HERE / "start_stop.R", folder, *START_STOP], check=True)
        found = json.loads((folder / "start_stop.json").read_text())
        (HERE / "start_stop.json").write_text(json.dumps(found, indent=2) + "\n")


def make_trees() -> None:
    complete = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name, load in TABLES.items():
            X, y = load()
            event = y["event"].astype(int)
            write(folder, name, X.assign(time=y["time"], event=event))
            # rpart has surrogate splits for missing values, which we do not.
            if X.isna().any(axis=None):
                continue
            complete.append(f"{name}_numbers")
            target = read_target(y, len(y))
            hazard = nelson_aalen(target, np.ones(len(y))).row_hazard(target)
            table = numbers(X).assign(time=y["time"], event=event, hazard=hazard)
            write(folder, complete[-1], table)
        (folder / "ctree.txt").write_text("\n".join(TABLES) + "\n")
        (folder / "rpart.txt").write_text("\n".join(complete) + "\n")
        subprocess.run(["Rscript", HERE / "reference.R", folder], check=True)
        reference = json.loads((folder / "reference.json").read_text())
    reference["rpart"] = {
        name.removesuffix("_numbers"): found for name, found in reference["rpart"].items()
    }
    keep("reference.json.gz", reference)


def make_default_trees() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        text = AUDITS.read_text()
        functions = re.findall(r"```r\n(write_.*?\n}\n)", text, flags=re.DOTALL)
        (folder / "write.R").write_text("\n".join(functions))
        for name, load in TABLES.items():
            X, y = load()
            write(folder, name, X.assign(time=y["time"], event=y["event"].astype(int)))
        subprocess.run(["Rscript", HERE / "default_trees.R", folder, *TABLES], check=True)
        for package in ("rpart", "partykit"):
            found = {
                name: json.loads((folder / f"{name}.{package}.json").read_text()) for name in TABLES
            }
            keep(f"default_{package}.json.gz", found)


if __name__ == "__main__":
    MAKE = {
        "default trees": make_default_trees,
        "curves": make_curves,
        "incidence": make_incidence,
        "cox": make_cox,
        "effects": make_effects,
        "hazard_ratios": make_hazard_ratios,
        "optimism": make_optimism,
        "restricted": make_restricted,
        "smooth": make_smooth,
        "tied": make_tied,
        "start_stop": make_start_stop,
        "trees": make_trees,
    }
    for part in sys.argv[1:] or MAKE:
        MAKE[part]()

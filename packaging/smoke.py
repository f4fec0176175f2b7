"""A smoke test of an installed surtree, run outside of its sources: it does what it is for.

It needs no more than the package itself; the command line is tried where its extra is installed.
"""

import importlib.metadata
import importlib.util
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import numpy as np

import surtree
from surtree import SurTree, SurTreeCV
from surtree.export import export_python


def main() -> None:
    """Import, fit, predict, save and load, and run the command line."""
    home, site = Path(surtree.__file__).resolve(), Path(sysconfig.get_path("platlib")).resolve()
    assert site in home.parents, f"not the installed package: {home}"
    assert surtree.__version__ == importlib.metadata.version("surtree")

    random = np.random.default_rng(0)
    X = random.random((400, 5))
    X[::7, 3] = np.nan
    high = (X[:, 0] > 0.5) & (X[:, 1] > 0.5)
    time = random.exponential(np.where(high, 1.0, 8.0))
    y = np.array([(t < 6, min(t, 6.0)) for t in time], dtype=[("event", bool), ("time", float)])

    model = SurTree(max_depth=3, max_splits=2).fit(X, y)
    assert model.status_ == "optimal"
    assert {cut.column for cut in model.tree_.cuts} == {0, 1}, model.tree_
    risk = model.predict(X)
    assert risk[high].mean() > 2 * risk[~high].mean()
    assert 0 < model.predict_survival_function(X)[0](2.0) < 1
    assert SurTreeCV(max_depth=2, cv=3).fit(X, y).held_out_.mean("concordance") > 0.6
    namespace: dict[str, object] = {}
    exec(export_python(model, value="risk"), namespace)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save(path)
        assert np.array_equal(SurTree.load(path).predict(X), risk)
        said = _run_command_line(Path(folder))
    print(f"surtree {surtree.__version__} on Python {sys.version.split()[0]}: {said}")


def _run_command_line(folder: Path) -> str:
    if not all(importlib.util.find_spec(name) for name in ("polars", "rich", "typer")):
        return "the package works"
    command = shutil.which("surtree", path=sysconfig.get_path("scripts"))
    assert command, "there is no command surtree"
    subprocess.run([command, "demo", "demo"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    assert (folder / "demo" / "report.html").is_file()
    return "the package and its command line work"


if __name__ == "__main__":
    main()

"""Any file that surtree writes, as the object that it was."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from surtree._support.json_file import damaged, parse_json
from surtree._support.schema import format_and_version
from surtree.averages.bag import SurTreeBag
from surtree.averages.bag_file import FORMAT as BAG
from surtree.averages.bayes import SurTreeBayes
from surtree.averages.bayes_file import FORMAT as BAYES
from surtree.averages.points import PointsTable
from surtree.averages.points_file import FORMAT as POINTS
from surtree.averages.taught import TaughtTree
from surtree.estimators.causes import CompetingRisksTree
from surtree.estimators.effects import EffectTree
from surtree.estimators.tree import SurTree
from surtree.tree.tree import FORMAT as TREE
from surtree.tree.tree import Tree

# The parameter that only models of a class have.
_OWN_PARAMETERS: dict[str, type[SurTree]] = {
    "causes": CompetingRisksTree,
    "min_events_arm": EffectTree,
    "prior_events": TaughtTree,
}


def load(path: str | os.PathLike[str]) -> SurTree | SurTreeBag | SurTreeBayes | PointsTable | Tree:
    """Return the model of a file, whatever kind of model it is.

    Parameters
    ----------
    path : str or path
        What a ``save`` of any model wrote, `surtree fit --model`, or `export_json`. No code in it
        is run, so it may come from anywhere.

    Returns
    -------
    SurTree, any other model, or Tree
        An object of the class that wrote the file; of a `SurTreeCV` the tree that it chose, and of
        `export_json` the tree alone. A file that was edited since has the ``status_`` "edited", as
        in `SurTree.load`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import surtree
    >>> from surtree.datasets import load_melanoma
    >>> X, y = load_melanoma()
    >>> with TemporaryDirectory() as directory:
    ...     surtree.CompetingRisksTree(max_depth=1).fit(X, y).save(Path(directory) / "model.json")
    ...     model = surtree.load(Path(directory) / "model.json")
    >>> model
    CompetingRisksTree(max_depth=1)
    """
    file = Path(path)
    saved = parse_json(file)
    kind = format_and_version(saved)[0]
    if kind == BAG:
        return SurTreeBag.load(file)
    if kind == BAYES:
        return SurTreeBayes.load(file)
    if kind == POINTS:
        return PointsTable.load(file)
    if kind == TREE:
        try:
            return Tree.from_dict(saved)
        except ValueError as error:
            raise damaged(file, error) from None
    parameters = saved.get("parameters") if isinstance(saved, dict) else None
    names = parameters if isinstance(parameters, Mapping) else ()
    # Of any other file, SurTree says what is wrong with it.
    model_type = next((_OWN_PARAMETERS[name] for name in _OWN_PARAMETERS if name in names), SurTree)
    return model_type.load(file)

"""The models that most tables want to see side by side."""

from __future__ import annotations

from typing import Any

from surtree.averages.bayes import SurTreeBayes
from surtree.averages.points import PointsTable
from surtree.averages.taught import TaughtTree
from surtree.estimators.tree import SurTree
from surtree.model_selection.cv import SurTreeCV


def usual_models(first: str = "taught tree", *, max_depth: int = 3) -> dict[str, Any]:
    """Return the models of this package with their names, to `compare` them on a table.

    The Cox model has a ridge penalty and no trees: a `SurTreeBayes` of depth 0 with
    ``cox="offset"``.

    Parameters
    ----------
    first : str, default="taught tree"
        Which of them comes first, as what the others are compared with.
    max_depth : int, default=3
        The depth of the trees.

    Examples
    --------
    >>> from surtree import usual_models
    >>> list(usual_models("score card"))[:4]
    ['score card', 'taught tree', 'tuned tree', 'Cox model']
    """
    models: dict[str, Any] = {
        "taught tree": TaughtTree(max_depth),
        "tuned tree": SurTreeCV(max_depth),
        "Cox model": SurTreeBayes(0, 1, cox="offset"),
        "score card": PointsTable(),
        "average over all trees": SurTreeBayes(),
        "one curve for all": SurTree(0),
    }
    if first not in models:
        raise ValueError(f"first must be one of {', '.join(map(repr, models))}; got {first!r}.")
    return {first: models[first]} | models

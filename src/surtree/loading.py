"""Any file that surtree writes, as the object that it was."""

from __future__ import annotations

import os
from pathlib import Path

from surtree._support.json_file import damaged, format_and_version, parse_json
from surtree.estimators.saved import SavedEstimator, class_of
from surtree.estimators.tree import SurTree
from surtree.tree.tree import FORMAT as TREE
from surtree.tree.tree import Tree


def load(path: str | os.PathLike[str]) -> SavedEstimator | Tree:
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
    format_ = format_and_version(saved)[0]
    if format_ == TREE:
        try:
            return Tree.from_dict(saved)
        except ValueError as error:
            raise damaged(file, error) from None
    parameters = saved.get("parameters") if isinstance(saved, dict) else None
    # SurTree says what is wrong with a file that no class has written.
    return (class_of(format_, parameters) or SurTree).load(file)

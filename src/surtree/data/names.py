"""What columns are called: by texts, as scikit-learn wants it, or by numbers and other labels.

scikit-learn remembers names only if all are texts, in ``feature_names_in_``. Other labels of a
pandas frame are remembered here, as texts, so that rules say what people call the columns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.utils.validation import validate_data

# Where an estimator remembers labels that are no texts.
_LABELS = "_column_labels"


def check_names(estimator: Any, frame: Any, *, reset: bool) -> None:
    """Remember the names of a data frame, or require them to be those of training."""
    in_pandas = nw.dependencies.is_pandas_dataframe(frame)
    if in_pandas and not frame.columns.is_unique:
        _refuse_equal_names(frame.columns.tolist())
    if nw.dependencies.is_pyarrow_table(frame) and len(set(frame.column_names)) < frame.num_columns:
        _refuse_equal_names(frame.column_names)
    labels = _labels(frame.columns.tolist()) if in_pandas else None
    if not (in_pandas and reset and _remember_texts(estimator, frame)):
        try:
            validate_data(estimator, frame, reset=reset, skip_check_array=True)
        except ValueError as error:
            raise ValueError(_with_remedy(str(error), estimator, frame)) from None
    if labels is None:
        return
    if reset:
        setattr(estimator, _LABELS, labels)
    else:
        _require_labels(estimator, labels)


def forget_labels(estimator: Any) -> None:
    vars(estimator).pop(_LABELS, None)


def column_names(estimator: Any) -> tuple[str, ...]:
    """Return what the columns of a fitted estimator are called in rules."""
    return names_in_rules(estimator, estimator.n_features_in_)[0]


def names_in_rules(estimator: Any, n_columns: int) -> tuple[tuple[str, ...], bool, bool]:
    """Return the names of columns, whether the user gave them, and whether all are texts."""
    given = getattr(estimator, "feature_names_in_", None)
    if given is not None:
        return tuple(given), True, True
    labels = own_labels(estimator)
    if labels is not None:
        return labels, True, False
    return tuple(f"x{index}" for index in range(n_columns)), False, True


def own_labels(estimator: Any) -> tuple[str, ...] | None:
    """Return the labels that are no texts, unless they only count the columns from zero."""
    labels: tuple[str, ...] | None = getattr(estimator, _LABELS, None)
    return None if labels is None or labels == _labels(range(len(labels))) else labels


def remember_columns(
    estimator: Any, names: tuple[str, ...], *, named: bool, texts: bool = True
) -> None:
    """Let an estimator know columns that another one has read."""
    known = _attributes(len(names), names if named else None, texts=texts)
    for name, value in known.items():
        setattr(estimator, name, value)


def copy_columns(source: Any, estimator: Any) -> None:
    """Let an estimator know the columns that another one has read, with labels of any kind."""
    for name in ("n_features_in_", "feature_names_in_", _LABELS):
        if hasattr(source, name):
            setattr(estimator, name, getattr(source, name))


def save_columns(estimator: Any) -> dict[str, Any]:
    """Return the columns that an estimator knows, as JSON can hold them."""
    names, named, texts = names_in_rules(estimator, estimator.n_features_in_)
    saved = {"columns": list(names) if named else None, "n_columns": len(names)}
    return saved if texts else saved | {"columns_are_texts": False}


def load_columns(saved: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of an estimator that knows the columns that `save_columns` saved."""
    texts = saved.get("columns_are_texts", True)
    return _attributes(saved["n_columns"], saved["columns"], texts=texts)


def _attributes(n_columns: int, names: Sequence[str] | None, *, texts: bool) -> dict[str, Any]:
    count = {"n_features_in_": n_columns}
    if names is None:
        return count
    if not texts:
        return count | {_LABELS: tuple(names)}
    return count | {"feature_names_in_": np.array(names, dtype=object)}


def _labels(names: Any) -> tuple[str, ...] | None:
    """Return labels as texts; None where one of them is a text, which scikit-learn judges."""
    if not len(names) or any(isinstance(name, str) for name in names):
        return None
    joined = tuple(
        "_".join(part for part in map(str, name) if part) if isinstance(name, tuple) else str(name)
        for name in names
    )
    return joined if len(set(joined)) == len(joined) else tuple(map(str, names))


def _require_labels(estimator: Any, labels: tuple[str, ...]) -> None:
    known = getattr(estimator, _LABELS, labels)
    for index, (label, expected) in enumerate(zip(labels, known, strict=True)):
        if label != expected:
            raise ValueError(
                f"Column {index} of X (counted from 0) is {label}, but {type(estimator).__name__} "
                f"was fitted with {expected} there: pass the columns of the training table, in "
                "their order, or X.to_numpy() if their positions are right."
            )


def _remember_texts(estimator: Any, frame: Any) -> bool:
    """Store the names as scikit-learn does; return False if scikit-learn must check them."""
    names = frame.columns.tolist()
    if not names or not all(isinstance(name, str) for name in names):
        return False
    estimator.feature_names_in_ = np.array(names, dtype=object)
    estimator.n_features_in_ = len(names)
    return True


def _with_remedy(message: str, estimator: Any, frame: Any) -> str:
    """Return a message of scikit-learn's, and what to do where all columns are there."""
    known = getattr(estimator, "feature_names_in_", None)
    in_pandas = nw.dependencies.is_pandas_dataframe(frame)
    columns = frame.column_names if nw.dependencies.is_pyarrow_table(frame) else frame.columns
    if known is None or not set(known) <= set(columns):
        return message
    remedy = "X[{}]" if in_pandas else "X.select({}.tolist())"
    return f"{message.rstrip()}\nPass " + remedy.format("model.feature_names_in_")


def _refuse_equal_names(names: list[Any]) -> None:
    name, times = Counter(map(str, names)).most_common(1)[0]
    raise ValueError(
        f"X has {times} columns of the name {name!r}: give each column a name of its own"
    )

"""A tree as an ONNX graph of comparisons: exact in double precision, missing values included."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from surtree._support.json_file import text
from surtree._support.package import VERSION
from surtree._support.parameters import LeafCurveKind
from surtree.cuts.cut import Cut
from surtree.export._tree import LeafValue, leaf_values, membership, named_tree, value_title
from surtree.survival.step_function import BeyondFollowUpWarning
from surtree.tree.tree import Tree
from surtree.words.quoting import pattern_text

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

# The first operator set with regular expressions, of 2023, and the format of files of that time.
_OPSET, _IR_VERSION = 20, 9

OnnxValue = Literal["leaf", "risk", "median", "effect", "survival", "incidence"]
ONNX_VALUES: tuple[OnnxValue, ...] = get_args(OnnxValue)
_AT_TIMES = ("survival", "incidence")


def export_onnx(
    model: Any,
    *,
    value: OnnxValue | Sequence[OnnxValue] | Mapping[int, float] = "risk",
    times: Iterable[float] | None = None,
    feature_names: Sequence[str] | None = None,
    leaf_curve: LeafCurveKind | None = None,
    cause: int | None = None,
) -> ModelProto:
    """Return a tree as an ONNX model, for any program with an ONNX runtime.

    The model has an input for each column that the tree asks about, by its name and of shape
    (n_rows, 1): double precision for numbers, with NaN where a value is missing; booleans as 0 and
    1; and texts for categories that are texts, with an empty text where a value is missing. A
    category that training never had counts as missing. Every row falls in the same leaf as with
    ``apply``, also at the thresholds. A tree of a single leaf has no input, and says one row.

    Parameters
    ----------
    model : fitted estimator or Tree
        A model of this package, a pipeline that ends in one, or its ``tree_``.
    value : str, sequence of str or mapping, default="risk"
        What the model gives, an output for each: "risk", the hazard relative to the baseline, as
        `SurTree.predict`; "survival" at ``times``, as `predict_survival_function`; "incidence", of
        a model of competing risks, the cumulative incidence of a cause at ``times``; "median", the
        median survival, infinity where it is not reached; "leaf", the number of the leaf, as
        `SurTree.apply`; "effect", of a model of effects, the hazard ratio of its two arms; or,
        from a mapping of leaves, a number of your own. Not a number (NaN) is what is not known:
        survival after the last follow-up of a leaf, or an effect without events.
    times : iterable of float, optional
        With "survival" and "incidence": the times, zero or later. The output has a column for
        each, in their order.
    feature_names : sequence of str, optional
        What the columns of the training table are called in the model, if not the same.
    leaf_curve : {"baseline", "kaplan-meier", "shrunk", "breslow"}, optional
        Which curve survival, incidence and median are read off; by default the one that the model
        predicts with.
    cause : int, optional
        Of a model of competing risks, the cause whose risk or incidence is given; by default its
        main cause.

    Returns
    -------
    onnx.ModelProto
        ``onnx.save`` writes it to a file. Outputs are named by their value, and of shape
        (n_rows, 1) or (n_rows, n_times).

    Examples
    --------
    >>> import numpy as np
    >>> import onnxruntime
    >>> from surtree import SurTree
    >>> from surtree.datasets import load_gbsg2
    >>> from surtree.export import export_onnx
    >>> model = SurTree(max_depth=1).fit(*load_gbsg2())
    >>> exported = export_onnx(model, value=["risk", "survival"], times=[365, 730])
    >>> session = onnxruntime.InferenceSession(exported.SerializeToString())
    >>> risk, survival = session.run(None, {"positive_nodes": np.array([[1.0], [5.0]])})
    >>> risk.ravel().round(3).tolist()
    [0.635, 1.614]
    >>> survival.shape
    (2, 2)
    """
    _require_onnx()
    from onnx import TensorProto, checker, helper, numpy_helper

    tree = named_tree(model, feature_names)
    asked = None if times is None else [float(time) for time in times]
    outputs = _outputs(tree, value, asked, leaf_curve, cause)
    graph = _Graph(tree)
    nodes = [
        helper.make_tensor_value_info(
            name, TensorProto.STRING if on_text else TensorProto.DOUBLE, ["n_rows", 1]
        )
        for name, on_text in graph.inputs.items()
    ]
    results = []
    for name, by_leaf in outputs.items():
        title = name
        while title in graph.inputs:
            title += "_output"
        graph.give(title, by_leaf)
        some = next(iter(by_leaf.values()))
        n_rows = "n_rows" if graph.inputs else 1
        kind = helper.np_dtype_to_tensor_dtype(some.dtype)
        results.append(helper.make_tensor_value_info(title, kind, [n_rows, some.shape[1]]))
    made = helper.make_graph(
        graph.nodes,
        "surtree",
        nodes,
        results,
        [numpy_helper.from_array(array, name) for name, array in graph.constants.items()],
    )
    exported = helper.make_model(
        made,
        producer_name="surtree",
        producer_version=VERSION,
        opset_imports=[helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
        doc_string=_description(tree, outputs, asked or [], leaf_curve, cause),
    )
    checker.check_model(exported)
    return exported


def _require_onnx() -> None:
    if find_spec("onnx") is None:
        raise ImportError(
            'The ONNX export needs onnx, which is not installed: pip install "surtree[onnx]".'
        )


def _outputs(
    tree: Tree,
    value: OnnxValue | Sequence[OnnxValue] | Mapping[int, float],
    times: list[float] | None,
    leaf_curve: LeafCurveKind | None,
    cause: int | None,
) -> dict[str, dict[int, NDArray[Any]]]:
    """Return what each output says of each leaf: a line of numbers."""
    if isinstance(value, Mapping):
        asked: tuple[Any, ...] = (value,)
    else:
        asked = (value,) if isinstance(value, str) else tuple(value)
        wrong = next((one for one in asked if one not in ONNX_VALUES), None)
        if wrong is not None or not asked or len(set(asked)) < len(asked):
            raise ValueError(
                f"value must be one of {ONNX_VALUES}, several different ones, or a mapping of "
                f"leaves to numbers; got {value!r}."
            )
    at_times = [one for one in asked if one in _AT_TIMES]
    if bool(at_times) is (times is None):
        raise ValueError(
            'times are missing: value="survival" and value="incidence" are at some times.'
            if at_times
            else 'times go with value="survival" and value="incidence".'
        )
    if cause is not None and not {"risk", "incidence"} & set(map(str, asked)):
        raise ValueError('A cause has a risk and an incidence: it goes with value="risk".')
    if at_times and not times:
        raise ValueError("times is empty: give at least one time.")
    wrong_time = next((time for time in times or () if not 0 <= time < math.inf), None)
    if wrong_time is not None:
        raise ValueError(f"times must be zero or later, and finite; got {wrong_time!r}.")
    return {
        "value" if isinstance(one, Mapping) else one: (
            _at(tree, one, np.array(times), leaf_curve, cause)
            if one in at_times
            else _single(tree, one, leaf_curve, cause if one == "risk" else None)
        )
        for one in asked
    }


def _single(
    tree: Tree, value: Any, leaf_curve: LeafCurveKind | None, cause: int | None
) -> dict[int, NDArray[Any]]:
    values = leaf_values(tree, value, leaf_curve, cause)
    unknown = math.inf if value == "median" else math.nan
    if any(isinstance(one, str) for one in values.values()):
        raise TypeError("The values of leaves in an ONNX model are numbers, not texts.")
    kind = np.int64 if value == "leaf" else np.float64
    return {
        leaf: np.array([[unknown if one is None else one]], dtype=kind)
        for leaf, one in values.items()
    }


def _at(
    tree: Tree,
    value: str,
    times: NDArray[np.float64],
    leaf_curve: LeafCurveKind | None,
    cause: int | None,
) -> dict[int, NDArray[Any]]:
    curves = tree.outcome.step_functions(value, leaf_curve, cause)
    with warnings.catch_warnings():
        # After the follow-up nothing is known, and the model says so by NaN.
        warnings.simplefilter("ignore", BeyondFollowUpWarning)
        return {
            leaf: np.asarray(curve(times), dtype=np.float64).reshape(1, -1)
            for leaf, curve in zip(tree.leaves.tolist(), curves, strict=True)
        }


class _Graph:
    """The nodes of a graph, with the answer to each question of a tree."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.nodes: list[NodeProto] = []
        self.constants: dict[str, NDArray[Any]] = {}
        self.inputs = _inputs(tree)
        # Every tensor has a name of its own: no column is called as those within the graph.
        self._within = "surtree"
        while any(name.startswith(f"{self._within}/") for name in self.inputs):
            self._within += "_"
        self._answers = {
            node: self._answer(node, tree.question(node))
            for node in np.flatnonzero(~tree.is_leaf).tolist()
        }

    def give(self, name: str, by_leaf: Mapping[int, NDArray[Any]]) -> None:
        """Add an output: the line of the leaf that each row falls in."""

        def line(node: int) -> str:
            here = name if node == 0 else f"{self._within}/{name}/{node}"
            if self.tree.is_leaf[node]:
                constant = self._constant(f"{self._within}/{name}/leaf{node}", by_leaf[node])
                return constant if node else self._add("Identity", [constant], name)
            right, left = line(int(self.tree.right[node])), line(int(self.tree.left[node]))
            return self._add("Where", [self._answers[node], right, left], here)

        line(0)

    def _answer(self, node: int, cut: Cut) -> str:
        """Add the answer to a question; a number is missing where it does not equal itself."""
        path = f"{self._within}/question{node}"
        cell = cut.name
        if cut.threshold is not None:
            threshold = self._constant(f"{path}/threshold", np.array(cut.threshold))
            if not cut.missing:
                return self._add("Greater", [cell, threshold], path)
            below = self._add("LessOrEqual", [cell, threshold], f"{path}/below")
            return self._add("Not", [below], path)
        members = membership(cut)
        if members is None:
            return self._missing(path, cut)
        inside, categories = members
        is_listed = self._any_of(f"{path}/listed", cut, categories)
        answer = is_listed if inside else self._add("Not", [is_listed], f"{path}/others")
        if cut.known is not None:
            return answer  # a missing value is like a category that training never had
        # Listed or not, a missing value goes where the question sends it.
        missing = self._missing(f"{path}/missing", cut)
        if cut.missing:
            return self._add("Or", [answer, missing], path)
        present = self._add("Not", [missing], f"{path}/present")
        return self._add("And", [answer, present], path)

    def _missing(self, path: str, cut: Cut) -> str:
        if cut.on_text:
            return self._match(path, cut.name, "")
        same = self._add("Equal", [cut.name, cut.name], f"{path}/same")
        return self._add("Not", [same], path)

    def _any_of(self, path: str, cut: Cut, categories: tuple[Any, ...]) -> str:
        if cut.on_text:
            return self._match(path, cut.name, "|".join(map(pattern_text, categories)))
        answers = [
            self._add(
                "Equal",
                [cut.name, self._constant(f"{path}/{k}/value", np.array(float(category)))],
                f"{path}/{k}",
            )
            for k, category in enumerate(categories)
        ]
        while len(answers) > 1:
            *others, one, two = answers
            answers = [*others, self._add("Or", [one, two], f"{path}/any{len(others)}")]
        return answers[0]

    def _match(self, path: str, cell: str, pattern: str) -> str:
        """Add whether a text is one of some, whatever blanks are around it."""
        return self._add("RegexFullMatch", [cell], path, pattern=f" *(?:{pattern}) *")

    def _constant(self, name: str, array: NDArray[Any]) -> str:
        self.constants[name] = array
        return name

    def _add(self, operator: str, inputs: list[str], name: str, **attributes: Any) -> str:
        from onnx import helper

        self.nodes.append(helper.make_node(operator, inputs, [name], name, **attributes))
        return name


def _inputs(tree: Tree) -> dict[str, bool]:
    """Return whether each column that the tree asks about holds texts, by its name."""
    by_name: dict[str, Cut] = {}
    for cut in tree.cuts:
        if not cut.name:
            raise ValueError(
                f"Column {cut.column} (counted from 0) has an empty name, and ONNX has no such "
                "input: pass feature_names."
            )
        same = by_name.setdefault(cut.name, cut)
        text(cut.name, "The name of a column")
        for category in (*(cut.categories or ()), *cut.others) if cut.on_text else ():
            text(category, f"A category of {cut.name!r}")
        if same.column != cut.column:
            raise ValueError(
                f"Columns {same.column} and {cut.column} (counted from 0) are both called "
                f"{cut.name!r}: pass feature_names."
            )
    return {name: cut.on_text for name, cut in by_name.items()}


def _description(
    tree: Tree,
    outputs: Mapping[str, Any],
    times: list[float],
    leaf_curve: LeafCurveKind | None,
    cause: int | None,
) -> str:
    titles = []
    for name in outputs:
        if name in get_args(LeafValue):
            titles.append(value_title(tree, name, leaf_curve, cause if name == "risk" else None))  # type: ignore[arg-type]
        elif name in _AT_TIMES:
            titles.append(f"{name} at {', '.join(f'{time:g}' for time in times)}")
        else:
            titles.append(name)
    return f"A survival tree: {'; '.join(titles)}.\n{tree}"

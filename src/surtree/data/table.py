"""Any data frame or array as a table of typed columns, each read at its first access."""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, replace
from decimal import Decimal
from functools import cached_property, partial
from itertools import groupby, repeat
from typing import Any, Literal

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import validate_data

from surtree.data.named import require_in_memory
from surtree.data.names import check_names, forget_labels, names_in_rules

Kind = Literal["numeric", "boolean", "categorical"]

# Types that convert to NumPy arrays as a whole, not cell by cell.
_PLAIN = (
    *(nw.Float64, nw.Float32, nw.Int64, nw.Int32, nw.Int16, nw.Int8),
    *(nw.UInt64, nw.UInt32, nw.UInt16, nw.UInt8, nw.Boolean),
)
# Stripped from both ends of a text. Tabs and line breaks stay, as with TRIM in SQL.
_BLANK = " "
# As many columns of numbers are read as one array, whatever is beside them.
_WORTH_ONE_ARRAY = 50
# A frame of more cells is not copied as a whole.
_MOST_COPIED = 20_000_000
_DATES = datetime.date | datetime.time | datetime.timedelta | np.datetime64 | np.timedelta64


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a table, as numbers."""

    name: str  # what the user calls the column
    kind: Kind  # how its values are to be read
    # Numeric and boolean: the numbers, NaN where missing. Categorical: positions in ``categories``,
    # -1 where missing.
    values: NDArray[Any]
    # The texts, without blanks at their ends, or numbers that a categorical column can hold.
    categories: tuple[Any, ...] = ()
    ordered: bool = False  # whether the order of the categories means something

    @cached_property
    def missing(self) -> NDArray[np.bool_]:
        """Which rows have no value."""
        if self.kind == "categorical":
            return np.asarray(self.values < 0)
        return np.asarray(np.isnan(self.values))

    @cached_property
    def has_missing(self) -> bool:
        """Whether some row has no value."""
        return bool(self.missing.any())

    @cached_property
    def known(self) -> tuple[Any, ...] | None:
        """The categories that some row has; of an ordered column all, as each has its place.

        None where the column has no categories.
        """
        if self.kind != "categorical" or self.ordered:
            return self.categories or None
        present = np.bincount(self.values[~self.missing], minlength=len(self.categories)) > 0
        return tuple(name for name, held in zip(self.categories, present, strict=True) if held)


@dataclass(eq=False, repr=False)
class Table:
    """The columns of a table, each read at its first access."""

    names: tuple[str, ...]
    n_rows: int
    read: Callable[[int], Column]
    _: KW_ONLY
    named: bool
    texts: bool = True  # whether all names are texts
    numbers: NDArray[Any] | None = None  # the columns that are plain numbers, where they are
    number_places: Sequence[int] | None = None
    views: frozenset[int] = frozenset()  # columns of numbers that are read without a copy
    library: str = "numpy"

    def __post_init__(self) -> None:
        positions = range(len(self.names)) if self.number_places is None else self.number_places
        self.line_of = {} if self.numbers is None else {each: k for k, each in enumerate(positions)}
        self._columns: dict[int, Column] = {}

    @property
    def n_columns(self) -> int:
        return len(self.names)

    def column(self, index: int) -> Column:
        if index not in self._columns:
            self._columns[index] = _require_finite(self.read(index))
        return self._columns[index]

    def take(self, rows: NDArray[np.intp]) -> Table:
        if self.numbers is not None and len(self.line_of) == self.n_columns:
            return _array_table(self.names, self.numbers[rows], named=self.named, texts=self.texts)
        columns = tuple(
            replace(column, values=column.values[rows])
            for column in map(self.column, range(self.n_columns))
        )
        return Table(self.names, len(rows), columns.__getitem__, named=self.named, texts=self.texts)

    def renamed(self, names: tuple[str, ...]) -> Table:
        return Table(
            names,
            self.n_rows,
            lambda index: replace(self.column(index), name=names[index]),
            named=True,
            numbers=self.numbers,
            number_places=sorted(self.line_of),
        )


def read_table(estimator: Any, X: Any, *, reset: bool) -> Table:
    """Read a data frame or an array, and check it as scikit-learn does."""
    if isinstance(X, Mapping) and not issparse(X):  # some sparse matrices are dicts
        raise ValueError(
            f"X is a {type(X).__name__} of {len(X)} columns: make a data frame of it, as with "
            "pandas.DataFrame(X)"
        )
    require_in_memory(X, type(estimator).__name__)
    library = "numpy"
    # pandas frames are read directly: narwhals takes longer than reading a small table.
    in_pandas = nw.dependencies.is_pandas_dataframe(X)
    if reset:
        forget_labels(estimator)
    if in_pandas or nw.dependencies.is_into_dataframe(X):
        check_names(estimator, X, reset=reset)
        frame = X if in_pandas else nw.from_native(X, eager_only=True)
        library = "pandas" if in_pandas else str(frame.implementation)
        _require_cells(*frame.shape)
        names, named, texts = names_in_rules(estimator, frame.shape[1])
        # Fitting reads every column, and one conversion of the frame is faster than many.
        array, numbers, positions = None, None, None
        views: frozenset[int] = frozenset()
        if reset and in_pandas:
            dtypes = frame.dtypes.tolist()
            plain = _plain_numbers(dtypes)
            if plain and frame.size > _MOST_COPIED:
                views = frozenset(plain)
            elif len(plain) == len(dtypes) or all(dtype == np.bool_ for dtype in dtypes):
                array = frame.to_numpy()
                array = array if array.dtype.kind in "iufb" else None
            elif len(plain) >= _WORTH_ONE_ARRAY:
                positions = plain
                numbers = frame.iloc[:, plain].to_numpy(dtype=np.float64)
        elif reset:
            array = _frame_array(frame)
        if array is None:
            read_one = read_pandas_series if in_pandas else read_series
            read = partial(_read_column, read_one, frame, list(frame.columns), names)
            known: Any = {"named": named, "texts": texts, "library": library}
            known |= {"numbers": numbers, "number_places": positions, "views": views}
            return Table(names, len(frame), read, **known)
    else:
        array = validate_data(
            estimator, _as_array(X), reset=reset, dtype=None, ensure_all_finite=False
        )
        names, named, texts = names_in_rules(estimator, array.shape[1])
    return _array_table(names, array, named=named, texts=texts, library=library)


def _array_table(names: tuple[str, ...], array: NDArray[Any], **known: Any) -> Table:
    numbers = array if array.dtype.kind in "iuf" else None
    return Table(
        names, len(array), lambda k: read_array(names[k], array[:, k]), numbers=numbers, **known
    )


def _read_column(
    read: Callable[[str, Any], Column], frame: Any, columns: list[Any], names: Any, index: int
) -> Column:
    return read(names[index], frame[columns[index]])


def read_pandas_series(name: str, series: Any) -> Column:
    dtype = series.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "iufb":
        return read_array(name, series.to_numpy())
    # By name, because pandas need not be installed.
    kind = type(dtype).__name__
    texts: list[Any] = []
    if kind == "CategoricalDtype" and not dtype.ordered:
        codes, texts = series.array.codes, dtype.categories.tolist()
        if not np.bincount(codes + 1, minlength=len(texts) + 1)[1:].all():  # some have no row
            codes, present = series.array.factorize()
            texts = present.tolist()
    elif kind == "StringDtype" or (isinstance(dtype, np.dtype) and isinstance(series.iloc[0], str)):
        with suppress(TypeError):  # of cells that are no texts and cannot be told apart
            codes, present = series.array.factorize()
            texts = present.tolist()
    if texts and all(isinstance(text, str) for text in texts):
        return read_codes(name, codes, texts)
    return read_series(name, nw.from_native(series, series_only=True))


def _plain_numbers(dtypes: list[Any]) -> list[int]:
    """Return the positions of the columns of plain numbers."""
    return [
        position
        for position, dtype in enumerate(dtypes)
        if isinstance(dtype, np.dtype) and dtype.kind in "iuf"
    ]


def _frame_array(frame: nw.DataFrame[Any]) -> NDArray[Any] | None:
    """Return a frame of another library as an array, if all columns are numbers or booleans."""
    dtypes = set(frame.schema.values())
    if not dtypes.issubset(_PLAIN) or (nw.Boolean in dtypes and len(dtypes) > 1):
        return None
    array = frame.to_numpy()
    return array if array.dtype.kind in "iufb" else None


def _as_array(X: Any) -> Any:
    # NumPy turns the numbers of a list of rows into text as soon as one cell is a text.
    if isinstance(X, Sequence) and np.asarray(X).dtype.kind == "U":
        return np.asarray(X, dtype=object)
    return X


def _require_cells(n_rows: int, n_columns: int) -> None:
    for count, noun in ((n_rows, "sample"), (n_columns, "feature")):
        if count == 0:
            raise ValueError(
                f"Found array with 0 {noun}(s) (shape=({n_rows}, {n_columns})) "
                "while a minimum of 1 is required."
            )


def read_series(name: str, series: nw.Series[Any]) -> Column:
    dtype = series.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        kind: Kind = "boolean" if dtype == nw.Boolean else "numeric"
        values = series.to_numpy() if dtype in _PLAIN else None
        if values is None or values.dtype.kind == "O":  # such as booleans some of which miss
            values = series.cast(nw.Float64).to_numpy()
        return Column(name, kind, np.ascontiguousarray(values, dtype=np.float64))
    if dtype.is_temporal():
        raise _dates(name)
    if isinstance(dtype, nw.Enum):
        categories = tuple(dtype.categories)
        return read_codes(name, _codes(series.to_list(), categories), categories, ordered=True)
    cells = series.to_list()
    if isinstance(dtype, nw.Categorical):
        present = [cell for cell in set(cells) if not _is_missing(cell)]
        return read_codes(name, _codes(cells, present), present)
    return _from_cells(name, cells)


def read_array(name: str, array: NDArray[Any]) -> Column:
    if array.dtype.kind == "b":
        return Column(name, "boolean", array.astype(np.float64))
    if array.dtype.kind in "iuf":
        return Column(name, "numeric", np.ascontiguousarray(array, dtype=np.float64))
    if array.dtype.kind in "mM":
        raise _dates(name)
    return _from_cells(name, array.tolist())


def _require_finite(column: Column) -> Column:
    if column.kind != "numeric":
        return column
    infinite = np.isinf(column.values)
    if infinite.any():
        raise infinite_values(column.name, int(infinite.sum()), infinite.size)
    return column


def infinite_values(name: str, n_infinite: int, n_rows: int) -> ValueError:
    """Return the error of a column that holds infinity."""
    return ValueError(
        f"Column {name!r} holds infinity (inf) in {n_infinite} of {n_rows} rows: replace it by a "
        "number, or by a missing value (NaN)"
    )


def _from_cells(name: str, cells: list[Any]) -> Column:
    """Read cells of any types, as a column of text or of Python objects holds them."""
    if set(map(type, cells)) <= {str, type(None)}:  # the common case, and fast
        texts = list(set(cells) - {None})
        if texts:
            return read_codes(name, _codes(cells, texts), texts)
    holes = np.fromiter(map(_is_missing, cells), dtype=bool, count=len(cells))
    present = [cell for cell, hole in zip(cells, holes, strict=True) if not hole]
    families = {_family(name, cell_type) for cell_type in set(map(type, present))}
    if len(families) > 1:
        raise _mixed(name, present)
    if families == {"text"}:
        texts = list(set(present))
        return read_codes(name, _codes(cells, texts), texts)
    values = np.full(len(cells), np.nan)
    try:
        values[~holes] = np.array(present, dtype=np.float64)
    except OverflowError:
        raise ValueError(
            f"Column {name!r} holds a number that is too large: numbers go up to 1.8e308"
        ) from None
    return Column(name, "boolean" if families == {"boolean"} else "numeric", values)


def _codes(cells: list[Any], categories: Sequence[Any]) -> NDArray[np.int32]:
    """Return the position of each cell among the categories, -1 if it is not among them."""
    codes = {category: code for code, category in enumerate(categories)}
    return np.fromiter(map(codes.get, cells, repeat(-1)), dtype=np.int32, count=len(cells))


def read_codes(
    name: str, codes: NDArray[Any], categories: Sequence[Any], *, ordered: bool = False
) -> Column:
    labels = [_label(category) for category in categories]
    present = [label for label in labels if label != ""]
    families = {_family(name, type(label)) for label in present}
    if len(families) > 1:
        raise _mixed(name, present)
    if families == {"boolean"}:
        truth = [np.nan if label == "" else label for label in labels]
        return Column(name, "boolean", np.array([*truth, np.nan], dtype=np.float64)[codes])
    # Libraries order categories differently; sorted, they agree.
    kept = [label for label, _ in groupby(present if ordered else sorted(present))]
    if len(set(kept)) < len(kept):
        raise ValueError(
            f"Column {name!r} has ordered categories that differ by blanks alone and are not next "
            f"to each other: {', '.join(map(repr, categories))}; rename them"
        )
    code_of = {label: code for code, label in enumerate(kept)}
    recoded = np.array([*(code_of.get(label, -1) for label in labels), -1], dtype=np.int32)
    return Column(name, "categorical", recoded[codes], categories=tuple(kept), ordered=ordered)


def _label(category: Any) -> Any:
    # Rules are saved as JSON, so what is neither text nor number (say an interval) becomes text.
    plain = category.item() if isinstance(category, np.generic) else category
    return plain if isinstance(plain, bool | int | float) else str(plain).strip(_BLANK)


def _is_missing(cell: Any) -> bool:
    if isinstance(cell, str):
        return not cell.strip(_BLANK)
    # pandas.NA by name, because pandas need not be installed.
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(cell, float | np.floating | Decimal) and bool(cell != cell)


def _family(name: str, cell_type: type) -> str:
    if issubclass(cell_type, str):
        return "text"
    if issubclass(cell_type, bool | np.bool_):
        return "boolean"
    # Before numbers: NumPy's time differences are integers too. Those of pandas by name.
    if issubclass(cell_type, _DATES) or cell_type.__name__ == "Period":
        raise _dates(name)
    if issubclass(cell_type, numbers.Real | Decimal):
        return "number"
    raise TypeError(
        f"Column {name!r}: argument must be a string or a real number, not {cell_type.__name__!r}; "
        "a cell is a number, a boolean, a text or missing"
    )


def _dates(name: str) -> ValueError:
    return ValueError(
        f"Column {name!r} holds dates or times: turn it into a number first, "
        "such as a year or the days since a fixed date"
    )


def mixed_kinds(name: str, kinds: Iterable[str]) -> ValueError:
    """Return the error of a column whose parts are of different kinds."""
    words = {"numeric": "numbers", "boolean": "booleans", "categorical": "texts"}
    kinds_text = " and ".join(sorted(words[kind] for kind in kinds))
    return ValueError(
        f"Column {name!r} holds {kinds_text}: make all of them numbers, all booleans or all texts"
    )


def _mixed(name: str, cells: Iterable[Any]) -> ValueError:
    types = ", ".join(sorted({type(cell).__name__ for cell in cells}))
    return ValueError(
        f"Column {name!r} mixes values of the types {types}: "
        "make all of them numbers, all booleans or all texts"
    )

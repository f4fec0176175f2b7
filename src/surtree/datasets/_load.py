"""Classic survival tables that come with the package; ``data/SOURCES.md`` says from where."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from importlib.resources import files
from importlib.util import find_spec
from typing import Any, Literal, get_args

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from surtree.data.target_array import make_target

Backend = Literal["pandas", "polars", "pyarrow"]
BACKENDS: tuple[Backend, ...] = get_args(Backend)

Values = Sequence[float | None] | Sequence[str | None]


def make_frame(
    columns: Mapping[str, Values],
    backend: Backend | None,
    ordered: Mapping[str, Sequence[str]] | None = None,
) -> Any:
    """Build a data frame: text becomes categories, None a missing value."""
    backend = _choose(backend)
    orders = ordered if ordered is not None and backend != "pyarrow" else {}
    schema = {name: _type(values, orders.get(name)) for name, values in columns.items()}
    return nw.from_dict(columns, schema, backend=backend).to_native()


def _type(values: Values, order: Sequence[str] | None) -> nw.dtypes.DType:
    if order is not None:
        return nw.Enum(order)
    present = [value for value in values if value is not None]
    if any(isinstance(value, str) for value in present):
        return nw.Categorical()
    # NumPy, and so pandas, has no missing whole number.
    whole = len(present) == len(values) and all(isinstance(value, int) for value in present)
    return nw.Int64() if whole else nw.Float64()


def _choose(backend: Backend | None) -> Backend:
    if backend is None:
        installed = [name for name in BACKENDS if find_spec(name) is not None]
        if not installed:
            raise ImportError(
                "A data set is a data frame, and none of pandas, polars and pyarrow is installed: "
                "install one of them."
            )
        return installed[0]
    if backend not in BACKENDS:
        raise ValueError(f"backend must be one of {', '.join(BACKENDS)}, or None; got {backend!r}.")
    return backend


def load_gbsg2(*, backend: Backend | None = None) -> tuple[Any, NDArray[np.void]]:
    """Load the breast cancer trial GBSG2: days until recurrence or death, 686 women, 299 events.

    Numbers of the German Breast Cancer Study Group (Schumacher et al., Journal of Clinical
    Oncology, 1994), as lifelines distributes them under the MIT licence.

    Parameters
    ----------
    backend : {"pandas", "polars", "pyarrow"}, optional
        Library of the data frame; by default the first of these that is installed.

    Returns
    -------
    X : data frame, shape (686, 8)
        ``age`` (years), ``menopause`` (pre, post), ``hormone_therapy`` (no, yes), ``tumor_size``
        (mm), ``tumor_grade`` (I < II < III), ``positive_nodes`` (number),
        ``progesterone_receptor`` and ``estrogen_receptor`` (fmol).
    y : structured array, shape (686,)
        With the fields ``event`` and ``time``.

    Examples
    --------
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> X.shape, int(y["event"].sum())
    ((686, 8), 299)
    """
    return _load("gbsg2", backend, ordered={"tumor_grade": ("I", "II", "III")})


def load_lung(*, backend: Backend | None = None) -> tuple[Any, NDArray[np.void]]:
    """Load advanced lung cancer: days until death, 228 patients, 165 events, missing values.

    Numbers of the North Central Cancer Treatment Group (Loprinzi et al., Journal of Clinical
    Oncology, 1994), as lifelines distributes them under the MIT licence.

    Parameters
    ----------
    backend : {"pandas", "polars", "pyarrow"}, optional
        Library of the data frame; by default the first of these that is installed.

    Returns
    -------
    X : data frame, shape (228, 7)
        ``age`` (years), ``sex`` (male, female), ``ecog`` (performance, 0 is best),
        ``karnofsky_physician`` and ``karnofsky_patient`` (performance as rated by each, 100 is
        best), ``calories`` (at meals), ``weight_loss`` (pounds in six months). 66 values in the
        last five columns are missing.
    y : structured array, shape (228,)
        With the fields ``event`` and ``time``.

    Examples
    --------
    >>> from surtree.datasets import load_lung
    >>> X, y = load_lung()
    >>> X.shape, int(y["event"].sum())
    ((228, 7), 165)
    """
    return _load("lung", backend)


def load_melanoma(*, backend: Backend | None = None) -> tuple[Any, NDArray[np.void]]:
    """Load malignant melanoma: days until death, of 205 patients 57 of it and 14 of other causes.

    Numbers of Drzewiecki and others (Scandinavian Journal of Plastic and Reconstructive Surgery,
    1980), as the R package boot distributes them without limits on their use.

    Parameters
    ----------
    backend : {"pandas", "polars", "pyarrow"}, optional
        Library of the data frame; by default the first of these that is installed.

    Returns
    -------
    X : data frame, shape (205, 5)
        ``age`` (years, at the operation), ``sex`` (male, female), ``year`` (of the operation),
        ``thickness`` (of the tumour, mm), ``ulcer`` (absent, present).
    y : structured array, shape (205,)
        With the fields ``cause`` (1 for melanoma, 2 for other causes, 0 for a patient who was
        alive) and ``time``.

    Examples
    --------
    >>> import numpy as np
    >>> from surtree.datasets import load_melanoma
    >>> X, y = load_melanoma()
    >>> X.shape, np.bincount(y["cause"]).tolist()
    ((205, 5), [134, 57, 14])
    """
    columns = _read("melanoma")
    y = np.empty(len(columns["time"]), dtype=[("cause", np.int64), ("time", np.float64)])
    for name in ("cause", "time"):
        y[name] = np.array(columns.pop(name), dtype=y.dtype[name])
    return _frame(columns, backend), y


def load_regimes(*, backend: Backend | None = None) -> tuple[Any, NDArray[np.void]]:
    """Load the years that governments lasted, 1946-2008: 1808 spells, 1468 ends observed.

    Numbers of Cheibub, Gandhi and Vreeland (Public Choice, 2010), as lifelines distributes them
    under the MIT licence. Times are whole years, so nearly all are tied.

    Parameters
    ----------
    backend : {"pandas", "polars", "pyarrow"}, optional
        Library of the data frame; by default the first of these that is installed.

    Returns
    -------
    X : data frame, shape (1808, 5)
        ``continent`` (5 names), ``region`` (22 names), ``democracy`` (no, yes), ``regime`` (6
        names), ``start_year``.
    y : structured array, shape (1808,)
        With the fields ``event`` and ``time``.

    Examples
    --------
    >>> from surtree.datasets import load_regimes
    >>> X, y = load_regimes()
    >>> X.shape, int(y["event"].sum())
    ((1808, 5), 1468)
    """
    return _load("regimes", backend)


def load_rossi(*, backend: Backend | None = None) -> tuple[Any, NDArray[np.void]]:
    """Load recidivism: weeks from release until arrest, 432 men, 114 arrested within a year.

    Numbers of Rossi, Berk and Lenihan (Money, Work, and Crime, 1980), as lifelines distributes
    them under the MIT licence.

    Parameters
    ----------
    backend : {"pandas", "polars", "pyarrow"}, optional
        Library of the data frame; by default the first of these that is installed.

    Returns
    -------
    X : data frame, shape (432, 7)
        ``financial_aid`` (no, yes: given at random after release), ``age`` (years, at release),
        ``race`` (black, other), ``work_experience``, ``married`` and ``parole`` (no, yes),
        ``prior_convictions`` (number).
    y : structured array, shape (432,)
        With the fields ``event`` and ``time``.

    Examples
    --------
    >>> from surtree.datasets import load_rossi
    >>> X, y = load_rossi()
    >>> X.shape, int(y["event"].sum())
    ((432, 7), 114)
    """
    return _load("rossi", backend)


def _load(
    name: str, backend: Backend | None, ordered: Mapping[str, Sequence[str]] | None = None
) -> tuple[Any, NDArray[np.void]]:
    columns = _read(name)
    y = make_target(
        event=np.array(columns.pop("event")) == "1",
        time=np.array(columns.pop("time"), dtype=np.float64),
    )
    return _frame(columns, backend, ordered), y


def _read(name: str) -> dict[str, tuple[str, ...]]:
    text = files("surtree.datasets").joinpath("data", f"{name}.csv").read_text(encoding="utf-8")
    header, *lines = csv.reader(text.splitlines())
    return dict(zip(header, zip(*lines, strict=True), strict=True))


def _frame(
    columns: Mapping[str, Sequence[str]],
    backend: Backend | None,
    ordered: Mapping[str, Sequence[str]] | None = None,
) -> Any:
    return make_frame({key: _parse(cells) for key, cells in columns.items()}, backend, ordered)


def _parse(cells: Sequence[str]) -> Values:
    for kind in (int, float):
        try:
            return [kind(cell) if cell else None for cell in cells]
        except ValueError:
            continue
    return [cell or None for cell in cells]

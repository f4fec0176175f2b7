"""Parquet files as one table: which files a path names, and one type for each column of all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

# What stands for any text in a path to several files.
_PATTERNS = "*?["
# How a Parquet file begins; the second is of encrypted ones.
_BEGINNINGS = (b"PAR1", b"PARE")
# How files of other kinds are read lazily, by the ends of their names.
_OTHERS = {
    ".csv": "polars.scan_csv({!r})",
    ".tsv": "polars.scan_csv({!r}, separator='\\t')",
    ".txt": "polars.scan_csv({!r})",
    ".gz": "polars.scan_csv({!r})",
    ".json": "duckdb.read_json({!r})",
    ".jsonl": "polars.scan_ndjson({!r})",
    ".ndjson": "polars.scan_ndjson({!r})",
    ".arrow": "polars.scan_ipc({!r})",
    ".ipc": "polars.scan_ipc({!r})",
    ".feather": "polars.scan_ipc({!r})",
    ".xlsx": "polars.read_excel({!r})",
    ".xls": "polars.read_excel({!r})",
}


def parquet_files(given: str) -> list[str]:
    """Return a Parquet file, those in a directory, or those that a pattern names."""
    if not given:
        return []
    path = Path(given)
    if path.exists():
        return _files_in([path])
    if not any(mark in given for mark in _PATTERNS):
        return []
    parts = path.parts
    first = next(index for index, part in enumerate(parts) if any(m in part for m in _PATTERNS))
    return _files_in(sorted(Path(*parts[:first]).glob(str(Path(*parts[first:])))))


def _files_in(paths: Iterable[Path]) -> list[str]:
    files: list[str] = []
    for path in paths:
        inside = sorted(path.rglob("*.parquet")) if path.is_dir() else [path]
        files += [str(file) for file in inside if not file.is_dir()]
    return list(dict.fromkeys(files))


def require_files(given: str) -> list[str]:
    """Return the Parquet files that a path names, or raise an error that says what to pass."""
    if "://" in given:
        raise ValueError(
            f"{given} is not on this machine, and a path must be: pass the table of an engine that "
            f"reads it, as polars.scan_parquet({given!r}) or a DuckDB relation"
        )
    files = parquet_files(given)
    if not files and Path(given).is_dir() and given:
        inside = sorted(path.name for path in Path(given).iterdir() if path.is_file())
        held = f", which has {inside[0]}" if inside else ""
        raise FileNotFoundError(
            f"there is no Parquet file (*.parquet) in the directory {given}{held}"
        )
    if not files:
        raise FileNotFoundError(f"there is no Parquet file {given or '(the path is empty)'}")
    for file in files:
        _require_parquet(file)
    return files


def _require_parquet(file: str) -> None:
    try:
        with Path(file).open("rb") as content:
            begins = content.read(4)
    except OSError as error:
        raise OSError(f"cannot read {file}: {error.strerror}") from error
    if begins in _BEGINNINGS:
        return
    call = _OTHERS.get(Path(file).suffix.lower())
    remedy = (
        "pass a lazy table of polars or DuckDB, or a data frame"
        if call is None
        else f"pass {call.format(file)}"
    )
    raise ValueError(
        f"cannot read {file}: it is no Parquet file, the only kind that is read by its path; "
        f"{remedy} instead"
    )


def exactly(wanted: Iterable[str], names: Sequence[str]) -> Any:
    """Return a selector of polars for some of a frame's columns, by their positions.

    A name would be a pattern where it is "*", or begins with "^" and ends with "$"; in selectors of
    some releases it is one, too.
    """
    from polars import selectors

    return selectors.by_index(*(names.index(name) for name in wanted))


def scan_files(files: list[str], label: str) -> Any:
    """Return Parquet files as one lazy frame of polars.

    Files that were written apart may differ in types: whole numbers here and fractions there, or no
    type where all values are missing. Such a column gets the type that holds all of its values.
    """
    import polars as pl

    schemas = []
    for file in files:
        try:
            schemas.append(pl.scan_parquet(file, glob=False).collect_schema())
        except Exception as error:
            lines = str(error).strip().splitlines() or [type(error).__name__]
            raise OSError(f"cannot read {label}: {lines[0]}") from error
    if all(one == other for one, other in pairwise(schemas)):
        return pl.scan_parquet(files, glob=False)
    first = schemas[0]
    casts = {}
    for name in first:
        types = _types(name, files, schemas)
        if len(types) > 1:
            casts[name] = _common_type(name, types)
    for file, schema in zip(files, schemas, strict=True):
        _require_same_columns(file, schema, files[0], first)
    frames = []
    for file, schema in zip(files, schemas, strict=True):
        names = schema.names()
        frame = pl.scan_parquet(file, glob=False).with_columns(
            exactly([name], names).cast(to) for name, to in casts.items() if schema[name] != to
        )
        frames.append(frame.select(exactly(first, names)))
    return pl.concat(frames)


def _types(name: str, files: list[str], schemas: list[Any]) -> dict[Any, str]:
    """Return the types of a column, and the first file that has each."""
    types: dict[Any, str] = {}
    for file, schema in zip(files, schemas, strict=True):
        if name in schema:
            types.setdefault(schema[name], file)
    return types


def _common_type(name: str, types: dict[Any, str]) -> Any:
    """Return the type that holds all values of a column, or raise an error if there is none."""
    import polars as pl

    typed = {dtype: file for dtype, file in types.items() if dtype != pl.Null}
    if len(typed) == 1:
        return next(iter(typed))
    if all(dtype.is_numeric() for dtype in typed):
        return pl.Float64()  # as all numbers are read
    if all(dtype in (pl.String, pl.Categorical) for dtype in typed):
        return pl.String()
    (one, here), (other, there), *_ = typed.items()
    raise ValueError(
        f"Column {name!r} is {one} in {here} and {other} in {there}: give it one type in all files"
    )


def _require_same_columns(file: str, schema: Any, first_file: str, first: Any) -> None:
    for name in first:
        if name not in schema:
            raise ValueError(
                f"{file} has no column {name!r}, which {first_file} has: give all files the same "
                "columns, or pass polars.scan_parquet(..., missing_columns='insert')"
            )
    for name in schema:
        if name not in first:
            raise ValueError(
                f"{file} has a column {name!r}, which {first_file} has not: give all files the "
                "same columns, or pass polars.scan_parquet(..., extra_columns='ignore')"
            )


def one_schema(dataset: Any) -> Any:
    """Return a pyarrow dataset whose columns have types that hold the values of all files.

    A dataset has the types of its first file: no type where all values are missing there, or whole
    numbers although other files have fractions. Types that the user has set stay as they are.
    """
    import pyarrow as pa
    from pyarrow.dataset import FileSystemDataset

    if not isinstance(dataset, FileSystemDataset):
        return dataset
    try:
        fragments = list(dataset.get_fragments())
    except ValueError:  # there are none of a filtered dataset
        return dataset
    schema = dataset.schema
    parts = [fragment.physical_schema for fragment in fragments]
    for index, field in enumerate(schema):
        fields = [part.field(field.name) for part in parts if field.name in part.names]
        if not fields or fields[0].type != field.type or len({each.type for each in fields}) == 1:
            continue
        try:
            joined = pa.unify_schemas(
                [pa.schema([each]) for each in fields], promote_options="permissive"
            )
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            continue  # reading it says what is wrong
        schema = schema.set(index, joined.field(0))
    if schema.equals(dataset.schema):
        return dataset
    return FileSystemDataset(fragments, schema, dataset.format, dataset.filesystem)

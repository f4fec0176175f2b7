"""Model files as JSON: parsed with care, and with a digest of their content."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from surtree._support.endings import MODEL_FILE
from surtree._support.schema import format_and_version, is_known, shown
from surtree._support.writing import write_text

_LONGEST_MESSAGE = 400


def parse_model(path: Path, expected: str, versions: Mapping[int, Any]) -> Any:
    """Return the JSON object of a file, of the format and of a version that can be read."""
    saved = parse_json(path)
    format_, version = format_and_version(saved)
    if format_ != expected:
        remedy = ": surtree.load reads both" if str(format_).startswith("surtree.") else ""
        raise ValueError(
            f"{path} is not a model of {'this kind' if remedy else 'surtree'}: its format is "
            f"{shown(format_)}, not {expected!r}{remedy}."
        )
    if not is_known(version, versions):
        raise ValueError(
            f"{path} is a model of version {shown(version)}, and this surtree reads versions "
            f"{min(versions)} to {max(versions)}: install the surtree that wrote it, or a newer "
            "one."
        )
    return saved


def write_model_file(path: Path, saved: dict[str, Any]) -> None:
    """Write a model as JSON, with a digest of its content."""
    MODEL_FILE.check(path)
    signed = saved | {"digest": digest(saved)}
    write_text(path, json.dumps(signed, allow_nan=False, ensure_ascii=False) + "\n")


def parse_json(path: Path) -> Any:
    """Return what a JSON file holds, or raise an error in a line that names the file."""
    try:
        return json.loads(
            path.read_text(encoding="utf-8"),
            object_pairs_hook=_object,
            parse_constant=_constant,
        )
    except RecursionError:
        raise damaged(path, ValueError("its values are nested too deeply")) from None
    except ValueError as error:
        raise ValueError(
            f"{path} is not a model of surtree, or is damaged: it is not JSON ({error})."
        ) from None


def damaged(path: Path, error: Exception) -> ValueError:
    """Return the error that says, in a line, what is wrong with a file."""
    text = " ".join(str(error).split())
    if len(text) > _LONGEST_MESSAGE:
        text = text[:_LONGEST_MESSAGE] + " ..."
    return ValueError(f"{path} is damaged: {text}")


def digest(saved: dict[str, Any]) -> str:
    """Return a name of the content of a file, whatever its white space and the order of its fields.

    It is not a signature: anybody can compute it.
    """
    plain = json.dumps(_canonical(saved), allow_nan=False, sort_keys=True, separators=(",", ":"))
    return sha256(plain.encode("ascii")).hexdigest()


def plain_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of an estimator as JSON can hold them.

    A hook is code, and is left out; what is printed is no matter of a model.
    """
    return {
        name: None if name == "progress" else plain_value(value)
        for name, value in parameters.items()
        if name != "verbose"
    }


def plain_value(value: Any) -> Any:
    """Return a parameter as JSON can hold it."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Mapping):  # thresholds of columns
        return {name: [float(item) for item in items] for name, items in value.items()}
    # JSON has no infinity. Only a time limit can be infinite, which is no limit.
    return None if isinstance(value, float) and math.isinf(value) else value


def _canonical(value: Any) -> Any:
    """Return a value with whole numbers as such: not every program writes 3.0 again as 3.0."""
    if isinstance(value, dict):
        return {name: _canonical(item) for name, item in value.items()}
    if isinstance(value, list):
        if set(map(type, value)) <= {int, float}:  # there are many of these
            return [item if item % 1 else int(item) for item in value]
        return [_canonical(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _object(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(fields)
    if len(values) < len(fields):
        twice = next(name for name in values if [known for known, _ in fields].count(name) > 1)
        raise ValueError(f"{shown(twice)} stands twice")
    return values


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")

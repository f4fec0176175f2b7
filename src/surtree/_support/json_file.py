"""Model files as JSON: parsed with care, and with a digest of their content."""

from __future__ import annotations

import json
import math
import reprlib
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from surtree._support.writing import MODEL_FILE, write_text

Check = Callable[[Any, str], None]
Read = TypeVar("Read")

LARGEST = sys.float_info.max
# The least number above zero.
POSITIVE = 5e-324

_LONGEST = 80


def shown(value: Any) -> str:
    """Return a value for a message: short, and on one line."""
    text = reprlib.repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def format_and_version(saved: Any) -> tuple[Any, Any]:
    """Return the format and version that a file states, None and None if it does not."""
    if not isinstance(saved, dict):
        return None, None
    return saved.get("format"), saved.get("version")


def is_known(version: Any, versions: Mapping[int, Any]) -> bool:
    """Tell whether a version that a file says it has is a key here; 1.0 and true are not 1."""
    return type(version) is int and version in versions


@dataclass(frozen=True)
class Number:
    """The check of a finite number in a range; truth is no number."""

    wanted: str  # what the number must be, in words
    least: float = -LARGEST  # the range, both ends included
    most: float = LARGEST
    whole: bool = False  # whether the number must be whole, and written so

    def __call__(self, value: Any, where: str) -> None:
        """Check one number."""
        kinds: Any = int if self.whole else int | float
        # NaN is in no range.
        right = isinstance(value, kinds) and self.least <= value <= self.most
        if not right or isinstance(value, bool):
            raise _unlike(where, value, self.wanted)

    def holds_for_all(self, values: list[Any]) -> bool:
        """Check many numbers at once: a baseline may have a million."""
        kinds = {int} if self.whole else {int, float}
        return not values or (
            set(map(type, values)) <= kinds
            and self.least <= min(values)
            and max(values) <= self.most
            and not any(map(math.isnan, values))
        )


def text(value: Any, where: str) -> None:
    """Check a text: also that a file can hold it."""
    if not isinstance(value, str):
        raise _unlike(where, value, "a text")
    if not value.isascii() and any("\ud800" <= sign <= "\udfff" for sign in value):
        raise ValueError(f"{where} has half of a character: {shown(value)}")


def flag(value: Any, where: str) -> None:
    """Check that a value is true or false."""
    if not isinstance(value, bool):
        raise _unlike(where, value, "true or false")


def anything(value: Any, where: str) -> None:
    """Accept any value; another check follows."""


def one_of(*allowed: str | int) -> Check:
    """Return the check of a value that is one of a few."""

    def check(value: Any, where: str) -> None:
        if not any(value == known and type(value) is type(known) for known in allowed):
            raise _unlike(where, value, f"one of {', '.join(map(repr, allowed))}")

    return check


def optional(inside: Check) -> Check:
    """Return the check of a value that may be null."""

    def check(value: Any, where: str) -> None:
        if value is not None:
            inside(value, where)

    return check


def list_of(inside: Check) -> Check:
    """Return the check of a list all of whose items pass the same check."""

    def check(value: Any, where: str) -> None:
        if not isinstance(value, list):
            raise _unlike(where, value, "a list")
        if isinstance(inside, Number) and inside.holds_for_all(value):
            return
        for position, item in enumerate(value):
            inside(item, f"{where}[{position}]")

    return check


def record(fields: Mapping[str, Check], also: Mapping[str, Check] | None = None) -> Check:
    """Return the check of an object with certain fields and no others."""
    known = {**fields, **(also or {})}

    def check(value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise _unlike(where, value, "an object")
        within = f" in {where}" if where else ""
        for name in fields:
            if name not in value:
                raise ValueError(f"{name!r} is not there{within}")
        for name, item in value.items():
            if name not in known:
                raise ValueError(f"{shown(name)} is not a field{within}")
            known[name](item, f"{where}.{name}" if where else name)

    return check


def read_each(read: Callable[[Any], Read], items: Iterable[Any], where: str) -> tuple[Read, ...]:
    """Read the items of a list, and say in an error which one it is about."""
    values = []
    for position, item in enumerate(items):
        try:
            values.append(read(item))
        except ValueError as error:
            raise ValueError(f"{where}[{position}]: {error}") from None
    return tuple(values)


def parameters_format(value: Any, where: str) -> None:
    """Check that parameters are plain values; what they mean is for the estimator to check."""
    finite = Number("a finite number")
    if not isinstance(value, dict):
        raise _unlike(where, value, "an object")
    for name, item in value.items():
        if isinstance(item, str):
            text(item, f"{where}.{name}")
        elif name == "thresholds" and isinstance(item, dict):
            for column, values in item.items():
                list_of(finite)(values, f"{where}.{name}.{column}")
        elif name == "monotone" and isinstance(item, dict):
            for column, sign in item.items():
                one_of(-1, 1)(sign, f"{where}.{name}.{column}")
        elif name == "causes" and isinstance(item, list):
            one = list_of(finite) if item and isinstance(item[0], list) else finite
            list_of(one)(item, f"{where}.{name}")
        elif item is not None and not isinstance(item, bool):
            Number("a plain value")(item, f"{where}.{name}")


def cause_names_format(value: Any, where: str) -> None:
    """Check that names are those of causes, which are whole numbers."""
    if not isinstance(value, dict):
        raise _unlike(where, value, "an object")
    for cause, name in value.items():
        text(name, f"{where}.{shown(cause)}")


def _unlike(where: str, value: Any, wanted: str) -> ValueError:
    return ValueError(f"{where or 'it'} is {shown(value)}, not {wanted}")


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
    if isinstance(value, Mapping):  # thresholds or signs of columns
        return {name: _plain_item(item) for name, item in value.items()}
    # JSON has no infinity. Only a time limit can be infinite, which is no limit.
    return None if isinstance(value, float) and math.isinf(value) else value


def _plain_item(item: Any) -> Any:
    return int(item) if isinstance(item, int | np.integer) else [float(each) for each in item]


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

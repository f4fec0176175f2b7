"""Commands whose options are dataclasses: typer sees one option for each field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_args, get_type_hints

import typer

from surtree.cli._console import Result, guarded

# The options that were given, as they are spelled, by the names of fields and parameters.
Given = Mapping[str, str]


def option(
    text: str,
    *names: str,
    default: Any = None,
    reads: Callable[[Any], Any] | None = None,
    many: bool = False,
    panel: str | None = None,
    **more: Any,
) -> Any:
    """Return a field that is an option; ``reads`` turns its text or texts into the value."""
    info = typer.Option(*names, help=text, rich_help_panel=panel, **more)
    kind = None if reads is None else list[str] | None if many else str | None
    return field(default=default, metadata={"info": info, "kind": kind, "reads": reads})


def refuse(wrong: Mapping[str, bool]) -> None:
    """End with a message about wrong usage, the first one that is true."""
    for message, is_true in wrong.items():
        if is_true:
            raise typer.BadParameter(message)


@dataclass(frozen=True)
class Take:
    """The fields that a command offers, with blanks between; a mark follows one that is needed."""

    names: str

    def __iter__(self) -> Any:
        return ((name.rstrip("!"), name.endswith("!")) for name in self.names.split())


def command(function: Callable[..., Result | None]) -> Callable[..., None]:
    """Return a function for typer that takes the fields of dataclasses one by one."""
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, tuple[Any, list[Parameter]]] = {}
    flat = [_parameter("context", typer.Context, Parameter.empty)]
    for name, parameter in signature(function).parameters.items():
        group, take = (*get_args(hints[name]), hints[name], None)[:2]
        if is_dataclass(group):
            groups[name] = group, _parameters(group, take)
            flat += groups[name][1]
        elif name != "given":
            flat.append(_parameter(name, hints[name], parameter.default))

    @wraps(function)
    def run(context: typer.Context, **values: Any) -> None:
        json = values.get("json", False)
        for name, (group, parameters) in groups.items():
            given = {one.name: values.pop(one.name) for one in parameters}
            values[name] = group(**_read(context, group, given))
        if "given" in hints:
            values["given"] = _given(context)
        with guarded():
            result = function(**values)
            if result is not None:
                result.show(json=json)

    run.__signature__ = Signature(flat)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in flat}
    return run


def _parameters(group: Any, take: Take | None) -> list[Parameter]:
    """Return a parameter for each field that a command offers."""
    hints, by_name = get_type_hints(group), {one.name: one for one in fields(group)}
    parameters = []
    for name, needed in take or ((name, False) for name in by_name):
        info, kind = by_name[name].metadata["info"], by_name[name].metadata["kind"] or hints[name]
        if needed and type(None) in get_args(kind):
            kind = get_args(kind)[0]
        default = Parameter.empty if needed else by_name[name].default
        parameters.append(_parameter(name, Annotated[kind, info], default))
    return parameters


def _parameter(name: str, hint: Any, default: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=hint)


def _read(context: typer.Context, group: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Return the values of options whose texts have a meaning of their own."""
    reads = {one.name: one.metadata["reads"] for one in fields(group)}
    for name in [name for name in given if reads[name] and given[name] is not None]:
        try:
            given[name] = reads[name](given[name])
        except ValueError as error:
            of_typer: Any = {one.name: one for one in context.command.params}
            raise typer.BadParameter(str(error), param=of_typer[name]) from None
    return given


def _given(context: typer.Context) -> dict[str, str]:
    return {
        str(parameter.name): parameter.opts[0]
        for parameter in context.command.params
        if getattr(context.get_parameter_source(str(parameter.name)), "name", "") == "COMMANDLINE"
    }

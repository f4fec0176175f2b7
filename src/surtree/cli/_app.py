"""The commands, under one name."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

import surtree
from surtree.cli._audit import audit
from surtree.cli._fit import demo, fit
from surtree.cli._near import near, questions
from surtree.cli._plot import plot
from surtree.cli._predict import predict
from surtree.cli._questions import columns
from surtree.cli._show import path, report, show_model
from surtree.cli._validate import evaluate, validate
from surtree.cli._verify import verify


class _PlainFlags:
    """A command whose help shows no value behind a flag, such as --help, which has none."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return all options, also those that typer adds."""
        options: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for option in options:
            if getattr(option, "is_flag", False):
                option.metavar = ""
        return options


class _Command(_PlainFlags, TyperCommand):
    pass


class _Commands(_PlainFlags, TyperGroup):
    pass


class _App(typer.Typer):
    def command(self, name: str | None = None, **given: Any) -> Any:
        return super().command(name, cls=_Command, **given)


app = _App(cls=_Commands, no_args_is_help=True, pretty_exceptions_enable=False)
app.command()(fit)
app.command()(predict)
app.command("show")(show_model)
app.command()(path)
app.command()(report)
app.command()(plot)
app.command()(audit)
app.command()(verify)
app.command()(columns)
app.command()(questions)
app.command()(near)
app.command()(validate)
app.command()(evaluate)
app.command()(demo)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"surtree {surtree.__version__}")
        raise typer.Exit


@app.callback()
def surtree_command(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Show the version and exit.",
        ),
    ] = False,
) -> None:
    """Optimal survival trees: fit, look at, apply and check them."""

"""Define the application: its commands, and how errors are printed."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from eigsearch import __version__
from eigsearch.cli.commands import (
    bench,
    check,
    compare,
    datasets,
    demo,
    explain,
    explainers,
    models,
    report,
    serve,
    train,
    view,
)
from eigsearch.cli.console import print_error, print_line
from eigsearch.cli.directories import unusable_path
from eigsearch.errors import EigsearchError


class _CommandGroup(TyperGroup):
    """Commands that print an error as one sentence and exit with code 2."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except EigsearchError as error:
            print_error(str(error))
        except BrokenPipeError:  # the reader has closed the pipe, as `… | head` does
            raise SystemExit(0) from None
        except (ConnectionError, TimeoutError):  # a network error, not a file error
            raise
        except OSError as error:
            print_error(unusable_path(error.filename or "every file", error))
        raise typer.Exit(2)


class _OptionalRayAddress(TyperCommand):
    """A command whose `--ray` may stand without an address."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read `--ray` without a value as `--ray auto`."""
        pairs = zip(args, [*args[1:], "--"], strict=False)
        bare = [arg == "--ray" and value.startswith("-") for arg, value in pairs]
        filled = [[arg, "auto"] if alone else [arg] for arg, alone in zip(args, bare, strict=True)]
        return super().parse_args(ctx, [arg for part in filled for arg in part])


app = typer.Typer(
    name="eigsearch",
    cls=_CommandGroup,
    help="Which part of the graph made the GNN say so? Start with: [bold]eigsearch demo[/bold]",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(requested: bool) -> None:
    if requested:
        print_line(f"eigsearch {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version)
    ] = False,
) -> None:
    """Serve the options that stand before a command."""


for command in (
    demo,
    explain,
    compare,
    view,
    check,
    serve,
    train,
    datasets,
    models,
    explainers,
    bench,
    report,
):
    app.command(cls=_OptionalRayAddress)(command)

"""The application: which commands there are, and how errors are told."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from eigsearch import __version__
from eigsearch.cli.commands import (
    bench,
    compare,
    datasets,
    demo,
    explain,
    explainers,
    models,
    report,
    train,
    view,
)
from eigsearch.cli.console import complain, say
from eigsearch.cli.directories import unusable
from eigsearch.errors import EigsearchError


class _Sentences(TyperGroup):
    """Commands whose errors are the one sentence, without a traceback, and exit code 2."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except EigsearchError as error:
            complain(str(error))
        except BrokenPipeError:  # whoever read our output has seen enough, as in `… | head`
            raise SystemExit(0) from None
        except (ConnectionError, TimeoutError):  # of a network, where files have no part in it
            raise
        except OSError as error:
            complain(unusable(error.filename or "every file", error))
        raise typer.Exit(2)


class _BareRay(TyperCommand):
    """A command whose `--ray` may stand without an address."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read `--ray` without a value as `--ray auto`."""
        pairs = zip(args, [*args[1:], "--"], strict=False)
        bare = [arg == "--ray" and value.startswith("-") for arg, value in pairs]
        filled = [[arg, "auto"] if alone else [arg] for arg, alone in zip(args, bare, strict=True)]
        return super().parse_args(ctx, [arg for part in filled for arg in part])


app = typer.Typer(
    name="eigsearch",
    cls=_Sentences,
    help="Which part of the graph made the GNN say so? Start with: [bold]eigsearch demo[/bold]",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _tell_version(asked: bool) -> None:
    if asked:
        say(f"eigsearch {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_tell_version)
    ] = False,
) -> None:
    """Serve the options that stand before a command."""


for command in (demo, explain, compare, view, train, datasets, models, explainers, bench, report):
    app.command(cls=_BareRay)(command)

"""`eigsearch bench`: the runs of a plan, as rows."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eigsearch.cli import flags

if TYPE_CHECKING:
    from eigsearch.bench import Plan

HOME = Path("results", "bench")  # where `bench` writes and `report` looks without being told


class Networks(str, Enum):
    """Which trained networks a plan explains."""

    ZOO = "zoo"
    PUBLISHED = "published"


def bench(
    plan: Annotated[
        str,
        typer.Argument(
            help="A plan: `smoke`, `quick`, `paper`, `searches`, or the path of a TOML file."
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(help="Where the rows go, by default results/bench/PLAN.")
    ] = None,
    networks: Annotated[
        Networks,
        typer.Option(help="`zoo`: ours, shipped; `published`: the paper's, from --weights."),
    ] = Networks.ZOO,
    weights: Annotated[
        Path | None,
        typer.Option(help="The directory with the paper's weights, such as gcn_MUTAG.safetensors."),
    ] = None,
    workers: flags.Workers = None,
    ray: flags.Ray = None,
    again: Annotated[
        str | None,
        typer.Option(
            help="A section or an explainer to run anew, as when times come from a busy machine."
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help="A section or an explainer to run now; repeat it for others."),
    ] = None,
) -> None:
    """Run the experiments of a plan; what is finished already is not run again.

    [bold]Examples[/bold]

        eigsearch bench smoke

        eigsearch bench paper --workers 2

        eigsearch bench paper --ray 10.0.0.1:6379

        eigsearch bench paper --again efficiency

        eigsearch bench paper --only searches --only motif

        eigsearch bench paper --networks published --weights published_weights
    """
    from collections import Counter

    from eigsearch.bench import read_plan, run_plan
    from eigsearch.cli.console import print_line

    chosen = _on_networks(read_plan(plan), networks, weights)
    where = out or HOME / chosen.name
    status: Counter[str] = Counter()
    for now in run_plan(chosen, where, workers, again, ray, only or ()):
        status.update(row["status"] for row in now.last.rows)
        typer.echo(
            f"[{now.done}/{now.total}] {now.last.spec.title}: {len(now.last.rows)} rows in "
            f"{now.last.seconds:.1f} s, about {_duration(now.seconds_left)} left",
            err=True,
        )
    counts = ", ".join(f"{count} {name}" for name, count in sorted(status.items()))
    print_line(f"{chosen.name}: {counts or 'nothing left to run'}. Rows: {where}/rows")


def _on_networks(plan: Plan, networks: Networks, weights: Path | None) -> Plan:
    """Return the plan on the networks that the user named."""
    from eigsearch.errors import InputError

    if (networks is Networks.PUBLISHED) != (weights is not None):
        got = "no --weights" if weights is None else "--networks zoo"
        raise InputError(
            f"Expected --networks published together with --weights (got {got}). "
            "Pass both for the paper's own networks, or neither for the zoo's."
        )
    return plan if weights is None else plan.with_published_networks(weights)


def _duration(seconds: float) -> str:
    """Return a time as people say it.

    >>> _duration(30), _duration(600), _duration(9000)
    ('30 s', '10 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"

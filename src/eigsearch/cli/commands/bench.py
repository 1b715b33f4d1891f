"""`eigsearch bench`: the runs of a plan, as rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eigsearch.cli import flags

HOME = Path("results", "bench")  # where `bench` writes and `report` looks without being told


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
    workers: flags.Workers = None,
    ray: flags.Ray = None,
    again: Annotated[
        str | None,
        typer.Option(
            help="A section or an explainer to run anew, as when times come from a busy machine."
        ),
    ] = None,
) -> None:
    """Run the experiments of a plan; what is finished already is not run again.

    [bold]Examples[/bold]

        eigsearch bench smoke

        eigsearch bench paper --workers 2

        eigsearch bench paper --ray 10.0.0.1:6379

        eigsearch bench paper --again efficiency
    """
    from collections import Counter

    from eigsearch.bench import read_plan, run_plan
    from eigsearch.cli.console import print_line

    chosen = read_plan(plan)
    where = out or HOME / chosen.name
    status: Counter[str] = Counter()
    for now in run_plan(chosen, where, workers, again, ray):
        status.update(row["status"] for row in now.last.rows)
        typer.echo(
            f"[{now.done}/{now.total}] {now.last.spec.title}: {len(now.last.rows)} rows in "
            f"{now.last.seconds:.1f} s, about {_duration(now.seconds_left)} left",
            err=True,
        )
    counts = ", ".join(f"{count} {name}" for name, count in sorted(status.items()))
    print_line(f"{chosen.name}: {counts or 'nothing left to run'}. Rows: {where}/rows")


def _duration(seconds: float) -> str:
    """Return a time as people say it.

    >>> _duration(30), _duration(600), _duration(9000)
    ('30 s', '10 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
